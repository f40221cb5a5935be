"""`irmeta reanalyze`, `ingest`, `validate` and `info`: commands over collections and runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from irmeta.cli.app import (
    FAILED,
    STRICT_ONLY,
    Opening,
    ReadingCollection,
    TracksOpening,
    cluster,
    progress_line,
)
from irmeta.cli.display import ReportDisplay, ValidationDisplay
from irmeta.cli.registered import Given, command, with_options
from irmeta.cli.sources import (
    READING,
    RUN_CHOICES,
    SourceArgument,
    finish,
    open_source,
    report_ignored_folders,
    report_kept_tracks,
    report_policies,
    run_notes,
)
from irmeta.locations import location
from irmeta.policies import ReadPolicy, RunRules
from irmeta.studies.framework.study import RunOptions
from irmeta.studies.reanalysis.study import OverviewOptions


@command(
    "irmeta reanalyze collection/ --out results/",
    "irmeta reanalyze collection/ --out results/ -m AP,nDCG@10 --track news",
    "irmeta reanalyze collection/ --out results/ --dask local:8",
)
@with_options(
    reading=ReadPolicy,
    given=OverviewOptions,
    run_options=RunOptions,
    opening=(Opening, ("dask", "strict")),
    ingesting=ReadingCollection,
)
def reanalyze(
    source: Annotated[Path, typer.Argument(help="A collection or a store.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the results.", show_default=False)],
    reading: ReadPolicy,
    given: Given,
    run_options: RunOptions,
    opening: Opening,
    ingesting: ReadingCollection,
) -> None:
    """Compute scores, search lengths and rarity of every track as Parquet, and an HTML report."""
    from irmeta import api
    from irmeta.cli.batches import print_reanalysis
    from irmeta.store.layout import store_folder
    from irmeta.studies.framework.recorded_files import recorded_policy

    # A store has a fixed ReadPolicy: pass one only if it differs from the default.
    choices: Any = reading.changed()
    root = location(source)
    if store_folder(root) != root:
        report_policies(root, recorded_policy(root), given)
    with cluster(opening.dask, run_options.workers) as executor, progress_line("Analysing"):
        done = api.reanalyze_tracks(
            source,
            out,
            given,
            choices,
            replace(run_options, executor=executor),
            rehash=ingesting.rehash,
            memory=ingesting.limit,
        )
    print_reanalysis(done)
    report_ignored_folders(source)
    read = {outcome.track for outcome in done.outcomes}
    if read and not run_options.track:
        report_kept_tracks(done.store, read)
    analysed = {*done.batch.analysed, *done.batch.unchanged}
    finish(done.store, done.outcomes, opening.strict, done.batch.failed, analysed)


@command(
    "irmeta ingest collection/ --out store/",
)
@with_options(reading=ReadPolicy, opening=TracksOpening, ingesting=ReadingCollection)
def ingest(
    collection: Annotated[Path, typer.Argument(help="Folder of tracks.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder of the store.", show_default=False)],
    reading: ReadPolicy,
    opening: TracksOpening,
    ingesting: ReadingCollection,
) -> None:
    """Read TREC runs and qrels into a Parquet store."""
    from irmeta.api import open_store
    from irmeta.cli.batches import print_outcomes
    from irmeta.store.ingest import ingest_collection
    from irmeta.store.layout import Layout

    workers = opening.workers
    with cluster(opening.dask, workers) as executor, progress_line("Reading"):
        outcomes = ingest_collection(
            collection,
            Layout(out),
            reading,
            tracks=opening.track,
            rehash=ingesting.rehash,
            workers=workers,
            memory=ingesting.limit,
            executor=executor,
        )
    made = open_store(out)
    print_outcomes(outcomes, made)
    report_ignored_folders(collection)
    if opening.track is None:
        report_kept_tracks(made, {outcome.track for outcome in outcomes})
    finish(made, outcomes, opening.strict)


@command(
    "irmeta validate runs/ --query-file topics.txt --out letters/",
    "irmeta validate submissions.tar.gz --max-depth 100 --doc-file ids.txt.gz --format csv",
)
@with_options(
    rules=RunRules,
    reading=(ReadPolicy, RUN_CHOICES),
    display=ValidationDisplay,
)
def validate(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run files, archives of runs, or folders.", show_default=False),
    ],
    rules: RunRules,
    reading: ReadPolicy,
    display: ValidationDisplay,
) -> None:
    """List the errors of run files, which need no qrels. Exit with status 1 if there is any."""
    from irmeta.api.validate import validate_by
    from irmeta.cli.batches import print_validation

    with progress_line("Reading"):
        validation = validate_by(runs, rules, reading)
    print_validation(validation, display)
    if not validation.passed:
        raise typer.Exit(FAILED)


@command(
    "irmeta info store/",
    "irmeta info collection/ --format json",
)
@with_options(reading=READING, display=ReportDisplay, opening=STRICT_ONLY)
def info(
    source: SourceArgument,
    reading: ReadPolicy,
    display: ReportDisplay,
    opening: Opening,
) -> None:
    """Print tracks, systems, queries, and notes on reading."""
    from irmeta.cli.batches import print_info

    with open_source(source, reading, opening) as store:
        print_info(store, display, run_notes(store, None))

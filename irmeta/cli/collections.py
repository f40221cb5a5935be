"""`irmeta reanalyze`, `ingest` and `info`: over whole collections."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from irmeta.cli.options import (
    DepthOption,
    DuplicatesOption,
    ForceOption,
    MalformedOption,
    MeasuresOption,
    MemoryOption,
    NegativeOption,
    QrelsOption,
    QueriesOption,
    StrictOption,
    StudiedOption,
    TieOption,
    TracksOption,
    WorkersOption,
    app,
    bytes_of,
    progress_bar,
)
from irmeta.cli.sources import (
    ByFileOption,
    SourceArgument,
    finish,
    opened,
    say_kept,
    say_left_out,
)
from irmeta.policies import ReadPolicy


@app.command()
def reanalyze(
    source: Annotated[Path, typer.Argument(help="A collection or a store.", show_default=False)],
    out: Annotated[Path, typer.Option(help="Folder for the results.", show_default=False)],
    track: StudiedOption = None,
    measures: MeasuresOption = None,
    rarity_depth: Annotated[int, typer.Option(min=1, help="Rarity looks this deep.")] = 100,
    unretrieved: Annotated[
        str,
        typer.Option(help="Search length if not retrieved: irrel, floor, irrel+1, depth."),
    ] = "irrel",
    qrels: QrelsOption = None,
    queries: QueriesOption = "judged",
    negative: NegativeOption = "unjudged",
    tie_order: TieOption = "trec_eval",
    depth: DepthOption = None,
    duplicates: DuplicatesOption = "error",
    malformed: MalformedOption = "error",
    workers: WorkersOption = None,
    memory: MemoryOption = None,
    strict: StrictOption = False,
    force: ForceOption = False,
) -> None:
    """Scores, search lengths and rarity of every track as Parquet, and a page to look at."""
    from irmeta import api
    from irmeta.measures.names import parse_call
    from irmeta.show import print_reanalysis
    from irmeta.studies.overview import Settings

    policy = ReadPolicy(tie_order, depth, duplicates, malformed)
    # A store was read under its own policy: say so only if another is asked for.
    choices: Any = {} if policy == ReadPolicy() else policy.record()
    order = None if tie_order == ReadPolicy().tie_order else tie_order
    specs, averaged = parse_call(
        measures or "default",
        {"queries": queries, "negative": negative, "qrels": qrels, "tie_order": order},
    )
    if order is not None:  # the store's own
        averaged = replace(averaged, tie_order=None)
    names = tuple(spec.name for spec in specs)
    settings = Settings(names, rarity_depth, unretrieved, averaged)
    with progress_bar("Reading") as reading, progress_bar("Analysing") as analysing:
        done = api.reanalyze_tracks(
            source,
            out,
            settings,
            choices,
            tracks=track or None,
            force=force,
            workers=workers,
            memory=bytes_of(memory),
            read_progress=reading,
            batch_progress=analysing,
        )
    print_reanalysis(done)
    say_left_out(source)
    lost = [(o.track, str(o.error)) for o in done.outcomes if o.error] + list(done.batch.failed)
    read = {outcome.track for outcome in done.outcomes}
    if read and not track:
        say_kept(done.store, read)
    finish(done.store, lost, strict, read | {*done.batch.analysed, *done.batch.unchanged})


@app.command()
def ingest(
    collection: Annotated[Path, typer.Argument(help="Folder of tracks.", show_default=False)],
    store: Annotated[Path, typer.Option(help="Folder of the store.", show_default=False)],
    track: TracksOption = None,
    tie_order: TieOption = "trec_eval",
    depth: DepthOption = None,
    duplicates: DuplicatesOption = "error",
    malformed: MalformedOption = "error",
    workers: WorkersOption = None,
    memory: MemoryOption = None,
    strict: StrictOption = False,
) -> None:
    """Read TREC runs and qrels into a Parquet store."""
    from irmeta import api
    from irmeta.show import print_outcomes

    policy = ReadPolicy(tie_order, depth, duplicates, malformed)
    with progress_bar("Reading") as reading:
        outcomes = api.ingest_tracks(
            collection,
            store,
            policy,
            tracks=track or None,
            workers=workers,
            memory=bytes_of(memory),
            progress=reading,
        )
    made = api.open_store(store)
    print_outcomes(outcomes, made)
    say_left_out(collection)
    lost = [(o.track, str(o.error)) for o in outcomes if o.error]
    read = {outcome.track for outcome in outcomes}
    if not track:
        say_kept(made, read)
    finish(made, lost, strict, read)


@app.command()
def info(
    source: SourceArgument,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    by_file: ByFileOption = False,
    duplicates: DuplicatesOption = "error",
    malformed: MalformedOption = "error",
) -> None:
    """Tracks, systems, queries, and what reading noticed."""
    from irmeta.show import print_info

    policy = ReadPolicy(duplicates=duplicates, malformed=malformed)
    with opened(source, policy, by_file=by_file) as store:
        if as_json:
            tracks = store.info().to_dicts()
            systems = store.systems().to_dicts() if tracks else []
            print(json.dumps({"tracks": tracks, "systems": systems}, indent=1, ensure_ascii=False))
        else:
            print_info(store)

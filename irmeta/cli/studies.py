"""`irmeta study`: what a paper computes, over all tracks of a store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from irmeta.cli.options import (
    FAILED,
    ForceOption,
    NegativeOption,
    OrderOption,
    QrelsOption,
    StoreArgument,
    app,
    progress_bar,
)
from irmeta.policies import Averaged

study = typer.Typer(no_args_is_help=True, help="The study of a paper, over all tracks of a store.")
app.add_typer(study, name="study")


@study.command("search-length")
def search_length(
    store: StoreArgument,
    out: Annotated[Path, typer.Option(help="Folder for the results.", show_default=False)],
    track: Annotated[list[str] | None, typer.Option(help="Only this; may be repeated.")] = None,
    baseline: Annotated[
        str, typer.Option(help="Table 1: best, median, COLUMN=VALUE of system facts, or a system.")
    ] = "median",
    contender: Annotated[str, typer.Option(help="Table 1: the other side, likewise.")] = "best",
    best_by: Annotated[
        str | None, typer.Option(help="One measure for who is best; default each its own.")
    ] = None,
    min_runs: Annotated[int, typer.Option(help="A track with fewer is not counted.")] = 5,
    rel: Annotated[int, typer.Option(help="The least grade that is relevant.")] = 1,
    unretrieved: Annotated[
        str, typer.Option(help="ASL of a doc not retrieved: irrel, floor, irrel+1 or depth.")
    ] = "irrel",
    depth: Annotated[int, typer.Option(help="Where lists are cut for comparison.")] = 100,
    ratio: Annotated[float, typer.Option(help="Of means, for one system to be better.")] = 1.10,
    alpha: Annotated[float, typer.Option(help="P-value up to which it is.")] = 0.05,
    test: Annotated[str, typer.Option(help="t (paired), t-unpaired, or another.")] = "t",
    resamples: Annotated[int, typer.Option(help="Of queries, for intervals.")] = 10_000,
    confidence: Annotated[float, typer.Option(help="Of intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    qrels: QrelsOption = None,
    queries: Annotated[Averaged, typer.Option(help="Which queries count.")] = "judged",
    negative: NegativeOption = "unjudged",
    tie_order: OrderOption = None,
    force: ForceOption = False,
) -> None:
    """Atomized search length (Alex, Hall and Metzler 2022): its tables, figures and a page."""
    from irmeta.api.store import EvalChoices
    from irmeta.api.studies import StudyChoices, study_tracks
    from irmeta.show import print_study

    choices = StudyChoices(
        rel=rel,
        unretrieved=unretrieved,
        min_runs=min_runs,
        best_by=best_by,
        baseline=baseline,
        contender=contender,
        depth=depth,
        ratio=ratio,
        alpha=alpha,
        test=test,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
    )
    policy = EvalChoices(queries=queries, negative=negative, qrels=qrels, tie_order=tie_order)
    with progress_bar("Studying") as progress:
        done = study_tracks(store, out, track or None, force, progress, policy, choices)
    if done.batch.analysed or done.batch.unchanged:
        print_study(done)
    for name, error in done.batch.failed:
        print(f"irmeta: failed: {name}: {error}", file=sys.stderr)
    if done.batch.failed:
        raise typer.Exit(FAILED)

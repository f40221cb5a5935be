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
    QueriesOption,
    StoreArgument,
    StudiedOption,
    app,
    progress_bar,
)

study = typer.Typer(no_args_is_help=True, help="The study of a paper, over all tracks of a store.")
app.add_typer(study, name="study")


@study.command("search-length")
def search_length(
    store: StoreArgument,
    out: Annotated[Path, typer.Option(help="Folder for the results.", show_default=False)],
    track: StudiedOption = None,
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
    first: Annotated[
        list[int] | None, typer.Option(help="A further N of ASL@gN; may be repeated.")
    ] = None,
    depth: Annotated[int, typer.Option(help="Where lists are cut for comparison.")] = 100,
    ratio: Annotated[float, typer.Option(help="Of means, for one system to be better.")] = 1.10,
    alpha: Annotated[float, typer.Option(help="P-value up to which it is.")] = 0.05,
    test: Annotated[str, typer.Option(help="t (paired), t-unpaired, or another.")] = "t",
    resamples: Annotated[int, typer.Option(help="Of queries, for intervals.")] = 10_000,
    confidence: Annotated[float, typer.Option(help="Of intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    qrels: QrelsOption = None,
    queries: QueriesOption = "judged",
    negative: NegativeOption = "unjudged",
    tie_order: OrderOption = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Threads over tracks.")] = None,
    force: ForceOption = False,
) -> None:
    """Atomized search length (Alex, Hall and Metzler 2022): its tables, figures and a page."""
    from irmeta.api.studies import SEARCH_LENGTH, run_study
    from irmeta.policies import EvalPolicy
    from irmeta.show import print_study
    from irmeta.studies.atomized.settings import Settings

    settings = Settings(
        rel=rel,
        unretrieved=unretrieved,
        min_runs=min_runs,
        best_by=best_by,
        baseline=baseline,
        contender=contender,
        firsts=tuple(first or ()),
        depth=depth,
        ratio=ratio,
        alpha=alpha,
        test=test,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
        policy=EvalPolicy(queries=queries, negative=negative, qrels=qrels, tie_order=tie_order),
    )
    with progress_bar("Studying") as progress:
        done = run_study(
            SEARCH_LENGTH,
            store,
            out,
            settings,
            tracks=track or None,
            force=force,
            workers=workers,
            progress=progress,
        )
    print_study(done)
    failed = done.batch.failed if done.batch is not None else ()
    for _, error in failed:
        print(f"irmeta: failed: {error}", file=sys.stderr)
    if failed:
        raise typer.Exit(FAILED)

"""`irmeta diff`, `compare` and `power`: over results that are there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from irmeta.cli.options import (
    DIFFERENT,
    CorrectionOption,
    ForceOption,
    ResamplesOption,
    ResultsArgument,
    SeedOption,
    TrackOption,
    app,
)

OutOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder for tables and figures.",
        show_default="in RESULTS, where reanalyze made it; else none are written",
    ),
]


@app.command()
def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="Results.", show_default=False)],
    b: Annotated[Path, typer.Argument(metavar="B", help="Others.", show_default=False)],
    tolerance: Annotated[float, typer.Option(min=0, help="Differences that are none.")] = 1e-9,
) -> None:
    """Two files of results: how they were made, where values differ. Status 1 if any does."""
    from irmeta.results.compare import diff as compare
    from irmeta.show import print_difference

    found = compare(a, b, tolerance)
    print_difference(found, str(a), str(b))
    if not found.same:
        raise typer.Exit(DIFFERENT)


@app.command()
def compare(
    results: ResultsArgument,
    measure: Annotated[str | None, typer.Option("-m", "--measure", help="One.")] = None,
    test: Annotated[str, typer.Option(help="How pairs of systems are tested.")] = "t",
    correction: CorrectionOption = "none",
    alpha: Annotated[float, typer.Option(help="Told apart at p-values up to this.")] = 0.05,
    track: TrackOption = None,
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = 0,
    less_is_better: Annotated[
        bool, typer.Option("--less-is-better", help="Of values that are no measure of irmeta's.")
    ] = False,
    out: OutOption = None,
    force: ForceOption = False,
) -> None:
    """Test every pair of systems; those that none is better than by the test are marked."""
    from irmeta.api import judge
    from irmeta.show import print_comparisons

    found = judge.compare(
        results,
        measure,
        test=test,
        track=track,
        correction=correction,
        alpha=alpha,
        resamples=resamples,
        rng=seed,
        less_is_better=less_is_better,
    )
    name = f"{found[0].pairs.measure}.{test}"
    out = out or judge.default_folder(results, "compare", name)
    written = judge.write_comparisons(found, out, results, seed, force=force) if out else []
    print_comparisons(found)
    for path in written:
        print(path, file=sys.stderr)


@app.command()
def power(
    results: ResultsArgument,
    measures: Annotated[
        str | None, typer.Option("-m", "--measures", help="Names; default all there are.")
    ] = None,
    test: Annotated[list[str] | None, typer.Option(help="May be repeated; default t.")] = None,
    correction: CorrectionOption = "none",
    level: Annotated[list[float] | None, typer.Option(help="May be repeated.")] = None,
    track: TrackOption = None,
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = 0,
    out: OutOption = None,
    force: ForceOption = False,
) -> None:
    """How many pairs of systems each measure tells apart."""
    from irmeta.api import judge
    from irmeta.show import print_power

    found, curves = judge.power(
        results,
        measures,
        tests=test or ["t"],
        track=track,
        levels=level or judge.LEVELS,
        correction=correction,
        resamples=resamples,
        rng=seed,
    )
    made = {"correction": correction, "resamples": resamples, "seed": seed}
    out = out or judge.default_folder(results, "power")
    written = judge.write_power(found, curves, out, results, made, force=force) if out else []
    print_power(found)
    for path in written:
        print(path, file=sys.stderr)

"""`irmeta diff`, `check`, `compare` and `power`: commands over existing results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from irmeta.cli.app import (
    DAMAGED,
    DIFFERENT,
    CorrectionOption,
    CsvSafeOption,
    ForceOption,
    JudgedAtLeastOption,
    PathArgument,
    ResamplesOption,
    ResultsArgument,
    SeedOption,
    TracksOption,
    UnjudgedOption,
    WorkersOption,
    judged_share,
    one_measure,
)
from irmeta.cli.registered import command
from irmeta.show.notes import note

OutOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder for tables and figures.",
        show_default="in RESULTS, where reanalyze made it; else none are written",
    ),
]


@command(
    "irmeta diff before.parquet after.parquet --tolerance 1e-6",
)
def diff(
    a: Annotated[
        Path, typer.Argument(metavar="A", help="First file of results.", show_default=False)
    ],
    b: Annotated[
        Path, typer.Argument(metavar="B", help="Second file of results.", show_default=False)
    ],
    tolerance: Annotated[
        float, typer.Option(min=0, help="Largest difference that counts as equal.")
    ] = 1e-9,
) -> None:
    """Compare two result files: provenance and values. Exit with status 1 if values differ."""
    from irmeta.results.diff import diff as compared
    from irmeta.show.measures import print_difference

    difference = compared(a, b, tolerance)
    print_difference(difference, str(a), str(b))
    if not difference.same:
        raise typer.Exit(DIFFERENT)


@command(
    "irmeta check store/",
)
def check(path: PathArgument, workers: WorkersOption = None) -> None:
    """Verify the checksum of every file. Exit with status 1 if any file is damaged."""
    from irmeta.api.check import check_files
    from irmeta.show.batches import print_checked

    checked = check_files(path, workers=workers)
    print_checked(checked)
    if checked.problems.height:
        raise typer.Exit(DAMAGED)


@command(
    "irmeta compare results/ -m AP --test hsd-randomised",
    "irmeta compare my-table.csv --correction benjamini-hochberg",
)
def compare(
    results: ResultsArgument,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="Measure to compare, e.g. AP.")
    ] = None,
    test: Annotated[str, typer.Option(help="Test of the difference of two systems.")] = "t",
    correction: CorrectionOption = "none",
    alpha: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    track: TracksOption = None,
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = 0,
    less_is_better: Annotated[
        bool,
        typer.Option(
            "--less-is-better", help="Smaller values are better, for a measure unknown to irmeta."
        ),
    ] = False,
    unjudged: UnjudgedOption = False,
    judged_at_least: JudgedAtLeastOption = None,
    out: OutOption = None,
    csv_safe: CsvSafeOption = False,
    force: ForceOption = False,
) -> None:
    """Test all pairs of systems; mark the systems that no other is significantly better than."""
    from irmeta.api import significance
    from irmeta.api.matrices import consistent_read, made_from, unjudged_of
    from irmeta.show.significance_output import print_comparisons
    from irmeta.show.unjudged_output import print_unjudged

    at_least = judged_share(judged_at_least, unjudged)
    with consistent_read(results, track or None) as tracks:
        comparisons = significance.compare(
            results,
            one_measure(measure) if measure else None,
            test=test,
            track=tracks,
            correction=correction,
            alpha=alpha,
            resamples=resamples,
            rng=seed,
            less_is_better=less_is_better,
        )
        name = comparisons[0].pairs.measure
        compared = [one.pairs.track for one in comparisons]
        source = made_from(results, [name], compared)
        found = unjudged_of(results, compared) if unjudged else []
    print_comparisons(comparisons, csv_safe)
    print_unjudged(found, at_least)
    if out := out or significance.default_folder(results, "compare", f"{name}.{test}"):
        for path in significance.write_comparisons(comparisons, out, source, force=force):
            note(str(path))


@command(
    "irmeta power results/ --test t --test hsd --level 0.05",
)
def power(
    results: ResultsArgument,
    measures: Annotated[
        list[str] | None,
        typer.Option("-m", "--measures", help="Names of measures (repeatable); default all."),
    ] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test (repeatable); default t.")] = None,
    correction: CorrectionOption = "none",
    level: Annotated[
        list[float] | None, typer.Option(help="Significance level (repeatable).")
    ] = None,
    track: TracksOption = None,
    resamples: ResamplesOption = 10_000,
    seed: SeedOption = 0,
    out: OutOption = None,
    csv_safe: CsvSafeOption = False,
    force: ForceOption = False,
) -> None:
    """Count the significantly different pairs of systems by each measure."""
    from irmeta.api import significance
    from irmeta.api.matrices import consistent_read, made_from
    from irmeta.show.significance_output import print_power

    tests, levels = test or ["t"], level or significance.LEVELS
    with consistent_read(results, track or None) as tracks:
        shares, curves = significance.power(
            results,
            measures,
            tests=tests,
            track=tracks,
            levels=levels,
            correction=correction,
            resamples=resamples,
            rng=seed,
        )
        source = made_from(results, shares["measure"].unique(), shares["track"].unique())
    settings = {"tests": tests, "levels": list(levels), "correction": correction}
    settings |= {"resamples": resamples, "seed": seed}
    print_power(shares, csv_safe)
    if out := out or significance.default_folder(results, "power"):
        write = significance.write_power
        for path in write(shares, curves, out, source, settings, force=force):
            note(str(path))

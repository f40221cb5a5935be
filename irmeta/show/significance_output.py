"""Output of compare and power."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from irmeta.show.console import open_console, print_frame, print_table, print_text
from irmeta.show.notes import note

if TYPE_CHECKING:
    from irmeta.api.significance import Comparison


def print_comparisons(comparisons: Sequence[Comparison], csv_safe: bool = False) -> None:
    """Print the systems, best first, with a star where no system is significantly better."""
    if not sys.stdout.isatty():
        print_frame(pl.concat(_labelled(comparison) for comparison in comparisons), csv_safe)
    for comparison in comparisons:
        pairs = comparison.pairs
        summary = (
            f"{pairs.subject}, {pairs.test_text}: {pairs.separated_text(comparison.alpha)}; "
            f"{'greater' if pairs.direction > 0 else 'less'} is better"
        )
        if sys.stdout.isatty():
            top = pl.when("top").then(pl.lit("*")).otherwise(pl.lit("")).alias("top")
            console = open_console()
            print_table(console, comparison.systems.with_columns(top))
            print_text(console, f"{summary}; * none is better by the test", "bold")
        else:
            note(summary)


def _labelled(comparison: Comparison) -> pl.DataFrame:
    pairs = comparison.pairs
    named = {"track": pairs.track, "measure": pairs.measure, "test": pairs.test}
    labels = [pl.lit(value).alias(name) for name, value in named.items()]
    return comparison.systems.select(*labels, pl.all())


def print_power(frame: pl.DataFrame, csv_safe: bool = False) -> None:
    """Print the pairs, the significantly different pairs, and their percentage by level."""
    shown = frame.with_columns(percent=100 * pl.col("share")).drop("share")
    columns = [c for c in shown.columns if c not in ("percent", "median_p", "queries")]
    print_frame(shown.select(*columns, "percent", "median_p", "queries"), csv_safe)

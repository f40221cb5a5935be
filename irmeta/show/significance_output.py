"""Output of compare and power."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from irmeta.results.csv_text import to_csv
from irmeta.show.console import open_console, print_frame, print_table, print_text, write_to_pipe
from irmeta.show.frame_output import default_format
from irmeta.show.notes import note

if TYPE_CHECKING:
    from irmeta.api.comparisons import Comparison, Comparisons


def print_comparisons(
    comparisons: Comparisons, form: str | None, *, csv_safe: bool = False, digits: int = 4
) -> None:
    """Print the systems, best first, with the results of the tests.

    Parameters
    ----------
    form
        ``table`` or ``csv``: the systems of each comparison; ``latex``, ``siunitx``, ``markdown``,
        ``text``: one table of systems by measures. None: a table on a terminal, CSV in a pipe.
    """
    form = default_format(form, csv_safe)
    if form == "csv":
        write_to_pipe(to_csv(pl.concat(map(_labelled, comparisons)), safe=csv_safe))
    elif form != "table":
        to_form = {
            "latex": comparisons.to_latex,
            "siunitx": partial(comparisons.to_latex, siunitx=True),
            "markdown": comparisons.to_markdown,
        }
        write_to_pipe(to_form.get(form, comparisons.to_text)(digits))
    for one in comparisons:
        if form == "table":
            console = open_console()
            print_table(console, _starred(one.systems))
            more = "" if one.pairs.baseline is not None else "; * none is better by the test"
            print_text(console, f"{_summary(one)}{more}", "bold")
        else:
            note(_summary(one))


def _starred(systems: pl.DataFrame) -> pl.DataFrame:
    """Return systems with a star where no system is significantly better."""
    if "top" not in systems.columns:
        return systems
    return systems.with_columns(top=pl.when("top").then(pl.lit("*")).otherwise(pl.lit("")))


def _summary(comparison: Comparison) -> str:
    pairs = comparison.pairs
    against = "" if pairs.baseline is None else f" against {pairs.baseline}"
    return (
        f"{pairs.subject}, {pairs.test_text}{against}: {pairs.separated_text(comparison.alpha)}; "
        f"{'greater' if pairs.direction > 0 else 'less'} is better"
    )


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

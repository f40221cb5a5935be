"""Output of compare and power."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.phrases import count
from irmeta.show.console import open_console, print_table, print_table_of, print_text
from irmeta.show.display import Display
from irmeta.show.frame_output import Result
from irmeta.show.notes import note
from irmeta.show.score_output import without_zero_counts

if TYPE_CHECKING:
    from irmeta.api.comparisons import Comparison, Comparisons
    from irmeta.api.gates import Gate


_SETS = "rank_low, rank_high, tier"
_HEADINGS = {
    "conclusions": "Conclusions, and the conditions that undo or reverse them",
    "conditions": "Conclusions that each condition keeps",
    "best": "Systems that no other beats safely",
}


def print_comparisons(
    comparisons: Comparisons,
    made: Mapping[str, Any],
    display: Display,
    gate: Gate | None = None,
    notes: Sequence[str] = (),
    table: str = "systems",
) -> None:
    """Print or write the systems, best first, or the tested pairs with the results of the tests.

    LaTeX and Markdown have systems by measures. JSON also has the rows of a gate, the tables of
    robust comparisons, and the notes on runs.
    """
    robust, is_pairs = comparisons.robust_tables(), table == "pairs"
    first = {"pairs": comparisons.pair_frame()} if is_pairs else {}

    def show(digits: int) -> None:
        for one in comparisons:
            console, more = open_console(), ""
            if is_pairs:
                print_table(console, one.pairs.frame().drop(one.pairs.names()), digits=digits)
            else:
                print_table(console, starred(without_zero_counts(one.systems)), digits=digits)
            if one.pairs.baseline is None and not is_pairs:
                more = "; * none is better by the test; p of each pair: --table pairs"
            print_text(console, f"{_summary(one)}{more}", "bold")
            if one.relative_text:
                print_text(console, one.relative_text)
            if one.rank_sets is not None and not is_pairs:
                print_text(console, f"{_SETS}: {one.rank_sets.text}")
        for name, frame in robust.items():
            print_text(open_console(), f"{_HEADINGS[name]}:", "bold")
            print_table_of(frame, digits=digits)

    display.write(
        Result(
            "compare",
            first
            | {"systems": comparisons.frame()}
            | robust
            | ({} if gate is None else {"gate": gate.rows}),
            "Pairs of systems with the results of tests."
            if is_pairs
            else "Systems with the results of tests.",
            made,
            {"notes": list(notes)} | ({} if gate is None else {"passed": gate.passed}),
            show=show,
            grid=None if is_pairs else comparisons.table,
            comment=comparisons.made_text(),
        )
    )
    if display.form != "table":
        for one in comparisons:
            note(_summary(one))
            if one.relative_text:
                note(one.relative_text)
            if one.rank_sets is not None and not is_pairs:
                note(f"{_SETS}: {one.rank_sets.text}")
    if robust and display.form not in ("table", "json"):
        is_safe = robust["conclusions"]["safe"]
        note(
            f"{is_safe.sum():,} of {count(len(is_safe), 'conclusion')} safe; "
            "what undoes the others: --format json or table, or a folder of --out"
        )


def starred(systems: pl.DataFrame) -> pl.DataFrame:
    """Return systems with a star where no system is significantly better."""
    if "top" not in systems.columns:
        return systems
    return systems.with_columns(top=pl.when("top").then(pl.lit("*")).otherwise(pl.lit("")))


def _summary(comparison: Comparison) -> str:
    pairs = comparison.pairs
    against = "" if pairs.baseline is None else f" against {pairs.baseline}"
    family = f"; {pairs.family_text}" if pairs.family_text else ""
    return (
        f"{pairs.subject}, {pairs.test_text}{against}: {pairs.separated_text(comparison.alpha)}; "
        f"{'greater' if pairs.direction > 0 else 'less'} is better; "
        f"values within {pairs.tolerance:.2g} are equal{family}"
    )

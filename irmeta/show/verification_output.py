"""Output of verify."""

from __future__ import annotations

import sys

import polars as pl

from irmeta.errors import first_few
from irmeta.phrases import count
from irmeta.show.console import open_console, print_table, print_text
from irmeta.show.frame_output import print_frame_as
from irmeta.show.notes import note
from irmeta.verification.track_verifier import DIFFER
from irmeta.verification.verification import Verification

MOST_ROWS = 20  # values that differ without a known reason


def print_verification(found: Verification, form: str | None, *, csv_safe: bool = False) -> None:
    """Print a row per track; as a table, then also what differs, what is not ours, and why."""
    caption = "Published values that were recomputed."
    print_frame_as(found.tracks, form, caption=caption, csv_safe=csv_safe)
    if (form or ("table" if sys.stdout.isatty() else "csv")) == "table":
        _print_details(found)
    published, differ, explained = found.tracks.select(
        pl.col("published", "differ", "explained").sum()
    ).row(0)
    verb = "differs" if differ == 1 else "differ"
    note(
        f"irmeta: {differ:,} of {count(published, 'published value')} {verb}"
        f"{f' ({explained:,} explained)' if differ else ''}"
    )


def _print_details(found: Verification) -> None:
    console = open_console()
    is_open = (pl.col("verdict") == DIFFER) & pl.col("reason").is_null()
    unexplained = found.values.filter(is_open)
    if unexplained.height:
        print_text(console, "\nValues that differ without a known reason", "bold")
        shown = unexplained.head(MOST_ROWS).with_columns(
            value=pl.col("value").map_elements("{:.10g}".format, pl.String)
        )
        columns = ("track", "system", "query", "evaluator", "measure", "canonical")
        print_table(console, shown.select(*columns, "printed", "value"))
        if unexplained.height > MOST_ROWS:
            more = unexplained.height - MOST_ROWS
            print_text(console, f"... and {more:,} more: --out FILE writes all.")
    explained = found.reasons.drop_nulls("reason")
    if explained.height:
        print_text(console, "\nValues with a remark", "bold")
        print_table(console, explained)
    for (track, place), rows in found.unmatched.group_by(
        "track", "absent_from", maintain_order=True
    ):
        of = "not in the store" if place == "store" else "without a published value"
        listed = first_few(rows["system"].to_list(), "irmeta.verify(...).unmatched has all")
        print_text(console, f"\n{track}: {count(rows.height, 'system')} {of}: {listed}")

"""Output of verify."""

from __future__ import annotations

import polars as pl

from irmeta.archive.verification import DIFFER, Verification
from irmeta.errors import first_few
from irmeta.phrases import count
from irmeta.show.console import DIGITS, open_console, print_table, print_table_of, print_text
from irmeta.show.display import Display
from irmeta.show.frame_output import Result
from irmeta.show.notes import note

MOST_ROWS = 20  # values that differ without a known reason


def print_verification(found: Verification, display: Display) -> None:
    """Print a row per track, as text with what differs and why; write every value to a file."""

    def show(digits: int) -> None:
        print_table_of(found.tracks, digits=digits)
        _print_details(found)

    tables = {"tracks": found.tracks, "values": found.values, "unmatched": found.unmatched}
    if display.file is not None:
        tables = {"values": found.values, **tables}
    caption = "Published values that were recomputed."
    display.write(Result("verify", tables, caption, found.provenance, show=show))
    if display.file is not None:
        show(DIGITS)
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

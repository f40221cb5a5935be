"""Numbers printed in a paper, and notes on its contradictions, from files of the study."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from importlib.resources import files

from irmeta.schema.columns import Column, Table

FILE, NOTES = "paper_numbers.csv", "paper_notes.toml"
NAME = "paper_numbers"


def read_printed(package: str) -> tuple[dict[str, str], ...]:
    """Return the rows of ``paper_numbers.csv`` in a study's package.

    The columns are those of the table `paper_numbers`.
    """
    lines = files(package).joinpath(FILE).read_text(encoding="utf-8").splitlines()
    return tuple(csv.DictReader(lines))


def read_notes(package: str) -> dict[str, list[str]]:
    """Return the notes of ``paper_notes.toml`` in a study's package, by the name of their list."""
    return tomllib.loads(files(package).joinpath(NOTES).read_text(encoding="utf-8"))


def values_of(rows: Sequence[dict[str, str]]) -> dict[tuple[str, ...], str]:
    """Map the other columns of rows, e.g. (item, row, column), to the value as printed."""
    return {tuple(t for n, t in row.items() if n != "value"): row["value"] for row in rows}


def printed_numbers(
    item: str = "table or figure of the paper",
    row: str = "row of the table",
    column: str = "column of the table",
    collection: str = "",
) -> Table:
    """Return the table `paper_numbers`, with a column `collection` if that is described."""
    columns = {
        "item": Column("name", item),
        **({"collection": Column("name", collection)} if collection else {}),
        "row": Column("text", row),
        "column": Column("name", column),
    }
    value = Column("text", "number as printed", label="printed", format="paper")
    caption = "Numbers as printed in the paper."
    return Table(
        NAME, (*columns,), {**columns, "value": value}, caption=caption, by="all", folded=True
    )

"""The table of the numbers that a paper prints, which every study of a paper has."""

from __future__ import annotations

from irmeta.schema.columns import Column, Table


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
        "paper_numbers", (*columns,), {**columns, "value": value},
        caption=caption, by="all", folded=True,
    )  # fmt: skip

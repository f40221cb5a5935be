"""Delimited text: the reader of CSV and TSV, the writer of CSV, and the lines of pools."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from irmeta.errors import DataError

_FORMULA = r"^[=+\-@\t\r]"
_POOL_LINE = re.compile(rb"[^ ]+ 0 [^ \n]+\n")


def read_cells(
    content: bytes | Path,
    file: str = "",
    *,
    separator: str = ",",
    comments: int = 0,
    trim: bool = False,
) -> pl.DataFrame:
    """Read a table whose first line names its columns, all cells as text, empty ones as null.

    `content` is the text or a path, `file` its name in errors; `comments` lines precede the names,
    which `trim` strips of white space. Raises `DataError` for text that polars cannot read, and for
    equal names.
    """
    try:
        cells = pl.read_csv(content, infer_schema=False, skip_lines=comments, separator=separator)
        return cells.rename(str.strip) if trim else cells
    except pl.exceptions.PolarsError as error:
        why = {"why": str(error).strip().partition("\n")[0]}
        raise DataError("cannot be read as CSV ({why})", file=file, ids=why) from None


def rows_of(
    text: str, file: str, separator: str = ",", *, first: int = 1, fix: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line at which each row ends, and its cells; `DataError` at a field too long."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            yield first + reader.line_num - 1, row
    except csv.Error as error:
        line, why = first + max(0, reader.line_num - 1), {"why": str(error)}
        problem = "cannot be read as CSV ({why})"
        raise DataError(problem, file=file, line=line, ids=why, fix=fix) from None


def longer_row(rows: Iterator[tuple[int, list[str]]], fields: int) -> tuple[int, list[str]] | None:
    """Return the first row with more cells than `fields`, and its line."""
    return next(((line, row) for line, row in rows if len(row) > fields), None)


def natural_key(text: str) -> tuple[object, ...]:
    """Return a key that sorts the numbers in texts by value: q1, q2, q10."""
    parts = re.split(r"([0-9]+)", text)
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), text


def in_natural_order(frame: pl.DataFrame) -> pl.DataFrame:
    """Sort queries as people do (1, 2, 10), where rows are in the order of files (1, 10, 2).

    Rows in another order, such as that of a value, stay as they are, and so do the rows of a query.
    """
    if frame.schema.get("query") != pl.String():
        return frame
    before = frame.columns[: frame.columns.index("query")]
    part = pl.struct(before).rle_id() if before else pl.lit(0)
    order = sorted(frame["query"].drop_nulls().unique(), key=natural_key)
    place = pl.col("query").replace_strict(order, range(len(order)), return_dtype=pl.Int64)
    rows = frame.with_row_index("row").select("row", "query", part=part, place=place)
    is_as_in_files = rows.select("part", "query").equals(
        rows.select("part", "query").sort("part", "query", maintain_order=True)
    )
    return frame[rows.sort("part", "place", "row")["row"]] if is_as_in_files else frame


def joined_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """Join the texts of lists by commas."""
    return frame.with_columns(pl.selectors.list().list.join(", "))


def to_csv(frame: pl.DataFrame, *, safe: bool = False) -> str:
    """Return a frame as CSV, numbers with full precision and -0.0 as 0.0.

    `safe`: prefix an apostrophe to texts that a spreadsheet would run as a formula: those that
    begin with =, +, -, @, a tab or a carriage return.
    """
    if safe:
        marked = pl.selectors.string().str.replace(_FORMULA, "'$0")
        frame = frame.with_columns(marked)
    return frame.with_columns(pl.selectors.float() + 0.0).write_csv()


def pool_lines(docs: pl.DataFrame) -> str:
    """Return one line ``query 0 doc`` per row."""
    return "".join(docs.select(pl.format("{} 0 {}\n", "query", "doc")).to_series())


def is_pool(path: Path) -> bool:
    """Check whether a file is empty or begins with a line of a pool."""
    with path.open("rb") as file:
        line = file.readline(1 << 16)
    return not line or _POOL_LINE.fullmatch(line) is not None

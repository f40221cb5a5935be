"""Reader of CSV and TSV files with known columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

import polars as pl

from irmeta.errors import DataError, did_you_mean
from irmeta.trec.streams import InputFile
from irmeta.trec.text import read_text


def read_csv_rows(file: InputFile, columns: Sequence[str]) -> pl.DataFrame:
    """Read all cells of a file as text, and the line number at which each row ends.

    The file is tab-separated if its first line has a tab, else comma-separated. White space around
    a cell is dropped, and so are rows of empty cells.

    Parameters
    ----------
    file
        The file, compressed or not.
    columns
        The columns that it may have.

    Returns
    -------
    DataFrame
        line, and the columns of the file; null: an empty cell.

    Raises
    ------
    DataError
        If the file cannot be read as CSV, or has an unknown or repeated column or a row of another
        length.
    """
    name = file.name
    text = read_text(file)[0].decode()
    delimiter = "\t" if "\t" in text.lstrip("\r\n ").split("\n", 1)[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [(reader.line_num, [cell.strip() or None for cell in row]) for row in reader]
    except csv.Error as error:
        line, why = reader.line_num, {"why": str(error)}
        raise DataError("cannot be read as CSV ({why})", file=name, line=line, ids=why) from None
    rows = [(line, row) for line, row in rows if any(row)]
    header = [str(cell) for cell in rows[0][1]] if rows else []
    for i, column in enumerate(header):
        if column not in columns:
            hint = did_you_mean(column, columns)
            raise DataError("is not a known column", file=name, value=column, fix=hint)
        if column in header[:i]:
            raise DataError("two columns have the same name", file=name, value=column)
    for line, row in rows[1:]:
        if len(row) != len(header):
            problem = f"{len(row)} fields where the first line has {len(header)}"
            value = delimiter.join(cell or "" for cell in row)
            raise DataError(problem, file=name, line=line, value=value)
    schema = {"line": pl.Int64, **dict.fromkeys(header, pl.String)}
    return pl.DataFrame([(line, *row) for line, row in rows[1:]], schema=schema, orient="row")


def refuse_rows(frame: pl.DataFrame, problems: Mapping[str, pl.Expr], file: str) -> None:
    """Raise an error for the first row that meets one of several conditions.

    Parameters
    ----------
    frame
        Rows of `read_csv_rows`.
    problems
        Conditions, by what is wrong where they are true.

    Raises
    ------
    DataError
        With the line and the cells of the row.
    """
    for problem, condition in problems.items():
        rows = frame.filter(condition)
        if rows.height:
            line, *cells = rows.row(0)
            value = ",".join(cell or "" for cell in cells)
            raise DataError(problem, file=file, line=line, value=value)

"""Output of frames in the formats that commands share."""

from __future__ import annotations

import sys

import polars as pl

from irmeta._version import __version__
from irmeta.errors import UsageError
from irmeta.escapes import escape_json
from irmeta.report.latex import to_latex
from irmeta.report.plain_tables import to_markdown
from irmeta.report.table_grid import ABSENT, Cell, Grid, Head
from irmeta.results.csv_text import to_csv
from irmeta.show.console import print_table_of, write_to_pipe

DIGITS = 6


def default_format(form: str | None, csv_safe: bool = False) -> str:
    """Return the format asked for; by default a table on a terminal, CSV in a pipe.

    Raises
    ------
    UsageError
        If `csv_safe` is asked of another format than CSV.
    """
    form = form or ("table" if sys.stdout.isatty() else "csv")
    if csv_safe and form != "csv":
        raise UsageError(f"--csv-safe applies only to CSV, not to {form}.")
    return form


def print_plain(
    frame: pl.DataFrame, form: str, *, digits: int | None = None, csv_safe: bool = False
) -> None:
    """Print a frame as ``table``, ``csv`` or ``json``, in the last with all digits by default."""
    places = DIGITS if digits is None else digits
    if form == "table":
        print_table_of(frame, digits=places)
    elif form == "csv":
        rounded = frame.with_columns(pl.selectors.float().round(places))
        write_to_pipe(to_csv(rounded, safe=csv_safe))
    else:
        if digits is not None:
            frame = frame.with_columns(pl.selectors.float().round(digits))
        rows = ",\n".join(frame.write_ndjson().splitlines())
        write_to_pipe(escape_json(f"[\n{rows}\n]\n"))


def print_frame_as(
    frame: pl.DataFrame,
    form: str | None,
    *,
    caption: str,
    csv_safe: bool = False,
) -> None:
    """Print a frame of texts and counts in any of the formats, ``markdown`` and ``latex`` too."""
    form = default_format(form, csv_safe)
    if form in ("table", "csv", "json"):
        print_plain(frame, form, csv_safe=csv_safe)
    elif form == "markdown":
        write_to_pipe(to_markdown(_grid(frame, caption)))
    else:
        write_to_pipe(to_latex(_grid(frame, caption), made=[f"irmeta {__version__}"]))


def _grid(frame: pl.DataFrame, caption: str) -> Grid:
    head = tuple(
        Head(name.replace("_", " "), name, is_text=not dtype.is_numeric())
        for name, dtype in frame.schema.items()
    )
    rows = tuple(tuple(map(_cell, row)) for row in frame.iter_rows())
    return Grid("frame", caption, head, rows)


def _cell(value: str | int | None) -> Cell:
    return Cell(ABSENT if value is None else f"{value:,}" if isinstance(value, int) else value)

"""Tables and lines on standard output."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from irmeta.escapes import escape_name, escape_text
from irmeta.files import discard_output
from irmeta.show.advice import in_options

if TYPE_CHECKING:
    from rich.console import Console

MOST_ROWS = 500  # of a frame on a terminal
DIGITS = 6  # decimal places


def print_table_of(frame: pl.DataFrame, digits: int = DIGITS) -> None:
    """Print a table; on a terminal, its first 500 rows, and the number of the others."""
    console = open_console()
    most = MOST_ROWS if sys.stdout.isatty() else frame.height
    print_table(console, frame.head(most), digits=digits)
    if frame.height > most:
        left = frame.height - most
        console.print(f"... and {left:,} rows more: a pipe or a file receives all of them.")


def write_to_pipe(text: str) -> None:
    """Write text to standard output, whose reader may stop reading."""
    with _open_pipe():
        sys.stdout.write(text)
        sys.stdout.flush()


def write_bytes_to_pipe(data: bytes) -> None:
    """Write bytes to standard output, whose reader may stop reading."""
    with _open_pipe():
        sys.stdout.buffer.write(data)
        sys.stdout.flush()


@contextmanager
def _open_pipe() -> Generator[None]:
    try:
        yield
    except BrokenPipeError:  # the reader, such as `head`, closed the pipe
        discard_output()


def open_console() -> Console:
    """Return a console as wide as the terminal; in a pipe, wide enough for any line."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=1000)


def print_table(
    console: Console, frame: pl.DataFrame, fit: bool = False, digits: int = DIGITS
) -> None:
    """Print one line per row; with `fit`, wrap long texts to the width of the terminal."""
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, dtype in frame.schema.items():
        heading = escape(escape_name(name.replace("_", " ")))
        justify = "right" if dtype.is_numeric() else "left"
        table.add_column(heading, justify=justify, overflow="fold")
    for row in frame.iter_rows():
        table.add_row(*(escape(cell_text(value, digits)) for value in row))
    # Lines that are too wide for the terminal wrap, because truncated numbers would mislead.
    boundless = console.options.update(max_width=10_000)
    widest = Measurement.get(console, boundless, table).maximum
    console.width = console.width if fit else max(console.width, widest)
    console.print(table)


def cell_text(value: object, digits: int) -> str:
    """Return a value as text; floats have `digits` decimal places, or two significant digits."""
    if value is None:
        return "-"
    if isinstance(value, float):
        is_tiny = 0.0 < abs(value) < 0.5 * 10.0**-digits
        return f"{value:.1e}" if is_tiny else f"{value:z.{digits}f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape_name(str(value))


def print_text(console: Console, text: str, style: str = "") -> None:
    """Print lines without markup, because ids may contain text that rich reads as markup."""
    text = escape_text(in_options(text), keep="\n")
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def counted(column: str, what: str) -> pl.Expr:
    """Return a column's count with its label, null where the count is 0."""
    return pl.when(pl.col(column) > 0).then(pl.format(what + " {}", column))

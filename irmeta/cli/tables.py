"""Tables and lines on standard output, and results in the formats that all commands share."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta._version import __version__
from irmeta.cli.display import Display
from irmeta.cli.notes import in_options, note
from irmeta.delimited import in_natural_order, joined_lists, to_csv
from irmeta.errors import UsageError
from irmeta.escapes import escape_text
from irmeta.files import discard_output
from irmeta.report.table_grid import ABSENT, Cell, Grid, Head
from irmeta.results.tidy_files import tables_json
from irmeta.summaries import (
    DIGITS,
    MOST_PRINTED,
    Line,
    Part,
    column_text,
    print_table,
)
from irmeta.trec.system_names import printed_names

if TYPE_CHECKING:
    from rich.console import Console


def print_table_of(frame: pl.DataFrame, digits: int = DIGITS) -> None:
    """Print a table; on a terminal, its first 500 rows, and the number of the others."""
    console, frame = open_console(), in_natural_order(frame)
    most = MOST_PRINTED if sys.stdout.isatty() else frame.height
    print_table(console, frame.head(most), digits=digits)
    if frame.height > most:
        left = frame.height - most
        console.print(f"... and {left:,} rows more: a pipe or a file receives all of them.")


def write_to_pipe(text: str) -> None:
    """Write text to standard output, whose reader may stop reading."""
    with _open_pipe():
        sys.stdout.write(text)
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


def print_parts(parts: Iterable[Part], digits: int = DIGITS) -> None:
    """Print lines, with advice as options of the running command, and tables."""
    console = open_console()
    for part in parts:
        if isinstance(part, Line):
            more = part.of_bold if console.is_terminal else ""
            print_text(console, part.text + more, part.style)
        else:
            print_table(open_console(), part.frame, digits=digits, right=part.right, bold=part.bold)


def print_text(console: Console, text: str, style: str = "") -> None:
    """Print lines without markup, because ids may contain text that rich reads as markup."""
    text = escape_text(in_options(text), keep="\n")
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def counted(column: str, what: str) -> pl.Expr:
    """Return a column's count with its label, null where the count is 0."""
    return pl.when(pl.col(column) > 0).then(pl.format(what + " {}", column))


PAPER_DIGITS = 4


@dataclass(frozen=True)
class Result:
    """Result of a command.

    Attributes
    ----------
    command
        Name of the command.
    tables
        Tables by name. The first is printed, or written to a file; JSON has all.
    caption
        Caption of the table in LaTeX and Markdown.
    made
        Provenance as JSON values, as in the metadata of a Parquet file.
    facts
        Further facts as JSON values, by name.
    show
        Prints the result as text, floats with some decimal places; default the first table.
    grid
        Returns the table for a paper, or several, floats with some decimal places, systems by the
        names of a file; default the first table.
    comment
        Comment in LaTeX: what the table is made from.
    remark
        Sentence that follows the caption in LaTeX and Markdown, and --caption.
    """

    command: str
    tables: Mapping[str, pl.DataFrame]
    caption: str
    made: Mapping[str, Any]
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    show: Callable[[int], object] | None = None
    grid: Callable[[int, str | None], Grid | Sequence[Grid]] | None = None
    comment: str = f"irmeta {__version__}"
    remark: str = ""

    @property
    def frame(self) -> pl.DataFrame:
        """The first table."""
        return next(iter(self.tables.values()))


def write_result(result: Result, display: Display) -> None:
    """Print a result, or write it to a file and report its number of rows."""
    if display.file is not None:
        _write_file(result, display, display.file)
    elif display.form == "table":
        digits = DIGITS if display.digits is None else display.digits
        if result.show is None:
            print_table_of(result.frame, digits=digits)
        else:
            result.show(digits)
    elif display.form == "parquet":
        data = _parquet(result)
        with _open_pipe():
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
    else:
        write_to_pipe(_text(result, display))


def _write_file(result: Result, display: Display, path: Path) -> None:
    from irmeta.files import check_ours, remove_temporaries, write_text
    from irmeta.results.tidy_files import write_out

    provenance = dict(result.made)
    if display.form in ("csv", "parquet"):
        frame = result.frame if display.form == "parquet" else joined_lists(result.frame)
        write_out(frame, path, provenance, force=display.force, csv_safe=display.csv_safe)
    else:
        check_ours(path, force=display.force)
        remove_temporaries(path.parent)
        write_text(path, _text(result, display))
    note(f"{result.frame.height:,} rows in {path}")


def _text(result: Result, display: Display) -> str:
    """Return a result as CSV, JSON, Markdown or LaTeX."""
    digits = display.digits
    if display.form == "csv":
        frame = joined_lists(result.frame)
        if display.file is None:
            frame = _rounded(frame, DIGITS if digits is None else digits)
        return to_csv(frame, safe=display.csv_safe)
    if display.form == "json":
        return tables_json(result.command, result.tables, result.made, result.facts, digits)
    from irmeta.report.latex import to_latex
    from irmeta.report.table_grid import to_markdown

    places = PAPER_DIGITS if digits is None else digits
    for_print = (result.grid or partial(_grid, result))(places, display.system_names)
    grids = [for_print] if isinstance(for_print, Grid) else [*for_print]
    grids = [replace(grid, caption=display.caption or grid.caption) for grid in grids]
    if display.form == "markdown":
        mark = "" if display.file is None else f"\n<!-- irmeta {__version__} -->\n"
        return "\n\n".join(map(to_markdown, grids)) + mark
    is_siunitx = display.form == "siunitx"
    labels = [display.label, *(display.label and f"{display.label}-{n}" for n in range(2, 99))]
    return "\n".join(
        to_latex(grid, label=label, made=[result.comment], siunitx=is_siunitx)
        for grid, label in zip(grids, labels, strict=False)
    )


def _rounded(frame: pl.DataFrame, digits: int) -> pl.DataFrame:
    """Round floats to some decimal places; two significant digits where they would become 0."""
    value = pl.selectors.float()
    is_tiny = (value.abs() < 0.5 * 10.0**-digits) & (value != 0)
    return frame.with_columns(
        pl.when(is_tiny).then(value.round_sig_figs(2)).otherwise(value.round(digits))
    )


def _parquet(result: Result) -> bytes:
    from irmeta.results.tidy_files import write_parquet

    with TemporaryDirectory() as folder:
        path = Path(folder) / "result.parquet"
        write_parquet(result.frame, path, None, result.made)
        return path.read_bytes()


def _grid(result: Result, digits: int, system_names: str | None) -> Grid:
    """Return the first table as a table for a paper."""
    frame = joined_lists(in_natural_order(result.frame))
    head = tuple(
        Head(name.replace("_", " "), name, is_text=not dtype.is_numeric())
        for name, dtype in frame.schema.items()
    )
    rows = tuple(
        tuple(_cell(name, value, digits) for name, value in zip(frame.columns, row, strict=True))
        for row in frame.iter_rows()
    )
    notes = (result.remark,) if result.remark else ()
    grid = Grid(next(iter(result.tables)), result.caption, head, rows, notes)
    return grid if system_names is None else with_system_names(grid, system_names)


def _cell(column: str, value: object, digits: int) -> Cell:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return Cell(ABSENT)
    text = column_text(column, value, digits)
    return Cell(text.replace("-", "\u2212") if isinstance(value, int | float) else text)


SYSTEM_COLUMNS = ("system", "system_a", "system_b", "baseline", "better", "worse", "other")
"""Columns of tables that name systems."""


def with_system_names(grid: Grid, file: str) -> Grid:
    """Return a table whose columns of systems have the names of `printed_names`."""
    places = [i for i, head in enumerate(grid.head) if head.column in SYSTEM_COLUMNS]
    if not places:
        raise UsageError("the table has no column of systems: omit `system_names`.")
    printed = printed_names(file, (row[i].text for row in grid.rows for i in places))
    rows = (
        tuple(
            cell._replace(text=printed.get(cell.text, cell.text)) if i in places else cell
            for i, cell in enumerate(row)
        )
        for row in grid.rows
    )
    return replace(grid, rows=tuple(rows))

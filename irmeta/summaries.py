"""Results at a prompt, in a notebook and on a terminal: their lines, tables and frames."""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from io import StringIO
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from irmeta.errors import UsageError
from irmeta.escapes import escape_name, escape_text

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

LONGEST = 300  # characters of a title
MOST_PRINTED = 500  # rows of a printed table
MOST_ROWS = 30  # of a table at a prompt or in a notebook
MOST_ITEMS = 5  # of a list at a prompt or in a notebook
MOST_TERMS = 40  # of a printed sum, unless all are asked for
DIGITS = 6  # decimal places
AS_GIVEN = ("level", "max_drop")
"""Columns of numbers that a user gave, which print as given."""


class Line(NamedTuple):
    """A line of text, or several.

    `style` (``bold``, ``dim``) is for terminals; `of_bold` follows where bold rows can be seen, and
    says what they are.
    """

    text: str
    style: str = ""
    of_bold: str = ""


class Rows(NamedTuple):
    """A table.

    The columns of text named `right` are aligned as numbers are. Rows that `bold` names are bold on
    a terminal and in a notebook; plain text has no such mark.
    """

    frame: pl.DataFrame
    right: Collection[str] = ()
    bold: Sequence[bool | None] = ()


Part = Line | Rows


class Summary(NamedTuple):
    """Title of a result: its subject, and facts such as "20 systems"."""

    subject: str
    facts: Sequence[str] = ()


class Summarized(ABC):
    """Base class of what is shown at a prompt, in a notebook and by commands."""

    @abstractmethod
    def _summary(self) -> Summary:
        """Return the subject and the facts of the title."""

    def parts(self, digits: int | None = None, every: bool = False) -> Iterable[Part]:
        """Return the lines and tables that commands print, and a prompt shows below the title.

        Parameters
        ----------
        digits
            Decimal places of numbers that are part of texts; default that of the result.
        every
            Whether all terms of a sum are in the table, instead of the first 40.
        """
        return ()

    def __repr__(self) -> str:
        return self._text(MOST_ROWS)

    def __str__(self) -> str:
        return self._text(MOST_PRINTED)

    def _text(self, most: int) -> str:
        subject, facts = self._summary()
        title = f"{subject}{': ' if subject and facts else ''}{', '.join(facts)}"
        title = _cut(f"{type(self).__name__}({escape_text(title)}", LONGEST - 1) + ")"
        return "\n".join([title, *_as_text(self.parts(), most)])

    def _repr_html_(self) -> str:
        subject, facts = self._summary()
        title = [f"<b>{type(self).__name__}</b> {_escaped(subject)}", *map(_escaped, facts)]
        parts = [
            _lines_html(part) if isinstance(part, Line) else _table_html(part)
            for part in self.parts()
        ]
        return "".join([f"<div>{'<br>'.join(title)}</div>", *parts])


class Framed(ABC):
    """Base class of what can be had as a frame."""

    @abstractmethod
    def frame(self) -> pl.DataFrame:
        """Return the result as a tidy frame."""

    def to_pandas(self) -> Any:
        """Return `frame` as a frame of pandas.

        Raises
        ------
        UsageError
            If pandas is not installed.
        """
        try:
            import pandas as _  # noqa: F401
        except ImportError:
            raise UsageError("`to_pandas` needs pandas: pip install pandas.") from None
        return self.frame().to_pandas()


class Result(Summarized, Framed):
    """Base class of results: a title, the lines and tables that commands print, and a frame."""

    def parts(self, digits: int | None = None, every: bool = False) -> Iterable[Part]:
        """Return the lines and tables to print: see `Summarized.parts`."""
        yield Rows(self._table())

    def _table(self) -> pl.DataFrame:
        """Return the table to show."""
        return self.frame()


Item = TypeVar("Item", bound=Result)


class SummaryList(list[Item], Framed):
    """List of results that is shown by its first items; printed, by all."""

    def frame(self) -> pl.DataFrame:
        """Return the frames of all results, one below the other."""
        import polars as pl

        return pl.concat([item.frame() for item in self] or [pl.DataFrame()], how="diagonal")

    def __repr__(self) -> str:
        return "\n\n".join([*map(repr, self[:MOST_ITEMS]), *self._more()]) or "[]"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self)) or "[]"

    def _repr_html_(self) -> str:
        more = (f"<div>{text}</div>" for text in self._more())
        shown: list[Any] = self[:MOST_ITEMS]
        return "".join([*(item._repr_html_() for item in shown), *more])

    def _more(self) -> list[str]:
        more = len(self) - MOST_ITEMS
        return [f"... and {more:,} more"] if more > 0 else []


def hidden_text(terms: int, amount: float) -> str:
    """Return how many terms of a sum are not printed, and what they add."""
    return f"... {terms} more terms add {amount:.6g}."


def print_table(
    console: Console,
    frame: pl.DataFrame,
    fit: bool = False,
    digits: int = DIGITS,
    right: Collection[str] = (),
    bold: Sequence[bool | None] = (),
) -> None:
    """Print one line per row; with `fit`, wrap long texts to the width of the terminal.

    For `right` and `bold` see `Rows`.
    """
    from rich.markup import escape
    from rich.measure import Measurement
    from rich.table import Table

    from irmeta.delimited import in_natural_order, joined_lists

    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading, is_right in _headings(frame, right):
        justify = "right" if is_right else "left"
        table.add_column(escape(heading), justify=justify, overflow="fold")
    frame = in_natural_order(joined_lists(frame))
    for row, is_bold in zip_longest(frame.iter_rows(), bold[: frame.height]):
        cells = zip(frame.columns, row, strict=True)
        texts = (escape(column_text(name, value, digits)) for name, value in cells)
        table.add_row(*texts, style="bold" if is_bold else None)
    # Lines that are too wide for the terminal wrap, because truncated numbers would mislead.
    boundless = console.options.update(max_width=10_000)
    widest = Measurement.get(console, boundless, table).maximum
    console.width = console.width if fit else max(console.width, widest)
    console.print(table)


def column_text(column: str, value: object, digits: int) -> str:
    """Return a value of a column as text; a number that a user gave prints as given."""
    is_given = column in AS_GIVEN and isinstance(value, float)
    return f"{value:g}" if is_given else cell_text(value, digits)


def cell_text(value: object, digits: int) -> str:
    """Return a value as text; floats have `digits` decimal places, or two significant digits.

    A null and NaN are dashes.
    """
    if value is None:
        return "-"
    if isinstance(value, float):
        is_tiny = 0.0 < abs(value) < 0.5 * 10.0**-digits
        number = f"{value:.1e}" if is_tiny else f"{value:z.{digits}f}"
        return "-" if math.isnan(value) else number
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape_name(str(value))


def _headings(frame: pl.DataFrame, right: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield the heading of each column, and whether it is aligned at the right."""
    for name, dtype in frame.schema.items():
        heading = name if " " in name else name.replace("_", " ")
        yield escape_name(heading), dtype.is_numeric() or name in right


def _as_text(parts: Iterable[Part], most: int) -> Iterator[str]:
    """Yield the lines of parts as plain text, with the first rows of each table."""
    for part in parts:
        if isinstance(part, Line):
            yield from escape_text(part.text, keep="\n").strip("\n").split("\n")
            continue
        from rich.console import Console

        written = StringIO()
        console = Console(file=written, width=1000, color_system=None, force_jupyter=False)
        print_table(console, part.frame.head(most), right=part.right)
        yield from (line.rstrip() for line in written.getvalue().rstrip("\n").split("\n"))
        yield from _rows_left(part.frame, most)


def _rows_left(frame: pl.DataFrame, most: int) -> list[str]:
    left = frame.height - most
    return [f"... and {left:,} more rows; the frame has all"] if left > 0 else []


def _lines_html(part: Line) -> str:
    text = escape_text(part.text.strip() + part.of_bold, keep="\n")
    return f"<div>{html.escape(text).replace(chr(10), '<br>')}</div>" if text else ""


def _table_html(part: Rows) -> str:
    """Return the first rows of a table as HTML, with escaped names."""
    from irmeta.delimited import joined_lists

    aligned = list(_headings(part.frame, part.right))
    sides = [f' style="text-align:{"right" if is_right else "left"}"' for _, is_right in aligned]

    def line(tag: str, texts: Iterable[str]) -> str:
        cells = zip(sides, texts, strict=True)
        return "".join(f"<{tag}{side}>{_escaped(text)}</{tag}>" for side, text in cells)

    shown, rows = joined_lists(part.frame.head(MOST_ROWS)), list[str]()
    for row, is_bold in zip_longest(shown.iter_rows(), part.bold[:MOST_ROWS]):
        cells = zip(shown.columns, row, strict=True)
        style = ' style="font-weight:bold"' if is_bold else ""
        texts = (column_text(name, value, DIGITS) for name, value in cells)
        rows.append(f"<tr{style}>{line('td', texts)}</tr>")
    head = line("th", (heading for heading, _ in aligned))
    left = "".join(f"<small>{text}</small>" for text in _rows_left(part.frame, MOST_ROWS))
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f'<table class="dataframe">{table}</table>{left}'


def _escaped(text: str) -> str:
    return html.escape(escape_text(_cut(text, LONGEST)))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}\u2026"

"""Text and HTML representations of results, for a Python prompt and a notebook."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from irmeta.escapes import escape_text

if TYPE_CHECKING:
    import polars as pl

LONGEST = 300  # characters of a text
LONGEST_NAME = 80  # characters of a name or of a table's cell
MOST_ROWS = 10  # of a table
MOST_ITEMS = 5  # of a list

Item = TypeVar("Item")


class Summary(NamedTuple):
    """Subject of a result, facts such as "20 systems", and a function that returns its table.

    The text representation needs no table, so it is computed only for HTML.
    """

    subject: str
    facts: Sequence[str]
    table: Callable[[], pl.DataFrame] | None = None


class Summarized(ABC):
    """Base class of results with a one-line `repr` and an HTML representation for notebooks."""

    @abstractmethod
    def _summary(self) -> Summary:
        """Return the subject, facts and table to show."""

    def __repr__(self) -> str:
        subject, facts, _ = self._summary()
        inside = f"{subject}{': ' if subject else ''}{', '.join(facts)}"
        return _cut(f"{type(self).__name__}({escape_text(inside)}", LONGEST - 1) + ")"

    def _repr_html_(self) -> str:
        return self.summary_html()

    def summary_html(self) -> str:
        """Return the HTML that a notebook shows."""
        summary = self._summary()
        lines = [f"<b>{type(self).__name__}</b> {_escaped(summary.subject)}"]
        lines += map(_escaped, summary.facts)
        below = "" if summary.table is None else _table_html(summary.table())
        return f"<div>{'<br>'.join(lines)}</div>{below}"


class SummaryList(list[Item]):
    """List whose representations show only its first items."""

    def __repr__(self) -> str:
        return f"[{', '.join([*map(repr, self[:MOST_ITEMS]), *self._more()])}]"

    def _repr_html_(self) -> str:
        shown = (item for item in self[:MOST_ITEMS] if isinstance(item, Summarized))
        more = (f"<div>{text}</div>" for text in self._more())
        return "".join([*(item.summary_html() for item in shown), *more])

    def _more(self) -> list[str]:
        more = len(self) - MOST_ITEMS
        return [f"... and {more:,} more"] if more > 0 else []


def _table_html(frame: pl.DataFrame) -> str:
    """Return the first rows of a frame as HTML, with escaped names."""
    import polars as pl
    import polars.selectors as cs

    # polars escapes HTML, but leaves characters that reorder text
    rows = frame.head(MOST_ROWS).with_columns(
        (cs.string() | cs.categorical() | cs.enum())
        .cast(pl.String)
        .map_elements(escape_text, pl.String)
    )
    shown = rows.rename({name: escape_text(name) for name in rows.columns})
    with pl.Config(
        tbl_rows=MOST_ROWS,
        tbl_cols=20,
        tbl_hide_column_data_types=True,
        tbl_hide_dataframe_shape=True,
        fmt_str_lengths=LONGEST_NAME,
    ):
        # polars has no public function that renders a table as HTML
        table = shown._repr_html_()  # pyright: ignore[reportPrivateUsage]
    more = frame.height - shown.height
    return table + (f"<small>... and {more:,} more rows</small>" if more else "")


def _escaped(text: str) -> str:
    return html.escape(escape_text(_cut(text, LONGEST)))


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}\u2026"

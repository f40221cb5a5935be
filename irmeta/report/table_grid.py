"""Tables as cells of text, and the scale of their sparklines, for the page and for LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl

from irmeta.schema.columns import Column, Display, Table, paper_column

ABSENT = "\u2014"
DAGGER, DOUBLE_DAGGER = "\u2020", "\u2021"
FORMATS: Mapping[str, str] = {"score": ".4f", "length": ",.1f", "count": ",.0f", "percent": ".0%"}
BEST = "Best values in bold."
BEHIND = ("%", "x")  # units that are printed behind each value


class Cell(NamedTuple):
    """One cell.

    Attributes
    ----------
    picture
        Worst, median and best value, from 0 to 100, drawn in place of the text.
    is_paper
        Whether the text is the paper's, instead of ours.
    title
        Tooltip.
    is_best
        Whether the text is bold, as the best of its column.
    marks
        Superscript behind the text.
    """

    text: str
    picture: tuple[float, float, float] | None = None
    is_paper: bool = False
    title: str = ""
    is_best: bool = False
    marks: str = ""


@dataclass(frozen=True)
class Head:
    """The heading of a column of cells.

    Attributes
    ----------
    column
        The table's column; empty for the paper's numbers.
    group
        Heading over several neighbouring columns.
    on_page_only
        Whether LaTeX leaves the column out.
    is_key
        Whether the column identifies the rows, and is repeated in each panel of a wide table.
    """

    label: str
    column: str
    is_text: bool
    group: str = ""
    on_page_only: bool = False
    is_key: bool = False


@dataclass(frozen=True)
class Grid:
    """A table as cells.

    Attributes
    ----------
    name, caption
        Name of the LaTeX file, and description of the table.
    notes
        Sentences below the table, and in the caption of LaTeX.
    hints
        Sentences below the table on the page.
    folded
        Whether the page shows it on request only.
    in_latex
        Whether the table is also written as LaTeX.
    """

    name: str
    caption: str
    head: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    folded: bool = False
    in_latex: bool = True

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings over several columns: see `spans`."""
        return spans(self.head)

    @property
    def has_best(self) -> bool:
        """Whether a cell is the best of its column."""
        return any(cell.is_best for row in self.rows for cell in row)


def spans(heads: Sequence[Head]) -> list[tuple[str, int]]:
    """Return headings over several columns, with the number of columns; empty without a pivot."""
    groups: list[tuple[str, int]] = []
    for head in heads:
        if groups and groups[-1][0] == head.group:
            groups[-1] = head.group, groups[-1][1] + 1
        else:
            groups.append((head.group, 1))
    return groups if any(group for group, _ in groups) else []


def grid(
    table: Table,
    frame: pl.DataFrame,
    *,
    columns: Sequence[str] = (),
    pivot: str = "",
    name: str = "",
    caption: str = "",
    display: Callable[[str], Display] = lambda measure: Display(),
) -> Grid:
    """Return the cells of a table.

    Parameters
    ----------
    table, frame
        The declaration, and rows of the table.
    columns
        The columns to show, in order; default: all columns that the table declares as shown.
    pivot
        A column whose values become groups of columns. The shown columns before the pivot identify
        the rows; the columns after the pivot repeat for each value.
    name, caption
        Name and caption; default: the table's.
    display
        Function from a measure to how its values are shown.
    """
    shown = list(columns) or [n for n, c in table.columns.items() if c.show != "none"]
    made = _Cells(table, display)
    if pivot:
        head, rows = _pivoted(made, frame, shown, pivot)
    else:
        head = [*map(made.head, shown)]
        rows = [made.row(row, shown) for row in frame.iter_rows(named=True)]
        if table.paper:
            head, rows = _with_paper(
                head, rows, [made.paper(r) for r in frame.iter_rows(named=True)]
            )
    has_dagger = any(cell.text.endswith(DAGGER) for row in rows for cell in row)
    notes = (f"{DAGGER} {table.note}",) if has_dagger and table.note else ()
    given = name or table.name, caption or table.caption
    cells = tuple(map(tuple, rows))
    is_best = any(cell.is_best for row in cells for cell in row)
    hints = (*made.scales, *[BEST] * is_best)
    return Grid(*given, tuple(head), cells, notes, hints, table.folded, table.latex)


class _Cells:
    """Cells of one table."""

    def __init__(self, table: Table, display: Callable[[str], Display]) -> None:
        self._table, self.display = table, display
        self.scales: list[str] = []

    def head(self, name: str, group: str = "") -> Head:
        column = self._table.columns[name]
        label = column.label or name.replace("_", " ")
        if group and column.format == "range":
            label = "worst to best"
        is_key = name in self._table.key
        return Head(label, name, column.is_text, group, column.show == "page", is_key)

    def row(self, row: Mapping[str, Any], names: Sequence[str]) -> list[Cell]:
        return [self.cell(row, name) for name in names]

    def paper(self, row: Mapping[str, Any]) -> Cell:
        """Return the paper's numbers of a row, in one cell."""
        key = tuple(row[name] for name in self._table.key if name != "track")
        printed = [n for c in self._table.paper.values() if (n := c.get(key)) is not None]
        where = "; ".join(dict.fromkeys(number.where for number in printed))
        texts = (row[paper_column(name)] for name in self._table.paper)
        text = ", ".join(text for text in texts if text)
        return Cell(text or ABSENT, is_paper=True, title=where)

    def cell(self, row: Mapping[str, Any], name: str, scale: Scale | None = None) -> Cell:
        column = self._table.columns[name]
        if column.format == "range" and scale is not None and column.span is not None:
            return Cell("", picture=scale.picture(*(row[n] for n in (name, *column.span))))
        form = column.format
        if form in ("measure", "range"):
            form = self.display(row["measure"]).format
        text = format_value(row[name], column, form)
        if column.span is not None and text != ABSENT and column.format != "range":
            low, high = (format_value(row[end], column, form, bare=True) for end in column.span)
            if ABSENT not in (low, high):
                text = f"{text} ({low} to {high})"
        if column.dagger and row[column.dagger]:
            text += DAGGER
        text += _arrow(row) if name == "measure" else ""
        is_best = bool(column.best) and row[column.best] == 1
        return Cell(text, is_paper=form == "paper", is_best=is_best)


def _with_paper(
    head: list[Head], rows: list[list[Cell]], paper: list[Cell]
) -> tuple[list[Head], list[list[Cell]]]:
    """Add the paper's numbers, if the paper has any of these rows."""
    if all(cell.text == ABSENT for cell in paper):
        return head, rows
    added = [[*row, cell] for row, cell in zip(rows, paper, strict=True)]
    return [*head, Head("the paper", "", is_text=True)], added


def _pivoted(
    made: _Cells, frame: pl.DataFrame, shown: Sequence[str], pivot: str
) -> tuple[list[Head], list[list[Cell]]]:
    at = shown.index(pivot)
    index, values = list(shown[:at]), list(shown[at + 1 :])
    groups = frame[pivot].unique(maintain_order=True).to_list() if frame.height else []
    head = [*map(made.head, index)]
    rows = {key: [made.cell(row, n) for n in index] for key, row in _by_index(frame, index)}
    for group in groups:
        inside = frame.filter(pl.col(pivot) == group)
        by_key = dict(_by_index(inside, index))
        scale = scale_of(inside, group, made.display(group)) if "worst" in values else None
        if scale is not None:
            made.scales.append(scale.text)
        label = group + _arrow(inside.row(0, named=True))
        head += _pivoted_heads(made, values, label)
        for key, cells in rows.items():
            row = by_key.get(key)
            cells += [
                Cell(ABSENT) if row is None else made.cell(row, name, scale) for name in values
            ]
    return head, list(rows.values())


def _pivoted_heads(made: _Cells, values: Sequence[str], group: str) -> list[Head]:
    """Return the headings of a group of columns; the group names a single column."""
    if len(values) == 1:
        return [replace(made.head(values[0], group), label=group, group="")]
    return [made.head(name, group) for name in values]


def _by_index(frame: pl.DataFrame, index: Sequence[str]) -> list[tuple[Any, dict[str, Any]]]:
    return [(tuple(row[n] for n in index), row) for row in frame.iter_rows(named=True)]


def _arrow(row: Mapping[str, Any]) -> str:
    """Return an arrow towards better values of the row's measure, if the table has directions."""
    direction = row.get("direction")
    return "" if direction is None else " \u2191" if direction > 0 else " \u2193"


def format_value(value: Any, column: Column, form: str = "", bare: bool = False) -> str:
    """Return a value as text.

    Parameters
    ----------
    form
        The format; default: the column's format, else the default of its kind.
    bare
        Whether to omit the unit.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if column.is_text or isinstance(value, str):
        return str(value)
    if math.isinf(value):
        return "\u221e" if value > 0 else "\u2212\u221e"
    unit = column.unit if column.unit in BEHIND and not bare else ""
    default = "score" if column.kind == "real" else "g" if column.may_be_real else "count"
    form = form or column.format or default
    if form == "ratio":
        text = "<0.001" if 0 < value < 1e-3 else f"{value:.2g}"
    else:
        no_minus_zero = "z" if isinstance(value, float) else ""
        text = f"{value:{no_minus_zero}{FORMATS.get(form, form)}}"
    return text.replace("-", "\u2212") + unit


@dataclass(frozen=True)
class Scale:
    """Scale from the worst value, 0, to the best value, 100."""

    measure: str
    low: float
    high: float
    display: Display

    @property
    def is_log(self) -> bool:
        """Whether the scale is logarithmic, as for search lengths."""
        return self.display.format == "length"

    def position(self, value: float) -> float:
        """Return the position of a value on the scale."""
        ends = value, self.low, self.high
        value, low, high = (math.log10(max(n, 1)) for n in ends) if self.is_log else ends
        share = (value - low) / (high - low) if high > low else 1.0
        share = share if self.display.direction > 0 else 1 - share
        return round(100 * min(max(share, 0.0), 1.0), 1)

    def picture(self, *values: float | None) -> tuple[float, float, float] | None:
        """Return the positions of worst, median and best; None if one of them is undefined."""
        known = [self.position(v) for v in values if v is not None and math.isfinite(v)]
        worst, median, best = known if len(known) == 3 else (None, None, None)
        return None if worst is None or median is None or best is None else (worst, median, best)

    @property
    def text(self) -> str:
        """The scale in words, worst value first."""
        ends = (self.low, self.high) if self.display.direction > 0 else (self.high, self.low)
        low, high = (f"{end:,.0f}" if end >= 100 else f"{end:.4g}" for end in ends)
        kind = " on a log scale" if self.is_log else ""
        return f"{self.measure}: from {low} at the left to {high} at the right{kind}."


def scale_of(frame: pl.DataFrame, measure: str, display: Display) -> Scale | None:
    """Return the scale of one measure for all rows: 0 to 1 for shares, logarithms for lengths.

    Parameters
    ----------
    frame
        Columns value, median, worst.
    display
        How the measure's values are shown.
    """
    numbers = [v for name in ("value", "median", "worst") for v in frame[name].drop_nulls()]
    numbers = [float(v) for v in numbers if math.isfinite(v)]
    if not numbers:
        return None
    if display.format == "length":
        top = 10.0 ** max(1, math.ceil(math.log10(max(1.0, *numbers))))
        return Scale(measure, 1.0, top, display)
    top = max(1.0, *numbers) if display.format == "score" else max(numbers)
    return Scale(measure, min([0.0, *numbers]), top, display)

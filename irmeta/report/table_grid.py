"""Tables as cells of text, their scales and sparklines, as Markdown and as plain text."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import polars as pl

from irmeta.equality import TIE
from irmeta.errors import IrmetaError
from irmeta.escapes import escape_name
from irmeta.report.notation import MEASURES, Notations
from irmeta.report.notation import to_text as plain_notation
from irmeta.schema.columns import Column, Display, Table, paper_column

Best = Literal["", "row", "column"]

ABSENT = "\u2014"
DAGGER, DOUBLE_DAGGER = "\u2020", "\u2021"
FORMATS: Mapping[str, str] = {"score": ".4f", "length": ",.1f", "count": ",.0f", "percent": ".0%"}
BEST = "Best values in bold."
PERCENT = "Values in %."
CHECKS = {True: "\u2713", False: "\u00d7"}
LONGEST_NUMBER = 20  # characters of a paper's number, such as "29,496 of 29,523"
PAPER = "paper"  # heading of the paper's numbers


class Cell(NamedTuple):
    """One cell."""

    text: str
    # worst, median and best value, from 0 to 100, drawn in place of the text
    picture: tuple[float, float, float] | None = None
    is_paper: bool = False  # whether the text is grey: the paper's, or of a row that counts nowhere
    title: str = ""  # tooltip
    is_best: bool = False  # whether the text is bold, as the best of its column
    marks: str = ""  # superscript behind the text
    shade: str = ""  # colour of the cell, such as #d3e6f4
    value: float | None = None  # the number that the text shows; None for text


@dataclass(frozen=True)
class Head:
    """The heading of a column of cells."""

    label: str
    column: str  # the table's column; empty for the paper's numbers
    is_text: bool
    group: str = ""  # heading over several neighbouring columns
    on_page_only: bool = False  # whether LaTeX leaves the column out
    # whether the column identifies the rows, and is repeated in each panel of a wide table
    is_key: bool = False
    title: str = ""  # tooltip
    is_vertical: bool = False  # whether LaTeX turns the label, above narrow centred cells


@dataclass(frozen=True)
class Grid:
    """A table as cells."""

    # name, caption: name of the LaTeX file, and description of the table
    name: str
    caption: str
    head: tuple[Head, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()  # sentences below the table, and in the caption of LaTeX
    hints: tuple[str, ...] = ()  # sentences below the table on the page
    folded: bool = False  # whether the page shows it on request only
    in_latex: bool = True  # whether the table is also written as LaTeX
    # by_track, about: whether LaTeX has a table for each track; what its caption says in place of
    # the last sentence, which is under ""
    by_track: bool = False
    about: Mapping[str, str] = field(default_factory=dict)
    in_floats: bool = False  # whether LaTeX divides a long or wide table into several floats

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Headings over several columns: see `spans`."""
        return spans(self.head)

    @property
    def has_best(self) -> bool:
        """Whether a cell is the best of its column."""
        return any(cell.is_best for row in self.rows for cell in row)

    def legend(self, *added: str) -> str:
        """Return the caption and the sentences that follow it."""
        following = [*self.notes, *added]
        is_open = bool(following) and self.caption[-1:] not in {"", *".!?:"}
        return " ".join([f"{self.caption}." if is_open else self.caption, *following])


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
    pivot: str | Sequence[str] = "",
    name: str = "",
    caption: str = "",
    best: Best = "",
    display: Callable[[str], Display] = lambda measure: Display(),
) -> Grid:
    """Return the cells of a table; LaTeX leaves columns out that have no value.

    The values of a column `pivot`, or of two, become groups of columns: those before it identify
    the rows, those after it repeat. `best`: where the greatest of the first values is bold.
    """
    shown = list(columns) or [n for n, c in table.columns.items() if c.show != "none"]
    maker = _Cells(table, display)
    pivots = [pivot] if isinstance(pivot, str) and pivot else [*pivot]
    shown = [each for name in shown for each in maker.beside(name)]
    if pivots:
        head, rows = _pivoted(maker, frame, shown, pivots)
        rows = _marked_best(head, rows, shown[shown.index(pivots[-1]) + 1], best)
    else:
        head = [*map(maker.head, shown)]
        rows = [maker.row(row, shown) for row in frame.iter_rows(named=True)]
    head, rows = maker.without_papers(head, rows)
    head = _named_by_group(without_blanks(head, rows), is_nested=len(pivots) > 1)
    has_dagger = any(cell.text.endswith(DAGGER) for row in rows for cell in row)
    notes = (f"{DAGGER} {table.note}",) if has_dagger and table.note else ()
    texts = name or table.name, caption or table.caption
    cells = tuple(map(tuple, rows))
    is_best = any(cell.is_best for row in cells for cell in row)
    hints = (*maker.scales, *[BEST] * is_best)
    notes = (*notes, *[PERCENT] * maker.in_percent)
    return Grid(*texts, tuple(head), cells, notes, hints, table.folded, table.latex)


def in_grey(cells: Grid, column: str, reasons: Mapping[str, str]) -> Grid:
    """Return a table with the rows of some values of a column in grey, and a note of the reasons.

    Where the values are headings, their columns are grey. `reasons` are by value, such as the
    tracks that results over tracks leave out.
    """
    at = next((i for i, head in enumerate(cells.head) if head.column == column), None)
    headings = [next((n for n in (h.group, h.label) if n in reasons), "") for h in cells.head]
    excluded = dict[str, None]()

    def shaded(row: tuple[Cell, ...]) -> Iterator[Cell]:
        of_row = row[at].text if at is not None else ""
        for cell, heading in zip(row, headings, strict=True):
            if (value := of_row if at is not None else heading) not in reasons:
                yield cell
                continue
            excluded[value] = None
            yield cell._replace(is_paper=True, is_best=False, title=reasons[value])

    rows = tuple(tuple(shaded(row)) for row in cells.rows) if reasons else cells.rows
    if not excluded:
        return cells
    named = "; ".join(f"{value} ({reasons[value]})" for value in excluded)
    return replace(cells, rows=rows, notes=(*cells.notes, f"Not counted over tracks: {named}."))


class _Cells:
    """Cells of one table."""

    def __init__(self, table: Table, display: Callable[[str], Display]) -> None:
        self._table, self.name, self.display = table, table.name, display
        self.scales: list[str] = []
        self.in_percent = False  # whether a note says so, in place of headings

    def column(self, name: str) -> Column:
        return self._table.columns[name]

    def beside(self, name: str) -> list[str]:
        """Return a column, and that of the paper's numbers for it, where it has one."""
        return [name, paper_column(name)] if name in self._table.paper else [name]

    def is_paper(self, name: str) -> bool:
        """Check whether a column holds numbers or texts of the paper."""
        beside = name.removeprefix("paper_") if name.startswith("paper_") else ""
        return beside in self._table.paper or self.column(name).format == "paper"

    def without_papers(
        self, head: Sequence[Head], rows: Sequence[Sequence[Cell]]
    ) -> tuple[list[Head], list[list[Cell]]]:
        """Drop the columns of the paper's numbers that are empty; long texts are no numbers."""
        at = [
            i
            for i, column in enumerate(head)
            if not self.is_paper(column.column) or any(row[i].text != ABSENT for row in rows)
        ]
        heads = [
            replace(head[i], is_text=any(len(row[i].text) > LONGEST_NUMBER for row in rows))
            if self.is_paper(head[i].column) and not head[i].is_key
            else head[i]
            for i in at
        ]
        return heads, [[row[i] for i in at] for row in rows]

    def head(self, name: str, group: str = "") -> Head:
        column = self.column(name)
        label = column.label or name.replace("_", " ")
        if group and column.format == "range":
            label = "worst to best"
        if self.is_paper(name) and name not in self._table.key:
            return Head(column.label or PAPER, name, is_text=False, group=group)
        label += " (%)" if column.is_percentage and not self.in_percent else ""
        is_key = name in self._table.key
        return Head(label, name, column.is_text, group, column.show == "page", is_key)

    def value_label(self, row: Mapping[str, Any], name: str) -> str:
        """Return a value as the heading of a group: text as it is, "d = 10" of a number."""
        column = self.column(name)
        text = format_value(row[name], column)
        if column.is_text:
            return text
        label = column.label or name.replace("_", " ")
        return f"{label} {text}" if label.endswith("\u2264") else f"{label} = {text}"

    def row(self, row: Mapping[str, Any], names: Sequence[str]) -> list[Cell]:
        return [self.cell(row, name) for name in names]

    def cell(self, row: Mapping[str, Any], name: str, scale: Scale | None = None) -> Cell:
        column = self.column(name)
        if column.format == "range" and scale is not None and column.span is not None:
            return Cell("", picture=scale.picture(*(row[n] for n in (name, *column.span))))
        form = column.format
        if form in ("measure", "range"):
            form = self.display(row["measure"]).format
        text = self._text(row, name, form)
        if column.dagger and row[column.dagger]:
            text += DAGGER
        text += _arrow(row) if name == "measure" else ""
        is_best = bool(column.best) and row[column.best] == 1
        if self.is_paper(name):
            return Cell(text, is_paper=True, title=self._where(row, name.removeprefix("paper_")))
        number = None if column.is_text else row[name]
        return Cell(text, is_best=is_best, value=number)

    def _text(self, row: Mapping[str, Any], name: str, form: str) -> str:
        column = self.column(name)
        text = self._number(row[name], column, form)
        text = text.removesuffix("%") if name.startswith("paper_") else text
        if text == ABSENT or column.format == "range":
            return text
        others = [*(column.span or ()), *(column.joined or ())[1:]]
        texts = [self._number(row[n], column, form, bare=True) for n in others]
        if ABSENT in texts:
            return text
        if column.span is not None:
            return f"{text} ({texts[0]} to {texts[1]})"
        return f"{text} {column.joined[0]} {texts[0]}" if column.joined is not None else text

    def _number(self, value: Any, column: Column, form: str, bare: bool = False) -> str:
        """Return a value without the percent sign, which is in the heading."""
        text = format_value(value, column, form, bare)
        return text.removesuffix("%") if column.is_percentage else text

    def _where(self, row: Mapping[str, Any], name: str) -> str:
        """Return where the paper prints its number for a column."""
        key = tuple(row[n] for n in self._table.key if n != "track")
        number = self._table.paper.get(name, {}).get(key)
        return "" if number is None else number.where


def without_blanks(head: Sequence[Head], rows: Sequence[Sequence[Cell]]) -> list[Head]:
    """Leave columns without a value out of LaTeX, unless no other would remain."""
    blank = {i for i in range(len(head)) if all(row[i].text == ABSENT for row in rows)}
    if not rows or all(i in blank or column.is_key for i, column in enumerate(head)):
        return list(head)
    return [replace(column, on_page_only=column.on_page_only or i in blank)
            for i, column in enumerate(head)]  # fmt: skip


def _pivoted(
    made: _Cells, frame: pl.DataFrame, shown: Sequence[str], pivots: Sequence[str]
) -> tuple[list[Head], list[list[Cell]]]:
    at = shown.index(pivots[0])
    index, values = list(shown[:at]), list(shown[at + len(pivots) :])
    head = [*map(made.head, index)]
    ours = [made.column(name) for name in values if not made.is_paper(name)]
    made.in_percent = bool(ours) and all(column.is_percentage for column in ours)
    rows = {key: [made.cell(row, n) for n in index] for key, row in _by_index(frame, index)}
    missing = Cell("" if pivots[0].endswith("_b") else ABSENT)  # blank in a triangle of pairs
    groups = frame.partition_by(pivots, maintain_order=True) if frame.height else []
    places = {value: n for n, value in enumerate(frame[pivots[0]].unique(maintain_order=True))}
    for inside in sorted(groups, key=lambda part: places[part[pivots[0]][0]]):
        first, by_key = inside.row(0, named=True), dict(_by_index(inside, index))
        group = str(first[pivots[0]])
        scale = scale_of(inside, group, made.display(group)) if "worst" in values else None
        if scale is not None:
            made.scales.append(scale.text)
        if len(by_key) < inside.height:
            raise IrmetaError(f"table {made.name}: rows of {group} differ in no column of {index}")
        labels = [made.value_label(first, name) for name in pivots]
        heads = [made.head(name, labels[0] + _arrow(first)) for name in values]
        head += [replace(heads[0], label=labels[1]), *heads[1:]] if labels[1:] else heads
        for key, cells in rows.items():
            row = by_key.get(key)
            cells += [missing if row is None else made.cell(row, n, scale) for n in values]
    return head, list(rows.values())


def _named_by_group(head: Sequence[Head], is_nested: bool) -> list[Head]:
    """Let the heading of a group name its only column, if that holds no inner value."""
    sizes = dict(spans(head))
    return [
        replace(column, label=column.group, group="")
        if column.group and sizes.get(column.group) == 1 and not is_nested
        else column
        for column in head
    ]


def _marked_best(
    head: Sequence[Head], rows: list[list[Cell]], name: str, best: Best
) -> list[list[Cell]]:
    """Mark the greatest values of a column in each row, or in each of its columns."""
    if not best:
        return rows
    at = [i for i, column in enumerate(head) if column.column == name]
    places = [[(r, i) for i in at] for r in range(len(rows))]
    if best == "column":
        places = [[(r, i) for r in range(len(rows))] for i in at]
    for line in places:
        numbers = {(r, i): rows[r][i].value for r, i in line}
        known = [v for v in numbers.values() if v is not None and math.isfinite(v)]
        for (r, i), value in numbers.items():
            if value is not None and len(known) > 1 and min(known) < max(known) == value:
                rows[r][i] = rows[r][i]._replace(is_best=True)
    return rows


def _by_index(frame: pl.DataFrame, index: Sequence[str]) -> list[tuple[Any, dict[str, Any]]]:
    return [(tuple(row[n] for n in index), row) for row in frame.iter_rows(named=True)]


def _arrow(row: Mapping[str, Any]) -> str:
    """Return an arrow towards better values of the row's measure, if the table has directions."""
    direction = row.get("direction")
    return "" if direction is None else " \u2191" if direction > 0 else " \u2193"


def in_notation(grid: Grid, notations: Notations) -> Grid:
    """Return a table whose measures and terms are in notation, with their names in a note."""
    heads = tuple(
        replace(column, label=notations(column.label), group=notations(column.group),
                title=column.label if notations(column.label) != column.label else "")
        for column in grid.head
    )  # fmt: skip
    named = [i for i, column in enumerate(grid.head) if column.column.startswith(MEASURES)]
    rows = []
    for row in grid.rows:
        cells = list(row)
        for i in named:
            if (text := notations(cells[i].text)) != cells[i].text:
                cells[i] = cells[i]._replace(text=text, title=cells[i].text)
        rows.append(tuple(cells))
    caption, notes = notations(grid.caption), grid.notes
    typeset = [caption, *(t for column in heads for t in (column.label, column.group))]
    typeset += [row[i].text for row in rows for i in named]
    if words := notations.legend("\n".join(typeset)):
        notes = (*notes, f"{words}.")
    hints = tuple(map(notations, grid.hints))
    return replace(grid, caption=caption, head=heads, rows=tuple(rows), notes=notes, hints=hints)


def format_value(value: Any, column: Column, form: str = "", bare: bool = False) -> str:
    """Return a value as text; by default in the column's format, else in that of its kind."""
    if value is None:
        return column.absent or ABSENT
    if isinstance(value, float) and math.isnan(value):
        return ABSENT
    form = form or column.format
    if isinstance(value, bool):
        return CHECKS[value] if form == "check" else "yes" if value else "no"
    if column.is_text or isinstance(value, str):
        return str(value)
    if math.isinf(value):
        return "\u221e" if value > 0 else "\u2212\u221e"
    unit = "x" if column.unit == "x" and not bare else ""
    form = form or ("score" if column.kind == "real" else "g" if column.may_be_real else "count")
    if form == "ratio":
        text = "<0.001" if 0 < value < 1e-3 else f"{value:z.2g}"
    elif form == "printed":
        text = f"{value:z.3f}" if abs(value) < 1 else f"{value:,.0f}"
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
    """Return the scale of a measure for all rows of values: 0 to 1, or logarithms."""
    numbers = [v for name in ("value", "median", "worst") for v in frame[name].drop_nulls()]
    numbers = [float(v) for v in numbers if math.isfinite(v)]
    if not numbers:
        return None
    if display.format == "length":
        top = 10.0 ** max(1, math.ceil(math.log10(max(1.0, *numbers))))
        return Scale(measure, 1.0, top, display)
    top = max(1.0, *numbers) if display.format == "score" else max(numbers)
    return Scale(measure, min([0.0, *numbers]), top, display)


_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in r"\`*_|<>[]"})


def to_markdown(grid: Grid) -> str:
    """Return a table of GitHub's Markdown with its caption, ending in a newline."""
    head = [_escape(" ".join(filter(None, (column.group, column.label)))) for column in grid.head]
    rule = [":--" if column.is_text else "--:" for column in grid.head]
    rows = [[_markdown_cell(cell) for cell in row] for row in grid.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
    return "\n".join([*lines, "", _escape(grid.legend(*[BEST] * grid.has_best))]) + "\n"


def to_text(grid: Grid) -> str:
    """Return a table with aligned columns and its caption, ending in a newline."""
    head = [
        escape_name(" ".join(filter(None, (column.group, column.label)))) for column in grid.head
    ]
    values = [[escape_name(plain_notation(cell.text)) for cell in row] for row in grid.rows]
    marks = [[f" {cell.marks}" if cell.marks else "" for cell in row] for row in grid.rows]
    columns = [
        _column(head[i], [row[i] for row in values], [row[i] for row in marks], column.is_text)
        for i, column in enumerate(grid.head)
    ]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    legend = escape_name(plain_notation(grid.legend()))
    return "\n".join([*lines, "", legend]) + "\n"


def _column(head: str, values: Sequence[str], marks: Sequence[str], is_text: bool) -> list[str]:
    """Return the cells of a column with one width: values aligned, marks behind them."""
    width = max(map(len, [head, *values]))
    tail = max(map(len, ["", *marks]))
    if is_text:
        return [f"{text:<{width}}" for text in [head, *values]]
    cells = [f"{v:>{width}}{m:<{tail}}" for v, m in zip(values, marks, strict=True)]
    return [f"{head:>{width}}{'':<{tail}}", *cells]


def _escape(text: str) -> str:
    return escape_name(plain_notation(text)).translate(_SPECIAL)


def _markdown_cell(cell: Cell) -> str:
    text = _escape(cell.text)
    text = f"**{text}**" if cell.is_best else text
    return text + (f"<sup>{_escape(cell.marks)}</sup>" if cell.marks else "")


_KEYS = ("track", "qrels", "system", "query")


def score_grid(
    frame: pl.DataFrame,
    directions: Mapping[str, int],
    *,
    name: str = "scores",
    caption: str = "",
    digits: int = 4,
    marks: Mapping[tuple[Any, ...], str] | None = None,
    system_names: Mapping[str, str] | None = None,
) -> Grid:
    """Return a table with one row per system, and one column per measure of a frame.

    The best values of a track, of a qrels set and, in a table of queries, of a query are bold,
    unless all are equal. `marks` are superscripts by (track, system, measure).
    """
    keys, printed = [column for column in _KEYS if column in frame.columns], system_names or {}
    measures = [column for column in frame.columns if column not in keys]
    head = [Head(key, key, is_text=True, is_key=True) for key in keys]
    head += [Head(measure, measure, is_text=False) for measure in measures]
    best = frame.select(_is_best(m, directions.get(m, 0), keys).alias(m) for m in measures)
    rows = [
        (
            *(
                Cell(printed.get(row[key], str(row[key])) if key == "system" else str(row[key]))
                for key in keys
            ),
            *(
                Cell(
                    _number(row[m], digits),
                    is_best=is_best[m],
                    marks=(marks or {}).get((*(row[key] for key in keys), m), ""),
                )
                for m in measures
            ),
        )
        for row, is_best in zip(
            frame.iter_rows(named=True), best.iter_rows(named=True), strict=True
        )
    ]
    return Grid(name, caption, tuple(head), tuple(rows))


def _is_best(measure: str, direction: int, keys: list[str]) -> pl.Expr:
    """Return whether a value is the best of its track and query, and another is worse."""
    if direction == 0:
        return pl.lit(False)
    value = pl.col(measure).fill_nan(None) * direction
    inside = [key for key in keys if key != "system"] or [pl.lit(1)]
    best, worst = value.max().over(inside), value.min().over(inside)
    return ((best - value <= TIE) & (best - worst > TIE)).fill_null(False)


def _number(value: float | None, digits: int) -> str:
    return (
        ABSENT if value is None or value != value else f"{value:z.{digits}f}".replace("-", "\u2212")
    )

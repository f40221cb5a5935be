"""Tables as Markdown and as plain text, and of systems by measures with the best values in bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from irmeta.equality import TIE
from irmeta.escapes import escape_name
from irmeta.report.table_grid import ABSENT, BEST, Cell, Grid, Head

_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in r"\`*_|<>[]"})


def to_markdown(grid: Grid) -> str:
    """Return a table of GitHub's Markdown with its caption, ending in a newline."""
    head = [_escape(" ".join(filter(None, (one.group, one.label)))) for one in grid.head]
    rule = [":--" if one.is_text else "--:" for one in grid.head]
    rows = [[_markdown_cell(cell) for cell in row] for row in grid.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]
    legend = _legend(grid, BEST)
    return "\n".join([*lines, "", _escape(legend)]) + "\n"


def to_text(grid: Grid) -> str:
    """Return a table with aligned columns and its caption, ending in a newline.

    The best value of a column is marked with a star.
    """
    head = [escape_name(" ".join(filter(None, (one.group, one.label)))) for one in grid.head]
    values = [[escape_name(cell.text) for cell in row] for row in grid.rows]
    marks = [[_text_marks(cell) for cell in row] for row in grid.rows]
    columns = [
        _column(head[i], [row[i] for row in values], [row[i] for row in marks], one.is_text)
        for i, one in enumerate(grid.head)
    ]
    lines = ["  ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    legend = _legend(grid, "* best values.")
    return "\n".join([*lines, "", escape_name(legend)]) + "\n"


def _text_marks(cell: Cell) -> str:
    marks = ("*" if cell.is_best else "") + cell.marks
    return f" {marks}" if marks else ""


def _column(head: str, values: Sequence[str], marks: Sequence[str], is_text: bool) -> list[str]:
    """Return the cells of a column with one width: values aligned, marks behind them."""
    width = max(map(len, [head, *values]))
    tail = max(map(len, ["", *marks]))
    if is_text:
        return [f"{text:<{width}}" for text in [head, *values]]
    cells = [f"{v:>{width}}{m:<{tail}}" for v, m in zip(values, marks, strict=True)]
    return [f"{head:>{width}}{'':<{tail}}", *cells]


def _legend(grid: Grid, best: str) -> str:
    return " ".join([grid.caption, *grid.notes, *([best] if grid.has_best else [])])


def _escape(text: str) -> str:
    return escape_name(text).translate(_SPECIAL)


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
) -> Grid:
    """Return a table with one row per system, and one column per measure.

    `frame` has the columns track, qrels, system and query, where present, then the measures. The
    best values of a track, of a qrels set and, in a table of queries, of a query are bold, unless
    all are equal; a measure without a direction has none. `marks` are superscripts by (track,
    system, measure).
    """
    keys = [column for column in _KEYS if column in frame.columns]
    measures = [column for column in frame.columns if column not in keys]
    head = [Head(key, key, is_text=True, is_key=True) for key in keys]
    head += [Head(measure, measure, is_text=False) for measure in measures]
    best = frame.select(_is_best(m, directions.get(m, 0), keys).alias(m) for m in measures)
    rows = [
        (
            *(Cell(str(row[key])) for key in keys),
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

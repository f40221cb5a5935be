"""Tables as Markdown and as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from irmeta.escapes import escape_name
from irmeta.report.table_grid import BEST, Cell, Grid

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

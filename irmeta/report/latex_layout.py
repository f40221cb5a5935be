"""Layout of tables in a paper of two columns: width, font, wrapped text and panels."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, takewhile
from typing import Literal, NamedTuple

import numpy as np

from irmeta.naming.notation import to_text
from irmeta.report.table_grid import Cell, Grid, spans

COLUMN, TEXT = 238.0, 502.0
"""Points of a column, and of both columns with the space between, in a paper of two columns."""
MOST_LINES = 3  # of a wrapped cell in a table as wide as a column; beyond, the table is wider
MEAN_LINES = 2  # of its rows on average: formulas are hard to read on three
LABEL_LINES = 2.5  # of a heading wider than its column, on average
LEAST = 40.0  # points of a wrapped column
BOLD, MARKS = 1.1, 0.84  # widths of bold text and of superscripts, as parts of the text's
LONGEST_WORD = 20  # characters; longer words are broken

_WIDTHS = {  # in Computer Modern and Times, the larger, as parts of the font size
    **dict.fromkeys("ijlI|.,:;'! ", 0.32),
    **dict.fromkeys("frst-/()[]", 0.4),
    **dict.fromkeys("ABCDEGHKNOQRUVXYZ&%", 0.77),
    **dict.fromkeys("mMwW\u2014@+=<>\u2212\u00b1\u221e~", 0.92),
}
_PIECES = re.compile(rf"[^\s=,_/.@(-]{{0,{LONGEST_WORD}}}[=,_/.@(-]?")


class Size(NamedTuple):
    """A font size: LaTeX's command, and the points of an em and of the space between columns.

    Small sizes of Computer Modern are wider: 7 points as if they were 7.8.
    """

    command: str
    font: float
    gap: float


SIZES = (Size("footnotesize", 8.3, 7.0), Size("scriptsize", 7.8, 5.0))


@dataclass(frozen=True)
class Panel:
    """Columns of a table that stand side by side.

    Attributes
    ----------
    columns
        Indexes of the columns in the table.
    widths
        For each column, the points of its widest cell, or of its heading on a few lines.
    marks
        For each column, the points of its widest superscript.
    wrapped
        Points of each column of text that is wrapped: those with which its rows have fewest lines.
    """

    columns: tuple[int, ...]
    widths: Mapping[int, float]
    marks: Mapping[int, float]
    wrapped: Mapping[int, float] = field(default_factory=dict)

    def width(self, i: int) -> float:
        """Return the points of a column."""
        return self.wrapped.get(i, self.widths[i])

    def lines(self, grid: Grid, font: float) -> int:
        """Return about the number of lines of its rows, rather more than less."""
        if not self.wrapped:
            return len(grid.rows)
        texts = [[text_width(row[i].text, font) for i in self.wrapped] for row in grid.rows]
        return int(_lines(np.reshape(texts, (-1, len(self.wrapped))), [*self.wrapped.values()])[0])


@dataclass(frozen=True)
class Layout:
    """Width, font and panels of a table; a table too wide for one panel has several."""

    width: Literal["column", "text"]
    size: Size
    panels: tuple[Panel, ...]

    def lines(self, grid: Grid) -> int:
        """Return about the number of lines of all panels, each with three for its heading."""
        return sum(panel.lines(grid, self.size.font) + 3 for panel in self.panels)


def layout(grid: Grid, columns: Sequence[int], *, in_column: bool = True) -> Layout:
    """Return the narrowest layout in which the columns fit, in the largest font.

    Parameters
    ----------
    columns
        Indexes of the columns that are set.
    in_column
        Whether the table may be as narrow as a column.
    """
    normal = _Columns(grid, columns, SIZES[0])
    panel = normal.panel(columns, COLUMN, MOST_LINES) if in_column else None
    if panel is not None and panel.lines(grid, normal.size.font) <= MEAN_LINES * len(grid.rows):
        return Layout("column", normal.size, (panel,))
    for size in SIZES:
        sized = normal if size is normal.size else _Columns(grid, columns, size)
        if panel := sized.panel(columns, TEXT):
            return Layout("text", size, (panel,))
    return Layout("text", normal.size, tuple(normal.panels(columns)))


class _Columns:
    """Widths of a table's columns in one font size, in points."""

    def __init__(self, grid: Grid, columns: Sequence[int], size: Size) -> None:
        self.size, self._heads = size, grid.head
        self._marks = {
            i: widest((row[i].marks for row in grid.rows), size.font * MARKS) for i in columns
        }
        self._whole = {
            i: max(_label_width(grid.head[i].label, size.font), max(cells) + self._marks[i])
            for i in columns
            for cells in [[_text_width(row[i], size.font) for row in grid.rows] or [0.0]]
        }
        texts = [i for i in columns if grid.head[i].is_text and grid.rows]
        self._least = {
            i: max(LEAST, widest(grid.head[i].label.split(), size.font),
                   *(widest(pieces(row[i].text), size.font) for row in grid.rows))
            for i in texts
        }  # fmt: skip
        self._texts = {
            i: np.array([_text_width(row[i], size.font) for row in grid.rows]) for i in texts
        }

    def panel(
        self, columns: Sequence[int], limit: float, most_lines: float = math.inf
    ) -> Panel | None:
        """Return columns as a panel of a greatest width; None where they do not fit."""
        if self._side_by_side(columns) <= limit:
            return Panel(tuple(columns), self._whole, self._marks)
        texts = sorted((i for i in columns if i in self._least), key=self._whole.__getitem__)
        room = limit - sum(self._whole[i] for i in columns if i not in self._least)
        room -= self.size.gap * (len(columns) - 1)
        while texts and self._whole[texts[0]] <= room / len(texts):  # short text is not wrapped
            room -= self._whole[texts.pop(0)]
        least = {i: max(self._least[i], self._whole[i] / most_lines) for i in sorted(texts)}
        if not texts or sum(least.values()) > room:
            return None
        cells = np.column_stack([self._texts[i] for i in least])
        return Panel(tuple(columns), self._whole, self._marks, _shares(cells, least, room))

    def panels(self, columns: Sequence[int]) -> list[Panel]:
        """Divide columns into panels that all begin with the columns that identify a row."""
        index, units = self._units(columns)
        for each in range(len(units), 1, -1):  # groups or columns for each panel
            number = -(-len(units) // each)
            if number * (each - 1) >= len(units):  # no fewer panels: the same, less even
                continue
            made = [
                self.panel([*index, *chain.from_iterable(units[at : at + each])], TEXT)
                for at in range(0, len(units), each)
            ]
            if all(made):
                return [panel for panel in made if panel]
        single = ([*index, *unit] for unit in units)
        return [
            self.panel(unit, TEXT) or Panel(tuple(unit), self._whole, self._marks)
            for unit in single
        ]

    def _units(self, columns: Sequence[int]) -> tuple[Sequence[int], list[list[int]]]:
        """Return the columns that identify a row, and the others as groups or single columns."""
        grouped = [i for i in columns if self._heads[i].group]
        keys = [*takewhile(lambda i: self._heads[i].is_key, columns[:-1])]
        first = columns.index(grouped[0]) if grouped else max(1, len(keys))
        units: list[list[int]] = []
        for i in columns[first:]:
            if units and grouped and self._heads[i].group == self._heads[units[-1][0]].group:
                units[-1].append(i)
            else:
                units.append([i])
        return columns[:first], units

    def _side_by_side(self, columns: Sequence[int]) -> float:
        """Return the points of columns whose text is not wrapped, with the gaps between them."""
        total, at = -self.size.gap, 0
        for name, number in spans([self._heads[i] for i in columns]) or [("", len(columns))]:
            wide = sum(self._whole[i] + self.size.gap for i in columns[at : at + number])
            total += max(wide, text_width(name, self.size.font) + self.size.gap)
            at += number
        return total


def _shares(cells: np.ndarray, least: Mapping[int, float], room: float) -> dict[int, float]:
    """Divide the room among columns of text so that the rows have fewest lines.

    `cells` are points of the text, float64 [row, column]. Points are moved from one column to
    another as long as that helps, fewer and fewer at a time.
    """
    low = np.array([*least.values()])
    widths = low + (room - low.sum()) / len(low)
    best, step = _lines(cells, widths), 64.0
    while step >= 1:
        moves = np.eye(len(low))[:, None] - np.eye(len(low))  # to one column from another
        tried = [widths + step * move for move in moves.reshape(-1, len(low)) if move.any()]
        found = [(_lines(cells, one), [*one]) for one in tried if (one >= low).all()]
        if found and min(found)[0] < best:
            best, widths = min(found)
            widths = np.array(widths)
        else:
            step /= 2
    return dict(zip(least, widths.tolist(), strict=True))


def _lines(cells: np.ndarray, widths: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Return the lines of all rows, rather more than less, and their part that text fills."""
    lines = 1.1 * (cells / np.asarray(widths)).max(axis=1, initial=0.0)
    return float(np.ceil(lines).clip(1).sum()), float(lines.sum())


def _label_width(label: str, font: float) -> float:
    """Return the points of a heading on as many lines as it may have."""
    return max(widest(label.split(), font), text_width(label, font) / LABEL_LINES)


def _text_width(cell: Cell, font: float) -> float:
    return text_width(cell.text, font) * (BOLD if cell.is_best else 1)


def text_width(text: str, font: float) -> float:
    """Return about the points of a line of text, rather more than less."""
    return font * _ems(text)


@lru_cache(maxsize=1 << 16)  # cells repeat names, and each is measured in several ways
def _ems(text: str) -> float:
    return sum(_WIDTHS.get(character, 0.53) for character in to_text(text))


def widest(words: Iterable[str], font: float) -> float:
    """Return the points of the widest word, 0 without words."""
    return max((text_width(word, font) for word in words), default=0.0)


@lru_cache(maxsize=4096)
def pieces(text: str) -> tuple[str, ...]:
    """Split text where LaTeX may break it: between words, behind marks, and in very long words."""
    return tuple(_broken(text))


def _broken(text: str) -> Iterator[str]:
    for word in text.split():
        if len(word) <= LONGEST_WORD:
            yield word
        else:
            yield from filter(None, _PIECES.findall(word))


def wrap_label(label: str, width: float, font: float) -> list[str]:
    """Return the lines of a heading, each as wide as the column if words allow it."""
    lines: list[str] = []
    for word in label.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(joined, font) > width:
            lines.append(word)
        else:
            lines[-1:] = [joined]
    return lines

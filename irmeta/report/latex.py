"""Tables for a paper: LaTeX with booktabs, tabularx for long text, longtable for long tables."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, takewhile
from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from irmeta.escapes import drop_unsafe
from irmeta.report.notation import to_math, to_text
from irmeta.report.table_grid import (
    ABSENT,
    BEST,
    CHECKS,
    DAGGER,
    DOUBLE_DAGGER,
    Cell,
    Grid,
    Head,
    spans,
    without_blanks,
)

COLUMN, TEXT = 238.0, 502.0
"""Points of a column, and of both columns with the space between, in a paper of two columns."""
MOST_WRAPPED = 3  # of a wrapped cell in a table as wide as a column; beyond, the table is wider
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
DENSE = Size("scriptsize", 7.8, 2.0)  # of tables with turned headings
LINE = 1.2  # height of a line, as a part of the font size
DARK = 130  # lightness, of 255, below which white text is easier to read than black
MOST_TURNED = 40  # columns with turned headings in one float


@dataclass(frozen=True)
class Panel:
    """Columns of a table that stand side by side."""

    columns: tuple[int, ...]  # indexes of the columns in the table
    # for each column, the points of its widest cell, or of its heading on a few lines
    widths: Mapping[int, float]
    marks: Mapping[int, float]  # for each column, the points of its widest superscript
    # points of each column of text that is wrapped: those with which its rows have fewest lines
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
    """Return the narrowest layout in which some columns fit, in the largest font.

    `in_column`: the table may be as narrow as a column.
    """
    sizes = (DENSE,) if any(grid.head[i].is_vertical for i in columns) else SIZES
    normal = _Columns(grid, columns, sizes[0])
    panel = normal.panel(columns, COLUMN, MOST_WRAPPED) if in_column else None
    if panel is not None and panel.lines(grid, normal.size.font) <= MEAN_LINES * len(grid.rows):
        return Layout("column", normal.size, (panel,))
    for size in sizes:
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
            i: max(_label_width(grid.head[i], size.font), max(cells) + self._marks[i])
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
            layouts = [
                self.panel([*index, *chain.from_iterable(units[at : at + each])], TEXT)
                for at in range(0, len(units), each)
            ]
            if all(layouts):
                return [panel for panel in layouts if panel]
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
    """Divide the room among columns of text [row, column], in points, for the fewest lines.

    Points are moved from one column to another as long as that helps, fewer and fewer at a time.
    """
    low = np.array([*least.values()])
    widths = low + (room - low.sum()) / len(low)
    best, step = _lines(cells, widths), 64.0
    while step >= 1:
        moves = np.eye(len(low))[:, None] - np.eye(len(low))  # to one column from another
        tried = [widths + step * move for move in moves.reshape(-1, len(low)) if move.any()]
        candidates = [
            (_lines(cells, widths), [*widths]) for widths in tried if (widths >= low).all()
        ]
        if candidates and min(candidates)[0] < best:
            best, widths = min(candidates)
            widths = np.array(widths)
        else:
            step /= 2
    return dict(zip(least, widths.tolist(), strict=True))


def _lines(cells: np.ndarray, widths: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Return the lines of all rows, rather more than less, and their part that text fills."""
    lines = 1.1 * (cells / np.asarray(widths)).max(axis=1, initial=0.0)
    return float(np.ceil(lines).clip(1).sum()), float(lines.sum())


def _label_width(head: Head, font: float) -> float:
    """Return the points of a heading on as many lines as it may have; the height if turned."""
    if head.is_vertical:
        return LINE * font
    return max(widest(head.label.split(), font), text_width(head.label, font) / LABEL_LINES)


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


LONGEST_FLOAT = 45  # rows that one page of a paper holds
MOST_LINES = 55  # of all panels of a float
_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "\u2014": "---",
    "\u2013": "--",
    "\u2212": r"$-$",
    "\u00b1": r"$\pm$",
    "\u221e": r"$\infty$",
    "\u2191": r"$\uparrow$",
    "\u2193": r"$\downarrow$",
    "\u2264": r"$\leq$",
    "\u2265": r"$\geq$",
    "\u03b1": r"$\alpha$",
    "\u03c4": r"$\tau$",
    "\u0394": r"$\Delta$",
    CHECKS[True]: r"\checkmark{}",
    CHECKS[False]: r"$\times$",
    DAGGER: r"\textsuperscript{\dag}",
    DOUBLE_DAGGER: r"\textsuperscript{\ddag}",
}
_MARKS = {DAGGER: r"\dag{}", DOUBLE_DAGGER: r"\ddag{}"}
_PLAIN = re.compile("(\u2212?)(\\d[\\d,]*)(?:\\.(\\d+))?")  # a number without a unit
_NEGATIVE = re.compile(r"^-(?=[\d.,]+%?$)")
_SPECIAL = re.compile("[" + re.escape("".join(_ESCAPED)) + "]")


def to_latex(
    grid: Grid, *, label: str = "", made: Sequence[str] = (), siunitx: bool = False
) -> str:
    r"""Return a table environment, ending in a newline, that fits a paper with two columns.

    It is as wide as a column (``table``) if its cells fit, else as the text (``table*``). Long text
    is wrapped (package tabularx); a table that is still too wide is divided into panels. More than
    45 rows are a longtable, which LaTeX accepts after ``\onecolumn`` only. `made` are comments; the
    default label is the name and six digits of a checksum of the content. A table `in_floats` is
    divided into floats of at most 45 rows, and of 40 columns with turned headings.
    """
    if grid.in_floats:
        label = label or f"{grid.name}-{_checksum(grid)}"
        return "\n".join(
            to_latex(part, label=f"{label}-{n}" if n > 1 else label, made=made, siunitx=siunitx)
            for n, part in enumerate(_floats(grid), 1)
        )
    columns = [i for i, head in enumerate(grid.head) if not head.on_page_only]
    grid = _without_blank_rows(grid, columns)
    chosen = layout(grid, columns)
    is_long = len(grid.rows) > LONGEST_FLOAT or chosen.lines(grid) > MOST_LINES
    if is_long:
        chosen = layout(grid, columns, in_column=False)
    panels = [
        _Tabular(_without_blank_rows(grid, panel.columns), panel, chosen.size, is_long, siunitx)
        for panel in chosen.panels
    ]
    text = escape_latex(grid.legend(*[BEST] * grid.has_best))
    label = label.removeprefix("tab:") or f"{grid.name}-{_checksum(grid)}"
    caption = rf"\caption{{{text}}}\label{{tab:{label.replace('_', '-')}}}"
    small = [rf"\{chosen.size.command}", rf"\setlength{{\tabcolsep}}{{{chosen.size.gap / 2}pt}}"]
    if is_long:
        captions = [[caption + r" \\"], *[[]] * (len(panels) - 1)]
        parts = map(_Tabular.long, panels, captions)
        lines = ["{", *small, *chain.from_iterable(parts), "}"]
    else:
        name = "table" if chosen.width == "column" else "table*"
        parts = ([r"\par\medskip", *p.floating(chosen)] for p in panels)
        body = [*chain.from_iterable(parts)][1:]
        lines = [rf"\begin{{{name}}}[tb]", r"\centering", *small, caption, *body]
        lines.append(rf"\end{{{name}}}")
    has_checks = any(cell.text == CHECKS[True] for row in grid.rows for cell in row)
    packages = _packages(grid, chosen, is_long, siunitx, has_checks)
    comments = [packages, *made]
    comments = [f"% {drop_unsafe(' '.join(text.split()))}" for text in comments]
    return "\n".join([*comments, *lines]) + "\n"


def _floats(grid: Grid) -> Iterator[Grid]:
    """Divide a table into parts that fit floats, about equal in rows and in turned columns."""
    turned = [i for i, head in enumerate(grid.head) if head.is_vertical]
    first, number = (turned or [0])[0], max(1, -(-len(turned) // MOST_TURNED))
    grid = replace(grid, in_floats=False)
    for at in np.array_split(np.arange(first, first + len(turned)), number):
        places = [i for i in range(len(grid.head)) if i in at or not grid.head[i].is_vertical]
        head = tuple(grid.head[i] for i in places)
        part = replace(grid, head=head, rows=tuple(tuple(r[i] for i in places) for r in grid.rows))
        yield from _short_enough(part)


def _short_enough(grid: Grid) -> Iterator[Grid]:
    """Divide the rows of a table into as few parts as fit floats."""
    columns = [i for i, head in enumerate(grid.head) if not head.on_page_only]
    for number in range(max(1, -(-len(grid.rows) // LONGEST_FLOAT)), len(grid.rows) + 1):
        size = -(-len(grid.rows) // number)
        parts = [
            replace(grid, rows=grid.rows[at : at + size]) for at in range(0, len(grid.rows), size)
        ]
        if size == 1 or all(layout(p, columns).lines(p) <= MOST_LINES for p in parts):
            yield from parts
            return
    yield grid


def _checksum(grid: Grid) -> str:
    """Return six hexadecimal digits of the SHA-256 of a table's caption, headings and cells."""
    heads = [f"{head.group}\t{head.label}" for head in grid.head]
    cells = [f"{cell.text}{cell.marks}" for row in grid.rows for cell in row]
    content = "\n".join([grid.caption, *grid.notes, *heads, *cells])
    return hashlib.sha256(content.encode(errors="replace")).hexdigest()[:6]


def split_tracks(grid: Grid) -> Iterator[tuple[str, Grid]]:
    """Yield a table, or one for each track, with the track that its caption names.

    A table that begins with its tracks is divided if it is to be, or if it is too long for a float.
    """
    columns = [i for i, head in enumerate(grid.head) if not head.on_page_only]
    tracks = list(dict.fromkeys(row[0].text for row in grid.rows))
    first = grid.head[0].column if columns[:1] == [0] else ""
    is_long = len(grid.rows) > LONGEST_FLOAT or layout(grid, columns).lines(grid) > MOST_LINES
    if first != "track" or not (grid.by_track or (is_long and len(tracks) < len(grid.rows))):
        yield "", grid
        return
    for track in tracks:
        rows = tuple(row[1:] for row in grid.rows if row[0].text == track)
        has_dagger = any(cell.text.endswith(DAGGER) for row in rows for cell in row)
        notes = [note for note in grid.notes if not note.startswith(DAGGER) or has_dagger]
        words = f" Track: {track}{', ' * (track in grid.about)}{grid.about.get(track, '')}."
        caption = grid.caption.removesuffix(grid.about.get("", "")).rstrip() + words
        head = tuple(without_blanks(grid.head[1:], rows))
        yield track, replace(grid, head=head, rows=rows, caption=caption, notes=tuple(notes))


def _without_blank_rows(grid: Grid, columns: Sequence[int]) -> Grid:
    """Leave out the rows that have no value beside their keys, unless none has one."""
    at = [i for i in columns if not grid.head[i].is_key]
    rows = [row for row in grid.rows if any(row[i].text not in (ABSENT, "") for i in at)]
    return replace(grid, rows=tuple(rows)) if rows else grid


def _packages(grid: Grid, chosen: Layout, is_long: bool, siunitx: bool, has_checks: bool) -> str:
    """Return a comment with the packages that the table needs."""
    needed = ["booktabs", *["longtable"] * is_long, *["siunitx"] * siunitx]
    needed += ["amssymb"] * has_checks
    needed += ["graphicx"] * any(head.is_vertical for head in grid.head)
    needed += ["xcolor with option table"] * any(c.shade for row in grid.rows for c in row)
    if any(panel.wrapped for panel in chosen.panels):
        needed += ["array"] if is_long else ["tabularx"]
    where = r" In a paper with two columns, a longtable is set after \onecolumn." if is_long else ""
    return f"Packages: {', '.join(needed)}.{where}"


@dataclass(frozen=True)
class _Tabular:
    """One panel of a table as the lines of a tabular."""

    grid: Grid
    panel: Panel
    size: Size
    is_long: bool
    siunitx: bool

    def floating(self, chosen: Layout) -> list[str]:
        """Return a tabular, or a tabularx of the table's width if text is wrapped."""
        name, width = "tabular", ""
        if self.panel.wrapped:
            name = "tabularx"
            width = r"{\columnwidth}" if chosen.width == "column" else r"{\textwidth}"
        begin = rf"\begin{{{name}}}{width}{{{self._columns()}}}"
        body = [r"\toprule", *self._head(), r"\midrule", *self._rows(), r"\bottomrule"]
        return [begin, *body, rf"\end{{{name}}}"]

    def long(self, caption: Sequence[str]) -> list[str]:
        """Return a longtable, whose head is repeated on each page."""
        begin = rf"\begin{{longtable}}{{{self._columns()}}}"
        head = [r"\toprule", *self._head(), r"\midrule"]
        heads = [*caption, *head, r"\endfirsthead", *head, r"\endhead"]
        return [begin, *heads, r"\bottomrule", r"\endfoot", *self._rows(), r"\end{longtable}"]

    def _columns(self) -> str:
        """Return the types of the columns, without space at either side of the table."""
        return f"@{{}}{''.join(map(self._column, self.panel.columns))}@{{}}"

    def _column(self, i: int) -> str:
        if i in self.panel.wrapped:
            return self._wrapped(i)
        if self._formats[i]:
            return f"S[{self._formats[i]}]"
        if self.grid.head[i].is_vertical:
            return "c"
        return "l" if self.grid.head[i].is_text else "r"

    def _wrapped(self, i: int) -> str:
        """Return the type of a column of wrapped text, as wide as the layout says."""
        ragged, points = r"\raggedright\arraybackslash", self.panel.wrapped
        if self.is_long:
            return rf">{{{ragged}}}p{{{points[i] / TEXT:.3f}\linewidth}}"
        if len(points) == 1:
            return rf">{{{ragged}}}X"
        part = len(points) * points[i] / sum(points.values())  # of a column among equal ones
        return rf">{{\hsize={part:.3f}\hsize\linewidth=\hsize{ragged}}}X"

    @cached_property
    def _formats(self) -> dict[int, str]:
        """Format by siunitx of each column of numbers; empty for other columns."""
        columns = {i: [row[i] for row in self.grid.rows] for i in self.panel.columns}
        is_text = {i: self.grid.head[i].is_text or not self.siunitx for i in columns}
        return {i: "" if is_text[i] else _format(cells) for i, cells in columns.items()}

    def _head(self) -> list[str]:
        """Return the row of headings, and above it the row of headings over several columns."""
        labels = " & ".join(map(self._label, self.panel.columns))
        groups = spans([self.grid.head[i] for i in self.panel.columns])
        if not groups:
            return [_begin(labels)]
        headings = (rf"\multicolumn{{{n}}}{{c}}{{{escape_latex(name)}}}" for name, n in groups)
        ends = [sum(n for _, n in groups[: at + 1]) for at in range(len(groups))]
        rules = "".join(
            rf"\cmidrule(lr){{{end - n + 1}-{end}}}"
            for (name, n), end in zip(groups, ends, strict=True)
            if name and n > 1
        )
        return [" & ".join(headings) + r" \\", *[rules] * bool(rules), _begin(labels)]

    def _label(self, i: int) -> str:
        """Return a heading above the numbers, on several lines if it is wider than its column."""
        if self.grid.head[i].is_vertical:
            return rf"\rotatebox{{90}}{{{escape_latex(self.grid.head[i].label)}}}"
        side = "l" if self.grid.head[i].is_text else "r"
        width, font = self.panel.width(i), self.size.font
        lines = wrap_label(self.grid.head[i].label, width, font)
        text = r" \\ ".join(map(escape_latex, lines))
        if len(lines) > 1:
            text = rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{text}\end{{tabular}}"
        if self._formats[i]:
            return f"{{{text}}}"
        spare = width - max((text_width(line, font) for line in lines), default=0.0)
        space = int(min(self.panel.marks[i], spare))  # of superscripts, which the numbers precede
        return text + (rf"\hspace{{{space}pt}}" if space > 0 else "")

    def _rows(self) -> list[str]:
        """Return the rows; in a float, keys are not repeated, and first keys are set apart."""
        lines, before = list[str](), dict[int, str]()
        keys = [i for i in self.panel.columns if self.grid.head[i].is_key]
        firsts = [row[keys[0]].text for row in self.grid.rows] if keys else []
        is_grouped = not self.is_long and len(set(firsts)) < len(firsts)
        for row in self.grid.rows:
            same = {i for n, i in enumerate(keys, 1)
                    if all(before.get(j) == row[j].text for j in keys[:n])}  # fmt: skip
            if is_grouped and before and keys[0] not in same:
                lines.append(r"\addlinespace[2pt]")
            before = {i: row[i].text for i in keys}
            cells = ("" if i in same and is_grouped else self._cell(i, row[i])
                     for i in self.panel.columns)  # fmt: skip
            lines.append(_begin(" & ".join(cells)))
        return lines

    def _cell(self, i: int, cell: Cell) -> str:
        """Return a cell, with as much space for superscripts as the column needs."""
        if self._formats[i]:
            return f"{{{escape_latex(ABSENT)}}}" if cell.text == ABSENT else _number(cell)
        text = _NEGATIVE.sub("\u2212", cell.text)  # a paper's numbers are text
        text = (
            " ".join(r"\allowbreak{}".join(map(escape_latex, pieces(w))) for w in text.split())
            if i in self.panel.wrapped
            else escape_latex(text)
        )
        text = rf"\textbf{{{text}}}" if cell.is_best else text
        if cell.shade:
            red, green, blue = (int(cell.shade[at : at + 2], 16) for at in (1, 3, 5))
            is_dark = 0.3 * red + 0.59 * green + 0.11 * blue < DARK
            ink = rf"\color{{white}}{text}" if is_dark else text
            text = rf"\cellcolor[HTML]{{{cell.shade.removeprefix('#').upper()}}}{ink}"
        room = self.panel.marks[i]
        return text + (rf"\makebox[{ceil(room)}pt][l]{{{_marks(cell)}}}" if room else "")


def _format(cells: Sequence[Cell]) -> str:
    """Return siunitx's options for a column of numbers; empty if other text is among them."""
    numbers = [_PLAIN.fullmatch(cell.text) for cell in cells if cell.text != ABSENT]
    if not numbers or None in numbers:
        return ""
    signs, wholes, parts = zip(*(match.groups("") for match in numbers if match), strict=True)
    digits_before = max(len(digits.replace(",", "")) for digits in wholes)
    part = max(map(len, parts))
    digits = f"{'-' if any(signs) else ''}{digits_before}{f'.{part}' if part else ''}"
    marks = max(map(_marks, cells), key=len)
    space = f",table-space-text-post={{{marks}}}" if marks else ""
    return f"table-format={digits},detect-weight,mode=text{space}"


def _number(cell: Cell) -> str:
    """Return a number as siunitx reads it."""
    text = cell.text.replace("\u2212", "-").replace(",", "")
    if not cell.is_best:
        return text + _marks(cell)
    return r"\bfseries " + text + _marks(cell, r"\mdseries ")


def _marks(cell: Cell, font: str = "") -> str:
    """Return the superscript behind a cell."""
    marks = "".join(_MARKS.get(mark) or escape_latex(mark) for mark in cell.marks)
    return rf"\textsuperscript{{{font}{marks}}}" if marks else ""


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, on one line; control characters are removed."""
    text = drop_unsafe(" ".join(text.split()))
    return to_math(_SPECIAL.sub(lambda match: _ESCAPED[match[0]], text))


def _begin(row: str) -> str:
    row += r" \\"
    # A leading bracket or star would be read as an argument of the preceding line break.
    return "{}" + row if row.startswith(("[", "*")) else row

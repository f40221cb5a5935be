"""Tables for a paper: LaTeX with booktabs, tabularx for long text, longtable for long tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import ceil

from irmeta.escapes import drop_unsafe
from irmeta.naming.notation import to_math
from irmeta.report.latex_layout import (
    TEXT,
    Layout,
    Panel,
    Size,
    layout,
    pieces,
    text_width,
    wrap_label,
)
from irmeta.report.table_grid import (
    ABSENT,
    BEST,
    CHECKS,
    DAGGER,
    DOUBLE_DAGGER,
    Cell,
    Grid,
    spans,
    without_blanks,
)

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

    The table is as wide as a column (``table``) if its cells fit, else as the text (``table*``).
    Long text is wrapped (package tabularx), and a table that is still too wide is divided into
    panels. A table of more than 45 rows is a longtable, which LaTeX accepts after ``\onecolumn``
    only. Columns that are for the page only are left out.

    Parameters
    ----------
    label
        The label without ``tab:``; default: the table's name.
    made
        Comments at the top: what the table is made from.
    siunitx
        Whether numbers are set by columns ``S`` of the package siunitx, aligned at the decimal
        point.
    """
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
    best = [BEST] if grid.has_best else []
    text = escape_latex(" ".join([grid.caption, *grid.notes, *best]))
    caption = rf"\caption{{{text}}}\label{{tab:{(label or grid.name).replace('_', '-')}}}"
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
    comments = [_packages(chosen, is_long, siunitx, has_checks), *made]
    return "\n".join([*map(_comment, comments), *lines]) + "\n"


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
        notes = [one for one in grid.notes if not one.startswith(DAGGER) or _has_dagger(rows)]
        words = f" Track: {track}{', ' * (track in grid.about)}{grid.about.get(track, '')}."
        caption = grid.caption.removesuffix(grid.about.get("", "")).rstrip() + words
        head = tuple(without_blanks(grid.head[1:], rows))
        yield track, replace(grid, head=head, rows=rows, caption=caption, notes=tuple(notes))


def _has_dagger(rows: Iterable[Sequence[Cell]]) -> bool:
    return any(cell.text.endswith(DAGGER) for row in rows for cell in row)


def _without_blank_rows(grid: Grid, columns: Sequence[int]) -> Grid:
    """Leave out the rows that have no value beside their keys, unless none has one."""
    at = [i for i in columns if not grid.head[i].is_key]
    rows = [row for row in grid.rows if any(row[i].text not in (ABSENT, "") for i in at)]
    return replace(grid, rows=tuple(rows)) if rows else grid


def _packages(chosen: Layout, is_long: bool, siunitx: bool, has_checks: bool) -> str:
    """Return a comment with the packages that the table needs."""
    needed = ["booktabs", *["longtable"] * is_long, *["siunitx"] * siunitx]
    needed += ["amssymb"] * has_checks
    if any(panel.wrapped for panel in chosen.panels):
        needed += ["array"] if is_long else ["tabularx"]
    where = r" In a paper with two columns, a longtable is set after \onecolumn." if is_long else ""
    return f"Packages: {', '.join(needed)}.{where}"


def _comment(text: str) -> str:
    return f"% {drop_unsafe(' '.join(text.split()))}"


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
        names = (rf"\multicolumn{{{n}}}{{c}}{{{escape_latex(name)}}}" for name, n in groups)
        ends = [sum(n for _, n in groups[: at + 1]) for at in range(len(groups))]
        rules = "".join(
            rf"\cmidrule(lr){{{end - n + 1}-{end}}}"
            for (name, n), end in zip(groups, ends, strict=True)
            if name and n > 1
        )
        return [" & ".join(names) + r" \\", *[rules] * bool(rules), _begin(labels)]

    def _label(self, i: int) -> str:
        """Return a heading above the numbers, on several lines if it is wider than its column."""
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
        text = _breakable(text) if i in self.panel.wrapped else escape_latex(text)
        text = rf"\textbf{{{text}}}" if cell.is_best else text
        room = self.panel.marks[i]
        return text + (rf"\makebox[{ceil(room)}pt][l]{{{_marks(cell)}}}" if room else "")


def _format(cells: Sequence[Cell]) -> str:
    """Return siunitx's options for a column of numbers; empty if other text is among them."""
    found = [_PLAIN.fullmatch(cell.text) for cell in cells if cell.text != ABSENT]
    if not found or None in found:
        return ""
    signs, wholes, parts = zip(*(one.groups("") for one in found if one), strict=True)
    whole = max(len(digits.replace(",", "")) for digits in wholes)
    part = max(map(len, parts))
    digits = f"{'-' if any(signs) else ''}{whole}{f'.{part}' if part else ''}"
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


def _breakable(text: str) -> str:
    """Escape text that LaTeX may also break within long words."""
    return " ".join(r"\allowbreak{}".join(map(escape_latex, pieces(w))) for w in text.split())


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, on one line; control characters are removed."""
    text = drop_unsafe(" ".join(text.split()))
    return to_math(_SPECIAL.sub(lambda match: _ESCAPED[match[0]], text))


def _begin(row: str) -> str:
    row += r" \\"
    # A leading bracket or star would be read as an argument of the preceding line break.
    return "{}" + row if row.startswith(("[", "*")) else row

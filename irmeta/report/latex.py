"""Tables for a paper: LaTeX with booktabs, and longtable for long tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from irmeta.escapes import drop_unsafe
from irmeta.report.cells import DAGGER, DOUBLE_DAGGER, Cell, Grid, Head, spans

LONGEST_FLOAT = 45  # rows that one page of a paper holds
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
    DAGGER: r"\textsuperscript{\dag}",
    DOUBLE_DAGGER: r"\textsuperscript{\ddag}",
}
_MARKS = {DAGGER: r"\dag{}", DOUBLE_DAGGER: r"\ddag{}"}
_SPECIAL = re.compile("[" + re.escape("".join(_ESCAPED)) + "]")


def to_latex(grid: Grid) -> str:
    r"""Return a table environment, ending in a newline; its label is ``tab:NAME``.

    Columns that are for the page only are left out. A table of more than 45 rows is a longtable.
    """
    columns = [i for i, head in enumerate(grid.head) if not head.on_page_only]
    heads = [grid.head[i] for i in columns]
    layout = "".join("l" if head.is_text else "r" for head in heads)
    label = f"tab:{grid.name.replace('_', '-')}"
    best = ["Best values in bold."] if grid.has_best else []
    text = escape_latex(" ".join([grid.caption, *grid.notes, *best]))
    caption = rf"\caption{{{text}}}\label{{{label}}}"
    head = [*_group_row(heads), _row(head.label for head in heads)]
    rows = [_begin(" & ".join(_cell(row[i]) for i in columns)) for row in grid.rows]
    small = [r"\footnotesize", r"\setlength{\tabcolsep}{3.5pt}"]
    if len(rows) > LONGEST_FLOAT:
        begin, end = rf"\begin{{longtable}}{{{layout}}}", r"\end{longtable}"
        heading = [r"\toprule", *head, r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
        lines = ["{", *small, begin, caption + r" \\", *heading, *rows, end, "}"]
    else:
        begin = [r"\begin{table}[tb]", r"\centering", *small, caption]
        body = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", *head, r"\midrule", *rows]
        lines = [*begin, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Escape text for LaTeX, on one line; control characters are removed."""
    text = drop_unsafe(" ".join(text.split()))
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], text)


def _group_row(heads: Sequence[Head]) -> list[str]:
    """Return the row of headings over several columns, if there is one."""
    groups = spans(heads)
    if not groups:
        return []
    cells = (rf"\multicolumn{{{n}}}{{c}}{{{escape_latex(name)}}}" for name, n in groups)
    return [" & ".join(cells) + r" \\"]


def _cell(cell: Cell) -> str:
    text = escape_latex(cell.text)
    text = rf"\textbf{{{text}}}" if cell.is_best else text
    marks = "".join(_MARKS.get(mark) or escape_latex(mark) for mark in cell.marks)
    return text + (rf"\textsuperscript{{{marks}}}" if marks else "")


def _row(cells: Iterable[str]) -> str:
    return _begin(" & ".join(map(escape_latex, cells)))


def _begin(row: str) -> str:
    row += r" \\"
    # A leading bracket or star would be read as an argument of the preceding line break.
    return "{}" + row if row.startswith(("[", "*")) else row

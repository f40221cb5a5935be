"""Graded table: one cell per pair of names, coloured by its grade, with a number in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import legend
from irmeta.report.figure_texts import text_width
from irmeta.report.theme import INK, MUTED, PRINT_WIDTH, RULE, TEXT_WIDTH, WIDTH, finish, nothing

if TYPE_CHECKING:
    import altair as alt

FONTS = (11, 10.5, 10, 9)
LABEL_LIMIT = 190
ABOVE = 34  # pixels of labels and of names of groups above them
MINUS = "\u2212"
SLANTED = -40  # degrees, of labels above narrow columns
SHADES = ("#d6ebf7", "#e9a35c", "#8a2f00", "#ffffff")
"""From light to dark, so that grades differ in grey too; the last is of cells without a grade."""


def graded_table(
    cells: pl.DataFrame, grades: Sequence[str], *, title: str, subtitle: str, is_wide: bool = False
) -> alt.LayerChart:
    """Draw a table whose cells are coloured by three grades, the best first, or by none.

    `cells` has the columns column, row (in the order in which they first appear), grade, text, name
    (under the pointer) and group (of neighbouring columns, named above a wide table). In a narrow
    table, which is one column of print, numbers are short: .504 and 35%.
    """
    import altair as alt

    if cells.is_empty():
        return nothing(f"{title}: nothing to grade.")
    across, down = (cells[c].unique(maintain_order=True).to_list() for c in ("column", "row"))
    names = min(max(text_width(name, 11) for name in down), LABEL_LIMIT) + 16
    room = ((TEXT_WIDTH if is_wide else PRINT_WIDTH) - names) / len(across) - 4
    texts, font = _fitting(cells["text"].to_list(), room)
    is_slanted = max(text_width(name, 11) for name in across) > room
    labels = alt.Axis(
        labelAngle=SLANTED if is_slanted else 0,
        ticks=False,
        domain=False,
        orient="top",
        labelLimit=120,
    )
    tight = alt.Scale(padding=0)
    base = alt.Chart(cells.with_columns(text=pl.Series(texts))).encode(
        alt.X("column:N", sort=across, title=None, axis=labels, scale=tight),
        alt.Y("row:N", sort=down, title=None, scale=tight),
    )
    present = [grade for grade in grades if (cells["grade"] == grade).any()]
    shades = [SHADES[grades.index(grade)] for grade in present]
    colours = alt.Scale(domain=present, range=shades)
    has_names = not is_slanted and cells["group"].n_unique() > 1
    key = legend(present, symbolStrokeColor=INK, offset=ABOVE + 6 if has_names else 4)
    rects = base.mark_rect(stroke=RULE, strokeWidth=1.5).encode(
        alt.Color("grade:N", scale=colours, legend=key),
        tooltip=alt.Tooltip("name:N", title=" "),
        description=alt.Description("name:N"),
    )
    ink = alt.condition(f"datum.grade === '{grades[2]}'", alt.value("white"), alt.value(INK))
    numbers = base.mark_text(fontSize=font).encode(alt.Text("text:N"), color=ink)
    height = max(18, min(30, (340 if is_wide else 420) // (len(down) + 1))) * len(down)
    layers = [rects, numbers, *_groups(cells, across, height, has_names=has_names)]
    width = TEXT_WIDTH if is_wide else WIDTH
    return finish(alt.layer(*layers), height=height, title=title, subtitle=subtitle, width=width)


def _groups(
    cells: pl.DataFrame, across: Sequence[str], height: int, *, has_names: bool
) -> list[Any]:
    """Return lines between groups of columns, and above the labels the names of the groups."""
    import altair as alt

    firsts = cells.unique("group", keep="first", maintain_order=True).select("column", "group")
    if firsts.height < 2:
        return []
    x = alt.X("column:N", sort=across, bandPosition=0)
    lines = alt.Chart(firsts[1:]).mark_rule(color=INK, strokeWidth=2, aria=False)
    top = -ABOVE if has_names else 0
    layers = [lines.encode(x, y=alt.value(top), y2=alt.value(height))]
    if has_names:
        text = alt.Chart(firsts).mark_text(
            align="left", baseline="bottom", dx=6, fontSize=11, color=MUTED, aria=False
        )
        layers.append(text.encode(x, alt.Text("group:N"), y=alt.value(-20)))
    return layers


def _fitting(texts: Sequence[str], room: float) -> tuple[list[str], float]:
    """Return the texts, and the largest font in which they fit; short ones if none does."""
    short = [_short(text) for text in texts]
    for shown in (list(texts), short):
        for font in FONTS[: -1 if shown is not short else None]:
            if max(text_width(text, font) for text in shown) <= room:
                return shown, font
    return short, FONTS[-1]


def _short(text: str) -> str:
    """Return a share without decimals from 10 % on, another number without its leading zero."""
    if text.endswith("%"):
        share = float(text[:-1])
        return text if 0 < share < 9.95 else f"{share:.0f}%"
    short = re.sub(r"^(-?)1\.0+$", r"\g<1>1", re.sub(r"^(-?)0\.", r"\1.", text))
    return short.replace("-", MINUS)

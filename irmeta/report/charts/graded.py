"""Graded table: one cell per pair of names, coloured by its grade, with a number in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.charts.panes import legend
from irmeta.report.theme import INK, RULE, finish, nothing

if TYPE_CHECKING:
    import altair as alt

DENSE = 6
"""Columns above which labels are slanted and numbers small."""
SHADES = ("#d6ebf7", "#e9a35c", "#8a2f00", "#ffffff")
"""From light to dark, so that grades differ in grey too; the last is of cells without a grade."""


def graded_table(
    cells: pl.DataFrame, grades: Sequence[str], *, title: str, subtitle: str
) -> alt.LayerChart:
    """Draw a table whose cells are coloured by their grades.

    Parameters
    ----------
    cells
        Columns across, down (names, in the order in which they first appear), grade, text (the
        number in the cell) and name (under the pointer).
    grades
        Three grades, the best first, and the name of cells without a grade.
    """
    import altair as alt

    if cells.is_empty():
        return nothing(f"{title}: nothing to grade.")
    across, down = (cells[c].unique(maintain_order=True).to_list() for c in ("across", "down"))
    is_dense = len(across) > DENSE
    labels = alt.Axis(
        labelAngle=-40 if is_dense else 0,
        ticks=False,
        domain=False,
        orient="top",
        labelLimit=120,
    )
    tight = alt.Scale(padding=0)
    base = alt.Chart(cells).encode(
        alt.X("across:N", sort=across, title=None, axis=labels, scale=tight),
        alt.Y("down:N", sort=down, title=None, scale=tight),
    )
    present = [grade for grade in grades if (cells["grade"] == grade).any()]
    shades = [SHADES[grades.index(grade)] for grade in present]
    colours = alt.Scale(domain=present, range=shades)
    rects = base.mark_rect(stroke=RULE, strokeWidth=1.5).encode(
        alt.Color("grade:N", scale=colours, legend=legend(present, symbolStrokeColor=INK)),
        tooltip=alt.Tooltip("name:N", title=" "),
        description=alt.Description("name:N"),
    )
    ink = alt.condition(f"datum.grade === '{grades[2]}'", alt.value("white"), alt.value(INK))
    numbers = base.mark_text(fontSize=9 if is_dense else 11).encode(alt.Text("text:N"), color=ink)
    height = max(18, min(30, 420 // (len(down) + 1))) * len(down)
    return finish(alt.layer(rects, numbers), height=height, title=title, subtitle=subtitle)

"""Scatter plots in panes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import Datasets, arrange, axis_room, heading, legend, pane_width
from irmeta.report.theme import MUTED, PALE_BLUE, VERMILLION, nothing

if TYPE_CHECKING:
    import altair as alt

ROOM = 46  # pixels for the labels and the title of a y axis
HEIGHT = 130  # of one of several panes


def scatter_panes(
    frame: pl.DataFrame,
    panes: Mapping[str, tuple[str, Sequence[str]]],
    *,
    title: str,
    subtitle: str,
    y_title: str,
    kinds: tuple[str, str],
) -> alt.ConcatChart | alt.LayerChart:
    """Draw points between -1 and 1 against quantities around 0, one pane per quantity.

    `frame` has the columns pane, x, y and marked (in the second colour, above); points with a null,
    NaN or infinite coordinate are left out. `kinds` names unmarked and marked points in the legend.
    """
    known = frame.with_columns(pl.col("x", "y").cast(pl.Float64))
    known = known.filter(pl.col("x").is_finite(), pl.col("y").is_finite())
    drawn = [pane for pane in panes if known["pane"].eq(pane).any()]
    if not drawn:
        return nothing(f"{title}: nothing to draw.")
    data, charts = Datasets(), []
    for pane in drawn:
        chart = _cloud(data, known.filter(pane=pane), y_title, kinds)
        chart.title = heading(*panes[pane], ROOM)
        charts.append(chart)
    return arrange(charts, 2, data, title=title, subtitle=subtitle)


def _cloud(
    data: Datasets, points: pl.DataFrame, y_title: str, kinds: tuple[str, str]
) -> alt.LayerChart:
    """Draw the points of each kind as one path: thousands of elements would make a huge SVG."""
    import altair as alt

    width = pane_width(2, ROOM)
    far = points["x"].abs().max()
    reach = far if isinstance(far, float) and far > 0 else 1.0
    ends_x, ends_y = 1.06 * reach, 1.06
    step_x, step_y = 2 * ends_x / width, 2 * ends_y / HEIGHT
    # A pixel has one point; a point is a line of a tenth of a pixel with round ends.
    cells = points.with_columns((pl.col("x") / step_x).round(), (pl.col("y") / step_y).round())
    dots = cells.unique(["x", "y", "marked"]).sort("marked", "y", "x").select(
        "marked",
        x=pl.concat_list((pl.col("x") + end) * step_x for end in (0.0, 0.1, 0.1)),
        y=pl.concat_list(pl.col("y") * step_y, pl.col("y") * step_y, pl.lit(None, pl.Float64)),
    )  # fmt: skip
    paths = dots.group_by("marked", maintain_order=True).agg(pl.col("x", "y").explode())
    paths = paths.with_columns(at=pl.int_ranges(pl.col("x").list.len()))  # else ordered by x
    kind = pl.when("marked").then(pl.lit(kinds[1])).otherwise(pl.lit(kinds[0]))
    x_scale = alt.Scale(domain=[-ends_x, ends_x], nice=False)
    x = alt.X("x:Q", title=None, scale=x_scale, axis=alt.Axis(tickCount=5, labelFlush=16))
    y = alt.Y(
        "y:Q",
        title=y_title,
        scale=alt.Scale(domain=[-ends_y, ends_y], nice=False),
        axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1], format="~g", **axis_room(ROOM - 19)),
    )
    colour = alt.Color(
        "kind:N",
        sort=kinds,
        scale=alt.Scale(domain=kinds, range=[PALE_BLUE, VERMILLION]),
        legend=legend(kinds, symbolType="stroke", symbolStrokeWidth=4),
    )
    path = data.chart(paths.with_columns(kind=kind)).transform_flatten(["x", "y", "at"])
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]}))
    zero = zero.mark_rule(color=MUTED, strokeWidth=0.5, aria=False)
    chart: Any = alt.layer(
        zero.encode(alt.X("zero:Q", scale=x_scale)),
        path.mark_line(strokeCap="round", strokeWidth=2, aria=False).encode(
            x, y, colour, order=alt.Order("at:Q")
        ),
    )
    chart.width, chart.height = width, HEIGHT
    return chart

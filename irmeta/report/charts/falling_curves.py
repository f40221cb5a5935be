"""Falling curves, each with a label at its upper end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import apart, linear_ticks, rules_at
from irmeta.report.text_width import text_width
from irmeta.report.theme import DASHES, INK, LINES, PRINT_WIDTH, finish, nothing

if TYPE_CHECKING:
    import altair as alt

HEIGHT = 220  # pixels from 0 to the greatest value
WIDTH = PRINT_WIDTH - 48  # of the curves in print; on the page they have more room
FONT, GAP, LEADER = 10.0, 13.5, 16.0  # pixels: of slanted labels, between them, and to their curves
SLANT = math.sin(math.radians(45))
POINTS = 400  # points drawn per curve; more would be invisible
MOST = 4000  # points of all curves: Altair rejects a figure of more than 5000 rows
TAIL = 0.01  # share of the greatest value below which the axis ends


def falling_curves(
    frame: pl.DataFrame,
    *,
    top: float,
    title: str,
    subtitle: str,
    x_title: str,
    y_title: str,
    levels: Sequence[float] = (),
) -> alt.LayerChart:
    """Draw one falling step function per name, from where it is at most `top`.

    `frame` has the columns name, x, y (falling), by name and x. Labels above `top` are in the order
    of the curves; of more than fit side by side, every second, third and so on has one.
    """
    import altair as alt

    shown = frame.filter(pl.col("y") <= top)
    if shown.is_empty():
        return nothing(f"{title}: nothing to draw.")
    names = frame["name"].unique(maintain_order=True).to_list()
    styles = {
        name: {"colour": LINES[i % len(LINES)], "dash": i % len(DASHES)}
        for i, name in enumerate(names)
    }
    # A curve that comes from above starts at the upper edge.
    starts = shown.group_by("name", maintain_order=True).agg(pl.col("x").first(), y=pl.lit(top))
    starts = starts.join(frame.filter(pl.col("y") > top), on="name", how="semi")
    rows = pl.concat([starts, shown]).sort("name", "x", maintain_order=True)
    ends = rows.group_by("name").agg(pl.col("x", "y").first(), below=pl.col("y").sum())
    ends = ends.sort("x", "below", "name")
    low, high = _reach(ends["x"], shown.filter(pl.col("y") >= TAIL * top)["x"])
    reach = (high - low) or 1.0
    bounds = (low - 0.04 * reach, high + 0.02 * reach)
    labels, room = _labels(ends, bounds, top)
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(domain=bounds, nice=False),
        axis=alt.Axis(values=linear_ticks(*bounds, whole=True), format=",d"),
    )
    ticks = sorted({*levels, *linear_ticks(0.0, top, whole=False)})
    y = alt.Y(
        "y:Q",
        title=y_title,
        scale=alt.Scale(domain=[0.0, top * (1 + room / HEIGHT)], nice=False),
        axis=alt.Axis(values=ticks, titleAnchor="start"),
    )
    style: dict[str, Any] = {
        "color": alt.Color("colour:N", scale=None),
        "strokeDash": alt.StrokeDash(
            "dash:N", scale=alt.Scale(domain=[*range(len(DASHES))], range=DASHES), legend=None
        ),
        "detail": alt.Detail("name:N"),
    }
    drawn = pl.DataFrame([{"name": name, **style} for name, style in styles.items()])
    lines = alt.Chart(alt.NamedData("curves"))
    leaders = alt.Chart(labels.join(drawn, on="name", maintain_order="left"))
    chart: Any = alt.layer(
        *rules_at(levels, y),
        lines.mark_line(interpolate="step-after", strokeWidth=1.6, clip=True, aria=False).encode(
            x, y, **style
        ),
        leaders.mark_rule(strokeWidth=1.2, aria=False).encode(
            x, y, alt.X2("to:Q"), alt.Y2("above:Q"), **style
        ),
        leaders.mark_text(align="left", angle=315, dx=3, color=INK, fontSize=FONT).encode(
            alt.X("to:Q"), alt.Y("above:Q"), alt.Text("name:N")
        ),
    )
    points = _thinned(rows, len(names)).join(drawn, on="name", maintain_order="left")
    chart.datasets = {"curves": points.to_dicts()}
    return finish(chart, height=round(HEIGHT + room), title=title, subtitle=subtitle)


def _reach(starts: pl.Series, drawn: pl.Series) -> tuple[float, float]:
    """Return the first start of a curve, and the last place where one is visible."""
    low = min(starts.to_list())
    return low, max(drawn.to_list(), default=low)


def _labels(
    ends: pl.DataFrame, bounds: tuple[float, float], top: float
) -> tuple[pl.DataFrame, float]:
    """Return the places of the labels of curves, and the pixels that the labels take above them.

    The rows are the labelled curves from the left, with the end of the curve (x, y) and the start
    of the label (to, above).
    """
    most = int(WIDTH / GAP) - 2
    labelled = ends.gather_every(-(-ends.height // most))
    pixel = (bounds[1] - bounds[0]) / WIDTH
    widths = [text_width(name, FONT) * SLANT for name in labelled["name"]]
    last = bounds[1] - max(widths[-1] + 8, 0) * pixel
    places = apart(labelled["x"].to_list(), GAP * pixel, bounds[0] + 4 * pixel, last)
    above = top * (1 + LEADER / HEIGHT)
    rows = labelled.with_columns(to=pl.Series(places), above=pl.lit(above))
    return rows, LEADER + max(widths) + 10


def _thinned(frame: pl.DataFrame, names: int) -> pl.DataFrame:
    """Return points of curves that are enough to draw them, with the last of each curve."""
    step = 1 + frame.height // min(POINTS * names, MOST)
    position = pl.int_range(1, pl.len() + 1).over("name")
    return frame.filter((position % step == 1 % step) | (position == pl.len().over("name")))

"""Surfaces of values between -1 and 1 over two ranks, beside the distribution of such values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.heat import ROOM, TITLE, band_names, band_strips, banded_map
from irmeta.report.charts.panes import Datasets, arrange, axis_room, heading, legend, pane_width
from irmeta.report.theme import BLUE, INK, MUTED, PALE_BLUE, PALE_RED, VERMILLION, nothing

if TYPE_CHECKING:
    import altair as alt

LEVELS = (-0.3, -0.1, -0.02, 0.02, 0.1, 0.3)
"""Lower bounds of the bands above the lowest; no difference of powers of 1/2 is equal to one."""
COLOURS = (VERMILLION, PALE_RED, "#fbe3d4", "#f7f7f7", "#d8e9f4", PALE_BLUE, BLUE)
DASHES: tuple[list[float], ...] = ([1, 0], [6, 3], [1.5, 2])


def surfaces(
    cells: pl.DataFrame,
    shares: pl.DataFrame,
    headings: Mapping[str, str],
    *,
    title: str,
    subtitle: str,
    axes: tuple[str, str],
    share_heading: str,
    x_title: str,
) -> alt.ConcatChart | alt.LayerChart:
    """Draw up to three antisymmetric surfaces, and a distribution function of each in one pane.

    `cells` has the columns pane, x, y (int) and value (-1 to 1); `shares` pane, x (-1 to 1) and y
    (share of values up to x), by pane and x: without rows there is no such pane.
    """
    if cells.is_empty():
        return nothing(f"{title}: nothing to draw.")
    names = band_names(LEVELS)
    strips = band_strips(cells, LEVELS, names)
    data, panes = Datasets(), []
    for pane, text in headings.items():
        rows = strips.filter(pane=pane)
        chart = banded_map(data, rows, axes, names, COLOURS)
        chart.layer += _signs(rows)
        chart.title = heading(text, [], ROOM + TITLE)
        panes.append(chart)
    if not shares.is_empty():
        panes.append(_distribution(data, shares, headings, share_heading, x_title))
    return arrange(panes, 2, data, title=title, subtitle=subtitle)


def _signs(strips: pl.DataFrame) -> list[Any]:
    """Return a sign on each side of the diagonal: the colours have equal lightness in grey."""
    import altair as alt

    far = strips["stop"].max()
    assert isinstance(far, float)
    frame = pl.DataFrame({"x": [0.4 * far, 0.85 * far], "y": [0.85 * far, 0.4 * far],
                          "sign": ["+", "\u2212"]})  # fmt: skip
    text = alt.Chart(frame).mark_text(fontSize=18, color=INK, aria=False)
    return [text.encode(alt.X("x:Q"), alt.Y("y:Q"), alt.Text("sign:N"))]


def _distribution(
    data: Datasets,
    shares: pl.DataFrame,
    headings: Mapping[str, str],
    share_heading: str,
    x_title: str,
) -> alt.LayerChart:
    import altair as alt

    words = list(headings.values())
    named = shares.with_columns(name=pl.col("pane").replace(dict(headings)))
    scale = alt.Scale(domain=[-1.05, 1.05], nice=False)
    x = alt.X("x:Q", title=x_title, scale=scale, axis=alt.Axis(tickCount=5, labelFlush=8))
    axis = alt.Axis(format="%", tickCount=5, labelFlush=True, **axis_room(ROOM + TITLE))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)
    key = legend(words, orient="bottom", symbolType="stroke", symbolStrokeColor=INK)
    dash = alt.StrokeDash(
        "name:N", sort=words, scale=alt.Scale(domain=words, range=DASHES[: len(words)]), legend=key
    )
    line = data.chart(named).mark_line(
        interpolate="step-after", color=INK, strokeWidth=1.5, aria=False
    )
    zero = alt.Chart(pl.DataFrame({"x": [0.0]})).mark_rule(color=MUTED, strokeWidth=0.5, aria=False)
    chart: Any = alt.layer(zero.encode(x), line.encode(x, y, dash))
    chart.width = chart.height = pane_width(2, ROOM + TITLE)
    chart.title = heading(share_heading, [], ROOM + TITLE)
    return chart

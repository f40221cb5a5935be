"""Curves over a common axis, and the share of values up to each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.theme import DASHES, INK, LINES, axis_title, finish, nothing

if TYPE_CHECKING:
    import altair as alt

POINTS = 400  # points drawn per curve; more would be invisible
MOST = 4000  # points of all curves: Altair rejects a figure of more than 5000 rows
INSIDE = 6  # largest number of curves with the legend inside the figure


def curves(
    frame: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    y_title: str,
    domain: tuple[float, float] | None = None,
    log: bool = False,
    rules: Sequence[float] = (),
) -> alt.LayerChart:
    """Draw one curve per name.

    Parameters
    ----------
    frame
        Columns name, x, y, and optionally low and high, bounds of a band around each curve, e.g.
        quartiles; by name and x. Curves of many points are thinned, their ends kept.
    domain
        Smallest and largest y; default the range of the values.
    log
        Whether the x axis is logarithmic.
    rules
        Values of y, drawn as dashed lines.
    """
    import altair as alt

    if frame.is_empty():
        return nothing(f"{title}: nothing to draw.")
    names = frame["name"].unique(maintain_order=True).to_list()
    # Many names would cover the curves.
    legend = alt.Legend(title=None, orient="top-right" if len(names) <= INSIDE else "right")
    legend = legend if len(names) > 1 else None
    colours, dashes = (
        alt.Scale(domain=names, range=[styles[i % len(styles)] for i in range(len(names))])
        for styles in (LINES, DASHES)
    )
    scale = alt.Scale(domain=domain) if domain else alt.Scale(zero=False)
    shown = thinned(frame, len(names))
    base = alt.Chart(shown).encode(
        alt.X(
            "x:Q",
            title=axis_title(x_title, "log scale" if log else ""),
            axis=alt.Axis(format="~s" if log else "d"),
            scale=alt.Scale(type="log" if log else "linear"),
        ),
        color=alt.Color("name:N", sort=names, scale=colours, legend=legend),
    )
    layers: list[Any] = []
    if "low" in frame.columns:
        band = base.mark_area(opacity=0.18, aria=False)
        layers.append(band.encode(alt.Y("low:Q"), alt.Y2("high:Q")))
    dash = alt.StrokeDash("name:N", sort=names, scale=dashes, legend=legend)
    line = base.mark_line(strokeWidth=1.6).encode(dash)
    layers.append(line.encode(alt.Y("y:Q", title=y_title, scale=scale)))
    if rules:
        level = alt.Chart(pl.DataFrame({"y": [float(value) for value in rules]}))
        layers.append(level.mark_rule(strokeDash=[2, 2], color=INK).encode(alt.Y("y:Q")))
    return finish(alt.layer(*layers), height=300, title=title, subtitle=subtitle)


def thinned(frame: pl.DataFrame, names: int) -> pl.DataFrame:
    """Return points of curves that are enough to draw them, with the last of each curve."""
    step = 1 + frame.height // min(POINTS * names, MOST)
    position = pl.int_range(1, pl.len() + 1).over("name")
    return frame.filter((position % step == 1 % step) | (position == pl.len().over("name")))

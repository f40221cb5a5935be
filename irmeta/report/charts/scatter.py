"""Scatter plot, and a layered graph of names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.look import BLUE, INK, MUTED, described, finish, nothing

if TYPE_CHECKING:
    import altair as alt

POINTS = 5000  # largest number of rows that Altair accepts


def scatter(
    frame: pl.DataFrame, *, title: str, subtitle: str, x_title: str, y_title: str
) -> alt.LayerChart:
    """Draw one dot per row, with Pearson's r in the subtitle.

    Parameters
    ----------
    frame
        Columns name, x, y; rows with a null or NaN are ignored.
    """
    import altair as alt

    known = frame.with_columns(pl.col("x", "y").cast(pl.Float64))
    known = known.filter(pl.col("x").is_finite(), pl.col("y").is_finite())
    if known.is_empty():
        return nothing(f"{title}: nothing to draw.")
    r = known.select(pl.corr("x", "y")).item() if known.height > 1 else math.nan
    shown = f"r = {r:.2f}" if r is not None and math.isfinite(r) else "r undefined"
    marks = alt.Chart(alt.InlineData(known.to_dicts())).mark_circle(
        size=26 if known.height > 200 else 50, color=BLUE, opacity=0.8
    )
    loose = alt.Scale(zero=False)
    dots = described(marks, "name", "y", ".4f").encode(
        alt.X("x:Q", title=x_title, scale=loose), alt.Y("y:Q", title=y_title, scale=loose)
    )
    return finish(
        alt.layer(dots),
        height=320,
        title=title,
        subtitle=f"{subtitle}; {shown}, n = {known.height}",
    )


def graph(nodes: pl.DataFrame, edges: pl.DataFrame, *, title: str, subtitle: str) -> alt.LayerChart:
    """Draw names on levels from the top, joined by edges.

    Parameters
    ----------
    nodes
        Columns name and level (int, 0 at the top).
    edges
        Columns source and target, names of nodes.
    """
    import altair as alt

    if nodes.is_empty():
        return nothing(f"{title}: nothing to draw.")
    width = pl.len().over("level")
    placed = nodes.with_columns(x=(pl.int_range(pl.len()).over("level") + 0.5) / width)
    levels = int(placed.select(pl.max("level")).item() or 0) + 1
    ends = {
        end: placed.select(pl.col("name").alias(end), pl.col("x").alias(f"{end}_x"),
                           pl.col("level").alias(f"{end}_level"))
        for end in ("source", "target")
    }  # fmt: skip
    lines = edges
    for end, frame in ends.items():
        lines = lines.join(frame, on=end, how="inner", maintain_order="left")
    x, y = alt.Scale(domain=[0, 1]), alt.Scale(domain=[levels - 0.5, -0.5], nice=False)
    strokes = alt.Chart(alt.InlineData(lines.to_dicts())).mark_rule(color=MUTED, aria=False)
    texts = alt.Chart(alt.InlineData(placed.to_dicts())).mark_text(color=INK)
    layers = [
        strokes.encode(
            alt.X("source_x:Q", scale=x, axis=None),
            alt.Y("source_level:Q", scale=y, axis=None),
            alt.X2("target_x:Q"),
            alt.Y2("target_level:Q"),
        ),
        # A white background separates the names from the lines.
        texts.mark_text(stroke="white", strokeWidth=5).encode(
            alt.X("x:Q", scale=x), alt.Y("level:Q", scale=y), alt.Text("name:N")
        ),
        texts.encode(alt.X("x:Q", scale=x), alt.Y("level:Q", scale=y), alt.Text("name:N")),
    ]
    return finish(alt.layer(*layers), height=44 * levels, title=title, subtitle=subtitle)

"""Dumbbell chart: two values of each row, joined by a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.table_grid import FORMATS
from irmeta.report.theme import (
    BLUE,
    INK,
    MUTED,
    axis_title,
    described,
    finish,
    nothing,
    right_words,
)
from irmeta.schema.columns import PLAIN, Display

if TYPE_CHECKING:
    import altair as alt


def dumbbell(
    frame: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    aside: str,
    display: Display = PLAIN,
) -> alt.LayerChart:
    """Draw a filled dot and a ring per row, best filled value first.

    `frame` has the columns row, filled, ring (null or NaN: no mark), filled_name, ring_name (in
    tooltips) and aside (text at the right, below the heading `aside`). Rows without a filled value
    are only counted, in the subtitle.
    """
    import altair as alt

    rows = (
        frame.with_columns(pl.col("filled", "ring").cast(pl.Float64).fill_nan(None))
        .filter(pl.col("filled").is_not_null())
        .sort(pl.col("filled") * -display.direction, "row")
    )
    if rows.is_empty():
        return nothing(f"{title}: no value to draw.")
    values = [v for name in ("filled", "ring") for v in rows[name].drop_nulls()]
    digits = FORMATS[display.format]
    font = 11 if rows.height <= 30 else 10 if rows.height <= 60 else 9
    domain = alt.Scale(domain=rows["row"].to_list())
    lengths = display.format == "length"
    title_of_axis = axis_title(x_title, "log scale" if lengths else "")
    x: dict[str, Any] = {"title": title_of_axis, **value_axis(values, lengths)}
    left = alt.Axis(grid=True, labelFontSize=font, labelLimit=225, labelOverlap=False)
    base = alt.Chart(rows).encode(alt.X("filled:Q", **x), alt.Y("row:N", scale=domain, axis=None))
    gaps = base.mark_rule(color=MUTED, strokeWidth=1.5, aria=False).encode(
        alt.X2("ring:Q"), alt.Y("row:N", scale=domain, title=None, axis=left)
    )
    size = 70 if rows.height <= 30 else 36
    dots = base.mark_point(filled=True, opacity=1, color=BLUE, size=size)
    rings = base.mark_point(
        filled=True, fill="white", stroke=INK, strokeWidth=1.4, opacity=1, size=size
    ).encode(alt.X("ring:Q", **x))
    words = base.mark_point(opacity=0, aria=False).encode(
        alt.Y("row:N", scale=domain, axis=right_words(rows, "row", aside, font))
    )
    missing = frame.height - rows.height
    layers = [
        gaps,
        described(rings, "ring_name", "ring", digits),
        described(dots, "filled_name", "filled", digits),
        words,
    ]
    return finish(
        alt.layer(*layers).resolve_axis(y="independent"),
        height=(17 if font == 11 else 14 if font == 10 else 11) * rows.height + 8,
        title=title,
        subtitle=subtitle + (f"; {missing:,} without a value left out" if missing else ""),
    )


def value_axis(values: list[float], lengths: bool) -> dict[str, Any]:
    """Return scale and axis for values: logarithmic for search lengths, from 0 for others."""
    import altair as alt

    low, high = min(values), max(values)
    if not lengths:
        scale = alt.Scale(domain=[min(0.0, low), high * 1.05 or 1.0], nice=False)
        return {"scale": scale, "axis": alt.Axis(tickCount=6)}
    # Means are below 1, even 0, only by Eq. 3, for lists without a non-relevant doc.
    kind = "log" if low > 0 else "symlog"
    # At least a decade, so that there are ticks.
    domain = [low / 1.2 if low > 0 else 0, max(1.2 * high, 10 * low, 10)]
    steps = (1, 2, 5) if high < 300 * low else (1,)
    powers = range(math.floor(math.log10(low)) if low > 0 else 0, int(math.log10(domain[1])) + 1)
    ticks = [0.0] * (low <= 0) + [step * 10.0**power for power in powers for step in steps]
    ticks = [tick for tick in ticks if domain[0] <= tick <= domain[1]]
    return {
        "scale": alt.Scale(type=kind, domain=domain, nice=False),
        "axis": alt.Axis(values=ticks, format=",~f"),
    }

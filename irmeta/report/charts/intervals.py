"""Interval chart: a value of each row as a dot, with the ends of its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.theme import BLUE, MUTED, RULE, described, finish, nothing

if TYPE_CHECKING:
    import altair as alt


def intervals(
    rows: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    empty: str,
    mark: float = 0.0,
    always: bool = False,
) -> alt.LayerChart:
    """Draw a dot and a line from low to high per row, the greatest value first.

    Parameters
    ----------
    rows
        Columns row (name), value (null or NaN: not drawn), low, high (null or NaN: no line).
    empty
        Text of the figure if no row has a value.
    mark
        Value at which a rule stands; without `always`, only where an interval reaches below it.
    """
    import altair as alt

    rows = rows.with_columns(pl.col("value", "low", "high").cast(pl.Float64).fill_nan(None))
    rows = rows.filter(pl.col("value").is_not_null() & pl.col("value").is_finite())
    if rows.is_empty():
        return nothing(empty)
    rows = rows.sort("value", "row", descending=[True, False])
    order = rows["row"].to_list()
    base = alt.Chart(rows).encode(
        alt.Y("row:N", sort=order, title=None, axis=alt.Axis(grid=True, labelOverlap=False))
    )
    scale = alt.Scale(zero=False, nice=True)
    ends = base.mark_rule(color=BLUE, strokeWidth=1.5, aria=False).encode(
        alt.X("low:Q", scale=scale, title=x_title), alt.X2("high:Q")
    )
    dots = described(base.mark_circle(color=BLUE, size=46, opacity=1), "row", "value", ".4f")
    rule = alt.Chart(pl.DataFrame({"mark": [mark]})).mark_rule(
        color=MUTED if always else RULE, aria=False
    )
    layers = [ends, dots.encode(alt.X("value:Q", title=x_title))]
    if always or (rows["low"].fill_null(rows["value"]) < mark).any():
        layers.insert(0, rule.encode(alt.X("mark:Q", title=x_title)))
    height = max(60, 19 * len(order))
    return finish(alt.layer(*layers), height=height, title=title, subtitle=subtitle)

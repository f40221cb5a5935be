"""Stacked bars: the parts of each row beside one another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.charts.panes import legend
from irmeta.report.theme import described, finish, nothing

if TYPE_CHECKING:
    import altair as alt


def stacked_bars(
    frame: pl.DataFrame,
    parts: Mapping[str, str],
    *,
    title: str,
    subtitle: str,
    x_title: str,
) -> alt.LayerChart:
    """Draw a bar per row, with its parts in the order of `parts`.

    `frame` has the columns row (in the order in which they first appear), part, value (at least 0).
    """
    import altair as alt

    known = frame.filter(pl.col("value").is_finite(), pl.col("value") > 0)
    if known.is_empty():
        return nothing(f"{title}: nothing to draw.")
    names = list(parts)
    place = {name: n for n, name in enumerate(names)}
    rows = known.with_columns(
        place=pl.col("part").replace_strict(place, return_dtype=pl.Int64),
        name=pl.format("{}: {}", "row", "part"),
    )
    order = frame["row"].unique(maintain_order=True).to_list()
    bars = described(alt.Chart(rows).mark_bar(), "name", "value", ",d").encode(
        alt.X("value:Q", title=x_title, stack="zero", axis=alt.Axis(tickCount=6, format=",d")),
        alt.Y("row:N", sort=order, title=None, axis=alt.Axis(labelOverlap=False)),
        alt.Color(
            "part:N",
            sort=names,
            scale=alt.Scale(domain=names, range=list(parts.values())),
            legend=legend(names, symbolType="square"),
        ),
        order=alt.Order("place:Q"),
    )
    height = max(60, (20 if len(order) <= 20 else 13) * len(order))
    return finish(alt.layer(bars), height=height, title=title, subtitle=subtitle)

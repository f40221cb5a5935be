"""Chart of ranks: each name as a row, its rank as a dot and the set of its ranks as a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from irmeta.report.charts.panes import linear_ticks
from irmeta.report.charts.row_places import RowPlaces
from irmeta.report.theme import BLUE, INK, MUTED, described, finish, nothing

if TYPE_CHECKING:
    import altair as alt

ALL_NAMED, BEST_NAMED = 40, 20  # largest number of rows that all have a name; of more, the best
FIRST, OTHER = "could be first", "could not be first"


def rank_places(rows: pl.DataFrame, title: str, subtitle: str) -> alt.LayerChart:
    """Draw the rank of each name and the set of its ranks, best first; a line divides the tiers.

    `rows` has the columns name, rank (null: not drawn), rank_low, rank_high, tier. Of more than 40
    rows, the best 20 have a name and a high row, and the others are thin.
    """
    import altair as alt

    rows = rows.drop_nulls(["rank", "rank_low"])
    if rows.is_empty():
        return nothing("No system has a rank.")
    number = rows.height
    named = range(number if number <= ALL_NAMED else BEST_NAMED)
    places = RowPlaces(rows["name"].to_list(), named, numbered=number > ALL_NAMED)
    kind = pl.when(pl.col("rank_low") == 1).then(pl.lit(FIRST)).otherwise(pl.lit(OTHER))
    shown = rows.with_columns(kind.alias("is")).hstack(places.frame())
    colour = alt.Color(
        "is:N",
        scale=alt.Scale(domain=[FIRST, OTHER], range=[BLUE, MUTED]),
        legend=alt.Legend(title=None, orient="top", direction="horizontal"),
    )
    x = alt.X(
        "rank_low:Q",
        title="rank",
        scale=alt.Scale(domain=[0.5, number + 0.5], nice=False, zero=False),
        axis=alt.Axis(values=[1, *linear_ticks(2, number, whole=True)], format=",d"),
    )
    base = alt.Chart(alt.NamedData("ranks")).encode(places.channel("middle:Q"), colour)
    sets = base.mark_rule(aria=False).encode(
        x, alt.X2("rank_high:Q"),
        strokeWidth=alt.StrokeWidthValue(0.9, condition={"test": "datum.tall", "value": 1.6}),
    )  # fmt: skip
    dots = described(base.mark_point(filled=True, opacity=1), "name", "rank", "d").encode(
        alt.X("rank:Q"),
        alt.SizeValue(9, condition={"test": "datum.tall", "value": 50}),
        alt.Shape("is:N", scale=alt.Scale(domain=[FIRST, OTHER], range=["circle", "square"])),
    )
    is_end = pl.col("tier") != pl.col("tier").shift(-1)
    ends = alt.Chart(shown.filter(is_end).select("bottom"))
    tiers = ends.mark_rule(color=INK, strokeWidth=0.8, aria=False).encode(
        places.channel("bottom:Q")
    )
    chart = alt.layer(tiers, sets, dots)
    chart.datasets = {"ranks": shown.to_dicts()}  # altair refuses frames of more than 5,000 rows
    return finish(chart, height=places.height + 8, title=title, subtitle=subtitle)

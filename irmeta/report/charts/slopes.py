"""Slopes: the ranks of names in two orders, joined by lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.theme import BLUE, GREY, INK, MUTED, described, finish, nothing

if TYPE_CHECKING:
    import altair as alt

MARKED = 5  # names of the greatest falls, and of the greatest rises, that are emphasised
ROW = 11  # pixels of a name


def slopes(
    frame: pl.DataFrame,
    sides: tuple[str, str],
    *,
    title: str,
    subtitle: str,
) -> alt.LayerChart:
    """Draw the places of names in two orders, the first place at the top.

    `frame` has the columns name, left, right (places from 1, each once on either side). The
    greatest falls are dark, the greatest rises blue.
    """
    import altair as alt

    if frame.is_empty():
        return nothing(f"{title}: nothing to draw.")
    fall = pl.col("right").cast(pl.Int64) - pl.col("left").cast(pl.Int64)
    rows = frame.with_columns(fall=fall)
    first, last = _marked(rows, falls=True), _marked(rows, falls=False)
    colour = pl.col("name").replace_strict(
        dict.fromkeys(first, INK) | dict.fromkeys(last, BLUE), default=GREY, return_dtype=pl.String
    )
    rows = rows.with_columns(
        colour=colour,
        width=pl.when(colour == GREY).then(0.8).otherwise(1.8),
        text=pl.when(colour == GREY).then(pl.lit(MUTED)).otherwise(colour),
        moved=pl.format("{}, places lost", "name"),
        x=pl.lit(0.0),
        x2=pl.lit(1.0),
    ).sort(colour != GREY, "left")
    scale = alt.Scale(domain=[-0.62, 1.62], nice=False)
    places = alt.Scale(domain=[0.4, frame.height + 0.6], nice=False, reverse=True)
    x = alt.X("x:Q", scale=scale, axis=None)
    y = alt.Y("left:Q", scale=places, axis=None)
    base = alt.Chart(rows)
    lines = described(base.mark_rule(), "moved", "fall", "d").encode(
        x,
        alt.X2("x2:Q"),
        y,
        alt.Y2("right:Q"),
        alt.Color("colour:N", scale=None),
        strokeWidth=alt.StrokeWidth("width:Q", scale=None),
    )
    layers: list[Any] = [lines]
    look: dict[str, Any] = {"fontSize": 9, "limit": 170, "aria": False}
    texts = base.mark_text(align="right", dx=-5, **look), base.mark_text(align="left", dx=5, **look)
    for side, at, text in zip(("left", "right"), ("x", "x2"), texts, strict=True):
        layers.append(
            text.encode(
                alt.X(f"{at}:Q", scale=scale, axis=None),
                alt.Y(f"{side}:Q", scale=places, axis=None),
                alt.Text("name:N"),
                alt.Color("text:N", scale=None),
            )
        )
    heads = alt.Chart(pl.DataFrame({"x": [0.0, 1.0], "head": list(sides)}))
    layers.append(
        heads.mark_text(dy=-8, fontSize=10.5, color=MUTED, aria=False).encode(
            x, alt.Text("head:N"), y=alt.value(0)
        )
    )
    height = max(80, ROW * frame.height)
    return finish(alt.layer(*layers), height=height, title=title, subtitle=subtitle)


def _marked(rows: pl.DataFrame, *, falls: bool) -> list[str]:
    """Return the names with the greatest falls or rises, at most `MARKED`."""
    moved = rows.filter(pl.col("fall") > 0 if falls else pl.col("fall") < 0)
    return moved.sort("fall", "name", descending=[falls, False])["name"].head(MARKED).to_list()

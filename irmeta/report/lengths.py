"""Figures of per-document search lengths, one system against another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.look import (
    BLUE,
    INK,
    NARROW,
    VERMILLION,
    described,
    finish,
    nothing,
    whole_ticks,
)

if TYPE_CHECKING:
    import altair as alt

TIED = "#a9aeb4"  # lighter in print than both wins and losses

# One line for under each figure, by the name of its function
READING: Mapping[str, str] = {
    "length_differences": (
        "Each bar counts relevant docs by how much longer the best system's search for them is"
        " than the median system's: left of 0 the best system finds them earlier, right of 0 later."
    ),
}


def length_differences(
    frame: pl.DataFrame,
    left: str,
    right: str,
    title: str,
    roles: tuple[str, str] = ("best", "median"),
) -> alt.LayerChart:
    """Docs by the difference of their search length in two systems (Figure 6 of the ASL paper).

    Parameters
    ----------
    frame
        Columns low, high (ints, both inside the bucket; negative: `left` wins), docs (int): a row
        a bucket. Rows of table ``length_differences`` of one track.
    left, right
        The names of the systems: a difference is the length in `left` minus that in `right`.
    title
        What is shown, such as the track.
    roles
        What the two systems are.
    """
    import altair as alt

    total = int(frame["docs"].sum())
    if not total:
        return nothing(f"{title}: no relevant doc to compare.")
    low, high = pl.col("low"), pl.col("high")
    span = pl.format("{} to {}", _whole(low), _whole(high))
    bars = frame.sort("low").select(
        pl.when(low == high).then(_whole(low)).otherwise(span).alias("bucket"),
        "docs",
        pl.when(high < 0)
        .then(pl.lit("left"))
        .when(low > 0)
        .then(pl.lit("right"))
        .otherwise(pl.lit("tie"))
        .alias("wins"),
    )
    won = {side: int(bars.filter(wins=side)["docs"].sum()) for side in ("left", "right", "tie")}
    top = max(bars["docs"].to_list())
    order = bars["bucket"].to_list()
    room = NARROW / len(order)
    labels = alt.Axis(
        labelAngle=-45 if 5.6 * max(map(len, order)) > room else 0,
        labelFontSize=10,
        labelOverlap=False,
        ticks=False,
    )
    base = alt.Chart(bars).encode(
        alt.X(
            "bucket:N",
            scale=alt.Scale(domain=order),
            title=f"search length in the {roles[0]} system less that in the {roles[1]} (docs)",
            axis=labels,
        ),
        alt.Y(
            "docs:Q",
            title="relevant docs",
            # room above the bars for who wins
            scale=alt.Scale(domain=[0, top * 1.3], nice=False),
            axis=alt.Axis(format=",d", values=whole_ticks(top)),
        ),
    )
    sides = alt.Scale(domain=["left", "tie", "right"], range=[BLUE, TIED, VERMILLION])
    layers: list[alt.Chart] = [
        described(base.mark_bar(), "bucket", "docs", ",d").encode(
            alt.Color("wins:N", scale=sides, legend=None)
        )
    ]
    if 5.5 * len(f"{top:,}") < room:
        counts = base.transform_filter("datum.docs > 0").mark_text(dy=-6)
        layers.append(counts.encode(text=alt.Text("docs:Q", format=",d")))
    layers += [
        side
        for wins, role, name, colour, x in (
            ("left", roles[0], left, BLUE, 2),
            ("right", roles[1], right, VERMILLION, "width"),
        )
        for side in _winner(f"{role} wins: {_part(won[wins], total)}", name, colour, wins, x)
    ]
    return finish(
        alt.layer(*layers),
        height=240,
        title=title,
        subtitle=f"{total:,} relevant docs; ties: {_part(won['tie'], total)}",
    )


def _winner(said: str, system: str, colour: str, align: str, x: object) -> list[alt.Chart]:
    """Who wins how often, and its name, in an upper corner."""
    import altair as alt

    words = alt.Chart(pl.DataFrame({"said": [said], "system": [system]})).encode(x=alt.value(x))
    mark: dict[str, Any] = {"align": align, "baseline": "top"}
    return [
        words.mark_text(color=colour, fontWeight="bold", fontSize=12, **mark).encode(
            y=alt.value(0), text="said:N"
        ),
        words.mark_text(color=INK, limit=220, **mark).encode(y=alt.value(16), text="system:N"),
    ]


def _whole(number: pl.Expr) -> pl.Expr:
    """A whole number with a true minus sign."""
    return number.cast(pl.String).str.replace("-", "\u2212", literal=True)


def _part(docs: int, total: int) -> str:
    share = docs / total
    return f"{docs:,} ({'<1%' if 0 < share < 0.01 else f'{share:.0%}'})"

"""Strip chart: one line of dots per row, with their mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.theme import BLUE, INK, described, finish, nothing, right_words

if TYPE_CHECKING:
    import altair as alt

SPOKEN = 1500  # most dots with tooltips; more would make a huge SVG
MANY = 60  # dots of a line; larger numbers are drawn thinner


def strip(
    frame: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    domain: tuple[float, float],
    digits: str,
    spread: bool = False,
    rule: tuple[float, str] | None = None,
    axis_format: str = "",
) -> alt.LayerChart:
    """Draw one dot per value, one line per row, and the mean of each line.

    `frame` has the columns row (its name, "|" for a new line), name (under the pointer) and value
    (null or NaN: counted, not drawn). With `spread` a bar of one standard deviation either side of
    the mean stands below the dots, within `domain`; otherwise the mean is a tick through them.
    """
    import altair as alt

    dots = frame.with_columns(pl.col("value").cast(pl.Float64)).filter(pl.col("value").is_finite())
    if dots.is_empty():
        return nothing(f"{title}: no value to draw.")
    lines = _lines(dots, domain, digits, spread)
    count = lines.height
    height = 40 if spread else 26 if count <= 12 else 18 if count <= 30 else 11
    axis = alt.Axis(grid=True, tickCount=6, format=axis_format or alt.Undefined)
    bars = [*lines["least"], *lines["most"]] if spread else []
    ends = _ends([*dots["value"], *bars, *([] if rule is None else [rule[0]])], domain)
    x = alt.X("value:Q", title=x_title, scale=alt.Scale(domain=ends, nice=False), axis=axis)
    aside = "mean \u00b1 sd" if spread else "mean"
    layers = _layers(dots, lines, x, ends[1] - ends[0], aside, height, digits, spread)
    if rule is not None:
        mark = alt.Chart(pl.DataFrame({"value": [rule[0]]})).encode(alt.X("value:Q"))
        line = mark.mark_rule(color=INK, strokeDash=[2, 2], aria=False)
        text = mark.mark_text(color=INK, dy=-7)
        layers = [line, *layers, text.encode(alt.YValue(0), alt.TextValue(rule[1]))]
    missing = frame.height - dots.height
    chart = alt.layer(*layers).resolve_axis(y="independent")
    subtitle += "; arrow: beyond the axis" if spread and lines["beyond"].any() else ""
    subtitle += f"; {missing:,} without a value left out" if missing else ""
    return finish(chart, height=height * count, title=title, subtitle=subtitle)


def _ends(values: Sequence[float | None], domain: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of the axis: the range of the values within what is possible."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min(known), max(known)
    margin = 0.05 * (high - low) or 0.05 * (domain[1] - domain[0])
    is_near = low - domain[0] <= 0.4 * (high - domain[0])
    return domain[0] if is_near else low - margin, min(high + margin, domain[1])


def _lines(
    dots: pl.DataFrame, domain: tuple[float, float], digits: str, spread: bool
) -> pl.DataFrame:
    lines = dots.group_by("row", maintain_order=True).agg(
        mean=pl.col("value").mean(), sd=pl.col("value").std(), n=pl.len()
    )
    texts = [
        f"{mean:z{digits}}".replace("-", "\u2212")
        + (f" \u00b1 {sd:{digits}}" if spread and sd is not None else "")
        for mean, sd in lines.select("mean", "sd").iter_rows()
    ]
    mean, sd = pl.col("mean"), pl.col("sd")
    return lines.with_columns(
        aside=pl.Series(texts, dtype=pl.String),
        mean_name=pl.format("{}: mean", "row"),
        least=(mean - sd).clip(*domain),
        most=(mean + sd).clip(*domain),
        is_below=mean - sd < domain[0],
        is_above=mean + sd > domain[1],
    ).with_columns(beyond=pl.col("is_below") | pl.col("is_above"))


def _layers(
    dots: pl.DataFrame,
    lines: pl.DataFrame,
    x: alt.X,
    reach: float,
    aside: str,
    height: int,
    digits: str,
    spread: bool,
) -> list[Any]:
    import altair as alt

    middle, half = (-0.35, 0.5) if spread else (0.0, 0.85)
    font = 11 if height > 16 else 9
    domain = alt.Scale(domain=lines["row"].to_list(), paddingInner=0.1, paddingOuter=0.05)
    offset = alt.Scale(domain=[-1, 1])
    left = alt.Axis(
        grid=False, labelExpr="split(datum.label, '|')", labelFontSize=font, labelLimit=225,
        labelOverlap=False,
    )  # fmt: skip
    y = alt.Y("row:N", scale=domain, title=None, axis=left)
    placed = _stacked(dots, reach, middle, half)
    # inline, because altair refuses a frame above 5,000 rows
    marks = alt.Chart(alt.InlineData(placed.to_dicts())).encode(
        x, y, alt.YOffset("offset:Q", scale=offset)
    )
    large = 28 if height > 30 else 18 if height > 16 else 8
    spoken = dots.height <= SPOKEN
    points = marks.mark_circle(color=BLUE, opacity=1, aria=spoken).encode(
        alt.SizeValue(large, condition={"test": "datum.thin", "value": large / 3})
    )
    no_axis = alt.Y("row:N", scale=domain, axis=None)
    means = alt.Chart(lines).encode(
        alt.X("mean:Q"), no_axis, yOffset=alt.YOffsetDatum(0.6 if spread else 0.0, scale=offset)
    )
    ticks = means.mark_tick(
        color=INK, opacity=1, thickness=2.5, size=12 if spread else height - 3,
        orient="vertical",
    )  # fmt: skip
    words = alt.Y("row:N", scale=domain, axis=right_words(lines, "row", aside, font))
    layers = [
        described(points, "name", "value", digits) if spoken else points,
        described(ticks, "mean_name", "mean", digits),
        alt.Chart(lines).mark_point(opacity=0, aria=False).encode(alt.X("mean:Q"), words),
    ]
    if spread:
        bars = means.mark_rule(color=INK, strokeWidth=1.5, aria=False)
        layers.insert(1, bars.encode(alt.X("least:Q"), alt.X2("most:Q")))
        for end, flag, shape in (
            ("least", "is_below", "triangle-left"),
            ("most", "is_above", "triangle-right"),
        ):
            arrows = means.transform_filter(f"datum.{flag}")
            arrows = arrows.mark_point(shape=shape, filled=True, color=INK, opacity=1, size=50)
            layers.append(arrows.encode(alt.X(f"{end}:Q")))
    return layers


def _stacked(dots: pl.DataFrame, reach: float, middle: float, half: float) -> pl.DataFrame:
    """Return dots with their offset within a line, so that nearly equal values do not overlap."""
    turn = pl.int_range(pl.len()).over("row", (pl.col("value") / reach * 100).round())
    side = pl.when(turn % 2 == 0).then(1).otherwise(-1)
    offset = (turn + 1) // 2 * side
    return dots.sort("row", "value", "name").with_columns(place=offset).with_columns(
        offset=middle + half * pl.col("place") / pl.col("place").abs().max().clip(4).over("row"),
        thin=pl.len().over("row") > MANY,
    )  # fmt: skip

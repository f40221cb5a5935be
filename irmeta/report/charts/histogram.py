"""Distributions: histograms over given buckets, and scatter plots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from irmeta.report.charts.panes import (
    GAP,
    Datasets,
    arrange,
    axis_room,
    heading,
    legend,
    pane_width,
)
from irmeta.report.theme import (
    BLUE,
    INK,
    MUTED,
    NARROW,
    PALE_BLUE,
    VERMILLION,
    axis_title,
    described,
    finish,
    nothing,
    whole_ticks,
)

if TYPE_CHECKING:
    import altair as alt


ENDLESS = 2**31 - 1
"""Upper end of an open bucket."""


class Corner(NamedTuple):
    """Text in an upper corner: a bold line in a colour, and lines below it."""

    text: str
    below: Sequence[str]
    colour: str


class Class(NamedTuple):
    """Name of the buckets from `bucket` on; `rule`: whether a line marks the first of them."""

    bucket: str
    text: str
    rule: bool


def histogram(
    bars: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    x_title: str,
    y_title: str = "relevant docs",
    kinds: Mapping[str, tuple[str, str]] | None = None,
    classes: Sequence[Class] = (),
    corners: tuple[Corner, Corner] | None = None,
    log: bool = False,
) -> alt.LayerChart:
    """Draw counts by bucket, stacked by kind.

    `bars` has the columns bucket (its name, "|" for a new line; in the order in which they first
    appear), count and, with `kinds`, kind; `kinds` gives the colour and label of each, the lowest
    in the stack first. `classes` are named ranges of buckets, `corners` texts in the upper corners.
    """
    import altair as alt

    totals = bars.group_by("bucket", maintain_order=True).agg(pl.col("count").sum())
    if not totals["count"].sum():
        return nothing(f"{title}: nothing to count.")
    order, top = totals["bucket"].to_list(), max(totals["count"].to_list())
    room = NARROW / len(order)
    height = 1.35 if classes or corners else 1.12
    x = alt.X("bucket:N", title=x_title, scale=alt.Scale(domain=order), axis=_labels(order, room))
    if log:
        title_of_y = axis_title(y_title, "log scale")
        # log(1 + count): a bucket without docs has no bar, and one with a single doc has one
        scale = alt.Scale(type="symlog", domain=[0, (top + 1) ** height], nice=False)
        ticks = [0, *(10**n for n in range(len(str(top))))]
    else:
        title_of_y, ticks = y_title, whole_ticks(top)
        scale = alt.Scale(domain=[0, top * height], nice=False)
    axis = alt.Axis(format=",d", values=ticks)
    y = alt.Y("sum(count):Q", title=title_of_y, scale=scale, axis=axis)
    layers: list[Any] = [_stacks(bars, kinds or {}).encode(x, y)]
    if 5.5 * len(f"{top:,}") < room:
        counts = alt.Chart(totals).transform_filter("datum.count > 0").mark_text(dy=-6)
        layers.append(counts.encode(x, alt.Y("count:Q"), alt.Text("count:Q", format=",d")))
    layers += _classes(classes)
    for corner, align in zip(corners or (), ("left", "right"), strict=False):
        layers += corner_texts(corner, align)
    return finish(alt.layer(*layers), height=240, title=title, subtitle=subtitle)


def _labels(order: Sequence[str], room: float) -> alt.Axis:
    import altair as alt

    # Labels of ranges are slanted if they would overlap; labels of numbers may be omitted.
    ranges = [name for name in order if not name.isdigit()]
    longest = max((len(part) for name in ranges for part in name.split("|")), default=0)
    return alt.Axis(
        labelAngle=-45 if 5.6 * longest > room else 0,
        labelExpr="split(datum.label, '|')",
        labelFontSize=10,
        labelOverlap=not ranges,
        labelSeparation=4,
        ticks=False,
    )


def _stacks(bars: pl.DataFrame, kinds: Mapping[str, tuple[str, str]]) -> alt.Chart:
    import altair as alt

    if not kinds:
        return described(alt.Chart(bars).mark_bar(color=BLUE), "bucket", "count", ",d")
    drawn = set(bars.filter(pl.col("count") > 0)["kind"])
    kinds = {kind: style for kind, style in kinds.items() if kind in drawn}
    bars = bars.filter(pl.col("kind").is_in([*kinds]))
    order, (colours, labels) = list(kinds), zip(*kinds.values(), strict=True)
    kind = pl.col("kind")
    label = kind.replace_strict(order, labels)
    rows = bars.with_columns(
        order=kind.replace_strict(order, range(len(order)), return_dtype=pl.Int32),
        label=label,
        name=pl.when(label == "").then("bucket").otherwise(pl.format("{}, {}", "bucket", label)),
    )
    legend = alt.Legend(title=None, orient="top", direction="horizontal", labelLimit=0)
    field, domain = ("label", labels) if any(labels) else ("kind", order)
    scale = alt.Scale(domain=domain, range=colours)
    return described(alt.Chart(rows).mark_bar(), "name", "count", ",d").encode(
        color=alt.Color(f"{field}:N", scale=scale, legend=legend if any(labels) else None),
        order=alt.Order("order:Q"),
    )


def _classes(classes: Sequence[Class]) -> list[Any]:
    """Draw the name of each class above its buckets, and a rule at its first bucket."""
    import altair as alt

    if not classes:
        return []
    rows = pl.DataFrame([kind._asdict() for kind in classes])
    base = alt.Chart(rows).encode(alt.X("bucket:N", bandPosition=0))
    rules = base.transform_filter("datum.rule").mark_rule(
        color=INK, strokeDash=[2, 2], xOffset=-2.5, aria=False
    )
    texts = base.mark_text(align="left", baseline="top", dx=3, lineBreak="|")
    return [rules, texts.encode(alt.YValue(2), alt.Text("text:N"))]


def corner_texts(corner: Corner, align: str) -> list[Any]:
    """Draw the lines of a corner, the left or the right one."""
    import altair as alt

    x = alt.XValue(2 if align == "left" else "width")
    mark: dict[str, Any] = {"align": align, "baseline": "top"}
    lines: list[tuple[str, str, Any, float]] = [(corner.text, corner.colour, "bold", 12.0)]
    lines += [(text, INK, "normal", 10.5) for text in corner.below]
    return [
        alt.Chart(pl.DataFrame({"text": [text]}))
        .mark_text(color=colour, fontWeight=weight, fontSize=size, limit=230, **mark)
        .encode(x, alt.YValue(15 * line), alt.Text("text:N"))
        for line, (text, colour, weight, size) in enumerate(lines)
    ]


def bucket_name(low: float | None, high: float | None, digits: str = ",g") -> str:
    """Return a bucket's name from its inclusive bounds: "5–9", "4", "100+", "below 1"."""
    if low is None or high is None:
        return (
            "all"
            if low is high
            else f"below {high:{digits}}"
            if low is None
            else f"{low:{digits}}+"
        )
    first, last = (f"{end:{digits}}".replace("-", "\u2212") for end in (low, high))
    if low == high:
        return first
    if high == ENDLESS:
        return f"{first}+"
    return f"{first} to {last}" if low < 0 or high < 0 else f"{first}\u2013{last}"


ROOM = 46  # pixels for the labels and the title of a y axis
HEIGHT = 130  # of one of several panes


def scatter_panes(
    frame: pl.DataFrame,
    panes: Mapping[str, tuple[str, Sequence[str]]],
    *,
    title: str,
    subtitle: str,
    y_title: str,
    kinds: tuple[str, str],
) -> alt.ConcatChart | alt.LayerChart:
    """Draw points between -1 and 1 against quantities around 0, one pane per quantity.

    `frame` has the columns pane, x, y and marked (in the second colour, above); points with a null,
    NaN or infinite coordinate are left out. `kinds` names unmarked and marked points in the legend.
    """
    known = frame.with_columns(pl.col("x", "y").cast(pl.Float64))
    known = known.filter(pl.col("x").is_finite(), pl.col("y").is_finite())
    drawn = [pane for pane in panes if known["pane"].eq(pane).any()]
    if not drawn:
        return nothing(f"{title}: nothing to draw.")
    data, charts = Datasets(), []
    for pane in drawn:
        chart = _cloud(data, known.filter(pane=pane), y_title, kinds)
        chart.title = heading(*panes[pane], ROOM)
        charts.append(chart)
    return arrange(charts, 2, data, title=title, subtitle=subtitle)


def _cloud(
    data: Datasets, points: pl.DataFrame, y_title: str, kinds: tuple[str, str]
) -> alt.LayerChart:
    """Draw the points of each kind as one path: thousands of elements would make a huge SVG."""
    import altair as alt

    width = pane_width(2, ROOM)
    far = points["x"].abs().max()
    reach = far if isinstance(far, float) and far > 0 else 1.0
    ends_x, ends_y = 1.06 * reach, 1.06
    step_x, step_y = 2 * ends_x / width, 2 * ends_y / HEIGHT
    # A pixel has one point; a point is a line of a tenth of a pixel with round ends.
    cells = points.with_columns((pl.col("x") / step_x).round(), (pl.col("y") / step_y).round())
    dots = cells.unique(["x", "y", "marked"]).sort("marked", "y", "x").select(
        "marked",
        x=pl.concat_list((pl.col("x") + end) * step_x for end in (0.0, 0.1, 0.1)),
        y=pl.concat_list(pl.col("y") * step_y, pl.col("y") * step_y, pl.lit(None, pl.Float64)),
    )  # fmt: skip
    paths = dots.group_by("marked", maintain_order=True).agg(pl.col("x", "y").explode())
    paths = paths.with_columns(at=pl.int_ranges(pl.col("x").list.len()))  # else ordered by x
    kind = pl.when("marked").then(pl.lit(kinds[1])).otherwise(pl.lit(kinds[0]))
    x_scale = alt.Scale(domain=[-ends_x, ends_x], nice=False)
    x = alt.X("x:Q", title=None, scale=x_scale, axis=alt.Axis(tickCount=5, labelFlush=16))
    y = alt.Y(
        "y:Q",
        title=y_title,
        scale=alt.Scale(domain=[-ends_y, ends_y], nice=False),
        axis=alt.Axis(values=[-1, -0.5, 0, 0.5, 1], format="~g", **axis_room(ROOM - 19)),
    )
    colour = alt.Color(
        "kind:N",
        sort=kinds,
        scale=alt.Scale(domain=kinds, range=[PALE_BLUE, VERMILLION]),
        legend=legend(kinds, symbolType="stroke", symbolStrokeWidth=4),
    )
    path = data.chart(paths.with_columns(kind=kind)).transform_flatten(["x", "y", "at"])
    zero = alt.Chart(pl.DataFrame({"zero": [0.0]}))
    zero = zero.mark_rule(color=MUTED, strokeWidth=0.5, aria=False)
    chart: Any = alt.layer(
        zero.encode(alt.X("zero:Q", scale=x_scale)),
        path.mark_line(strokeCap="round", strokeWidth=2, aria=False).encode(
            x, y, colour, order=alt.Order("at:Q")
        ),
    )
    chart.width, chart.height = width, HEIGHT
    return chart


LABELS = 4  # largest number of labels of an axis of small panes
KEPT, MISSED = "retrieved", "not retrieved"


def length_panes(
    frame: pl.DataFrame, headings: Mapping[str, str], *, title: str, subtitle: str
) -> alt.ConcatChart | alt.LayerChart:
    """Draw a small histogram of search lengths per pane, as shares of the docs of the pane.

    `frame` has the columns pane, low, high (null: docs not retrieved) and docs, with a row a
    bucket; `headings` gives the heading of each pane. Panes with the same buckets share an axis.
    """
    import altair as alt

    frame = frame.filter(pl.col("docs").sum().over("pane") > 0)
    if frame.is_empty():
        return nothing(f"{title}: nothing to count.")
    place = pl.int_range(pl.len()).over("pane")
    share = pl.col("docs") / pl.col("docs").sum().over("pane")
    bars = frame.sort("pane", pl.col("low").is_null(), "low").with_columns(share=share, start=place)
    kind = pl.when(pl.col("low").is_null()).then(pl.lit(MISSED)).otherwise(pl.lit(KEPT))
    bars = bars.with_columns(kind=kind)
    lows = {pane: bars.filter(pane=pane)["low"].drop_nulls().to_list() for pane in headings}
    longest = max(lows.values(), key=len)
    is_common = all(low == longest[: len(low)] for low in lows.values())
    columns = 2 if len(headings) <= 4 else 3
    top = 1.08 * max(bars["share"].to_list())
    y = alt.Y(
        "share:Q",
        title=None,
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(format="%", tickCount=4, **axis_room(ROOM)),
    )
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=[KEPT, MISSED], range=[BLUE, VERMILLION]),
        legend=legend([KEPT, MISSED], symbolType="square"),
    )
    width = pane_width(columns, ROOM)
    spare = pane_width(1, columns * ROOM + (columns - 1) * GAP) - columns * width
    data, charts = Datasets(), []
    for pane, text in headings.items():
        starts = longest if is_common else lows[pane]
        at = pl.when(kind=MISSED).then(len(starts) + 0.6).otherwise("start")
        rows = (
            bars.filter(pane=pane).with_columns(start=at).with_columns(stop=pl.col("start") + 0.9)
        )
        texts = {
            f"{place}": f"{low // 1000}k" if low % 1000 == 0 else f"{low:,}"
            for place, low in enumerate(starts)
        }
        step = -(-len(starts) // LABELS)
        axis = alt.Axis(
            values=[place + 0.45 for place in range(0, len(starts), step)],
            labelExpr=f"{json.dumps(texts)}[floor(datum.value)]",
            labelFontSize=10,
            labelOverlap=True,
            ticks=False,
        )
        scale = alt.Scale(domain=[-0.1, len(starts) + 1.6], nice=False)
        x = alt.X("start:Q", title=None, scale=scale, axis=axis)
        missed = rows.filter(kind=MISSED)["share"].sum()
        marks = (
            data.chart(rows).mark_rect().encode(x, y, alt.X2("stop:Q"), colour, y2=alt.Y2Datum(0))
        )
        chart = alt.layer(described(marks, "kind", "share", ".1%"))
        is_last = len(charts) % columns == columns - 1
        chart.width, chart.height = width + spare * is_last, HEIGHT if columns == 2 else 80
        chart.title = heading(text, [f"{missed:.0%} of {rows['docs'].sum():,} not retrieved"], ROOM)
        charts.append(chart)
    return arrange(charts, columns, data, title=title, subtitle=subtitle)

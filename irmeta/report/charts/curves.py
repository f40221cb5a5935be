"""Curves: in panes, or falling ones with labels at their upper ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from irmeta.report.charts.panes import (
    Datasets,
    Label,
    apart,
    arrange,
    axis_room,
    heading,
    labels_above,
    legend,
    linear_ticks,
    log_ticks,
    pane_width,
    rules_at,
)
from irmeta.report.theme import (
    BLUE,
    DASHES,
    GREY,
    INK,
    LINES,
    PRINT_WIDTH,
    axis_title,
    finish,
    nothing,
    text_width,
)

if TYPE_CHECKING:
    import altair as alt

HEIGHT = 220  # pixels from 0 to the greatest value
WIDTH = PRINT_WIDTH - 48  # of the curves in print; on the page they have more room
FONT, GAP, LEADER = 10.0, 13.5, 16.0  # pixels: of slanted labels, between them, and to their curves
SLANT = math.sin(math.radians(45))
POINTS = 400  # points drawn per curve; more would be invisible
MOST = 4000  # points of all curves: Altair rejects a figure of more than 5000 rows
TAIL = 0.01  # share of the greatest value below which the axis ends


def falling_curves(
    frame: pl.DataFrame,
    *,
    top: float,
    title: str,
    subtitle: str,
    x_title: str,
    y_title: str,
    levels: Sequence[float] = (),
) -> alt.LayerChart:
    """Draw one falling step function per name, from where it is at most `top`.

    `frame` has the columns name, x, y (falling), by name and x. Labels above `top` are in the order
    of the curves; of more than fit side by side, every second, third and so on has one.
    """
    import altair as alt

    shown = frame.filter(pl.col("y") <= top)
    if shown.is_empty():
        return nothing(f"{title}: nothing to draw.")
    curve_names = frame["name"].unique(maintain_order=True).to_list()
    styles = {
        name: {"colour": LINES[i % len(LINES)], "dash": i % len(DASHES)}
        for i, name in enumerate(curve_names)
    }
    # A curve that comes from above starts at the upper edge.
    starts = shown.group_by("name", maintain_order=True).agg(pl.col("x").first(), y=pl.lit(top))
    starts = starts.join(frame.filter(pl.col("y") > top), on="name", how="semi")
    rows = pl.concat([starts, shown]).sort("name", "x", maintain_order=True)
    ends = rows.group_by("name").agg(pl.col("x", "y").first(), below=pl.col("y").sum())
    ends = ends.sort("x", "below", "name")
    low = min(ends["x"].to_list())
    high = max(shown.filter(pl.col("y") >= TAIL * top)["x"].to_list(), default=low)
    reach = (high - low) or 1.0
    bounds = (low - 0.04 * reach, high + 0.02 * reach)
    labels, room = _labels(ends, bounds, top)
    x = alt.X(
        "x:Q",
        title=x_title,
        scale=alt.Scale(domain=bounds, nice=False),
        axis=alt.Axis(values=linear_ticks(*bounds, whole=True), format=",d"),
    )
    ticks = sorted({*levels, *linear_ticks(0.0, top, whole=False)})
    y = alt.Y(
        "y:Q",
        title=y_title,
        scale=alt.Scale(domain=[0.0, top * (1 + room / HEIGHT)], nice=False),
        axis=alt.Axis(values=ticks, titleAnchor="start"),
    )
    style: dict[str, Any] = {
        "color": alt.Color("colour:N", scale=None),
        "strokeDash": alt.StrokeDash(
            "dash:N", scale=alt.Scale(domain=[*range(len(DASHES))], range=DASHES), legend=None
        ),
        "detail": alt.Detail("name:N"),
    }
    drawn = pl.DataFrame([{"name": name, **style} for name, style in styles.items()])
    lines = alt.Chart(alt.NamedData("curves"))
    leaders = alt.Chart(labels.join(drawn, on="name", maintain_order="left"))
    chart: Any = alt.layer(
        *rules_at(levels, y),
        lines.mark_line(interpolate="step-after", strokeWidth=1.6, clip=True, aria=False).encode(
            x, y, **style
        ),
        leaders.mark_rule(strokeWidth=1.2, aria=False).encode(
            x, y, alt.X2("to:Q"), alt.Y2("above:Q"), **style
        ),
        leaders.mark_text(align="left", angle=315, dx=3, color=INK, fontSize=FONT).encode(
            alt.X("to:Q"), alt.Y("above:Q"), alt.Text("name:N")
        ),
    )
    step = 1 + rows.height // min(POINTS * len(curve_names), MOST)
    position = pl.int_range(1, pl.len() + 1).over("name")
    is_drawn = (position % step == 1 % step) | (position == pl.len().over("name"))
    points = rows.filter(is_drawn).join(drawn, on="name", maintain_order="left")
    chart.datasets = {"curves": points.to_dicts()}
    return finish(chart, height=round(HEIGHT + room), title=title, subtitle=subtitle)


def _labels(
    ends: pl.DataFrame, bounds: tuple[float, float], top: float
) -> tuple[pl.DataFrame, float]:
    """Return the places of the labels of curves, and the pixels that the labels take above them.

    The rows are the labelled curves from the left, with the end of the curve (x, y) and the start
    of the label (to, above).
    """
    most = int(WIDTH / GAP) - 2
    labelled = ends.gather_every(-(-ends.height // most))
    pixel = (bounds[1] - bounds[0]) / WIDTH
    widths = [text_width(name, FONT) * SLANT for name in labelled["name"]]
    last = bounds[1] - max(widths[-1] + 8, 0) * pixel
    places = apart(labelled["x"].to_list(), GAP * pixel, bounds[0] + 4 * pixel, last)
    above = top * (1 + LEADER / HEIGHT)
    rows = labelled.with_columns(to=pl.Series(places), above=pl.lit(above))
    return rows, LEADER + max(widths) + 10


NAMED = 8  # largest number of curves with a colour and a mark each
MARKS = 15  # largest number of marks on a curve
ROOM = 38  # pixels for the labels of a y axis
QUANTILES = ("min", "Q1", "median", "Q3", "max")
SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-left",
    "triangle-right",
)
SOLID, DASHED = [1, 0], [4, 3]


class _End(NamedTuple):
    """End of an emphasised curve: its role, e.g. median, its name, and its last point."""

    role: str
    name: str
    x: float
    y: float


class Pane(NamedTuple):
    """Name of a pane in the frame, its heading, and the format of the labels of its y axis."""

    name: str
    heading: str
    digits: str = ""


def curve_panes(
    frame: pl.DataFrame,
    panes: Sequence[Pane],
    *,
    title: str,
    subtitle: str,
    x_title: str,
    dashes: tuple[str, str] = ("", ""),
    rules: Sequence[Label] = (),
    levels: Sequence[float] = (),
    labels: Sequence[Label] = (),
    same_y: bool = False,
    height: int = 190,
    linear: str = "",
    ranks: bool = False,
    colours: Sequence[str] = LINES,
) -> alt.ConcatChart | alt.LayerChart:
    """Draw one curve per name in each pane, two panes side by side.

    `frame` has the columns pane, name, x (at least 1 on a logarithmic axis), y (null, NaN or
    infinite: a gap) and dashed; optionally low and high, the bounds of a band around each of up to
    8 curves, and marked, the points with a mark. Of more than 8 names all curves are thin and grey,
    and the least, the quartiles and the greatest at the right edge are emphasised and named.
    `colours` are those of up to 8 curves, so that a system has one colour in all figures.
    """
    import altair as alt

    vertical = [name for name in ("y", "low", "high") if name in frame.columns]
    known = frame.with_columns(pl.col("x", *vertical).cast(pl.Float64)).with_columns(
        pl.when(pl.col(name).is_finite()).then(name) for name in vertical
    )
    drawn = [pane for pane in panes if known.filter(pane=pane.name)["y"].drop_nulls().len()]
    if not drawn:
        return nothing(f"{title}: no value to draw.")
    curve_names = known["name"].unique(maintain_order=True).to_list()
    many = len(curve_names) > NAMED
    columns = min(2, len(drawn))
    ruled = [value for value, _ in rules]
    x, above = _x_axis([*known["x"], *ruled], x_title, [*rules, *labels], columns, many, linear)
    data, charts = Datasets(), []
    for pane in drawn:
        rows = known.filter(pane=pane.name)
        values = (known if same_y else rows).select(vertical).unpivot()["value"].drop_nulls()
        bounds = _bounds([*values, *levels])
        y = _y_axis(pane, bounds, ranks)
        edge = _quantiles(rows) if many else []
        if many:
            curves = _crowd(data, rows, edge, x, y, (bounds[1] - bounds[0]) / height)
            curves += _edge_labels(edge, x, y, bounds, height)
        else:
            curves = _few(data, rows, dict(zip(curve_names, colours, strict=False)), dashes, x, y)
        chart = alt.layer(*rules_at(ruled, x), *rules_at(levels, y), *curves, *above)
        chart.width, chart.height = pane_width(columns, ROOM), height
        lines = [f"{end.role}: {end.name}" for end in reversed(edge)]
        chart.title = heading(pane.heading, lines, ROOM)
        charts.append(chart)
    return arrange(charts, columns, data, title=title, subtitle=subtitle)


def _x_axis(
    values: Sequence[float],
    title: str,
    labels: Sequence[Label],
    columns: int,
    many: bool,
    linear: str,
) -> tuple[alt.X, list[Any]]:
    """Return the common axis, with a margin for labels of curves, and the labels above it."""
    import altair as alt

    low, high = min(values), max(values)
    # so wide in print; wider figures have more room
    width = pane_width(columns, ROOM, PRINT_WIDTH)
    margin = (44 if many else 18) / width
    if linear:
        reach = (high - low) or 1.0
        domain = low - 0.02 * reach, high + reach * margin / (1 - margin)
        ticks = linear_ticks(low, high, whole=linear.endswith("d"))
        axis = alt.Axis(format=linear, values=ticks)
    else:
        ratio = max(high / low, 1.5)
        domain = low / ratio**0.02, high * ratio ** (margin / (1 - margin))
        room = width * math.log(max(high / low, 1.0)) / math.log(domain[1] / domain[0])
        axis = alt.Axis(values=log_ticks(low, high, room), format=",d")
    scale = alt.Scale(type="linear" if linear else "log", domain=domain, nice=False)
    title = axis_title(title, "" if linear else "log scale")
    x = alt.X("x:Q", title=title, axis=axis, scale=scale)
    return x, [labels_above(labels, x, domain, width, not linear)] if labels else []


def _y_axis(pane: Pane, bounds: tuple[float, float], ranks: bool) -> alt.Y:
    import altair as alt

    ticks = {"values": _rank_ticks(*bounds)} if ranks else {"tickCount": 5}
    digits = pane.digits or (",d" if ranks else alt.Undefined)
    axis = alt.Axis(format=digits, **ticks, **axis_room(ROOM))
    scale = alt.Scale(domain=bounds, nice=False, reverse=ranks or alt.Undefined)
    return alt.Y("y:Q", title=None, scale=scale, axis=axis)


def _rank_ticks(low: float, high: float) -> list[float]:
    """Return whole ranks between the ends of an axis, 1 among them if it is there."""
    ticks = linear_ticks(max(low, 0.0), high, whole=True)
    return sorted({tick for tick in ticks if tick > 0} | ({1.0} if low <= 1 else set()))


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a y axis: the range of the values, from 0 if near or if all are equal."""
    low, high = min(values), max(values)
    low = 0.0 if 0 <= low <= 0.4 * high or 0 <= low == high else low
    margin = 0.06 * (high - low) or 0.5
    return (low - margin if low else 0.0), high + margin


def _few(
    data: Datasets,
    rows: pl.DataFrame,
    colours: Mapping[str, str],
    dashes: tuple[str, str],
    x: alt.X,
    y: alt.Y,
) -> list[Any]:
    """Draw each curve in its colour, with marks."""
    import altair as alt

    names = [*colours]
    shown = legend(names, symbolOpacity=1) if len(names) > 1 else None  # else that of the bands
    colour = alt.Color(
        "name:N",
        sort=names,
        scale=alt.Scale(domain=names, range=[*colours.values()]),
        legend=shown,
    )
    shape = alt.Shape(
        "name:N",
        sort=names,
        scale=alt.Scale(domain=names, range=SHAPES[: len(names)]),
        legend=shown,
    )
    styled = rows.with_columns(
        style=pl.when("dashed").then(pl.lit(dashes[1])).otherwise(pl.lit(dashes[0]))
    )
    base = data.chart(styled).encode(x, y, colour)
    bands = []
    if "low" in rows.columns:
        area = data.chart(styled.drop_nulls(["low", "high"])).mark_area(opacity=0.14, aria=False)
        detail = alt.Detail("dashed:N")
        low = alt.Y("low:Q", title=None, scale=y["scale"], axis=y["axis"])
        bands = [area.encode(x, low, alt.Y2("high:Q"), colour, detail)]
    key = legend(dashes, orient="bottom", symbolType="stroke", symbolStrokeColor=INK)
    dash = alt.StrokeDash(
        "style:N",
        scale=alt.Scale(domain=dashes, range=[SOLID, DASHED]),
        legend=key if all(dashes) else None,
    )
    step = (pl.len().over("name", "dashed") - 1) // MARKS + 1
    spaced = pl.int_range(pl.len()).over("name", "dashed") % step == 0
    marked = styled.filter("marked" if "marked" in rows.columns else spaced)
    points = data.chart(marked.drop_nulls("y")).mark_point(filled=True, opacity=1, size=24)
    return [
        *bands,
        base.mark_line(strokeWidth=1.5, aria=False).encode(dash),
        points.encode(x, y, colour, shape, alt.Description("name:N")),
    ]


def _crowd(
    data: Datasets, rows: pl.DataFrame, edge: Sequence[_End], x: alt.X, y: alt.Y, pixel: float
) -> list[Any]:
    """Draw all curves thin and grey, and the emphasised ones above."""
    import altair as alt

    colours = {end.name: INK if end.role == "median" else BLUE for end in reversed(edge)}
    # Values by the quarter of a pixel, without the points in the middle of a horizontal stretch:
    # of 143 systems at 60 cutoffs, a third of the points.
    line, step, height = ["name", "dashed"], pixel / 4, pl.col("y")
    flat = (height == height.shift(1).over(line)) & (height == height.shift(-1).over(line))
    seen = rows.with_columns((height / step).round() * step).filter(~flat.fill_null(False))
    seen = seen.group_by(line, maintain_order=True).agg("x", "y")
    strong = pl.col("name").is_in([*colours])
    weak = seen.filter(~strong).with_columns(colour=pl.lit(GREY))
    bold = seen.filter(strong).with_columns(colour=pl.col("name").replace(colours))
    # `alt.condition` is slow, because it validates the schema
    dash = alt.StrokeDashValue(SOLID, condition={"test": "datum.dashed", "value": DASHED})
    channels = [alt.Detail(["name:N", "dashed:N"]), dash, alt.Description("name:N")]
    colour = alt.Color("colour:N", scale=None)
    return [
        data.chart(part)
        .transform_flatten(["x", "y"])
        .mark_line(strokeWidth=width)
        .encode(x, y, colour, *channels)
        for part, width in ((weak, 0.6), (bold, 1.8))
    ]


def _quantiles(rows: pl.DataFrame) -> list[_End]:
    """Return the curves of the least, the quartiles and the greatest last value."""
    ends = (
        rows.drop_nulls("y")
        .sort("x")
        .group_by("name")
        .agg(pl.col("x", "y").last())
        .sort("y", "name")
    )
    at = [(q * (ends.height - 1) + 1) // 4 for q in range(5)]  # the nearest, halves down
    emphasised = [_End(role, *ends.row(n)) for role, n in zip(QUANTILES, at, strict=True)]
    return list({end.name: end for end in emphasised}.values())


def _edge_labels(
    edge: Sequence[_End], x: alt.X, y: alt.Y, bounds: tuple[float, float], height: int
) -> list[Any]:
    """Label emphasised curves at their ends, without overlaps."""
    import altair as alt

    gap = 10 * (bounds[1] - bounds[0]) / height
    least = bounds[0] + gap / 2  # a label does not touch the x axis
    places = apart([end.y for end in edge], gap, least)
    labels = {"x": [end.x for end in edge], "y": places, "label": [end.role for end in edge]}
    text = alt.Chart(pl.DataFrame(labels)).encode(x, y, alt.Text("label:N"))
    return [text.mark_text(align="left", dx=3, fontSize=9, aria=False)]

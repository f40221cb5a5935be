"""Curves: in panes, or falling ones with labels at their upper ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
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

    Rows: the labelled curves from the left, their ends (x, y), and starts of labels (to, above).
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


NAMED = 12  # largest number of curves with a colour and a mark each
MARKS = 15  # largest number of marks on a curve
ROOM = 38  # pixels for the labels of a y axis
SHAPES = (
    *("circle", "square", "triangle-up", "diamond", "cross", "triangle-down"),
    *("triangle-left", "triangle-right"),
    "M0-1.1L0.3-0.4L1.1-0.4L0.5,0.1L0.7,0.9L0,0.4L-0.7,0.9L-0.5,0.1L-1.1-0.4L-0.3-0.4Z",
    "M-0.5-0.9L0.5-0.9L1,0L0.5,0.9L-0.5,0.9L-1,0Z",
    "M-1-0.6L-0.6-1L0-0.4L0.6-1L1-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z",
    "M-1-1L1-1L0,0L1,1L-1,1L0,0Z",
)
"""The last ones are a star, a hexagon, an X and an hourglass."""
SOLID, DASHED = [1, 0], [4, 3]
GRID = 200  # largest number of places of a median
LEAST_KNOWN = 0.8  # share of the curves that a median needs: fewer curves are other curves
PRINTED = pl.Schema({"pane": pl.String, "x": pl.Float64, "y": pl.Float64})
MANY_SUBTITLE = "; black: median, band: quartiles, in colour: furthest from the median"
FEWEST = 5  # curves of a pane, of which one may leave the axis
MOST_BEYOND = 0.1  # share of the curves that may leave it
SQUEEZED = 0.25  # largest share of the axis that all others then take


class Pane(NamedTuple):
    """Name of a pane in the frame, its heading, and the format of the labels of its y axis."""

    name: str
    heading: str
    digits: str = ""


class Style(NamedTuple):
    """Colour and mark of a curve, the same in all panes."""

    colour: str
    shape: str


class _Spread(NamedTuple):
    """Quartiles of the curves of a pane (x, low, median, high), and the furthest from the median.

    `bands` are at the places where at least 80 % of the curves have a value, on straight lines
    between their points. The curves furthest below and above are by their mean difference from
    the median, of those with a value at half of the places or more.
    """

    bands: pl.DataFrame
    furthest: list[str]


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
    names: Sequence[str] = (),
    printed: pl.DataFrame | None = None,
) -> alt.ConcatChart | alt.LayerChart:
    """Draw one curve per name in each pane, two panes side by side.

    `frame` has the columns pane, name, x (at least 1 on a logarithmic axis), y (null, NaN or
    infinite: a gap) and dashed; optionally low and high, the bounds of a band around each of up to
    12 curves, and marked, the points with a mark. Of more than 12 names all curves are thin and
    grey, and each pane has their median, a band from the lower to the upper quartile, and in colour
    the two curves that are furthest from the median. A name has one colour in all panes, that of
    its place in `names`: all names that figures beside this one may have; default those of the
    frame. `printed` are a paper's numbers (pane, x, y), dashed in black, that count as no curve.
    """
    import altair as alt

    vertical = [name for name in ("y", "low", "high") if name in frame.columns]
    known = frame.with_columns(pl.col("x", *vertical).cast(pl.Float64)).with_columns(
        pl.when(pl.col(name).is_finite()).then(name) for name in vertical
    )
    drawn = [pane for pane in panes if known.filter(pane=pane.name)["y"].drop_nulls().len()]
    if not drawn:
        return nothing(f"{title}: no value to draw.")
    beside = pl.DataFrame(schema=PRINTED) if printed is None else printed.cast(PRINTED)
    curve_names = known["name"].unique(maintain_order=True).to_list()
    columns, many = min(2, len(drawn)), len(curve_names) > NAMED
    ruled = [value for value, _ in rules]
    x, above = _x_axis(
        [*known["x"], *beside["x"], *ruled], x_title, [*rules, *labels], columns, linear
    )
    spreads = [_spread(known.filter(pane=pane.name), not linear) for pane in drawn if many]
    if many:
        curve_names = list(dict.fromkeys(name for spread in spreads for name in spread.furthest))
        subtitle += MANY_SUBTITLE
    elif len(names) <= NAMED:
        curve_names = list(dict.fromkeys([*names, *curve_names]))
    if many or names or beside.height:  # black is the median, or the paper
        colours = [colour for colour in colours if colour != INK]
    styles = dict(zip(curve_names, map(Style, colours, SHAPES), strict=False))
    data, charts = Datasets(), []
    for place, pane in enumerate(drawn):
        rows, paper = (part.filter(pane=pane.name) for part in (known, beside))
        at = [*levels, *(beside if same_y else paper)["y"]]
        bounds = _bounds(known if same_y else rows, vertical, at)
        beyond = _beyond(rows, bounds)
        y = _y_axis(pane, bounds, ranks)
        coloured, curves = rows, []
        if many:
            curves = _crowd(data, rows, spreads[place], x, y, (bounds[1] - bounds[0]) / height)
            furthest = [name for name in spreads[place].furthest if name in styles]
            coloured = rows.filter(pl.col("name").is_in(furthest))
        if coloured.height:
            curves += _few(data, coloured, known["name"], styles, dashes, x, y)
        if paper.height:
            curves += _paper(data, paper.with_columns(style=pl.lit(dashes[1])), dashes, x, y)
        for curve in curves if beyond else ():
            curve.mark.clip = True
        chart = alt.layer(*rules_at(ruled, x), *rules_at(levels, y), *curves, *above)
        chart.width, chart.height = pane_width(columns, ROOM), height
        chart.title = heading(pane.heading, beyond, ROOM)
        charts.append(chart)
    return arrange(charts, columns, data, title=title, subtitle=subtitle)


def _x_axis(
    values: Sequence[float],
    title: str,
    labels: Sequence[Label],
    columns: int,
    linear: str,
) -> tuple[alt.X, list[Any]]:
    """Return the common axis, and the labels above it."""
    import altair as alt

    low, high = min(values), max(values)
    # so wide in print; wider figures have more room
    width = pane_width(columns, ROOM, PRINT_WIDTH)
    margin = 18 / width
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

    ticks: dict[str, Any] = {"tickCount": 5}
    if ranks:  # whole ranks between the ends, 1 among them if it is there
        places = linear_ticks(max(bounds[0], 0.0), bounds[1], whole=True)
        first = {1.0} if bounds[0] <= 1 else set[float]()
        ticks = {"values": sorted({place for place in places if place > 0} | first)}
    digits = pane.digits or (",d" if ranks else alt.Undefined)
    axis = alt.Axis(format=digits, **ticks, **axis_room(ROOM))
    scale = alt.Scale(domain=bounds, nice=False, reverse=ranks or alt.Undefined)
    return alt.Y("y:Q", title=None, scale=scale, axis=axis)


def _bounds(
    rows: pl.DataFrame, columns: Sequence[str], levels: Sequence[float]
) -> tuple[float, float]:
    """Return the ends of a y axis: the range of the values, from 0 if near or if all are equal."""
    # Curves that would squeeze all others into a quarter of the axis leave it: one of 5 curves or
    # more, and at most a tenth of them.
    ends = rows.group_by("name").agg(
        low=pl.min_horizontal(columns).min(), high=pl.max_horizontal(columns).max()
    )
    ends = ends.drop_nulls()

    def reach(curves: pl.DataFrame) -> tuple[float, float]:
        return min([*curves["low"], *levels]), max([*curves["high"], *levels])

    low, high = reach(ends)
    most = max(1, int(MOST_BEYOND * ends.height)) if ends.height >= FEWEST else 0
    left = (
        reach(ends.sort(by, descending=by == "high").slice(number))
        for number in range(1, most + 1)
        for by in ("low", "high")
    )
    squeezed = (pair for pair in left if 0 < pair[1] - pair[0] <= SQUEEZED * (high - low))
    low, high = next(squeezed, (low, high))
    low = 0.0 if 0 <= low <= 0.4 * high or 0 <= low == high else low
    margin = 0.06 * (high - low) or 0.5
    return (low - margin if low else 0.0), high + margin


def _beyond(rows: pl.DataFrame, bounds: tuple[float, float]) -> list[str]:
    """Return a line that names the curves that leave the axis, and their furthest values."""
    low, high = bounds
    ends = rows.group_by("name", maintain_order=True).agg(
        low=pl.col("y").min(), high=pl.col("y").max()
    )
    texts = [
        f"{name} ({least if least < low else most:,.3g})"
        for name, least, most in ends.drop_nulls().iter_rows()
        if least < low or most > high
    ]
    return [f"beyond the axis: {', '.join(texts)}"] if texts else []


def _few(
    data: Datasets,
    rows: pl.DataFrame,
    present: pl.Series,
    styles: Mapping[str, Style],
    dashes: tuple[str, str],
    x: alt.X,
    y: alt.Y,
) -> list[Any]:
    """Draw each curve in its colour, with marks; the legend has the names that are `present`."""
    import altair as alt

    names, shapes = [*styles], [style.shape for style in styles.values()]
    shown = present.unique().is_in(names).sum() > 1  # else a single colour is that of the bands
    known = [name for name in names if name in set(present)]
    key = legend(known, values=known, symbolOpacity=1) if shown else None
    scale = alt.Scale(domain=names, range=[style.colour for style in styles.values()])
    colour = alt.Color("name:N", sort=names, scale=scale, legend=key)
    scale = alt.Scale(domain=names, range=shapes)
    shape = alt.Shape("name:N", sort=names, scale=scale, legend=key)
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
    step = (pl.len().over("name", "dashed") - 1) // MARKS + 1
    spaced = pl.int_range(pl.len()).over("name", "dashed") % step == 0
    marked = styled.filter("marked" if "marked" in rows.columns else spaced)
    points = data.chart(marked.drop_nulls("y")).mark_point(filled=True, opacity=1, size=24)
    return [
        *bands,
        base.mark_line(strokeWidth=1.5, aria=False).encode(_dash(dashes)),
        points.encode(x, y, colour, shape, alt.Description("name:N")),
    ]


def _dash(dashes: tuple[str, str]) -> alt.StrokeDash:
    """Return the channel of the column style, with a legend if both styles have a name."""
    import altair as alt

    key = legend(dashes, orient="bottom", symbolType="stroke", symbolStrokeColor=INK)
    scale = alt.Scale(domain=dashes, range=[SOLID, DASHED])
    return alt.StrokeDash("style:N", scale=scale, legend=key if all(dashes) else None)


def _paper(
    data: Datasets, rows: pl.DataFrame, dashes: tuple[str, str], x: alt.X, y: alt.Y
) -> list[Any]:
    """Draw a paper's numbers: a black dashed line with hollow marks."""
    import altair as alt

    base = data.chart(rows).encode(x, y)
    marks = base.mark_point(
        shape="diamond", filled=True, fill="white", stroke=INK, strokeWidth=1.2, opacity=1, size=34
    )
    line = base.mark_line(strokeWidth=1.5, color=INK, aria=False)
    return [line.encode(_dash(dashes)), marks.encode(alt.Description("style:N"))]


def _crowd(
    data: Datasets, rows: pl.DataFrame, spread: _Spread, x: alt.X, y: alt.Y, pixel: float
) -> list[Any]:
    """Draw all curves thin and grey, and their quartiles and median above."""
    import altair as alt

    # Values by the quarter of a pixel, without the points in the middle of a horizontal stretch:
    # of 143 systems at 60 cutoffs, a third of the points.
    line, step, height = ["name", "dashed"], pixel / 4, pl.col("y")
    flat = (height == height.shift(1).over(line)) & (height == height.shift(-1).over(line))
    seen = rows.with_columns((height / step).round() * step).filter(~flat.fill_null(False))
    seen = seen.group_by(line, maintain_order=True).agg("x", "y")
    # `alt.condition` is slow, because it validates the schema
    dash = alt.StrokeDashValue(SOLID, condition={"test": "datum.dashed", "value": DASHED})
    channels = [alt.Detail(["name:N", "dashed:N"]), dash, alt.Description("name:N")]
    thin = data.chart(seen).transform_flatten(["x", "y"]).mark_line(strokeWidth=0.6, color=GREY)
    middle = data.chart(spread.bands)
    low, median = (
        alt.Y(f"{name}:Q", title=None, scale=y["scale"], axis=y["axis"])
        for name in ("low", "median")
    )
    return [
        thin.encode(x, y, *channels),
        middle.mark_area(color=BLUE, opacity=0.22, aria=False).encode(x, low, alt.Y2("high:Q")),
        middle.mark_line(color=INK, strokeWidth=2, aria=False).encode(x, median),
    ]


def _spread(rows: pl.DataFrame, log: bool) -> _Spread:
    points = rows.unique(["name", "x"], keep="first", maintain_order=True).sort("x")
    every = points.drop_nulls("y")["x"].unique().sort().to_numpy()
    last = len(every) - 1
    grid = every[np.unique(np.linspace(0, last, min(last + 1, GRID)).round().astype(int))]
    scaled = np.log if log else np.asarray
    names, values = [], []
    for (name,), curve in points.group_by("name", maintain_order=True):
        x, y = curve["x"].to_numpy(), curve["y"].fill_null(math.nan).to_numpy()
        values.append(np.interp(scaled(grid), scaled(x), y, left=math.nan, right=math.nan))
        names.append(str(name))
    lines = np.array(values)
    is_known = ~np.isnan(lines)
    with_values = np.flatnonzero(is_known.any(axis=1))
    lines, names = lines[with_values], [names[place] for place in with_values]
    is_shown = is_known.sum(axis=0) >= LEAST_KNOWN * len(names)
    lines, grid = lines[:, is_shown], grid[is_shown]
    low, median, high = np.nanquantile(lines, (0.25, 0.5, 0.75), axis=0)
    number = (~np.isnan(lines)).sum(axis=1)
    apart = np.nansum(lines - median, axis=1) / np.maximum(number, 1)
    apart[2 * number < len(grid)] = 0.0
    ends = {names[place]: apart[place] for place in (apart.argmin(), apart.argmax())}
    bands = pl.DataFrame({"x": grid, "low": low, "median": median, "high": high})
    return _Spread(bands, [name for name, value in ends.items() if value])

"""Graphs: nodes and arrows between them, and arcs between two lists."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from irmeta.report.charts.panes import (
    Datasets,
    arrange,
    axis_room,
    heading,
    legend,
    log_ticks,
    pane_width,
)
from irmeta.report.theme import (
    BLUE,
    CONFIG,
    GREY,
    INK,
    LINES,
    MUTED,
    PRINT_WIDTH,
    RULE,
    VERMILLION,
    axis_title,
    finish,
    nothing,
    whole_ticks,
)

if TYPE_CHECKING:
    import altair as alt


# on the page too, so that arrows keep their angle
WIDTH = PRINT_WIDTH - CONFIG["padding"]["left"] - CONFIG["padding"]["right"]
LETTER = 6.4  # pixels, of a font of 11
STEP, SMALL_STEP = 22, 14  # pixels from one row to the next
ROOMY = 12  # largest number of rows with the larger step
GAP, SPREAD = 3.0, 4.0  # pixels between a name and an arrow, and above and below its middle
MARGIN = 4.0  # pixels beside the names of the first level
ROOM = 48.0  # pixels to the right of the last level, for curved arrows
BULGE = 12.0  # pixels to the right of an arrow between neighbours on a level
ARC = 9  # points of a curved arrow
STYLES: tuple[tuple[str, list[float]], ...] = (
    (BLUE, [1, 0]),
    (LINES[2], [5, 3]),
    (INK, [1.5, 2.5]),
    (LINES[3], [8, 3, 1.5, 3]),
)
"""Colour and dashes of each kind of edge, which also differ in black and white."""
WEIGHTS = {"pale": (0.4, 1.2, 6.0), "plain": (1.0, 1.5, 6.0), "bold": (1.0, 3.2, 10.0)}
"""Opacity of arrows, and pixels of their width and of half their heads."""
ARROW = "M0,0L-1,-0.38L-1,0.38Z"


def graph(
    nodes: pl.DataFrame,
    edges: pl.DataFrame,
    *,
    title: str,
    subtitle: str,
    kinds: Sequence[str] = (),
    headings: Sequence[str] = (),
) -> alt.LayerChart:
    """Draw names on levels, joined by arrows.

    `nodes` has the columns name, level (0 at the left) and row (0 at the top; names of a level are
    at least 1 apart); `edges` source, target, kind (of up to 4, in the order of their styles) and
    weight (``pale``, ``plain``, ``bold``). Arrows between names on one level are curved.
    """
    import altair as alt

    if nodes.is_empty():
        return nothing(f"{title}: nothing to draw.")
    rows = int(nodes.select(pl.max("row")).item()) + 1
    step = STEP if rows <= ROOMY else SMALL_STEP
    placed = _placed(nodes, step)
    height = rows * step + (step if headings else 0)
    pixels = [0, WIDTH]
    x = alt.X("x:Q", scale=alt.Scale(domain=pixels, range=pixels, nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    layers = _arrows(placed, edges, kinds, x, y)
    labels = alt.Chart(alt.InlineData(placed.select("name", "x", "y").to_dicts()))
    layers.append(labels.mark_text(color=INK, fontSize=11).encode(x, y, alt.Text("name:N")))
    if headings:
        columns = placed.group_by("level", maintain_order=True).agg(pl.col("x").first())
        texts = columns.sort("level").with_columns(text=pl.Series(headings), y=pl.lit(height - 4.0))
        below = alt.Chart(texts.drop("level")).mark_text(color=MUTED, fontSize=10, aria=False)
        layers.append(below.encode(x, y, alt.Text("text:N")))
    return finish(alt.layer(*layers), height=height, title=title, subtitle=subtitle)


def _placed(nodes: pl.DataFrame, step: int) -> pl.DataFrame:
    """Add the centre of each name and half of its width, in pixels."""
    half = pl.col("name").str.len_chars() * (LETTER / 2)
    level = pl.col("level").cast(pl.Float64)
    sized = nodes.with_columns(half=half)
    widest = dict(sized.group_by("level").agg(pl.col("half").max()).sort("level").iter_rows())
    left = widest[min(widest)] + MARGIN
    right = WIDTH - widest[max(widest)] - ROOM
    return sized.with_columns(
        x=left + (right - left) * level / level.max().clip(1), y=(pl.col("row") + 0.5) * step
    )


def _arrows(
    placed: pl.DataFrame, edges: pl.DataFrame, kinds: Sequence[str], x: alt.X, y: alt.Y
) -> list[Any]:
    """Draw each edge as a line and a head."""
    import altair as alt

    if edges.is_empty():
        return []
    where = {row["name"]: row for row in placed.iter_rows(named=True)}
    lines, heads = [], []
    for number, edge in enumerate(edges.iter_rows(named=True)):
        points = _path(where[edge["source"]], where[edge["target"]])
        (x0, y0), (x1, y1) = points[-2:]
        opacity, stroke, head = WEIGHTS[edge["weight"]]
        style = {"kind": edge["kind"], "edge": number, "opacity": opacity, "stroke": stroke}
        reach = math.hypot(x1 - x0, y1 - y0)
        back = (x1 - head / 2 * (x1 - x0) / reach, y1 - head / 2 * (y1 - y0) / reach)
        lines += [
            style | {"x": px, "y": py, "at": at} for at, (px, py) in enumerate([*points[:-1], back])
        ]
        angle = math.degrees(math.atan2(y1 - y0, x1 - x0))
        heads.append(style | {"x": x1, "y": y1, "angle": angle, "size": (2 * head) ** 2})
    colours, dashes = zip(*STYLES[: len(kinds)], strict=True)
    shown = [kind for kind in kinds if (edges["kind"] == kind).any()]
    key = legend(shown, values=shown, symbolType="stroke", symbolSize=400, symbolOpacity=1)
    common: dict[str, Any] = {"sort": kinds, "legend": key if len(shown) > 1 else None}
    colour = alt.Color("kind:N", scale=alt.Scale(domain=kinds, range=colours), **common)
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=kinds, range=dashes), **common)
    fixed: dict[str, Any] = {"scale": None, "legend": None}
    opacity = alt.Opacity("opacity:Q", **fixed)
    drawn = alt.Chart(alt.InlineData(lines)).mark_line(aria=False)
    ends = alt.Chart(alt.InlineData(heads))
    ends = ends.mark_point(shape=ARROW, filled=True, aria=False)
    return [
        drawn.encode(
            *(x, y, colour, dash, opacity, alt.StrokeWidth("stroke:Q", **fixed)),
            *(alt.Detail("edge:N"), alt.Order("at:Q")),
        ),
        ends.encode(
            *(x, y, colour, opacity, alt.Angle("angle:Q", scale=None)),
            alt.Size("size:Q", **fixed),
        ),
    ]


def _path(source: Mapping[str, Any], target: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return the points of an arrow between two names, in pixels."""
    if source["level"] != target["level"]:
        left, right = sorted((source, target), key=lambda node: node["x"])
        # Arrows spread at the left, so that a head is seen beside the lines that start there.
        shift = min(max((right["y"] - left["y"]) / 4, -SPREAD), SPREAD)
        path = [
            (left["x"] + left["half"] + GAP, left["y"] + shift),
            (right["x"] - right["half"] - GAP, right["y"]),
        ]
        return path if left is source else path[::-1]
    x = source["x"] + max(source["half"], target["half"]) + GAP
    y0, y1 = source["y"], target["y"]
    # A quadratic curve reaches half as far as its middle point, which is farther for far names.
    middle = (x + min(BULGE + 0.5 * abs(y1 - y0), 6 * BULGE), (y0 + y1) / 2)
    ts = [i / (ARC - 1) for i in range(ARC)]
    return [
        (
            (1 - t) ** 2 * x + 2 * t * (1 - t) * middle[0] + t**2 * x,
            (1 - t) ** 2 * y0 + 2 * t * (1 - t) * middle[1] + t**2 * y1,
        )
        for t in ts
    ]


NAMES_ROOM, HEIGHT = 110, 96  # pixels for the names of the lists, and between the lists
LINEAR = 30  # deepest rank that is drawn on a linear axis
CURVED = 300  # largest number of arcs that are curved; others are straight
STEPS = 13  # points of a curved arc
BAND = 0.14  # share of the axis for docs that a list does not have
SIDE_STYLES: tuple[tuple[str, list[float]], ...] = (
    (BLUE, [1, 0]),
    (VERMILLION, [5, 2]),
    (GREY, [1.5, 2]),
)
"""Colour and dashes of arcs where the first list is better, the second, or neither."""


def arcs(
    frame: pl.DataFrame,
    lists: tuple[str, str],
    *,
    title: str,
    subtitle: str,
    kinds: tuple[str, str, str],
) -> alt.ConcatChart | alt.LayerChart:
    """Draw two lists, one above the other, and an arc between the ranks of each pair of docs.

    `frame` has the columns pane, above and below (ranks in the two lists; null: not retrieved,
    drawn at the end in the order of the rows), sign (1: the first is better, -1: the second, 0:
    neither), weight (width of the arc) and said (tooltip). `kinds` says what the signs mean.
    """
    if frame.is_empty():
        return nothing(f"{title}: nothing to draw.")
    axis = _RankAxis.of(frame)
    sign = pl.col("sign")
    kind = pl.when(sign > 0).then(pl.lit(kinds[0])).when(sign < 0).then(pl.lit(kinds[1]))
    frame = frame.with_row_index("arc").with_columns(kind=kind.otherwise(pl.lit(kinds[2])))
    data, panes = Datasets(), frame["pane"].unique(maintain_order=True).to_list()
    drawn = [kind for kind in kinds if frame["kind"].eq(kind).any()]
    heaviest = frame["weight"].max()
    charts = [
        _pane(data, frame.filter(pane=pane), axis, lists, kinds, drawn, heaviest, pane == panes[-1])
        for pane in panes
    ]
    for chart, pane in zip(charts, panes, strict=True):
        chart.title = heading(pane, [], NAMES_ROOM)
    return arrange(charts, 1, data, title=title, subtitle=subtitle)


class _RankAxis:
    """Places of ranks from 0 to 1, with a band of `slots` at the end for docs not retrieved."""

    def __init__(self, deepest: int, slots: int) -> None:
        self.deepest, self.slots = deepest, slots
        self.is_log = deepest > LINEAR
        self.end = 1.0 - BAND if slots else 1.0

    @classmethod
    def of(cls, frame: pl.DataFrame) -> _RankAxis:
        """Return an axis for all ranks of a frame."""
        ranks = frame["above"].append(frame["below"]).drop_nulls().to_list()
        slots = [len(rows) - _first_missing(rows) for _, rows in frame.group_by("pane")]
        return cls(max(ranks, default=1), max(slots))

    def places(self, ranks: Sequence[int]) -> np.ndarray:
        """Return the place of each rank."""
        first, last, known = 0.5, self.deepest + 0.5, np.asarray(ranks, np.float64)
        if self.is_log:
            first, last, known = math.log(0.9), math.log(self.deepest * 1.1), np.log(known)
        return (known - first) / (last - first) * self.end

    def ends(self, rows: pl.DataFrame) -> list[np.ndarray]:
        """Return the places of both ends of arcs; docs that are not retrieved end in the band."""
        level = np.arange(1, rows.height + 1) - _first_missing(rows)
        band = self.end + (1.0 - self.end) * level / (self.slots + 1)
        both = (rows["above"], rows["below"])
        return [
            np.where(ranks.is_null(), band, self.places(ranks.fill_null(1).to_list()))
            for ranks in both
        ]

    def ticks(self) -> list[int]:
        """Return the ranks with a label."""
        if self.is_log:
            room = pane_width(1, NAMES_ROOM, PRINT_WIDTH) * self.end
            return log_ticks(1, self.deepest, 0.9 * room)
        return sorted({1, *(tick for tick in whole_ticks(self.deepest) if tick)})


def _pane(
    data: Datasets,
    rows: pl.DataFrame,
    axis: _RankAxis,
    lists: tuple[str, str],
    kinds: Sequence[str],
    drawn: Sequence[str],
    heaviest: Any,
    is_last: bool,
) -> alt.LayerChart:
    import altair as alt

    ends, ticks = axis.ends(rows), axis.ticks()
    places = axis.places(ticks).tolist()
    labels = json.dumps(dict(zip([f"{place:.6f}" for place in places], ticks, strict=True)))
    scale = alt.Scale(domain=[0, 1], nice=False)
    x_axis = alt.Axis(
        values=places, labelExpr=f"{labels}[format(datum.value, '.6f')]", grid=True, tickSize=4,
        title=axis_title("rank", "log scale" if axis.is_log else ""),
    ) if is_last else alt.Axis(
        values=places, labels=False, title=None, grid=True, ticks=False, domain=False,
    )  # fmt: skip
    x = alt.X("x:Q", scale=scale, axis=x_axis)
    y_axis = alt.Axis(
        values=[0, 1], labelExpr=f"{json.dumps(list(lists[::-1]))}[datum.value]", title=None,
        grid=False, labelLimit=NAMES_ROOM - 12, **axis_room(NAMES_ROOM - 4),
    )  # fmt: skip
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.06, 1.06], nice=False), axis=y_axis)
    colours, dashes = zip(*(SIDE_STYLES[kinds.index(kind)] for kind in drawn), strict=True)
    colour = alt.Color(
        "kind:N",
        sort=list(drawn),
        scale=alt.Scale(domain=list(drawn), range=list(colours)),
        legend=legend(drawn, symbolType="stroke", symbolStrokeWidth=2),
    )
    dash = alt.StrokeDash(
        "kind:N", scale=alt.Scale(domain=list(drawn), range=list(dashes)), sort=list(drawn)
    )
    width = alt.StrokeWidth(
        "weight:Q", scale=alt.Scale(domain=[0, heaviest], range=[0.3, 1.8]), legend=None
    )
    base = alt.Chart(pl.DataFrame({"y": [0.0, 1.0], "x": [0.0, 0.0], "to": [1.0, 1.0]}))
    lines = base.mark_rule(color=RULE, strokeWidth=2, clip=True, aria=False).encode(
        x, y, alt.X2("to:Q")
    )
    paths = data.chart(_paths(rows, *ends)).mark_line(clip=True, aria=False)
    dots = data.chart(_dots(rows, *ends)).mark_circle(color=INK, opacity=1, size=24)
    layers: list[Any] = [
        lines,
        paths.encode(x, y, colour, dash, width, alt.Detail("arc:N"), order=alt.Order("y:Q")),
        dots.encode(
            x,
            y,
            tooltip=alt.Tooltip("said:N", title=" "),
            description=alt.Description("said:N"),
        ),
    ]
    if axis.slots:
        label = alt.Chart(pl.DataFrame({"x": [1.0], "label": ["not retrieved"]}))
        label = label.mark_text(align="right", baseline="bottom", fontSize=10, color=MUTED)
        layers.append(label.encode(x, alt.Text("label:N"), alt.YValue(-3)))
    chart: Any = alt.layer(*layers)
    chart.width, chart.height = pane_width(1, NAMES_ROOM), HEIGHT
    return chart


def _first_missing(rows: pl.DataFrame) -> int:
    """Return the index of the first arc with an end that is not retrieved; or their number."""
    missing = rows.select(pl.col("above").is_null() | pl.col("below").is_null()).to_series()
    return int(missing.arg_max() or 0) if missing.any() else rows.height


def _paths(rows: pl.DataFrame, above: np.ndarray, below: np.ndarray) -> pl.DataFrame:
    """Return the points of each arc, from the second list up to the first."""
    steps = np.linspace(0.0, 1.0, STEPS if rows.height <= CURVED else 2)
    share = steps * steps * (3.0 - 2.0 * steps)  # vertical at both lists
    x = below[:, None] + (above - below)[:, None] * share
    repeated = rows.select("arc", "kind", "weight")[np.repeat(np.arange(rows.height), len(steps))]
    return repeated.with_columns(x=x.ravel(), y=np.tile(steps, rows.height))


def _dots(rows: pl.DataFrame, above: np.ndarray, below: np.ndarray) -> pl.DataFrame:
    """Return a dot for each end of an arc that is retrieved."""
    ends = (("above", above, 1.0), ("below", below, 0.0))
    return pl.concat(
        rows.select("said", name, x=pl.Series(x), y=pl.lit(y)).drop_nulls(name).drop(name)
        for name, x, y in ends
    )

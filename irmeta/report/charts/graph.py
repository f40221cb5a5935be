"""Directed graph of names on levels, from left to right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.report.charts.panes import legend
from irmeta.report.theme import BLUE, CONFIG, INK, LINES, MUTED, PRINT_WIDTH, finish, nothing

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
    names = alt.Chart(alt.InlineData(placed.select("name", "x", "y").to_dicts()))
    layers.append(names.mark_text(color=INK, fontSize=11).encode(x, y, alt.Text("name:N")))
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

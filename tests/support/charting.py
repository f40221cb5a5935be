"""Data and charts that tests of figures share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import polars as pl

from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.graph import arcs, graph
from irmeta.report.charts.heat import banded_maps, heat_map, lower_triangle, surfaces
from irmeta.report.charts.histogram import Class, histogram, length_panes, scatter_panes
from irmeta.report.charts.row_charts import dumbbell, ranked, strip
from irmeta.report.figures import (
    achieved_significance,
    length_differences,
    length_histogram,
    pairwise_significance,
    rarity_histogram,
)
from irmeta.report.theme import to_spec
from irmeta.schema.columns import Display

HOSTILE = "<script>alert('x')</script> & \"ü\"|\\"
LONG = "a-track-with-a-name-of-forty-characters-x"
WORDS = {"title": "T", "subtitle": "S", "x_title": "x"}


def names(n: int) -> list[str]:
    return [HOSTILE, *(f"{i:02d}{LONG}"[:40] for i in range(n))][:n]


def counts(*docs: int) -> pl.DataFrame:
    return pl.DataFrame({"bucket": [f"b{i}" for i in range(len(docs))], "count": docs})


def lengths() -> pl.DataFrame:
    return pl.DataFrame({"low": [1, 2, None], "high": [1, 4, None], "docs": [30, 20, 5]})


def differences() -> pl.DataFrame:
    rows = [
        *((-4, -2, "both", 20), (-4, -2, "best", 10), (-1, -1, "both", 20), (0, 0, "both", 4)),
        *((0, 0, "neither", 6), (1, 1, "median", 5), (2, 4, "both", 35)),
    ]
    return pl.DataFrame(rows, schema=["low", "high", "retrieved", "docs"], orient="row")


def values(rows: int, dots: int) -> pl.DataFrame:
    pairs = [(name, i) for name in names(rows) for i in range(dots)]
    return pl.DataFrame(
        [(row, f"{HOSTILE}{i}", (i + 1) / (dots + 1)) for row, i in pairs],
        schema=["row", "name", "value"],
        orient="row",
    )


def two_values(n: int) -> pl.DataFrame:
    frame = pl.DataFrame({"row": names(n), "filled": [1.25 + i for i in range(n)]})
    return frame.with_columns(
        ring=31.5 * pl.col("filled"),
        filled_name=pl.lit(HOSTILE),
        ring_name=pl.lit("median"),
        aside=pl.lit(LONG),
    )


def line(name: str, n: int, band: bool = False) -> pl.DataFrame:
    frame = pl.DataFrame({"name": name, "x": range(1, n + 1), "y": [1 / (i + 1) for i in range(n)]})
    return frame.with_columns(low=pl.col("y") / 2, high=pl.col("y") * 2) if band else frame


def panes_of(n: int) -> pl.DataFrame:
    """Return curves of n names in two panes; the last value of a name is its number / 100."""
    rows = [
        (pane, name, x, (i + 1) * x / 10_000, i % 2 == 0)
        for pane in ("a", "b")
        for i, name in enumerate(names(n))
        for x in (1, 10, 100)
    ]
    return pl.DataFrame(rows, schema=["pane", "name", "x", "y", "dashed"], orient="row")


def cells(*values: float | None, pane: str = "p") -> pl.DataFrame:
    """Return a square of cells, row by row from the bottom."""
    side = math.isqrt(len(values))
    rows = [(pane, i % side + 1, i // side + 1, value) for i, value in enumerate(values)]
    return pl.DataFrame(rows, schema=["pane", "x", "y", "value"], orient="row")


def points(*rows: tuple[float | None, float, bool], pane: str = "a") -> pl.DataFrame:
    """Return points of one pane of `scatter_panes`."""
    schema = {"x": pl.Float64, "y": pl.Float64, "marked": pl.Boolean}
    return pl.DataFrame(rows, schema, orient="row").with_columns(pane=pl.lit(pane))


def signs(n: int) -> pl.DataFrame:
    """Return the sign of y - x for n by n ranks, in one pane."""
    side = range(1, n + 1)
    rows = [("s", x, y, float((y > x) - (y < x))) for x in side for y in side]
    return pl.DataFrame(rows, schema=["pane", "x", "y", "value"], orient="row")


def steps(*rows: tuple[str, float, float]) -> pl.DataFrame:
    schema = {"pane": pl.String, "x": pl.Float64, "y": pl.Float64}
    return pl.DataFrame(rows, schema, orient="row")


def pairs(n: int) -> pl.DataFrame:
    cells = [(HOSTILE + str(i), str(j), i / n if i != j else math.nan)
             for i in range(n) for j in range(i)]  # fmt: skip
    return pl.DataFrame(cells, schema=["a", "b", "tau"], orient="row")


def scores(n: int) -> pl.DataFrame:
    return pl.DataFrame({"name": names(n), "value": [float(i + 1) for i in range(n)]})


def p_values(n: int) -> pl.DataFrame:
    rows = [(f"s{i}", f"s{j}", (i * j % 7) / 70) for i in range(n) for j in range(i)]
    return pl.DataFrame(rows, schema=["system_a", "system_b", "p_adjusted"], orient="row")


def systems(n: int) -> list[str]:
    return [f"s{i}" for i in range(n)]


EDGES = pl.DataFrame(
    [(HOSTILE, "x", "up", "pale"), (HOSTILE, "y", HOSTILE, "plain"), ("z", "x", "up", "bold"),
     ("y", "x", "across", "plain")],
    schema=["source", "target", "kind", "weight"],
    orient="row",
)  # fmt: skip
KINDS = ("up", HOSTILE, "across")
NODES = pl.DataFrame(
    {"name": [HOSTILE, "x", "y", "z"], "level": [0, 1, 1, 2], "row": [0.5, 0, 1, 0]}
)

ARCS = pl.DataFrame(
    [("p", 1, 2, 1, 0.5), ("p", 7, 3, -1, 0.4), ("p", None, 9, -1, 0.1), (HOSTILE, 4, 4, 0, 0.5),
     (HOSTILE, None, None, 0, 0.5)],
    schema=["pane", "above", "below", "sign", "weight"],
    orient="row",
).with_columns(said=pl.lit(HOSTILE))  # fmt: skip
TWO_LISTS = {"title": "T", "subtitle": "S", "kinds": ("a better", HOSTILE, "tied")}

PANES = [Pane("a", "left pane"), Pane("b", HOSTILE, "%")]
STRIP = {**WORDS, "domain": (0.0, 1.0), "digits": ".2f"}
LENGTHS = Display("length", "docs", -1)
DUMBBELL = {**WORDS, "aside": "best system"}
SURFACES = {
    "title": "T",
    "subtitle": "S",
    "axes": ("x", HOSTILE),
    "share_heading": "share",
    "x_title": "difference",
}
POINTS = points((0.5, 1.0, False), (-0.5, 0.25, True), (None, 0.0, True))
CLOUDS = {"title": "T", "subtitle": "S", "y_title": "RPP", "kinds": ("equal", "different")}
CHARTS: dict[str, Callable[[], Any]] = {
    "arcs": lambda: arcs(ARCS, ("a", HOSTILE), **TWO_LISTS),
    "arcs, many": lambda: arcs(
        pl.concat([ARCS.with_columns(pl.col("below") + i) for i in range(80)]),
        (LONG, "b"), **TWO_LISTS,
    ),
    "histogram": lambda: histogram(counts(0, 1, 22, 3), **WORDS),
    "histogram with classes": lambda: histogram(
        counts(1, 2, 3), **WORDS, classes=[Class("b0", "far|1", False), Class("b2", "near", True)]
    ),
    "histogram of one bucket": lambda: histogram(counts(7), **WORDS),
    "search lengths": lambda: length_histogram(lengths(), HOSTILE),
    "search lengths of 5 tracks": lambda: length_panes(
        pl.concat(lengths().with_columns(pane=pl.lit(name)) for name in names(5)),
        {name: f"{name}: {LONG}" for name in names(5)}, title="T", subtitle="S",
    ),
    "differences": lambda: length_differences(
        differences(), LONG, (HOSTILE, "b"), ("best", "median")
    ),
    "rarity": lambda: rarity_histogram(
        pl.DataFrame({"retrieved_by": range(5), "docs": [1, 0, 3, 4, 5]})
    ),
    "rarity of 80 systems": lambda: rarity_histogram(
        pl.DataFrame({"retrieved_by": range(81), "docs": [1] * 81})
    ),
    "dumbbell": lambda: dumbbell(two_values(3), **DUMBBELL, display=LENGTHS),
    "dumbbell of one": lambda: dumbbell(two_values(1), **DUMBBELL),
    "dumbbell of 80": lambda: dumbbell(two_values(80), **DUMBBELL),
    "strip": lambda: strip(values(3, 10), **STRIP, rule=(0.5, "the paper 50%")),
    "strip with spread": lambda: strip(values(3, 10), **STRIP, spread=True),
    "strip of one": lambda: strip(values(1, 1), **STRIP),
    "strip of 76": lambda: strip(values(76, 25), **STRIP),
    "heat map": lambda: heat_map(
        pl.DataFrame({"across": ["a", HOSTILE], "down": ["x", "x"], "value": [0.5, math.nan],
                      "name": ["p", HOSTILE]}), title="T", subtitle="S"
    ),
    "triangle": lambda: heat_map(
        lower_triangle(pairs(4), "a", "b", "tau"), title="T", subtitle="S"
    ),
    "ranked": lambda: ranked(scores(3), "AP"),
    "ranked, 80 systems": lambda: ranked(scores(80), "ASL", LENGTHS),
    "curve panes": lambda: curve_panes(
        panes_of(8), PANES, **WORDS, dashes=("solid", "dashed"), rules=[(5, "d = 5")], levels=[0.05]
    ),
    "curve panes of 30": lambda: curve_panes(panes_of(30), PANES, **WORDS, labels=[(10, "10")]),
    "curve panes with bands": lambda: curve_panes(
        panes_of(6).with_columns(low=pl.col("y") - 0.01, high=pl.col("y") + 0.01),
        PANES, **WORDS, linear="%", rules=[(50, "half")],
    ),
    "curve panes of ranks": lambda: curve_panes(
        panes_of(2).with_columns(marked=pl.col("x") > 1), PANES, **WORDS, ranks=True
    ),
    "surfaces": lambda: surfaces(
        signs(25), steps(("s", -1, 0.5), ("s", 1, 1)), {"s": HOSTILE}, **SURFACES
    ),
    "scatter panes": lambda: scatter_panes(
        pl.concat([POINTS, POINTS.with_columns(pane=pl.lit("b"))]),
        {"a": ("left", ["r = 1"]), "b": (HOSTILE, [])}, **CLOUDS,
    ),
    "banded maps": lambda: banded_maps(
        pl.concat([cells(0.2, 0.95, None, 0.7), cells(*[0.9] * 400, pane="q")]),
        {"p": ("x", HOSTILE), "q": ("x", "y")}, title="T", subtitle="S", rules=[7],
    ),
    "graph": lambda: graph(
        NODES, EDGES, title="T", subtitle="S", kinds=KINDS, headings=["0", HOSTILE, "2"]
    ),
    "significance": lambda: pairwise_significance(p_values(4), systems(4), "T", 0.05),
    "significance of 80": lambda: pairwise_significance(p_values(80), systems(80), "T", 0.05),
    "p-values": lambda: achieved_significance(
        pl.DataFrame({"measure": "AP", "rank": [1, 2, 3], "p": [0.9, 0.5, 0.01]}), [0.05], "T"
    ),
}  # fmt: skip


def texts(svg: str) -> str:
    """Return the text of all elements of an image, one per line."""
    return "\n".join(node.text or "" for node in ElementTree.fromstring(svg).iter())


def drawn_rows(chart: Any) -> list[dict[str, Any]]:
    """Return the rows of all data of a chart."""
    return [row for rows in to_spec(chart)["datasets"].values() for row in rows]

"""Charts: printed numbers, sizes, special characters and reproducible bytes."""

from __future__ import annotations

import math
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from irmeta.report.charts.curve_panes import Pane, curve_panes
from irmeta.report.charts.curves import curves, ecdf
from irmeta.report.charts.dumbbell import dumbbell
from irmeta.report.charts.heat import banded_maps, heat_map, lower_triangle
from irmeta.report.charts.histogram import Class, bucket_name, histogram
from irmeta.report.charts.panes import log_ticks
from irmeta.report.charts.ranked import ranked
from irmeta.report.charts.scatter import graph, scatter, scatter_panes
from irmeta.report.charts.strip import strip
from irmeta.report.charts.surface import surfaces
from irmeta.report.figures.length_figures import (
    length_differences,
    length_histogram,
    rarity_histogram,
)
from irmeta.report.figures.significance_figures import achieved_significance, pairwise_significance
from irmeta.report.look import PRINT_WIDTH, to_print, to_spec, to_svg
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
    return pl.DataFrame(rows, schema=["system_a", "system_b", "p"], orient="row")


def systems(n: int) -> list[str]:
    return [f"s{i}" for i in range(n)]


EDGES = pl.DataFrame({"source": [HOSTILE, HOSTILE, "x"], "target": ["x", "y", "z"]})
NODES = pl.DataFrame({"name": [HOSTILE, "x", "y", "z"], "level": [0, 1, 1, 2]})

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
    "histogram": lambda: histogram(counts(0, 1, 22, 3), **WORDS),
    "histogram with classes": lambda: histogram(
        counts(1, 2, 3), **WORDS, classes=[Class("b0", "far|1", False), Class("b2", "near", True)]
    ),
    "histogram of one bucket": lambda: histogram(counts(7), **WORDS),
    "search lengths": lambda: length_histogram(lengths(), HOSTILE),
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
    "curves": lambda: curves(pl.concat([line("a", 9), line(HOSTILE, 9)]), **WORDS, y_title="y"),
    "curve with band": lambda: curves(
        line("a", 5000, band=True), **WORDS, y_title="y", log=True, rules=[0.5]
    ),
    "ecdf": lambda: ecdf(pl.DataFrame({"name": ["a", "a"], "value": [1.0, math.nan]}), **WORDS),
    "curve panes": lambda: curve_panes(
        panes_of(8), PANES, **WORDS, dashes=("solid", "dashed"), rules=[(5, "d = 5")], levels=[0.05]
    ),
    "curve panes of 30": lambda: curve_panes(panes_of(30), PANES, **WORDS, labels=[(10, "10")]),
    "curve panes with bands": lambda: curve_panes(
        panes_of(6).with_columns(low=pl.col("y") - 0.01, high=pl.col("y") + 0.01),
        PANES, **WORDS, linear="%", rules=[(50, "half")],
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
    "scatter": lambda: scatter(
        pl.DataFrame({"name": names(3), "x": [1, 2, None], "y": [2.0, 4.0, 5.0]}),
        **WORDS, y_title="y",
    ),
    "graph": lambda: graph(NODES, EDGES, title="T", subtitle="S"),
    "significance": lambda: pairwise_significance(p_values(4), systems(4), "T", 0.05),
    "significance of 80": lambda: pairwise_significance(p_values(80), systems(80), "T", 0.05),
    "p-values": lambda: achieved_significance(
        pl.DataFrame({"measure": "AP", "rank": [1, 2, 3], "p": [0.9, 0.5, 0.01]}), [0.05], "T"
    ),
}  # fmt: skip


def texts(svg: str) -> str:
    """Return the text of all elements of an image, one per line."""
    return "\n".join(node.text or "" for node in ElementTree.fromstring(svg).iter())


@pytest.mark.parametrize("name", CHARTS)
def test_chart__well_formed_svg_of_fixed_width(name: str):
    svg = to_svg(CHARTS[name]())
    root = ElementTree.fromstring(svg)
    assert "<script" not in svg
    assert root.get("width") == "520"
    CHARTS[name]().to_dict()  # validates the schema; drawing does not
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)]
    assert sizes
    assert min(sizes) >= 9


PRINTED = (
    "histogram", "dumbbell", "strip", "heat map", "curve panes", "banded maps", "surfaces",
    "scatter panes",
)  # fmt: skip


@pytest.mark.parametrize("name", PRINTED)
def test_to_print__png_and_pdf_of_the_requested_size(name: str):
    chart = CHARTS[name]()
    pdf, png = to_print(chart)
    assert png == to_print(CHARTS[name]())[1]
    assert png.startswith(b"\x89PNG\r\n")
    width = struct.unpack(">I", png[16:20])[0]
    assert abs(width - PRINT_WIDTH * 300 / 72) <= 1
    assert len(to_print(chart, ppi=72)[1]) < len(png)
    assert pdf.startswith(b"%PDF")


def test_chart__identical_in_another_process():
    code = (
        "import polars as pl, sys; from irmeta.report.look import to_svg;"
        "from irmeta.report.figures.length_figures import length_histogram;"
        "sys.stdout.write(to_svg(length_histogram(pl.DataFrame("
        "{'low': [1, 2, None], 'high': [1, 4, None], 'docs': [30, 20, 5]}), 'x')))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert other.stdout.decode() == to_svg(length_histogram(lengths(), "x"))


@pytest.mark.parametrize(
    "draw",
    [
        lambda: histogram(counts(0, 0), **WORDS),
        lambda: histogram(counts(0).clear(), **WORDS),
        lambda: length_histogram(lengths().clear(), "none"),
        lambda: dumbbell(two_values(2).with_columns(filled=math.nan), **DUMBBELL),
        lambda: strip(values(1, 1).with_columns(value=pl.lit(None)), **STRIP),
        lambda: heat_map(lower_triangle(pairs(1), "a", "b", "tau"), title="T", subtitle="S"),
        lambda: curves(line("a", 0), **WORDS, y_title="y"),
        lambda: curve_panes(panes_of(2).with_columns(y=math.inf), PANES, **WORDS),
        lambda: banded_maps(cells(), {}, title="T", subtitle="S"),
        lambda: surfaces(signs(0), steps(), {}, **SURFACES),
        lambda: scatter_panes(points((None, 0.0, True)), {"a": ("left", [])}, **CLOUDS),
        lambda: scatter(pl.DataFrame({"name": [], "x": [], "y": []}), **WORDS, y_title="y"),
        lambda: graph(NODES.clear(), EDGES.clear(), title="T", subtitle="S"),
        lambda: pairwise_significance(p_values(1), systems(1), "T", 0.05),
    ],
)
def test_chart__states_the_absence_of_data(draw: Callable[[], Any]):
    assert re.search(r"\b(no|none|nothing)\b", texts(to_svg(draw())).lower())


def test_chart__replaces_characters_invalid_in_xml():
    """Such characters would crash vl-convert; other non-ASCII characters stay."""
    odd = pl.DataFrame({"name": ["a\x01b", "\uffff", "c\U0001f600"], "value": [0.3, 0.2, 0.1]})
    cells = odd.select("name", "value", across=pl.col("name"), down=pl.lit("x"))
    for chart in (ranked(odd, "AP"), heat_map(cells, title="T", subtitle="S")):
        svg = to_svg(chart)
        ElementTree.fromstring(svg)
        assert "a\ufffdb" in svg
        assert "c\U0001f600" in svg


def test_histogram__prints_counts_and_classes():
    assert "\n22\n" in texts(to_svg(CHARTS["histogram"]()))
    shown = texts(to_svg(CHARTS["histogram with classes"]()))
    assert "\nfar\n1\n" in shown
    assert "\nnear\n" in shown


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(None, 2, "below 2"), (2, None, "2+"), (None, None, "all"), (4, 4, "4"), (5, 9, "5–9"),
     (-9, -5, "\u22129 to \u22125"), (100, 2**31 - 1, "100+"), (20, 1000, "20–1,000")],
)  # fmt: skip
def test_bucket_name__shows_both_ends_of_the_bucket(low, high, expected: str):
    assert bucket_name(low, high, ",d") == expected


def test_length_differences__wins_split_by_retrieving_systems():
    shown = texts(to_svg(CHARTS["differences"]()))
    for text in ("best wins: 50 (50%)", "10 of them retrieved only there", "5 of them retrieved",
                 "median wins: 40 (40%)", "100 relevant docs; ties: 10 (10%)",
                 "\u22124 to \u22122, only the best: 10", "0, neither: 6"):  # fmt: skip
        assert text in shown
    assert HOSTILE in shown


def test_dumbbell__best_row_first_and_undefined_values_counted():
    frame = two_values(3).with_columns(
        row=pl.Series(["a", "b", "c"]), filled=pl.Series([0.0, 12.5, None])
    )
    shown = texts(to_svg(dumbbell(frame, **DUMBBELL)))
    assert "1 without a value left out" in shown
    assert shown.index("\nb\n") < shown.index("\na\n")
    shown = texts(to_svg(dumbbell(frame, **DUMBBELL, display=LENGTHS)))
    assert shown.index("\na\n") < shown.index("\nb\n")


def test_strip__prints_mean_and_standard_deviation_of_each_row():
    frame = pl.DataFrame({"row": ["a"] * 3 + ["b"] * 3, "name": "n", "value": [0.25, 0.5, 0.75,
                          0.5, math.nan, None]})  # fmt: skip
    shown = texts(to_svg(strip(frame, **STRIP, spread=True)))
    assert "0.50 ± 0.25" in shown
    assert "\n0.50\n" in shown, "one value has no standard deviation"
    assert "2 without a value left out" in shown
    assert "the paper 50%" in texts(to_svg(CHARTS["strip"]()))


def test_heat_map__prints_an_undefined_value_as_a_dash():
    shown = texts(to_svg(CHARTS["heat map"]()))
    assert "\n0.50\n" in shown
    assert "\n—\n" in shown


def drawn_rows(chart: Any) -> list[dict[str, Any]]:
    """Return the rows of all data of a chart."""
    return [row for rows in to_spec(chart)["datasets"].values() for row in rows]


def test_curve_panes__of_many_names_the_quantiles_at_the_right_edge_are_named():
    frame = panes_of(30).with_columns(
        name=pl.format("s{}", (pl.col("y") / pl.col("x") * 10_000).round())
    )
    missing = pl.col("name").str.contains("s30") & (pl.col("pane") == "b")
    frame = frame.with_columns(y=pl.when(missing).then(math.nan).otherwise("y"))
    shown = texts(to_svg(curve_panes(frame, PANES, **WORDS)))
    for role, number in zip(("min", "Q1", "median", "Q3", "max"), (1, 8, 15, 23, 30), strict=True):
        assert f"\n{role}: s{number}.0\n" in shown, "29 / 4 = 7.25 places"
    for role, number in zip(("min", "Q1", "median", "Q3", "max"), (1, 8, 15, 22, 29), strict=True):
        assert f"\n{role}: s{number}.0\n" in shown, "the second pane has 29 curves"
    assert shown.count("\nmedian\n") == 2
    assert shown.count("\nmax: ") == 2


def test_curve_panes__labels_at_the_right_edge_do_not_overlap():
    last = pl.when(pl.col("y") > 0.29).then(0.5).when(pl.col("y") > 0.01).then(0.25).otherwise(0)
    svg = to_svg(curve_panes(panes_of(30).with_columns(y=last), PANES, **WORDS))
    pattern = r'translate\([\d.]+,([\d.]+)\)"[^>]*font-size="9px"[^>]*>([^<]+)<'
    labels = {text: float(y) for y, text in re.findall(pattern, svg)}
    assert list(labels) == ["min", "Q1", "median", "Q3", "max"]
    assert all(a - b > 9.99 for a, b in pairwise(labels.values()))
    at_value = 190 * (1 - 0.25 / (0.5 * 1.06))
    assert labels["Q1"] - 10 == labels["median"] == pytest.approx(at_value, abs=4)
    assert labels["Q3"] + 10 == labels["median"]


def test_curve_panes__of_few_names_each_has_a_colour_and_a_mark():
    svg = to_svg(CHARTS["curve panes"]())
    shown = texts(svg)
    assert "\nmedian" not in shown
    assert shown.count(f"\n{names(2)[1]}\n") == 1 + 6, "legend, and a title for each mark"
    assert "\nsolid\n" in shown
    assert "\ndashed\n" in shown
    assert shown.count("\nd = 5\n") == 2
    assert len(set(re.findall(r'stroke="(#[0-9A-Fa-f]{6})" stroke-width="1.5"', svg))) == 8


def test_curve_panes__undefined_values_are_gaps():
    frame = panes_of(1).with_columns(y=pl.when(pl.col("x") == 10).then(math.nan).otherwise("y"))
    values = {
        (row["x"], row["y"])
        for row in drawn_rows(curve_panes(frame, PANES, **WORDS))
        if "style" in row
    }
    assert values == {(1, 0.0001), (10, None), (100, 0.01)}


def test_curve_panes__labels_above_do_not_overlap():
    labels = [(10, "d = 10"), (11, "d = 11"), (100, "d = 100")]
    shown = texts(to_svg(curve_panes(panes_of(1), PANES, **WORDS, labels=labels)))
    assert shown.count("\nd = 10\n") == shown.count("\nd = 100\n") == 2
    assert "\nd = 11\n" not in shown


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(1, 1000, [1, 10, 100, 1000]), (1, 50, [1, 2, 5, 10, 20, 50]), (3, 9, [3, 4, 5, 6, 7, 8, 9]),
     (120, 130, [120, 130]), (7, 7, [7]), (1, 60_000, [1, 10, 100, 1000, 10_000])],
)  # fmt: skip
def test_log_ticks__are_up_to_seven_round_numbers(low: float, high: float, expected: list[int]):
    assert log_ticks(low, high) == expected


def test_banded_maps__cells_of_one_band_are_merged_and_undefined_ones_hatched():
    # 0.9 as a sum of rounding errors is still 0.9
    frame = cells(0.2, -1.0, 0.9 - 1e-15, 0.95, 0.95, None, 0.5, 0.8, math.nan)
    chart = banded_maps(frame, {"p": ("x", "y")}, title="T", subtitle="S")
    strips = [(row["y"], row["band"], row["start"], row["stop"]) for row in drawn_rows(chart)]
    assert strips == [
        (1, "below 0.5", 0.5, 2.5),
        (1, "0.9 or more", 2.5, 3.5),
        (2, "0.9 or more", 0.5, 2.5),
        (2, "undefined", 2.5, 3.5),
        (3, "0.5 to 0.6", 0.5, 1.5),
        (3, "0.8 to 0.9", 1.5, 2.5),
        (3, "undefined", 2.5, 3.5),
    ]
    assert "\nundefined\n" in texts(to_svg(chart))
    assert "undefined" not in texts(
        to_svg(banded_maps(cells(1.0), {"p": ("x", "y")}, title="T", subtitle="S"))
    )


def test_banded_maps__lines_only_where_the_axes_have_the_cutoff():
    def lines(rule: float) -> int:
        chart = banded_maps(
            cells(*[1.0] * 9), {"p": ("x", "y")}, title="T", subtitle="S", rules=[rule]
        )
        return to_svg(chart).count('stroke-dasharray="4,2"')

    assert (lines(3), lines(4)) == (2, 0)


def test_print_of__square_panes_remain_square():
    specs = []

    def draw(spec: dict[str, Any], ppi: int) -> tuple[bytes, bytes]:
        specs.append(spec)
        return b"", b""

    for name in ("banded maps", "curve panes"):
        to_print(CHARTS[name](), draw=draw)
    sizes = [{(pane["width"], pane["height"]) for pane in spec["concat"]} for spec in specs]
    wide = to_spec(CHARTS["banded maps"]())["concat"][0]["width"]
    assert sizes == [{(wide - 50, wide - 50)}, {(163, 190)}]


def test_ecdf__reaches_one_at_the_greatest_value():
    chart = ecdf(pl.DataFrame({"name": "a", "value": [2.0, 1.0, 2.0, math.nan]}), **WORDS)
    points = [(row["x"], row["y"]) for data in chart.to_dict()["datasets"].values() for row in data]
    assert sorted(points) == [(1.0, pytest.approx(1 / 3)), (2.0, 1.0)]


def test_scatter__prints_the_correlation():
    frame = pl.DataFrame({"name": list("abc"), "x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})
    assert "r = 1.00" in texts(to_svg(scatter(frame, **WORDS, y_title="y")))


def test_curve_panes__bands_within_the_axis_and_undefined_bounds_left_out():
    frame = panes_of(1).with_columns(
        low=pl.when(pl.col("x") == 10).then(math.nan).otherwise(-0.25), high=pl.lit(0.5)
    )
    chart = curve_panes(frame, PANES, **WORDS)
    bands = {(row["x"], row["low"], row["high"]) for row in drawn_rows(chart) if "style" in row}
    assert bands == {(1, -0.25, 0.5), (10, None, 0.5), (100, -0.25, 0.5)}
    [y] = {
        (*layer["encoding"]["y"]["scale"]["domain"],)
        for layer in to_spec(chart)["concat"][0]["layer"]
        if layer["mark"]["type"] == "area"
    }
    assert y == (pytest.approx(-0.295), pytest.approx(0.545))


def test_curve_panes__linear_axis_from_zero():
    frame = panes_of(1).with_columns(x=pl.Series([0.0, 0.5, 1.0] * 2))
    chart = curve_panes(frame, PANES, **WORDS, linear="%", rules=[(0, "none")])
    [x] = {layer["encoding"]["x"]["scale"]["type"]
           for pane in to_spec(chart)["concat"] for layer in pane["layer"]}  # fmt: skip
    assert x == "linear"
    shown = texts(to_svg(chart))
    for label in ("0%", "100%", "none"):
        assert shown.count(f"\n{label}\n") == 2


def test_surfaces__antisymmetric_bands_with_signs_and_shares():
    chart = surfaces(signs(3), steps(("s", -1, 0.25), ("s", 1, 1)), {"s": "sign"}, **SURFACES)
    rows = drawn_rows(chart)
    strips = [(r["y"], r["band"], r["start"], r["stop"]) for r in rows if "band" in r]
    zero, low, high = "\u22120.02 to 0.02", "below \u22120.3", "0.3 or more"
    assert strips == [
        (1, zero, 0.5, 1.5),
        (1, low, 1.5, 3.5),
        (2, high, 0.5, 1.5),
        (2, zero, 1.5, 2.5),
        (2, low, 2.5, 3.5),
        (3, high, 0.5, 2.5),
        (3, zero, 2.5, 3.5),
    ]
    signed = [(r["sign"], r["x"] < r["y"]) for r in rows if "sign" in r]
    assert signed == [("+", True), ("\u2212", False)], "positive where x has the smaller rank"
    assert [(r["x"], r["y"], r["name"]) for r in rows if "name" in r] == [
        (-1, 0.25, "sign"), (1, 1, "sign")
    ]  # fmt: skip
    assert len(to_spec(chart)["concat"]) == 2
    assert len(to_spec(surfaces(signs(3), steps(), {"s": ""}, **SURFACES))["concat"]) == 1


def dots(chart: Any) -> list[dict[str, list[tuple[float, float]]]]:
    """Return the points of each pane of `scatter_panes` by their kind."""
    named = to_spec(chart)["datasets"]
    panes = [rows for name, rows in named.items() if name.startswith("rows")]
    return [
        {row["kind"]: [*zip(row["x"][::3], row["y"][::3], strict=True)] for row in rows}
        for rows in panes
    ]


def test_scatter_panes__one_point_a_pixel_and_marked_ones_above():
    frame = points((1.0, 1.0, False), (0.5, -0.5, True), (0.5001, -0.5001, True),
                   (0.5, -0.5, False), (math.inf, 0.0, True))  # fmt: skip
    [pane] = dots(scatter_panes(frame, {"a": ("left", [])}, **CLOUDS))
    assert [*pane] == ["equal", "different"], "the last is drawn above"
    near = pytest.approx((0.5, -0.5), abs=0.01)
    assert pane["equal"] == [near, pytest.approx((1.0, 1.0), abs=0.01)]
    assert pane["different"] == [near]


def test_scatter_panes__points_are_not_joined():
    frame = points(*((i / 10, i / 10, False) for i in range(-9, 10)))
    svg = to_svg(scatter_panes(frame, {"a": ("left", [])}, **CLOUDS))
    [path] = re.findall(r' d="([^"]*)" stroke="#8ec1de" stroke-width="2"', svg)
    lines = [
        [[float(n) for n in point.split(",")] for point in line.split("L")]
        for line in path.split("M")[1:]
    ]
    assert len(lines) == 19
    for (x, y), (end_x, end_y) in lines:
        assert end_x - x == pytest.approx(0.1, abs=0.011)
        assert y == end_y

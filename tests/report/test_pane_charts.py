"""Charts in several panes: curves, banded maps, surfaces, clouds of points."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import irmeta
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.heat import banded_maps, surfaces
from irmeta.report.charts.histogram import scatter_panes
from irmeta.report.charts.panes import linear_ticks, log_ticks
from irmeta.report.theme import BLUE, INK, PALE_BLUE, print_of, to_spec, to_svg
from support.charting import (
    CHARTS,
    CLOUDS,
    PANES,
    SURFACES,
    WORDS,
    cells,
    drawn_rows,
    names,
    panes_of,
    points,
    signs,
    steps,
    texts,
)
from support.text_boxes import text_boxes


def test_curve_panes__of_many_names_median_quartiles_and_the_furthest():
    """The curves of pane b are those of pane a upside down; one has a value at a single place."""
    frame = panes_of(13).with_columns(
        y=pl.when(pl.col("pane") == "a").then("y").otherwise(0.2 - pl.col("y"))
    )
    short = pl.DataFrame(
        {"pane": ["a"], "name": ["short"], "x": [100], "y": [9.0], "dashed": False}
    )
    short = short.cast(dict(frame.schema))
    chart = curve_panes(pl.concat([frame, short]), PANES, **WORDS)
    for pane in ("a", "b"):
        curves = frame.filter(pane=pane)
        bands = {
            row["x"]: (row["low"], row["median"], row["high"])
            for layer in to_spec(chart)["concat"]["ab".index(pane)]["layer"]
            for row in to_spec(chart)["datasets"].get(layer["data"].get("name"), [])
            if "median" in row
        }
        assert set(bands) == {1, 10, 100}
        for x, quartiles in bands.items():
            values = [*curves.filter(x=x)["y"], *([9.0] if (pane, x) == ("a", 100) else [])]
            assert quartiles == pytest.approx(np.quantile(values, (0.25, 0.5, 0.75)))
    coloured = {
        (row["pane"], row["name"]) for row in drawn_rows(chart) if {"style", "name"} <= set(row)
    }
    first, last = names(13)[0], names(13)[-1]
    assert coloured == {(pane, name) for pane in "ab" for name in (first, last)}
    assert len(colours := {(r["domain"][0], r["range"][0]) for r in scales(chart)}) == 1, colours
    assert "in colour: furthest from the median" in texts(to_svg(chart))


def scales(chart: Any) -> list[dict[str, Any]]:
    """Return the scales of the colours of names in all panes."""
    layers = [layer for pane in to_spec(chart)["concat"] for layer in pane["layer"]]
    colours = [layer["encoding"].get("color", {}) for layer in layers]
    return [colour["scale"] for colour in colours if colour.get("field") == "name"]


def test_curve_panes__a_name_has_the_colour_of_its_place_in_all_figures():
    first, second = names(2)
    for frame, order in ((panes_of(2), names(3)), (panes_of(2).filter(name=second), names(2))):
        found = dict(zip(scales(curve_panes(frame, PANES, **WORDS, names=order))[0]["domain"],
                         scales(curve_panes(frame, PANES, **WORDS, names=order))[0]["range"],
                         strict=True))  # fmt: skip
        assert (found[first], found[second]) == (BLUE, "#009E73"), "black is a paper's"


def test_curve_panes__a_curve_that_squeezes_all_others_leaves_the_axis():
    frame = panes_of(6).with_columns(y=0.9 + pl.col("y"))
    far = pl.col("name") == names(6)[3]
    squeezing = frame.with_columns(y=pl.when(far & (pl.col("x") == 100)).then(0.1).otherwise("y"))
    chart = curve_panes(squeezing, PANES, **WORDS, levels=[0.9])
    assert f"beyond the axis: {names(6)[3]} (0.1)" in texts(to_svg(chart)).replace("\n", " ")
    [domain] = {
        (*layer["encoding"]["y"]["scale"]["domain"],)
        for pane in to_spec(chart)["concat"] for layer in pane["layer"]
        if layer["mark"].get("strokeWidth") == 1.5
    }  # fmt: skip
    assert domain == (pytest.approx(0.8964), pytest.approx(0.9636))
    four = curve_panes(squeezing.filter(pl.col("name").is_in(names(4))), PANES, **WORDS)
    assert "beyond the axis" not in texts(to_svg(four)), "one of four is no exception"


def test_curve_panes__numbers_of_a_paper_are_no_curve():
    paper = pl.DataFrame({"pane": ["a"], "x": [10.0], "y": [0.7]})
    chart = curve_panes(panes_of(12), PANES, **WORDS, dashes=("ours", "paper"), printed=paper)
    rows = [row for row in drawn_rows(chart) if "name" not in row and "style" in row]
    assert {(row["pane"], row["x"], row["y"], row["style"]) for row in rows} == {
        ("a", 10.0, 0.7, "paper")
    }
    assert not any("median" in row for row in drawn_rows(chart)), "twelve curves are few"
    assert INK not in scales(chart)[0]["range"]
    assert "\npaper\n" in texts(to_svg(chart))


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
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


@pytest.mark.parametrize(
    ("low", "high", "whole", "expected"),
    [
        (0, 1, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 0.3, False, [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]),
        (0.1, 0.9, False, [0.2, 0.4, 0.6, 0.8]),
        (1, 45, True, [10, 20, 30, 40]),
        (1, 3, True, [1, 2, 3]),
        (3, 3, True, [3]),
        (-1, 1, False, [-1, -0.5, 0, 0.5, 1]),
    ],
)
def test_linear_ticks__round_numbers_within_the_values(
    low: float, high: float, whole: bool, expected: list[float]
):
    assert linear_ticks(low, high, whole) == expected


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_banded_maps__lines_only_where_the_axes_have_the_cutoff():
    def lines(rule: float) -> int:
        chart = banded_maps(
            cells(*[1.0] * 9), {"p": ("x", "y")}, title="T", subtitle="S", rules=[rule]
        )
        return to_svg(chart).count('stroke-dasharray="4,2"')

    assert (lines(3), lines(4)) == (2, 0)


@pytest.mark.exhaustive
def test_print_of__square_panes_remain_square():
    specs = []

    def draw(spec: dict[str, Any], formats: Any, ppi: int) -> dict[str, bytes]:
        specs.append(spec)
        return {}

    for name in ("banded maps", "curve panes"):
        print_of(to_spec(CHARTS[name]()), ["png"], draw=draw)
    sizes = [{(pane["width"], pane["height"]) for pane in spec["concat"]} for spec in specs]
    wide = to_spec(CHARTS["banded maps"]())["concat"][0]["width"]
    assert sizes == [{(wide - 50, wide - 50)}, {(161, 190)}]


def test_banded_maps__one_map_has_the_full_width():
    frame = pl.concat([cells(*[0.9] * 4), cells(*[0.9] * 4, pane="q")])
    one, two = (
        to_spec(banded_maps(frame, axes, title="T", subtitle="S"))["concat"][0]
        for axes in ({"p": ("x", "y")}, {"p": ("x", "y"), "q": ("x", "y")})
    )
    assert one["width"] == one["height"] == 2 * two["width"] + 59


@pytest.mark.exhaustive
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


@pytest.mark.exhaustive
def test_curve_panes__linear_axis_from_zero():
    frame = panes_of(1).with_columns(x=pl.Series([0.0, 0.5, 1.0] * 2))
    chart = curve_panes(frame, PANES, **WORDS, linear="%", rules=[(0, "none")])
    [x] = {layer["encoding"]["x"]["scale"]["type"] for pane in to_spec(chart)["concat"]
           for layer in pane["layer"] if "scale" in layer["encoding"]["x"]}  # fmt: skip
    assert x == "linear"
    shown = texts(to_svg(chart))
    for label in ("0%", "100%", "none"):
        assert shown.count(f"\n{label}\n") == 2


@pytest.mark.exhaustive
def test_curve_panes__rank_one_at_the_top():
    frame = panes_of(1).with_columns(y=pl.Series([1.0, 9.0, 18.0] * 2))
    svg = to_svg(curve_panes(frame, PANES, **WORDS, ranks=True, linear="d"))
    labels = re.findall(
        r'text-anchor="end" transform="translate\(-?[\d.]+,([\d.]+)\)"[^>]*>(\d+)<', svg
    )
    left = [(float(y), int(label)) for y, label in labels][:4]
    assert [label for _, label in sorted(left)] == [1, 5, 10, 15]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("ranks", "shown"), [((123, 127), {124, 126}), ((126.5, 127), {127})])
def test_curve_panes__far_ranks_are_labelled(ranks: tuple[float, float], shown: set[int]):
    frame = panes_of(1).with_columns(y=pl.Series([*ranks, ranks[0]] * 2))
    found = texts(to_svg(curve_panes(frame, PANES, **WORDS, ranks=True, linear="d")))
    assert all(f"\n{rank}\n" in found for rank in shown)


def test_curve_panes__marks_of_the_marked_points_only():
    frame = panes_of(1).with_columns(marked=pl.col("x") == 10)
    spec = to_spec(curve_panes(frame, PANES, **WORDS))
    marks = [layer for pane in spec["concat"] for layer in pane["layer"]
             if layer["mark"]["type"] == "point"]  # fmt: skip
    assert [[row["x"] for row in spec["datasets"][one["data"]["name"]]] for one in marks] == [
        [10], [10]
    ]  # fmt: skip


@pytest.mark.exhaustive
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
    [path] = re.findall(rf' d="([^"]*)" stroke="{PALE_BLUE}" stroke-width="2"', svg)
    lines = [
        [[float(n) for n in point.split(",")] for point in line.split("L")]
        for line in path.split("M")[1:]
    ]
    assert len(lines) == 19
    for (x, y), (end_x, end_y) in lines:
        assert end_x - x == pytest.approx(0.1, abs=0.011)
        assert y == end_y


@pytest.mark.exhaustive
def test_curve_panes__headings_are_in_line():
    """A label of a tick at the upper edge would push the heading of its pane up."""
    tops = {"a": 1.0, "b": 0.944, "c": 0.9432, "d": 0.7}
    rows = [(p, n, x, top * x / 10, False)
            for p, top in tops.items() for n in "xy" for x in (1, 10)]  # fmt: skip
    frame = pl.DataFrame(rows, schema=["pane", "name", "x", "y", "dashed"], orient="row")
    chart = curve_panes(frame, [Pane(p, f"heading {p}") for p in tops], **WORDS, linear="d")
    boxes = {box.text: box.corners[0] for box in text_boxes(to_svg(chart))}
    (xa, ya), (xb, yb), (xc, yc), (xd, yd) = (boxes[f"({p}) heading {p}"] for p in tops)
    assert (ya, yc) == pytest.approx((yb, yd), abs=0.5)
    assert (xa, xb) == pytest.approx((xc, xd), abs=0.5)


def test_plot_curve__gives_a_system_one_colour_and_mark_whichever_are_drawn():
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 2.0}}
    store = irmeta.from_data({"q1": {"d1": 1}, "q2": {"d2": 1}}, dict.fromkeys("abcd", run))

    def styles(systems: list[str]) -> dict[str, tuple[str, str]]:
        spec = store.plot.curve("P", [1, 2, 3], system=systems).to_dict()
        scales = [
            encoding[channel]["scale"]
            for channel in ("color", "shape")
            for encoding in encodings(spec)
            if channel in encoding and encoding[channel].get("field") == "name"
        ]
        colours, shapes = (
            dict(zip(scale["domain"], scale["range"], strict=True))
            for scale in (scales[0], scales[-1])
        )
        return {name: (colours[name], shapes[name]) for name in systems}

    every = styles(["a", "b", "c", "d"])
    assert len(set(every.values())) == 4
    assert styles(["b", "d"]) == {name: every[name] for name in "bd"}


def encodings(spec: Any) -> Iterator[dict[str, Any]]:
    """Yield all encodings of a chart."""
    if isinstance(spec, dict):
        if isinstance(spec.get("encoding"), dict):
            yield spec["encoding"]
        spec = list(spec.values())
    if isinstance(spec, list):
        for part in spec:
            yield from encodings(part)

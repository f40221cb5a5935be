"""Charts: printed numbers, sizes, special characters, reproducible bytes, ranks, files."""

from __future__ import annotations

import math
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from irmeta.errors import UsageError
from irmeta.report import FORMATS, parse_formats
from irmeta.report.charts.curves import Pane, curve_panes
from irmeta.report.charts.graph import graph
from irmeta.report.charts.heat import banded_maps, graded_table, heat_map, lower_triangle, surfaces
from irmeta.report.charts.histogram import bucket_name, histogram, scatter_panes
from irmeta.report.charts.row_charts import dumbbell, rank_places, ranked, strip
from irmeta.report.figure_file import add_mark, images_of
from irmeta.report.figures import length_differences, length_histogram, pairwise_significance
from irmeta.report.theme import (
    CONFIG,
    PRINT_WIDTH,
    TEXT_WIDTH,
    VERMILLION,
    WIDTH,
    finish,
    fit_width,
    nothing,
    print_of,
    svg_of,
    text_width,
    to_spec,
    to_svg,
    wrap_titles,
)
from support.charting import (
    CHARTS,
    CLOUDS,
    DUMBBELL,
    EDGES,
    HOSTILE,
    LENGTHS,
    NODES,
    PANES,
    STRIP,
    SURFACES,
    WORDS,
    cells,
    counts,
    drawn_rows,
    lengths,
    p_values,
    pairs,
    panes_of,
    points,
    signs,
    steps,
    systems,
    texts,
    two_values,
    values,
)
from support.text_boxes import BESIDE, collisions, outside, text_boxes


@pytest.mark.exhaustive
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
    assert name in ODD or not (collisions(svg) or outside(svg))
    assert VERMILLION not in svg or name in ORANGE, "orange is for docs not retrieved, or a side"
    assert all("log scale" in title for title in log_titles(to_spec(CHARTS[name]())))


ODD = {"strip of 76", "triangle"}  # with names that no font would fit
ORANGE = {"arcs", "arcs, many", "search lengths", "search lengths of 5 tracks", "differences",
          "rarity", "rarity of 80 systems", "surfaces", "scatter panes"}  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("is_wide", "pixels", "text"), [(True, TEXT_WIDTH, ">34.6%<"), (False, PRINT_WIDTH, ">35%<")]
)
def test_graded_table__is_legible_in_one_column_and_over_two(is_wide: bool, pixels: int, text: str):
    """At 240 points a column, 10 pixels are 5.7 points."""
    grades = ("safe", "with care", "unsafe", "cannot be said")
    numbers = ("0.659", "34.6%", "1.6%", "1.000", "-0.250", "\u2014", "0.0%")
    across = ("halves", "swaps", "at pool depth", "left out", "half relevant", "altered",
              "other qrels", "tied pairs", "by ties", "by ends")  # fmt: skip
    rows = [
        {"column": name, "group": "abcd"[min(i // 2, 3)] * 6, "row": f"RBP(p=0.{j},rel=1)",
         "grade": grades[(i + j) % 4], "text": numbers[(i + j) % 7], "name": f"{i} {j}"}
        for j in range(15)
        for i, name in enumerate(across)
    ]  # fmt: skip
    chart = graded_table(pl.DataFrame(rows), grades, title="T", subtitle="S", is_wide=is_wide)
    specs = list[dict[str, Any]]()

    def draw(spec: dict[str, Any], formats: object, ppi: int) -> dict[str, bytes]:
        specs.append(spec)
        return {}

    print_of(to_spec(chart), ["png"], draw=draw)
    assert specs[0]["width"] == pixels
    svg = svg_of(specs[0])
    assert text in svg
    assert (">\u2212.250<" in svg) != is_wide
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)]
    assert min(sizes) >= 10
    assert not collisions(svg)
    assert not outside(svg)


def log_titles(spec: Any) -> list[str]:
    """Return the titles of all logarithmic axes of a spec."""
    if isinstance(spec, list):
        return [title for part in spec for title in log_titles(part)]
    if not isinstance(spec, dict):
        return []
    is_log = isinstance(spec.get("scale"), dict) and spec["scale"].get("type") == "log"
    own = [spec["title"]] if is_log and spec.get("title") else []
    return own + [title for part in spec.values() for title in log_titles(part)]


PRINTED = (
    "histogram", "dumbbell", "strip", "heat map", "curve panes", "banded maps", "surfaces",
    "scatter panes",
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", PRINTED)
def test_print_of__png_and_pdf_of_the_requested_size(name: str):
    images = print_of(to_spec(CHARTS[name]()), ["pdf", "png"])
    png = images["png"]
    assert print_of(to_spec(CHARTS[name]()), ["png"]) == {"png": png}
    assert png.startswith(b"\x89PNG\r\n")
    width = struct.unpack(">I", png[16:20])[0]
    assert abs(width - PRINT_WIDTH * 300 / 72) <= 1
    assert len(print_of(to_spec(CHARTS[name]()), ["png"], ppi=72)["png"]) < len(png)
    assert images["pdf"].startswith(b"%PDF")


@pytest.mark.exhaustive
def test_chart__identical_in_another_process():
    code = (
        "import polars as pl, sys; from irmeta.report.theme import to_svg;"
        "from irmeta.report.figures import length_histogram;"
        "sys.stdout.write(to_svg(length_histogram(pl.DataFrame("
        "{'low': [1, 2, None], 'high': [1, 4, None], 'docs': [30, 20, 5]}), 'x')))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert other.stdout.decode() == to_svg(length_histogram(lengths(), "x"))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "draw",
    [
        lambda: histogram(counts(0, 0), **WORDS),
        lambda: histogram(counts(0).clear(), **WORDS),
        lambda: length_histogram(lengths().clear(), "none"),
        lambda: dumbbell(two_values(2).with_columns(filled=math.nan), **DUMBBELL),
        lambda: strip(values(1, 1).with_columns(value=pl.lit(None)), **STRIP),
        lambda: heat_map(lower_triangle(pairs(1), "a", "b", "tau"), title="T", subtitle="S"),
        lambda: curve_panes(panes_of(2).with_columns(y=math.inf), PANES, **WORDS),
        lambda: banded_maps(cells(), {}, title="T", subtitle="S"),
        lambda: surfaces(signs(0), steps(), {}, **SURFACES),
        lambda: scatter_panes(points((None, 0.0, True)), {"a": ("left", [])}, **CLOUDS),
        lambda: graph(NODES.clear(), EDGES.clear(), title="T", subtitle="S"),
        lambda: pairwise_significance(p_values(1), systems(1), "T", 0.05),
    ],
)
def test_chart__states_the_absence_of_data(draw: Callable[[], Any]):
    assert re.search(r"\b(no|none|nothing)\b", texts(to_svg(draw())).lower())


@pytest.mark.exhaustive
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
    for text in ("best wins: 50 (53%)", "10 of them retrieved only there", "5 of them retrieved",
                 "median wins: 40 (43%)", "94 relevant docs that a system retrieves; ties: 4 (4%)",
                 "\u22124 to \u22122, only the best: 10", "0, neither: 6"):  # fmt: skip
        assert text in shown
    assert "not counted: 6 that neither retrieves" in " ".join(shown.split())
    assert HOSTILE in shown


def test_length_differences__docs_that_neither_retrieves_are_no_wins():
    """Under Eq. 3 their lengths differ by the lengths of the two lists."""
    rows = [(-1, -1, "both", 3), (-1, -1, "neither", 90), (0, 0, "both", 0), (1, 1, "both", 7)]
    frame = pl.DataFrame(rows, schema=["low", "high", "retrieved", "docs"], orient="row")
    shown = texts(to_svg(length_differences(frame, "t", ("a", "b"), ("best", "median"))))
    assert "best wins: 3 (30%)" in shown
    assert "median wins: 7 (70%)" in shown


def test_length_differences__systems_without_a_role_are_called_by_name():
    rows = [(-1, -1, "first", 3), (0, 0, "both", 4), (1, 1, "second", 7)]
    frame = pl.DataFrame(rows, schema=["low", "high", "retrieved", "docs"], orient="row")
    shown = texts(to_svg(length_differences(frame, "t", ("both", "b"), ("first", "second"))))
    for text in ("both wins: 3 (21%)", "b wins: 7 (50%)", "only both", "only b",
                 "search length in both minus that in b (docs)"):  # fmt: skip
        assert text in shown, text
    assert "first" not in shown
    assert "second" not in shown


def test_wrap_titles__long_axis_titles_do_not_widen_a_figure():
    """A wide axis moved title and subtitle out of the figure."""
    import altair as alt

    name = "a-system-with-a-long-name-" * 4
    rows = pl.DataFrame({"x": [1.0], "y": [1.0]})
    marks = alt.Chart(rows).mark_point().encode(alt.X("x:Q", title=name), alt.Y("y:Q", title=name))
    spec = to_spec(finish(alt.layer(marks), 240, f"title {name}", f"subtitle {name}"))
    encoding = spec["layer"][0]["encoding"]
    lines = [*encoding["x"]["title"], *encoding["y"]["title"]]
    lines += [*spec["title"]["text"], *spec["title"]["subtitle"]]
    assert max(text_width(line, 11) for line in lines) < WIDTH
    assert "".join(encoding["x"]["title"]) == name
    widest = max(float(x) for x in re.findall(r'<svg[^>]* width="([\d.]+)"', svg_of(spec)))
    assert widest <= WIDTH + 10


@pytest.mark.exhaustive
@pytest.mark.parametrize("kinds", [{"both"}, {"both", "neither"}])
def test_length_differences__legend_names_only_kinds_with_docs(kinds: set[str]):
    rows = [(0, 0, kind, 5) for kind in sorted(kinds)] + [(1, 1, "both", 0)]
    frame = pl.DataFrame(rows, schema=["low", "high", "retrieved", "docs"], orient="row")
    shown = texts(to_svg(length_differences(frame, "t", ("a", "b"), ("best", "median"))))
    assert ("\nneither\n" in shown) == ("neither" in kinds)
    assert "only the best" not in shown


@pytest.mark.parametrize(("highs", "widens"), [((50, 100, None), False), ((10, 100, None), True)])
def test_length_histogram__says_that_buckets_differ_in_width(highs: tuple, widens: bool):
    lows = (1, 1 + highs[0], None)
    frame = pl.DataFrame({"low": lows, "high": highs, "docs": [3, 2, 1]})
    shown = texts(to_svg(length_histogram(frame, "t")))
    assert ("wider buckets further out" in shown) == widens


@pytest.mark.parametrize(
    ("docs", "is_log"),
    [((61, 10, 2, 300), True), ((60, 10, 2, 300), False), ((61, 0, 0, 300), False)],
)
def test_length_histogram__has_log_axis_where_one_bucket_has_nearly_all(docs: tuple, is_log: bool):
    """Docs that are not retrieved do not matter, and no other bucket needs no such axis."""
    lows = (1, 11, 21, None)
    frame = pl.DataFrame({"low": lows, "high": (10, 20, 30, None), "docs": docs})
    svg = to_svg(length_histogram(frame, "t"))
    assert ("relevant docs, log scale" in texts(svg)) == is_log
    heights = [float(h) for h in re.findall(r"<path d=\"M[\d.,]+h[\d.]+v([\d.]+)h-", svg)]
    assert outside(svg) == []
    if is_log:  # log(1 + docs): 2 docs are over a sixth as high as 300, rather than 0.7%
        assert min(heights) > max(heights) / 6


def test_figures__name_fonts_of_about_the_widths_that_were_measured():
    """DejaVu Sans, which browsers use for sans-serif where nothing else is, is 15% wider."""
    named = str(CONFIG["font"]).split(", ")
    assert named[0] == "Liberation Sans"
    assert named[-2:] == ["DejaVu Sans Condensed", "sans-serif"]
    assert {"Arial", "Arimo", "Helvetica", "Nimbus Sans"} < set(named)
    boxes = text_boxes(to_svg(CHARTS["dumbbell"]()))
    edge = min(x for box in boxes for x, _ in box.corners)
    assert edge >= 4 - BESIDE, "a label 3% wider than measured starts inside"


def test_titles__have_room_for_a_font_that_is_4_percent_wider():
    text = "1,502 relevant docs that a system retrieves; ties: 75 (5%); not counted: 2,021 that neither retrieves"  # noqa: E501
    assert 0.95 * WIDTH < text_width(text, CONFIG["title"]["subtitleFontSize"]) < WIDTH
    spec = {"title": {"subtitle": text}, "config": {"title": CONFIG["title"]}}
    lines = wrap_titles(spec, WIDTH)["title"]["subtitle"]
    assert all(1.04 * text_width(one, 11.5) + 4 < WIDTH for one in lines)
    assert len(lines) == 2


def test_charts__number_that_rounds_to_zero_has_no_sign():
    frame = pl.DataFrame({"across": ["a"], "down": ["x"], "value": [-0.001], "name": ["n"]})
    charts = [
        heat_map(frame, title="T", subtitle="S"),
        strip(pl.DataFrame({"row": ["a"], "name": ["n"], "value": [-0.001]}),
              **STRIP | {"domain": (-1.0, 1.0)}),
    ]  # fmt: skip
    for chart in charts:
        shown = texts(to_svg(chart)).split("\n")
        assert "0.00" in shown
        assert "\u22120.00" not in shown


@pytest.mark.exhaustive
def test_dumbbell__best_row_first_and_undefined_values_counted():
    frame = two_values(3).with_columns(
        row=pl.Series(["a", "b", "c"]), filled=pl.Series([0.0, 12.5, None])
    )
    shown = texts(to_svg(dumbbell(frame, **DUMBBELL)))
    assert "1 without a value left out" in shown
    assert shown.index("\nb\n") < shown.index("\na\n")
    shown = texts(to_svg(dumbbell(frame, **DUMBBELL, display=LENGTHS)))
    assert shown.index("\na\n") < shown.index("\nb\n")


@pytest.mark.parametrize(("rows", "height"), [(12, 26), (13, 18), (30, 18), (31, 11)])
def test_strip__rows_are_lower_where_there_are_many(rows: int, height: int):
    names = [f"r{i}" for i in range(rows)]
    frame = pl.DataFrame({"row": names, "name": names, "value": [0.5] * rows})
    assert strip(frame, **STRIP).to_dict()["height"] == height * rows


@pytest.mark.exhaustive
def test_strip__prints_mean_and_standard_deviation_of_each_row():
    frame = pl.DataFrame({"row": ["a"] * 3 + ["b"] * 3, "name": "n", "value": [0.25, 0.5, 0.75,
                          0.5, math.nan, None]})  # fmt: skip
    shown = texts(to_svg(strip(frame, **STRIP, spread=True)))
    assert "0.50 ± 0.25" in shown
    assert "\n0.50\n" in shown, "one value has no standard deviation"
    assert "2 without a value left out" in shown
    assert "the paper 50%" in texts(to_svg(CHARTS["strip"]()))


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([0.8, 0.9], 0.795, 0.905), ([0.1, 0.6], 0.0, 0.625), ([0.9, 1.0], 0.895, 1.0)],
)
def test_strip__axis_is_where_the_values_are(values: list[float], low: float, high: float):
    frame = pl.DataFrame({"row": "a", "name": "n", "value": values})
    chart = strip(frame, **STRIP).to_dict()
    domain = chart["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert domain == [pytest.approx(low), pytest.approx(high)]


@pytest.mark.exhaustive
def test_strip__marks_deviations_beyond_the_axis():
    frame = pl.DataFrame({"row": ["a"] * 2 + ["b"] * 2, "name": "n", "value": [0.0, 1.0, 0.4, 0.6]})
    svg = to_svg(strip(frame, **STRIP, spread=True))
    assert "S; arrow: beyond the axis" in texts(svg)
    marked = [row for row in drawn_rows(strip(frame, **STRIP, spread=True)) if row.get("beyond")]
    assert {(row["row"], row["is_below"], row["is_above"]) for row in marked} == {("a", True, True)}
    arrows = re.findall(r'translate\(([\d.]+),[\d.]+\)" d="M(-?)[\d.]+,0L[^"A]*Z"', svg)
    assert [side for _, side in arrows] == ["-", ""], "the tips are at the ends of the axis"
    assert float(arrows[0][0]) == 0 < float(arrows[1][0])
    inside = strip(frame.filter(row="b"), **STRIP, spread=True)
    assert "arrow" not in texts(to_svg(inside))


def test_heat_map__tells_zero_by_its_text_from_undefined():
    frame = pl.DataFrame({"across": ["a", "b", "c"], "down": "x", "value": [0.0, 0.001, None],
                          "name": "n", "text": ["0", None, None]})  # fmt: skip
    shown = texts(to_svg(heat_map(frame, title="T", subtitle="S"))).split("\n")
    assert [text for text in shown if text in ("0", "0.00", "\u2014")] == ["0", "0.00", "\u2014"]


@pytest.mark.exhaustive
def test_heat_map__numbers_fit_narrow_cells_in_print():
    rows = [(f"m{i}", f"m{j}", -0.25 if i > j else -1.0) for i in range(16) for j in range(16)]
    frame = pl.DataFrame(rows, ["across", "down", "value"], orient="row").with_columns(name="down")
    svg = svg_of(fit_width(to_spec(heat_map(frame, title="T", subtitle="S")), PRINT_WIDTH))
    assert "\n\u2212.25\n" in texts(svg)
    assert "\n\u22121\n" in texts(svg)
    assert not collisions(svg)


def test_nothing__message_fits_a_column_of_print():
    words = "no value " * 30
    svg = svg_of(fit_width(to_spec(nothing(words)), PRINT_WIDTH))
    assert not outside(svg)
    assert " ".join(texts(svg).split()) == words.strip()


@pytest.mark.exhaustive
def test_print_of__breaks_a_long_title_and_a_long_heading():
    title = "search lengths of a system and of another by ASL(unretrieved=depth)"
    panes = [Pane("a", f"preferences, {title}"), Pane("b", "measures")]
    spec = to_spec(curve_panes(panes_of(2), panes, title=title, subtitle=title * 2, x_title="x"))
    svg = svg_of(fit_width(spec, PRINT_WIDTH))
    assert isinstance(spec["title"]["text"], str), "it fits the page"
    assert "\u2026" not in svg
    assert collisions(svg) + outside(svg) == []


def test_heat_map__prints_an_undefined_value_as_a_dash():
    shown = texts(to_svg(CHARTS["heat map"]()))
    assert "\n0.50\n" in shown
    assert "\n—\n" in shown


def ranks(number: int) -> pl.DataFrame:
    place = list(range(1, number + 1))
    return pl.DataFrame(
        {
            "name": [f"s{i}" for i in place],
            "rank": place,
            "rank_low": [max(1, i - 3) if i < 6 else 6 for i in place],
            "rank_high": [min(5, i + 2) if i < 6 else number for i in place],
            "tier": [1 if i < 6 else 2 for i in place],
        }
    )


@pytest.mark.parametrize(("number", "named"), [(8, 8), (60, 20)])
def test_rank_places__names_sets_and_tiers(number, named):
    chart = rank_places(ranks(number), "AP: ranks", "95% simultaneous rank sets")
    spec, shown = to_spec(chart), texts(to_svg(chart))
    tiers, sets, _ = spec["layer"]
    assert len(spec["datasets"][tiers["data"]["name"]]) == 1  # between the tiers
    assert sets["encoding"]["x2"]["field"] == "rank_high"
    assert [row["is"] for row in spec["datasets"]["ranks"]] == [
        "could be first" if i <= 4 else "could not be first" for i in range(1, number + 1)
    ]
    prefix = "" if named == number else f"{named}. "
    assert f"\n{prefix}s{named}\n" in shown
    assert (f"s{named + 1}\n" in shown) is False
    assert "\n1\n" in shown


def test_rank_places__without_ranks():
    none = ranks(2).with_columns(rank=pl.lit(None, pl.Int64))
    assert "No system has a rank" in texts(to_svg(rank_places(none, "t", "")))


SPEC = {"mark": "point", "data": {"values": [{}]}, "width": 90, "config": {"title": {}}}


def test_parse_formats__orders_texts_with_commas():
    assert parse_formats("png, svg") == parse_formats(["png", "svg,png"]) == ("svg", "png")
    for wrong in ("sgv", "svg,", []):
        with pytest.raises(UsageError, match="formats"):
            parse_formats(wrong)


def test_add_mark__marked_images_keep_their_format():
    images = images_of(SPEC, FORMATS)
    marked = {form: add_mark(image, form, "irmeta compare") for form, image in images.items()}
    assert list(marked) == list(FORMATS)
    for form, image in marked.items():
        assert b"irmeta compare" in image[-100:]
        assert image[:20] == images[form][:20]
    kinds = dict(chunks(marked["png"]))
    assert list(kinds)[-2:] == [b"tEXt", b"IEND"]
    assert kinds[b"tEXt"] == b"Software\0irmeta compare"


def chunks(png: bytes):
    """Yield kind and content of the chunks of a PNG, and check their checksums."""
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        content = png[at + 8 : at + 8 + size]
        assert struct.unpack(">I", png[at + 8 + size :][:4])[0] == zlib.crc32(kind + content)
        yield kind, content
        at += 12 + size

"""Pages, tables and figures: safe, self-contained, the same bytes every time."""

from __future__ import annotations

import math
import subprocess
import sys
from xml.etree import ElementTree

import polars as pl
import pytest

from irmeta.report import figures
from irmeta.report.look import to_svg
from irmeta.report.page import Figure, Page, TrackSection, render
from irmeta.report.tables import format_value, to_latex

HOSTILE = "<script>alert('x')</script> & \"ü\""


def section(name: str) -> TrackSection:
    best = pl.DataFrame(
        {
            "measure": ["AP", "ASL"],
            "direction": [1, -1],
            "system": [HOSTILE, "b"],
            "value": [0.5, 12.25],
            "second": ["b", None],
            "second_value": [0.4, None],
            "median": [0.3, 50.0],
            "worst": [0.1, 99.0],
        }
    )
    return TrackSection(name, {"systems": 2, "rows": 1234567}, best, [Figure("<svg/>", HOSTILE)])


def test_text_is_escaped_and_nothing_is_loaded() -> None:
    aside = pl.DataFrame({"track": [HOSTILE], "file": ["a b?.txt"], "reason": [HOSTILE]})
    html = render(Page(HOSTILE, {"tracks": 1}, [section(HOSTILE)], set_aside=aside))
    assert "<script" not in html
    assert "1,234,567" in html
    assert "http" not in html.replace("http://www.w3.org/", "")


@pytest.mark.parametrize("tracks", [1, 4, 80])
def test_any_number_of_tracks_has_an_anchor_each(tracks: int) -> None:
    html = render(Page("t", {}, [section(f"track {i}") for i in range(tracks)]))
    for i in range(tracks):
        assert f'id="track-track-{i}"' in html


def histogram() -> pl.DataFrame:
    return pl.DataFrame({"low": [1, 2, None], "high": [1, 4, None], "docs": [30, 20, 5]})


CHARTS = {
    "search lengths": lambda: figures.search_length_histogram(histogram(), HOSTILE),
    "rarity": lambda: figures.rarity_histogram(
        pl.DataFrame({"systems_retrieving": range(5), "docs": [1, 0, 3, 4, 5]})
    ),
    "agreement": lambda: figures.measure_agreement(
        pl.DataFrame({"measure_a": ["A", "A", "B"], "measure_b": ["B", "C", "C"],
                      "tau": [0.5, math.nan, -0.25]})
    ),
    "few systems": lambda: figures.system_scores(
        pl.DataFrame({"system": ["x", HOSTILE], "value": [0.1, math.nan]}), "AP"
    ),
    "many systems": lambda: figures.system_scores(
        pl.DataFrame({"system": [f"s{i}" for i in range(80)],
                      "value": [float(i + 1) for i in range(80)]}), "ASL", -1
    ),
    "nothing": lambda: figures.search_length_histogram(histogram().clear(), "none"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHARTS)
def test_a_figure_is_well_formed_and_the_same_twice(name: str) -> None:
    svg = to_svg(CHARTS[name]())
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg")
    assert to_svg(CHARTS[name]()) == svg
    CHARTS[name]().to_dict()  # which looks at it against the schema; drawing does not


def test_a_figure_is_the_same_in_another_process() -> None:
    code = (
        "import polars as pl; from irmeta.report import figures as f; import sys; "
        "from irmeta.report.look import to_svg;"
        "sys.stdout.write(to_svg(f.search_length_histogram(pl.DataFrame("
        "{'low': [1, 2, None], 'high': [1, 4, None], 'docs': [30, 20, 5]}), 'x')))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    own = to_svg(figures.search_length_histogram(histogram(), "x"))
    assert other.stdout.decode() == own


def test_the_histogram_prints_its_counts() -> None:
    svg = to_svg(figures.search_length_histogram(histogram(), "x"))
    for said in ("30", "20", "5", "not"):
        assert f">{said}" in svg


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (0.52604, "score", "0.5260"),
        (1234.56, "length", "1,234.6"),
        (1234567, "count", "1,234,567"),
        (None, "score", "—"),
        (math.nan, "length", "—"),
    ],
)
def test_numbers_print_as_their_kind_asks(value: object, kind, said: str) -> None:
    assert format_value(value, kind) == said


def test_latex_escapes_and_rules() -> None:
    frame = pl.DataFrame({"system": ["a_b&c"], "AP": [0.25]})
    latex = to_latex(frame, caption="50% of $x", label="tab:x")
    assert r"a\_b\&c" in latex
    assert r"50\% of \$x" in latex
    assert latex.index(r"\toprule") < latex.index(r"\midrule") < latex.index(r"\bottomrule")


def test_what_xml_cannot_hold_is_drawn_as_a_mark() -> None:
    """vl-convert would end the process; other characters beyond ASCII stay."""
    names = ["a\x01b", "\uffff", "c\U0001f600"]
    frame = pl.DataFrame({"system": names, "value": [0.3, 0.2, 0.1]})
    frame = frame.rename({"system": "measure_a"}).select(
        "measure_a", measure_b=pl.lit("x"), tau=pl.col("value")
    )
    for chart in (
        figures.measure_agreement(frame),
        figures.system_scores(pl.DataFrame({"system": names, "value": [0.3, 0.2, 0.1]}), "AP"),
    ):
        svg = to_svg(chart)
        ElementTree.fromstring(svg)
        assert svg.count("a\ufffdb") >= 1
        assert "c\U0001f600" in svg

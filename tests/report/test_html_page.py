"""HTML pages: self-contained, escaped, with an anchor for each section."""

from __future__ import annotations

import re

import pytest

from irmeta.report.html_page import FOLD, Block, Page, Picture, anchors_of, render
from irmeta.report.table_grid import Cell, Grid, Head

HOSTILE = "<script>alert('x')</script> & \"ü\""


def table(rows: int = 2, **given) -> Grid:
    head = (Head(HOSTILE, "a", is_text=True), Head("n", "b", is_text=False))
    return Grid("t", HOSTILE, head, tuple((Cell(HOSTILE), Cell(str(i))) for i in range(rows)),
                **given)  # fmt: skip


def section(name: str) -> Block:
    return Block(
        name,
        text=[HOSTILE],
        items=[table(), Picture("<svg/>", HOSTILE, HOSTILE), Picture("<svg/>", "b")],
        facts={"systems": 2, "rows": 1234567, "mean": 0.123456, "type": HOSTILE},
        notes=[HOSTILE],
    )


def page(*sections: Block, **given) -> str:
    return render(Page(HOSTILE, HOSTILE, {"tracks": 1234}, sections, **given))


def test_render__escapes_text_and_loads_no_external_files():
    html = page(
        section(HOSTILE), tracks=[section(HOSTILE)], notes=[HOSTILE],
        provenance={HOSTILE: HOSTILE}, files=[(f"a/{HOSTILE}.parquet", HOSTILE)],
    )  # fmt: skip
    assert html.count("<script") == 1  # sorts tables
    assert "1,234,567" in html
    assert "0.1235" in html
    assert "://" not in html.replace("http://www.w3.org/", "")
    assert html.count("<svg/>") == 4
    assert html == page(
        section(HOSTILE), tracks=[section(HOSTILE)], notes=[HOSTILE],
        provenance={HOSTILE: HOSTILE}, files=[(f"a/{HOSTILE}.parquet", HOSTILE)],
    )  # fmt: skip


def test_render__prints_what_is_between_backticks_as_code():
    picture = Picture("<svg/>", "see `a & b`", "or `c`")
    html = page(Block("s", text=["run `irmeta study trust`"], items=[picture], notes=["`d`"]))
    for text in ("run <code>irmeta study trust</code>", "see <code>a &amp; b</code>"):
        assert text in html
    assert "or <code>c</code>" in html
    assert "<li><code>d</code></li>" in html


def test_render__refers_to_the_file_of_a_figure_with_its_size():
    picture = Picture('<svg width="52" height="4.5" viewBox="0 0 1 1"/>', HOSTILE, "", "f/a b?.svg")
    html = page(Block("s", items=[picture]))
    assert '<img src="f/a%20b%3F.svg" width="52" height="4.5" loading="lazy"' in html
    assert "<svg" not in html
    assert html.count("<script") == 1  # sorts tables


def test_render__first_sections_are_before_the_contents():
    first = Block("first", ["above"], [table(1)], below=["below"], is_first=True)
    html = page(section("s"), section("r"), tracks=[first])
    places = [html.index(text) for text in ("above", "<table", "below", 'class="contents"')]
    assert places == sorted(places)
    html = page(
        first, section("s"), tracks=[Block("t", below=["at the end"], is_first=True), first]
    )
    places = [
        html.index(text) for text in ("above", 'class="contents"', 'id="track-s"', "at the end")
    ]
    assert places == sorted(places)


def test_render__a_wide_figure_has_no_other_beside_it():
    svg = '<svg width="{}" height="4" viewBox="0 0 1 1"/>'
    html = page(Block("s", items=[Picture(svg.format(width), "c") for width in (520, 861, 540)]))
    assert re.findall("<figure[^>]*>", html) == ["<figure>", '<figure class="wide">', "<figure>"]


@pytest.mark.parametrize("tracks", [1, 4, 80])
def test_render__links_to_each_section(tracks: int):
    html = page(section("s"), tracks=[section(f"track {i}") for i in range(tracks)])
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(re.findall(r'id="([^"]+)"', html))
    for i in range(tracks):
        assert f'id="track-track-{i}"' in html


def test_anchors_of__unique_for_names_with_special_characters():
    anchors = anchors_of(["a b", "a/b", "a-b", "ü", "", "x"])
    assert len(set(anchors)) == 6
    assert anchors[0] == "track-a-b"


@pytest.mark.parametrize(("rows", "folded"), [(FOLD, False), (FOLD + 1, True)])
def test_render__folds_a_long_table(rows: int, folded: bool):
    html = page(Block("s", items=[table(rows)]))
    assert ("<details" in html) == folded


def test_render__draws_the_range_of_worst_median_and_best():
    head = (Head("track", "t", is_text=True), Head("range", "a", is_text=False))
    made = Grid("t", "c", head, ((Cell("x"), Cell("", picture=(1.5, 42.5, 99.0))),))
    html = page(Block("s", items=[made]))
    assert "42.5" in html

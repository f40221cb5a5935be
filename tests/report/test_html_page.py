"""HTML pages and interactive charts: self-contained, escaped, without a network."""

from __future__ import annotations

import html
import re
from base64 import b64decode
from pathlib import Path

import altair as alt
import polars as pl
import pytest

import irmeta
from irmeta.report import figure_file as charts
from irmeta.report.figure_file import OfflineChart, mime_bundle, offline
from irmeta.report.html_page import FOLD, Block, Page, Picture, anchors_of, render
from irmeta.report.table_grid import Cell, Grid, Head
from support.making import Track, down

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


BREAKING_OUT = "</script><script>alert(1)"


@pytest.mark.exhaustive
def test_offline__bundle_has_every_form(made_store: irmeta.Store):
    chart = made_store.plot.rarity("web")
    bundle, metadata = chart._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg ")
    assert b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert metadata["image/png"]["width"] == 520
    assert bundle["application/vnd.vegalite.v6+json"]["width"] == 520
    assert "text/html" not in bundle  # Altair's needs a network
    assert "relevant docs" in bundle["text/plain"]
    assert isinstance(offline(chart.properties(title="mine")), alt.LayerChart)
    again, _ = chart.properties(title="mine")._repr_mimebundle_()
    assert ">mine</text>" in again["image/svg+xml"]


def test_offline__leaves_altair_as_it_is(made_store: irmeta.Store):
    chart = made_store.plot.rarity("web")
    assert alt.renderers.active == "default"
    assert not issubclass(alt.LayerChart, OfflineChart)
    with alt.renderers.enable("json"):  # the user's choice is kept
        assert "application/json" in chart._repr_mimebundle_()[0]


@pytest.mark.exhaustive
def test_offline__interactive_chart_is_html_without_a_network(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(charts, "_scripts", lambda: "scripts()")  # bundling takes seconds
    runs = {BREAKING_OUT.replace("/", "|"): {"q": down("d", "n")}}
    store = Track(runs, {"q": {"d": 1, BREAKING_OUT: 1, "n": 0}}).read()
    bundle, _ = irmeta.SearchLengths(store).browse()._repr_mimebundle_()
    (srcdoc,) = re.findall(r'srcdoc="([^"]*)"', bundle["text/html"])
    page = html.unescape(srcdoc)
    assert page.count("</script>") == 2  # the scripts and the chart
    assert "\\u003c/script>\\u003cscript>alert(1)" in page
    assert "http" not in re.sub(r"https://vega.github.io/schema/[^\"]*", "", page)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("width", "pixels"), [(None, 520), ("column", 420), ("text", 861)])
def test_plot__width_and_files(made_store: irmeta.Store, tmp_path: Path, width, pixels):
    plots = {
        "lengths": made_store.plot.search_lengths(track="news", width=width),
        "differences": made_store.plot.search_lengths(
            "aldBM25", baseline="doumMan1", track="news", width=width
        ),
        "rarity": made_store.plot.rarity("web", rarity_depth=5, counted="groups", width=width),
        "pairs": made_store.plot.compare("P@10", track="web", test="sign", width=width),
        "curve": made_store.plot.curve("P", [1, 5, 10], track="passage", width=width),
    }
    for name, chart in plots.items():
        chart.save(tmp_path / f"{name}.svg")
        root = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")[:400]
        (drawn,) = re.findall(r'<svg[^>]* width="(\d+)"', root)
        assert abs(int(drawn) - pixels) <= (40 if name == "curve" else 0), name
    chart.save(tmp_path / "curve.pdf")
    chart.save(str(tmp_path / "curve.png"))
    assert (tmp_path / "curve.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_save__without_titles(made_store: irmeta.Store, tmp_path: Path):
    chart = made_store.plot.rarity("web")
    for name, titles in (("with.svg", True), ("without.svg", False)):
        chart.save(tmp_path / name, titles=titles)
        texts = re.sub("<svg[^>]*>", "", (tmp_path / name).read_text(encoding="utf-8"))
        assert ("How many systems retrieve a relevant doc" in texts) is titles
        assert "systems that retrieve the doc" in texts


def test_plot__refuses_an_unknown_width_or_track(made_store: irmeta.Store):
    with pytest.raises(irmeta.UsageError, match="width"):
        made_store.plot.rarity("web", width="wide")
    with pytest.raises(irmeta.UsageError, match="track"):
        made_store.plot.compare("AP")


@pytest.mark.exhaustive
def test_save__other_files_are_altairs(made_store: irmeta.Store, tmp_path: Path):
    chart = made_store.plot.rarity("web")
    chart.save(tmp_path / "chart.json")
    assert '"$schema"' in (tmp_path / "chart.json").read_text(encoding="utf-8")
    assert mime_bundle(charts.to_spec(chart))[0]["image/svg+xml"]


def test_offline__a_chart_with_a_height_by_row():
    rows = pl.DataFrame({"x": [1, 2], "y": ["a", "b"]})
    chart = alt.Chart(rows).mark_point().encode(x="x", y="y")
    layers = alt.layer(chart).properties(height=alt.Step(20))
    bundle, _ = offline(layers)._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg ")

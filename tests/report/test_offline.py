"""Charts in a notebook without a network, and their files and widths."""

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
from support.making import Track, down

HOSTILE = "</script><script>alert(1)"


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
    runs = {HOSTILE.replace("/", "|"): {"q": down("d", "n")}}
    store = Track(runs, {"q": {"d": 1, HOSTILE: 1, "n": 0}}).read()
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

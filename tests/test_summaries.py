"""Texts and HTML of results at a prompt and in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import irmeta
from irmeta import stats
from irmeta.measures.curve import curves
from irmeta.phrases import count
from irmeta.summaries import LONGEST, MOST_ITEMS, Summarized, Summary, SummaryList
from support.making import Track, down

HOSTILE = "<script>alert(1)<script>\u202e\x1b[2J|"
SYSTEMS = {name: {"q": down("d1", "d2")} for name in (HOSTILE, "a&b", "x" * 200)}

Make = Callable[[irmeta.Store], object]
RESULTS: dict[str, Make] = {
    "Store": lambda store: store,
    "Scores": lambda store: store.scores("AP", track="t"),
    "Matrix": lambda store: irmeta.matrices(store, "AP")[0],
    "Pairs": lambda store: irmeta.compare(store, "AP")[0].pairs,
    "Comparison": lambda store: irmeta.compare(store, "AP")[0],
    "Power": lambda store: irmeta.power(store, "AP"),
    "Explanation": lambda store: store.explain("AP", system=HOSTILE, query="q"),
    "PairExplanation": lambda store: store.pairs.explain(
        "RPP", system=HOSTILE, baseline="a&b", query="q"
    ),
    "TrackPreferences": lambda store: store.pairs.compare("RPP", track="t")[0],
    "Leaderboard": lambda store: irmeta.prefer(store, resamples=20, rank_resamples=20)[0],
    "UnjudgedDocs": lambda store: store.pools.unjudged()[0],
    "SearchLengths": irmeta.SearchLengths,
    "JudgedRanks": lambda store: next(store.views("t")),
    "Correlations": lambda store: stats.correlate(store.scores("AP,RR", track="t")),
    "Bootstrap": lambda store: stats.bootstrap_correlation(
        *irmeta.matrices(store, "AP,RR"), resamples=10
    ),
    "Stability": lambda store: stats.stability(irmeta.matrices(store, "AP")[0], trials=10),
    "Reordering": lambda store: stats.reordering(*irmeta.matrices(store, "AP,RR")),
    "Agreement": lambda store: stats.agreement(*irmeta.matrices(store, "AP,RR")),
    "Curve": lambda store: curves(store.track("t"), ["AP"], [1, 2], None)[0],
}


@pytest.fixture(scope="module")
def hostile() -> irmeta.Store:
    return Track(SYSTEMS, {"q": {"d1": 1, "n": 0}}).read()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", RESULTS)
def test_summary__short_and_names_stay_text(kind: str, hostile: irmeta.Store):
    result = RESULTS[kind](hostile)
    text, shown = repr(result), result._repr_html_()
    assert text.startswith(f"{kind}(")
    assert len(text) <= LONGEST
    assert len(shown) < 10_000
    for unsafe in ("\u202e", "\x1b"):
        assert unsafe not in text + shown
    assert "<script" not in shown


def test_summary__html_has_the_table(made_store: irmeta.Store):
    (comparison,) = irmeta.compare(made_store, "AP", track="news")
    shown = comparison._repr_html_()
    assert "<td>&quot;doumMan2&quot;</td>" in shown
    assert "... and 10 more rows" in shown  # of 20
    assert shown.startswith(
        "<div><b>Comparison</b> AP on news<br>t, holm: 132 of 190 pairs (69.5%)"
    )
    explained = made_store.explain("AP@5", system="aldBM25", query=901, track="news")
    assert "4 / 53 (relevant docs of the query) = 0.0754717" in explained._repr_html_()
    assert "<th>arithmetic</th>" in explained._repr_html_()


def test_summary__store_counts_systems_and_queries(made_store: irmeta.Store):
    assert repr(made_store).endswith("3 tracks, 41 systems, 60 queries)")
    assert "<td>&quot;passage&quot;</td>" in made_store._repr_html_()


@pytest.mark.exhaustive
def test_summary__results_in_folders(made_store: irmeta.Store, tmp_path: Path, undrawn: None):
    done = irmeta.reanalyze(made_store.path, tmp_path / "out", track="web", measures="AP")
    assert repr(done) == f"Reanalysis({str(tmp_path / 'out')!r}: tracks: 1 analysed)"
    assert "study" in repr(done.results)
    assert "<td>&quot;means&quot;</td>" in done.results._repr_html_()
    made_store.means("AP").write_csv(tmp_path / "a.csv")
    same = irmeta.diff(tmp_path / "a.csv", tmp_path / "a.csv")
    assert repr(same).startswith("Difference(0 of 41 values by more than 1e-09")


def test_power__named_tuple_of_frames(made_store: irmeta.Store):
    power = irmeta.power(made_store, "AP", track="web")
    counts, found = power
    assert counts is power.counts
    assert found is power.curves
    assert list(power.show()) == ["web"]


class One(Summarized):
    def _summary(self) -> Summary:
        return Summary("<one>", ["a fact"], lambda: pl.DataFrame({"<n>": range(1000)}))


def test_list__shows_its_first_items():
    items = SummaryList([One()] * 7)
    assert repr(items) == f"[{'One(<one>: a fact), ' * MOST_ITEMS}... and 2 more]"
    assert items._repr_html_().count("<b>One</b> &lt;one&gt;<br>a fact") == MOST_ITEMS
    assert items._repr_html_().endswith("<div>... and 2 more</div>")
    assert "&lt;n&gt;" in items._repr_html_()
    assert items == [items[0]] * 7


def test_counted__singular_and_plural():
    assert [count(n, "query") for n in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]
    assert count(1200, "system") == "1,200 systems"

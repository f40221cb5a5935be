"""Texts and HTML of results at a prompt and in a notebook."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import irmeta
from irmeta import stats
from irmeta.measures.curve import curves
from irmeta.phrases import count
from irmeta.summaries import LONGEST, MOST_ITEMS, MOST_ROWS, Result, Summary, SummaryList
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
    assert len(text.partition("\n")[0]) <= LONGEST
    assert len(shown) < 10_000
    for unsafe in ("\u202e", "\x1b"):
        assert unsafe not in text + shown
    assert "<script" not in shown


def cells_of(shown: str) -> list[list[str]]:
    """Return the texts of the rows of tables in HTML."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", shown)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


def test_summary__text_and_html_have_the_table_of_the_terminal(
    made_store: irmeta.Store, run: Callable[..., Any]
):
    line = f"compare {made_store.path} -m AP --track news --format table --baseline aldBM25"
    printed = run(*line.split())
    (comparison,) = irmeta.compare(made_store, "AP", track="news", baseline="aldBM25")
    title, *lines = repr(comparison).split("\n")
    assert title == "Comparison(AP on news)"
    assert lines == [line.rstrip() for line in printed.out.rstrip("\n").split("\n")]
    head, *rows = cells_of(comparison._repr_html_())
    assert head[:3] == ["rank", "system", "mean"]
    assert [row[1] for row in rows] == comparison.systems["system"].to_list()
    (baseline,) = (row for row in rows if row[1] == "aldBM25")
    assert baseline[5:] == [*["-"] * 7, "baseline"]


def test_summary__rows_of_long_tables_are_counted(made_store: irmeta.Store):
    scores = made_store.scores("AP,RR", track="news")
    assert repr(scores).endswith("\n... and 10 more rows; the frame has all")
    assert len(str(scores).split("\n")) == 2 + 40
    assert len(cells_of(scores._repr_html_())) == 1 + MOST_ROWS
    explained = made_store.explain("AP@5", system="aldBM25", query=901, track="news")
    assert "4 / 53 (relevant docs of the query) = 0.0754717" in explained._repr_html_()
    assert "arithmetic" in cells_of(explained._repr_html_())[0]


@pytest.mark.parametrize("kind", ["Scores", "Matrix", "Pairs", "Comparison", "Power", "Stability"])
def test_result__is_a_frame_of_polars_and_of_pandas(kind: str, hostile: irmeta.Store):
    result = RESULTS[kind](hostile)
    assert isinstance(result, Result)
    frame, other = result.frame(), result.to_pandas()
    assert frame.height == len(other) > 0
    assert frame.columns == [*other.columns]


def test_frame__of_lists_and_of_values(made_store: irmeta.Store):
    compared = irmeta.compare(made_store, "AP,RR", track="news")
    assert compared.frame().select("measure").unique(maintain_order=True)["measure"].to_list() == [
        "AP",
        "RR",
    ]
    assert len(compared.to_pandas()) == compared.frame().height == 40
    assert SummaryList[Any]().frame().is_empty()
    matrix, _ = irmeta.matrices(made_store, "AP,RR", track="news")
    rows = made_store.evaluate("AP", track="news", per_query=True)
    assert matrix.frame().equals(rows)


def test_summary__store_counts_systems_and_queries(made_store: irmeta.Store):
    title, _, *rows = repr(made_store).split("\n")
    assert title.endswith("3 tracks, 41 systems, 60 queries)")
    assert [row.split()[0] for row in rows] == ["news", "passage", "web"]
    assert [row[0] for row in cells_of(made_store._repr_html_())[1:]] == ["news", "passage", "web"]


@pytest.mark.exhaustive
def test_summary__results_in_folders(made_store: irmeta.Store, tmp_path: Path, undrawn: None):
    done = irmeta.reanalyze(made_store.path, tmp_path / "out", track="web", measures="AP")
    title, counts, *_ = repr(done).split("\n")
    assert title == f"Reanalysis({str(tmp_path / 'out')!r}: tracks: 1 analysed)"
    assert counts == "tracks 1, systems 12, queries 20; tracks left out: 0"
    assert "study" in repr(done.results)
    assert "means" in [row[0] for row in cells_of(done.results._repr_html_())]
    made_store.means("AP").write_csv(tmp_path / "a.csv")
    same = irmeta.diff(tmp_path / "a.csv", tmp_path / "a.csv")
    assert repr(same).startswith("Difference(0 of 41 values by more than 1e-09")


def test_power__named_tuple_of_frames(made_store: irmeta.Store):
    power = irmeta.power(made_store, "AP", track="web")
    counts, found = power
    assert counts is power.counts
    assert found is power.curves
    assert list(power.show()) == ["web"]


class One(Result):
    def _summary(self) -> Summary:
        return Summary("<one>", ["a fact"])

    def frame(self) -> pl.DataFrame:
        return pl.DataFrame({"<n>": range(1000)})


def test_list__shows_its_first_items():
    items = SummaryList([One()] * 7)
    assert repr(items).count("One(<one>: a fact)\n") == MOST_ITEMS
    assert repr(items).endswith("\n\n... and 2 more")
    assert str(items).count("One(<one>: a fact)\n") == 7
    assert items._repr_html_().count("<b>One</b> &lt;one&gt;<br>a fact") == MOST_ITEMS
    assert items._repr_html_().endswith("<div>... and 2 more</div>")
    assert "&lt;n&gt;" in items._repr_html_()
    assert items == [items[0]] * 7


def test_counted__singular_and_plural():
    assert [count(n, "query") for n in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]
    assert count(1200, "system") == "1,200 systems"

"""ISL, TSL and AvgSL as paper 4 words them."""

from __future__ import annotations

import math

import pytest

import irmeta
from support.making import Track, down


@pytest.fixture
def figure(tmp_path) -> irmeta.Store:
    """Relevant docs: a, b, c at ranks 2, 3, 7 of X; e retrieved by Y only; d by no system."""
    runs = {
        "X": {"q": down("u", "a", "b", "v", "w", "x", "c"), "empty": down("a")},
        "Y": {"q": down("e", "y", "a")},
    }
    return Track(runs, {"q": dict.fromkeys("abcde", 1), "empty": {"a": 0}}).ingest(tmp_path)


def test_cooper_measures__unretrieved_docs_rank_last_in_corpus(figure):
    """The corpus has 10 docs: u, v, w, x, y, a, b, c, e are retrieved and d is relevant."""
    means = figure.means("ISL,TSL,AvgSL,ISL(count=nonrelevant),TSL(count=nonrelevant)")
    found = {(s, m): v for _, s, m, v, *_ in means.iter_rows()}
    assert found["X", "ISL"] == 2
    assert found["X", "TSL"] == 10
    assert found["X", "AvgSL"] == (2 + 3 + 7 + 9 + 10) / 5
    assert found["X", "ISL(count=nonrelevant)"] == 1
    assert found["X", "TSL(count=nonrelevant)"] == 5
    assert found["Y", "AvgSL"] == (1 + 3 + 8 + 9 + 10) / 5


@pytest.mark.exhaustive
def test_cooper_measures__missing_list_equals_worst_list(tmp_path):
    """No other system answers the query, so the corpus is the judged docs."""
    qrels = {"1": {"a": 1, "b": 1, "x": 0, "y": 0}, "2": {"a": 1, "x": 0}}
    other = {"2": down("a", "x")}
    late = {"1": down("x", "y", "a", "b"), **other}
    values = {}
    for name, runs in (("none", other), ("late", late)):
        store = Track({"s": runs}, qrels).ingest(tmp_path / name)
        values[name] = (
            store.evaluate("ISL,TSL,AvgSL", per_query=True).filter(query="1")["value"].to_list()
        )
    assert values["none"] == values["late"] == [3, 4, 3.5]


def test_cooper_measures__mean_excludes_queries_without_relevant_docs(figure):
    values = figure.evaluate("ISL,TSL,AvgSL", per_query=True).filter(query="empty")["value"]
    assert all(math.isnan(value) for value in values)
    assert figure.means("ISL")["queries"].to_list() == [1, 1]


def test_avg_sl__condensed_list_shrinks_corpus(figure):
    """The corpus is the retrieved docs a, b, c and e, followed by d."""
    means = figure.means("AvgSL(unjudged=condensed)")
    assert means["value"].to_list() == [(1 + 2 + 3 + 4 + 5) / 5] * 2


def test_avg_sl__corpus_smaller_than_a_list_is_refused(figure):
    assert figure.means("AvgSL(corpus=9)", system="X")["value"].to_list() == [
        (2 + 3 + 7 + 8 + 9) / 5
    ]
    with pytest.raises(
        irmeta.MeasureError, match=r"corpus=8 .* the list of X for query q .* 9 docs"
    ):
        figure.means("AvgSL(corpus=8)")

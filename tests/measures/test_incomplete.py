"""infAP, and how much of a list is judged: against ir_measures and worked by hand."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given, settings

from support.cells import close
from support.examples import scaled
from support.making import Track, down, tracks


@pytest.mark.exhaustive
@settings(max_examples=scaled(20))
@given(tracks())
def test_judged__equals_ir_measures(track: Track):
    """ir_measures counts a doc with a negative grade as judged."""
    measures = {f"Judged@{k}": ir_measures.Judged @ k for k in (1, 3, 10)}
    store = track.read()
    frame = store.evaluate(list(measures), negative="nonrelevant", per_query=True)
    found = {row[1:4]: row[4] for row in frame.iter_rows()}
    for system, lists in track.runs.items():
        run = {
            query: {doc: -place for place, doc in enumerate(track.ranking(system, query))}
            for query in lists
            if query in track.qrels
        }
        for metric in ir_measures.iter_calc(list(measures.values()), track.qrels, run):
            assert close(found[system, metric.query_id, str(metric.measure)], metric.value)


def test_infap__sampled_pool_by_hand(tmp_path):
    """Doc u is in the pool but not sampled; doc x is not in the pool."""
    track = Track(
        {"s": {"q": down("u", "x", "n", "a", "b")}}, {"q": {"u": -1, "n": 0, "a": 1, "b": 1}}
    )
    e = 0.00001
    first = 1 / 4 + 3 / 4 * 2 / 3 * (0 + e) / (1 + 2 * e)
    second = 1 / 5 + 4 / 5 * 3 / 4 * (1 + e) / (2 + 2 * e)
    store = track.ingest(tmp_path)
    assert close(store.means("infAP")["value"][0], (first + second) / 2)
    first = 1 / 4 + 3 / 4 * 2 / 3 * (0 + e) / (2 + 2 * e)
    second = 1 / 5 + 4 / 5 * 3 / 4 * (1 + e) / (3 + 2 * e)
    nonrelevant = store.means("infAP", negative="nonrelevant")["value"][0]
    assert close(nonrelevant, (first + second) / 2)


def test_first_unjudged__fully_judged_list_gives_next_rank(tmp_path):
    track = Track({"s": {"q": down("a", "b")}, "t": {"q": down("a", "x")}}, {"q": {"a": 1, "b": 0}})
    frame = track.ingest(tmp_path).means("FirstUnjudged,Judged,Unjudged@4")
    found = {(s, m): v for _, s, m, v, *_ in frame.iter_rows()}
    assert found == {
        ("s", "FirstUnjudged"): 3.0,
        ("s", "Judged"): 1.0,
        ("s", "Unjudged@4"): 0.0,
        ("t", "FirstUnjudged"): 2.0,
        ("t", "Judged"): 0.5,
        ("t", "Unjudged@4"): 0.25,
    }

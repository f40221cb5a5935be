"""Unjudged docs: shares, residuals, undecided pairs, and condensed or filled lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.pools import (
    UnjudgedDocs,
    undecided_pairs,
    unjudged_docs,
    unjudged_measures,
)
from support.cells import close
from support.examples import scaled
from support.making import Track, down, tracks
from twins import unjudged as naive


def of_store(
    store: irmeta.Store,
    k: int = 20,
    track: str = "t",
    systems: list[str] | None = None,
    **choices: Any,
) -> UnjudgedDocs:
    scores = store.scores(unjudged_measures(k), track=track, **choices)
    scores = scores if systems is None else scores.only(systems)
    return unjudged_docs(scores, store.track(track).facts, k)


@settings(max_examples=scaled(25))
@given(tracks(), st.sampled_from([1, 3, 10]), st.sampled_from(["unjudged", "nonrelevant"]))
def test_unjudged_docs__equals_twin(track: Track, k: int, negative: str):
    made = of_store(track.read(), k, negative=negative)
    rows = {
        system: naive.row(
            {q: track.ranking(system, q) for q in track.qrels}, track.qrels, k, negative
        )
        for system in track.runs
    }
    assert {row[1]: list(row[3:]) for row in made.unjudged.iter_rows()} == {
        system: pytest.approx(row, abs=1e-12) for system, row in rows.items()
    }
    assert {row[1:3]: row[3:] for row in made.undecided.iter_rows()} == {
        pair: pytest.approx(values, abs=1e-12) for pair, values in naive.undecided(rows).items()
    }
    assert made.pairs == len(rows) * (len(rows) - 1) // 2


JUDGED = {"1": {"a": 1, "b": 1, "n": 0}}


@pytest.mark.exhaustive
def test_unjudged_docs__judged_lists_decide_and_an_unjudged_doc_does_not(tmp_path: Path):
    """RBP(0.8) is .36, .2, .16 and 0; the residuals are .512, .512, .84 and 1."""
    runs = {
        "best": {"1": down("a", "b", "n")},
        "next": {"1": down("a", "n", "n2")},
        "third": {"1": down("u", "b")},
        "last": {"1": down("u", "v", "w")},
    }
    qrels = {"1": JUDGED["1"] | {"n2": 0}}
    made = of_store(Track(runs, qrels).ingest(tmp_path), 1)
    rows = {row[1]: row[2:] for row in made.unjudged.iter_rows()}
    assert rows["best"] == (None, 1.0, 1.0, 4.0, pytest.approx(0.36), pytest.approx(0.512))
    assert rows["third"] == (None, 0.5, 0.0, 1.0, pytest.approx(0.16), pytest.approx(0.84))
    assert rows["last"][-1] == pytest.approx(1.0)
    assert made.undecided.height == made.pairs == 6
    long = {"1": JUDGED["1"] | {f"n{i}": 0 for i in range(30)}}
    tail = [f"n{i}" for i in range(30)]
    runs = {"best": {"1": down("a", "b", *tail)}, "next": {"1": down("a", *tail)}}
    made = of_store(Track(runs, long).ingest(tmp_path / "long"))
    assert made.undecided.height == 0


def test_unjudged_docs__missing_list_counts_as_unjudged():
    runs = {"a": {"1": down("a"), "2": down("b")}, "b": {"1": down("a")}}
    store = Track(runs, {"1": {"a": 1}, "2": {"b": 1}}).read()
    assert of_store(store).unjudged.row(1)[3:] == pytest.approx((0.5, 0.5, 1.5, 0.1, 0.9))
    retrieved = of_store(store, queries="retrieved").unjudged
    assert retrieved.row(1)[3:] == pytest.approx((1.0, 1.0, 2.0, 0.2, 0.8))


def test_unjudged_docs__some_systems_keep_their_rows(made_store: irmeta.Store):
    whole = of_store(made_store, track="web")
    some = ["grebeQL", "finchDiv", "heronCat"]
    made = of_store(made_store, track="web", systems=some)
    assert made.unjudged["system"].to_list() == some
    rows = whole.unjudged.iter_rows()
    expected = {row[1]: row for row in rows if row[1] in some}
    assert [*made.unjudged.iter_rows()] == [expected[name] for name in some]
    assert dict(whole.unjudged.select("system", "pooled").iter_rows())["grebeQL"] is False
    assert {frozenset(pair) for pair in made.undecided.select("system_a", "system_b").rows()} == {
        frozenset(pair)
        for pair in whole.undecided.select("system_a", "system_b").rows()
        if set(pair) <= set(some)
    }


def test_unjudged_docs__rejects_missing_measures_and_cutoffs(made_store: irmeta.Store):
    scores = made_store.scores("Judged@10", track="web")
    facts = made_store.track("web").facts
    with pytest.raises(UsageError, match="no measure 'Judged@20' among these scores"):
        unjudged_docs(scores, facts)
    with pytest.raises(UsageError, match="k = 0 is not a whole number"):
        unjudged_measures(0)


def test_evaluate__upper_bounds_at_several_cutoffs_equal_each_alone():
    docs = {f"d{i}": 10.0 - i for i in range(6)}
    store = irmeta.from_data({"q": {"d0": 0, "d4": 1}}, {"s": {"q": docs}})
    (view,) = store.views(store.tracks[0])
    names = ["P(unjudged=upper)@1", "RBP(unjudged=upper)@5", "RBP(unjudged=upper)@3"]
    alone = [irmeta.scores_of(view, name).values[0, 0, 0] for name in names]
    assert irmeta.scores_of(view, names).values[:, 0, 0].tolist() == alone
    assert alone == sorted({*alone}, key=alone.index)  # each value once


def test_undecided_pairs__only_the_residual_of_the_worse_can_turn_the_order():
    means = np.array([0.5, 0.4, 0.5, 0.3])
    # the second could rise by .05 to .45; the fourth, by .2 (in floats 0.2 > 0.5 - 0.3), ties
    residuals = np.array([0.4, 0.05, 0.0, 0.2])
    # pairs 01, 02 (equal means, one may rise), 03, 12, 13, 23
    assert undecided_pairs(means, residuals).tolist() == [False, True, False, False, True, False]


def test_unjudged_docs__count_by_the_relevant_grade_of_the_set():
    store = irmeta.from_data({"1": {"a": 1, "b": 2}}, {"s": {"1": {"a": 2, "b": 1}}}, rel=2)
    (found,) = store.pools.unjudged()
    assert "1 system, 0 of 0 pairs undecided" in repr(found)
    assert found.unjudged["rbp"].item() == pytest.approx(0.2 * 0.8)


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

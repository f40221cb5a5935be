"""P, R, Success, RelP, RR and AP in all their forms, against the slow twins."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from irmeta.errors import MeasureError
from irmeta.measures.names import parse_measure
from support.cells import OTHER_ORDERS, Twins, assert_explained, assert_twins
from support.making import Track, down, tracks
from twins import gain as naive_gain
from twins import incomplete
from twins import measures as naive
from twins import sets as naive_sets


def _twins() -> Twins:
    twins: Twins = {
        "AP(unjudged=condensed)": lambda x: naive.average_precision(x.condensed, x.qrels),
        "AP(rel=2,unjudged=condensed)@3": lambda x: naive.average_precision(
            x.condensed, x.qrels, 3, 2
        ),
        "AP(rel=2,norm=min)@3": lambda x: incomplete.ap_min(x.ranking, x.qrels, 3, 2),
        "AP(rel=2,norm=pool)@3": lambda x: incomplete.ap_pool(x.ranking, x.qrels, x.depths, 3, 2),
        "RR(unjudged=condensed)": lambda x: naive.reciprocal_rank(x.condensed, x.qrels),
        "RR(unjudged=upper)": lambda x: incomplete.reciprocal_rank_of(x.upper()),
        "P(rel=3,unjudged=upper-gmax)@3": lambda x: incomplete.precision_of(
            x.upper("upper-gmax", rel=3), 3
        ),
        "P(rel=9,unjudged=upper-gmax)@3": lambda x: 0.0,
        "P(rel=9,unjudged=upper)@3": lambda x: incomplete.precision_of(x.upper(rel=9), 3),
        "P(ties=share,unjudged=condensed)@3": lambda x: naive_gain.precision_tied(
            x.condensed_blocks, x.qrels, 3
        ),
        "Success(rel=2)@2": lambda x: naive_sets.success(x.ranking, x.qrels, 2, 2),
        "RelP(rel=2)@2": lambda x: naive_sets.relative_precision(x.ranking, x.qrels, 2, 2),
    }
    for k in (1, 2, 4, 1000):
        twins |= {
            f"AP(norm=min)@{k}": lambda x, k=k: incomplete.ap_min(x.ranking, x.qrels, k),
            f"AP(norm=pool)@{k}": lambda x, k=k: incomplete.ap_pool(
                x.ranking, x.qrels, x.depths, k
            ),
            f"P(ties=share)@{k}": lambda x, k=k: naive_gain.precision_tied(x.blocks, x.qrels, k),
            f"R(ties=share)@{k}": lambda x, k=k: naive_gain.recall_tied(x.blocks, x.qrels, k),
            f"P(unjudged=upper)@{k}": lambda x, k=k: incomplete.precision_of(x.upper(), k),
            f"Success(unjudged=upper)@{k}": lambda x, k=k: incomplete.success_of(x.upper(), k),
            f"RR(unjudged=upper)@{k}": lambda x, k=k: incomplete.reciprocal_rank_of(x.upper(), k),
            f"Success@{k}": lambda x, k=k: naive_sets.success(x.ranking, x.qrels, k),
            f"RelP@{k}": lambda x, k=k: naive_sets.relative_precision(x.ranking, x.qrels, k),
        }
    return twins


TWINS = _twins()


def test_the_twins_stand_under_canonical_names():
    assert [parse_measure(name).name for name in TWINS] == list(TWINS)


@settings(max_examples=40)
@given(tracks())
def test_values_equal_the_twins(track: Track):
    assert_twins(track.read(), track, TWINS)


@pytest.mark.parametrize("order", OTHER_ORDERS)
@settings(max_examples=10)
@given(track=tracks(systems=3, queries=2))
def test_values_equal_the_twins_in_another_tie_order(order: str, track: Track):
    assert_twins(track.read(), track, TWINS, order)


def test_the_arithmetic_gives_the_twins_number():
    assert_explained(TWINS)


def test_a_tie_at_the_cutoff_is_shared(tmp_path):
    """Two of the three tied docs are relevant, one of their ranks is within 2: 1 + 2/3."""
    lists = {"q": [("a", 9), ("b", 5), ("x", 5), ("c", 5)]}
    store = Track({"s": lists}, {"q": {"a": 1, "b": 1, "c": 1}}).ingest(tmp_path)
    means = dict(store.means("P(ties=share)@2,R(ties=share)@2")["measure", "value"].iter_rows())
    assert means == pytest.approx({"P(ties=share)@2": (5 / 3) / 2, "R(ties=share)@2": (5 / 3) / 3})
    assert store.means("P(ties=share)@2", tie_order="file")["value"].to_list() == [1.0]


def test_without_relevant_docs_in_the_pool_ap_is_undefined(tmp_path):
    """At k = 1 the pool is the first doc, which is not relevant: R_1 = 0."""
    store = Track({"s": {"q": down("x", "a")}}, {"q": {"x": 0, "a": 1}}).ingest(tmp_path)
    means = store.means("AP(norm=pool)@1,AP(norm=pool)@2,AP@1")
    assert means["value"].is_nan().to_list() == [True, False, False]
    assert means["queries"].to_list() == [0, 1, 1]


def test_shared_ties_and_assumed_docs_do_not_go_together():
    with pytest.raises(MeasureError, match=r"ties=share cannot be combined with unjudged=upper"):
        parse_measure("P(ties=share,unjudged=upper)@5")

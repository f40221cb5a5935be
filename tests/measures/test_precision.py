"""P, R and AP with shared ties and pools: worked by hand."""

from __future__ import annotations

import math

import pytest

import irmeta
from irmeta.errors import MeasureError
from irmeta.measures.names import parse_measure
from support.making import Track, down


def test_precision_and_recall__tie_at_cutoff_is_shared(tmp_path):
    """Two of the three tied docs are relevant, and one tied rank is within 2: 1 + 2/3."""
    lists = {"q": [("a", 9), ("b", 5), ("x", 5), ("c", 5)]}
    store = Track({"s": lists}, {"q": {"a": 1, "b": 1, "c": 1}}).ingest(tmp_path)
    means = dict(store.means("P(ties=share)@2,R(ties=share)@2")["measure", "value"].iter_rows())
    assert means == pytest.approx({"P(ties=share)@2": (5 / 3) / 2, "R(ties=share)@2": (5 / 3) / 3})
    assert store.means("P(ties=share)@2", tie_order="file")["value"].to_list() == [1.0]


def test_ap__undefined_without_relevant_docs_in_pool(tmp_path):
    """At k = 1 the pool is the first doc, which is not relevant: R_1 = 0."""
    store = Track({"s": {"q": down("x", "a")}}, {"q": {"x": 0, "a": 1}}).ingest(tmp_path)
    means = store.means("AP(norm=pool)@1,AP(norm=pool)@2,AP@1")
    assert means["value"].is_nan().to_list() == [True, False, False]
    assert means["queries"].to_list() == [0, 1, 1]


def test_parse_measure__shared_ties_with_assumed_relevance_are_refused():
    with pytest.raises(MeasureError, match=r"ties=share cannot be combined with unjudged=upper"):
        parse_measure("P(ties=share,unjudged=upper)@5")


def test_accuracy__pairs_in_order():
    """Of a b x c, with b and c relevant: b is above x, neither b nor c above a, c not above x."""
    found = irmeta.evaluate(
        {"q": {"b": 1, "c": 2}}, {"s": {"q": list("abxc")}}, "Accuracy@3,Accuracy"
    )
    assert found["value"].to_list() == [1 / 2, 1 / 4]


def test_yaap__log_of_smoothed_precisions():
    """Precisions 1/2 and 2/4 of R = 3: log((1 + 1) / (1 + 3 - 1))."""
    judged = {"q": {"b": 1, "c": 1, "d": 1}, "none": {"a": 0}}
    runs = {"s": {"q": list("abxc"), "none": ["a"]}}
    found = irmeta.evaluate(judged, runs, "yaap", per_query=True)
    assert found["value"].to_list() == pytest.approx([0.0, math.log(2 / 3)])

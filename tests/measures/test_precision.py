"""P, R and AP with shared ties and pools: worked by hand."""

from __future__ import annotations

import pytest

from irmeta.errors import MeasureError
from irmeta.measures.names import parse_measure
from support.making import Track, down


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

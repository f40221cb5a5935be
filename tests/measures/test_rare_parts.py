"""RareP and RareAP in linear form, against the measures on fewer systems."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.rareness import rare_parts
from irmeta.rankings.holders import COUNTED, RARITIES
from irmeta.rankings.judged import JudgedRanks
from irmeta.stats.orders import kendall_tau_b, round_means
from support.examples import scaled
from support.making import Track, down, tracks


def grouped(view: JudgedRanks) -> JudgedRanks:
    """Return the view with one group of two systems, and one system that is not in the pool."""
    systems = len(view.systems)
    groups, pooled = (None, "g", "g", None)[:systems], (True, False, True, True)[:systems]
    return replace(view, facts=replace(view.facts, groups=groups, pooled=pooled, pool_known=True))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", RARITIES)
@settings(max_examples=scaled(10))
@given(
    tracks(),
    st.sampled_from(COUNTED),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.integers(1, 6),
    st.sampled_from([None, 1, 3, 8]),
)
def test_means__equal_measures_of_fewer_systems(
    kind, track: Track, counted, alpha: float, k: int, depth: int | None
):
    (view,) = track.read().views("t")
    view = grouped(view)
    systems = len(view.systems)
    members = np.array([[bool(n >> s & 1) for s in range(systems)] for n in range(1, 2**systems)])
    found = rare_parts([view], k, depth=depth).means(members, alpha, kind, counted)
    settings = f"alpha={alpha!r},rarity={kind},counted={counted}"
    settings += "" if depth is None else f",depth={depth}"
    names = [f"Rare{m}({settings})@{k}" for m in ("P", "AP")]
    for draw, of_draw in enumerate(members):
        chosen = [name for name, is_in in zip(view.systems, of_draw, strict=True) if is_in]
        values = irmeta.scores_of(view.only_systems(chosen), names).values
        np.testing.assert_allclose(found[:, draw, of_draw], values.mean(axis=1), rtol=1e-12)
        assert np.isnan(found[:, draw, ~of_draw]).all()


def mean_taus(parts, subsets: list[tuple[int, ...]]) -> np.ndarray:
    """Return the mean tau-b of RareP and RareAP: Algorithm 1 on given subsets."""
    members = np.zeros((len(subsets), len(parts.systems)), bool)
    for draw, subset in enumerate(subsets):
        members[draw, list(subset)] = True
    every = parts.means(np.ones((1, len(parts.systems)), bool))[:, 0]
    means = parts.means(members)
    taus = [
        [
            kendall_tau_b(round_means(every[m, of])[None], round_means(means[m, draw, of])[None])
            for draw, of in enumerate(members)
        ]
        for m in range(2)
    ]
    return np.mean(taus, axis=1).ravel()


@pytest.mark.real
@pytest.mark.exhaustive
@pytest.mark.parametrize("number", [2, 16])
def test_means__algorithm_1_on_all_subsets_equals_reference(real_store, shared, number):
    path = shared / "oracles" / "innovation" / "innovation_robust2003_algorithm1.json"
    reference = json.loads(path.read_text())[str(number)]
    parts = rare_parts(real_store.views("robust-2003"), 100)
    subsets = list(combinations(range(17), number))
    assert len(subsets) == reference["subsets"]
    expected = [reference["mean_tau_b RareP@100"], reference["mean_tau_b RareAP@100"]]
    assert mean_taus(parts, subsets).tolist() == pytest.approx(expected, abs=1e-9)


def test_rare_parts__blocks_of_queries_make_one_mean(made_store):
    (view,) = made_store.views("news")
    halves = view.only_queries(view.queries[:9]), view.only_queries(view.queries[9:])
    every = np.ones((1, 20), bool)
    joined = rare_parts(halves, 10).means(every)
    np.testing.assert_allclose(joined, rare_parts([view], 10).means(every), rtol=1e-12)


def test_rare_parts__rejects_invalid_arguments(made_store):
    (view,) = made_store.views("news")
    with pytest.raises(UsageError, match="k = 0"):
        rare_parts([view], 0)
    with pytest.raises(UsageError, match="at least one view"):
        rare_parts([], 10)
    with pytest.raises(UsageError, match="depth = 0"):
        rare_parts([view], 10, depth=0)
    with pytest.raises(UsageError, match="queries=retrieved"):
        rare_parts([view], 10, queries="retrieved")
    with pytest.raises(UsageError, match="not bool"):
        rare_parts([view], 10).means(np.ones((1, 3), bool))
    with pytest.raises(UsageError, match="float64"):
        rare_parts([view], 10).means(np.ones((1, 20)))


@pytest.mark.parametrize("counted", COUNTED)
def test_with_runs__copies_count_as_systems_that_retrieve_the_same(made_store, counted):
    (view,) = made_store.views("news")
    parts = rare_parts([view], 10)
    twice = parts.with_runs(parts.hits[:, :2], parts.groups[:2])
    copies = np.ones((1, 20), np.int64)
    copies[0, :2] = 2
    np.testing.assert_allclose(
        twice.means(np.ones((1, 22), bool), counted=counted),
        parts.means(copies, counted=counted),
        rtol=1e-12,
    )


def test_rare_parts__queries_without_a_relevant_doc_count_unless_left_out():
    track = Track({"a": {"1": down("x"), "2": down("y")}}, {"1": {"x": 1}, "2": {"y": 0}})
    (view,) = track.read().views("t")
    every = np.ones((1, 1), bool)
    for queries, value in (("judged", 0.5), ("relevant", 1.0)):
        parts = rare_parts([view], 1, queries=queries)
        assert parts.means(every).ravel().tolist() == [value, value]

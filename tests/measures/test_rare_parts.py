"""RareP and RareAP in linear form, against the measures on fewer systems."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.measures.rare_parts import rare_parts
from irmeta.rankings.holders import RARITIES
from irmeta.stats.orders import kendall_tau_b, round_means
from support.making import Track, tracks


@settings(max_examples=30)
@given(tracks(), st.sampled_from(RARITIES), st.sampled_from([0.0, 0.5, 3.0]), st.integers(1, 6))
def test_means__equal_measures_of_fewer_systems(track: Track, kind, alpha: float, k: int):
    (view,) = track.read().views("t")
    systems = len(view.systems)
    members = np.array([[bool(n >> s & 1) for s in range(systems)] for n in range(1, 2**systems)])
    found = rare_parts([view], k).means(members, alpha, kind)
    names = [f"Rare{m}(alpha={alpha!r},rarity={kind})@{k}" for m in ("P", "AP")]
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
    with pytest.raises(UsageError, match="not bool"):
        rare_parts([view], 10).means(np.ones((1, 3), bool))

"""Overlap and greedy cover of the docs of systems."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from irmeta.measures.rareness import rare_parts
from irmeta.stats.contributors import greedy_cover, jaccard

HITS = st.tuples(st.integers(0, 8), st.integers(1, 5)).flatmap(lambda shape: arrays(bool, shape))


@pytest.fixture(scope="module")
def reference(shared) -> dict:
    path = shared / "oracles" / "innovation" / "innovation_robust2003_facts_k100.json"
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def parts(real_store):
    return rare_parts(real_store.views("robust-2003"), 100)


@pytest.mark.real
def test_greedy_cover__robust_2003_equals_reference(parts, reference):
    order, added = greedy_cover(parts.hits)
    found = [[parts.systems[s], int(n)] for s, n in zip(order, added, strict=True)]
    assert found == reference["greedy_union (ties by name)"]


@pytest.mark.real
def test_jaccard__robust_2003_equals_reference(parts, reference):
    found, index = jaccard(parts.hits), {s: i for i, s in enumerate(parts.systems)}
    assert len(reference["jaccard"]) == 17 * 16 / 2
    for pair, value in reference["jaccard"].items():
        a, b = (index[s] for s in pair.split("|"))
        assert found[a, b] == found[b, a] == pytest.approx(value, abs=1e-12)


@given(HITS)
def test_jaccard__equals_sets(hits: np.ndarray):
    found, sets = jaccard(hits), [set(np.flatnonzero(column)) for column in hits.T]
    for a, one in enumerate(sets):
        for b, other in enumerate(sets):
            expected = len(one & other) / len(one | other) if one | other else np.nan
            assert found[a, b] == pytest.approx(expected, nan_ok=True)


@given(HITS)
def test_greedy_cover__each_step_adds_most(hits: np.ndarray):
    order, added = greedy_cover(hits)
    assert sorted(order) == list(range(hits.shape[1]))
    sets, seen = [set(np.flatnonzero(column)) for column in hits.T], set()
    for step, (s, new) in enumerate(zip(order, added, strict=True)):
        gains = {t: len(sets[t] - seen) for t in order[step:]}
        assert new == gains[s] == max(gains.values())
        assert s == min(t for t, gain in gains.items() if gain == new)
        seen |= sets[s]

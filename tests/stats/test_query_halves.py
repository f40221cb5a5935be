"""Orders and conclusions by two disjoint halves of the queries."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import irmeta
from irmeta.stats import half_orders
from irmeta.stats.resampling import draw_query_sets
from support.judged import judged_matrices, numbered_matrix
from twins.judges import means
from twins.orders import kendall_tau_b
from twins.significance import column, paired_t


@given(
    arrays.arrays(
        float,
        st.tuples(st.integers(4, 9), st.integers(2, 4)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    st.sampled_from([0.05, 0.4]),
)
def test_half_orders__equal_twin(values: np.ndarray, alpha: float):
    found = half_orders(numbered_matrix(values), splits=3, alpha=alpha, rng=2)
    halves = draw_query_sets(len(values), len(values) // 2, 2, 3, 2)
    for row, (first, second) in zip(found.iter_rows(named=True), halves, strict=True):
        assert set(first) & set(second) == set()
        one, other = values[first].tolist(), values[second].tolist()
        tau = kendall_tau_b(means(one), means(other))
        assert row["tau"] == pytest.approx(tau, nan_ok=True)
        separated = swapped = 0
        for a, b in combinations(range(values.shape[1]), 2):
            _, p = paired_t(column(one, a), column(one, b))
            if p <= alpha:
                separated += 1
                sides = [means(half)[a] - means(half)[b] for half in (one, other)]
                swapped += sides[0] * sides[1] < 0
        assert (row["separated"], row["swapped"]) == (separated, swapped)


def test_half_orders__identical_systems_and_too_few_queries():
    same = half_orders(numbered_matrix(np.ones((6, 3))), splits=2)
    assert all(math.isnan(tau) for tau in same["tau"])
    assert same["separated"].to_list() == [0, 0]
    assert half_orders(numbered_matrix(np.ones((1, 3)))).height == 0
    with pytest.raises(irmeta.UsageError, match="splits"):
        half_orders(numbered_matrix(np.ones((6, 3))), splits=0)


@pytest.mark.real
def test_half_orders__of_trec_deep_learning(shared: Path):
    """tau-b of two halves of the 53 queries: .807; 1.5 % of conclusions change their sign."""
    found = half_orders(judged_matrices(shared)["reference"], splits=300)
    assert found["tau"].mean() == pytest.approx(0.807, abs=0.006)
    share = int(found["swapped"].sum()) / int(found["separated"].sum())
    assert share == pytest.approx(0.015, abs=0.003)

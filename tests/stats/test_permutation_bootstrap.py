"""Permutation and bootstrap tests: scipy, naive implementation and definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from irmeta.stats import permutation_bootstrap
from irmeta.stats.permutation_bootstrap import bootstrap, permutation_p
from twins import significance as naive


@pytest.mark.parametrize("queries", [2, 5, 9])
def test_permutation_p__exact_equals_scipy(queries):
    values = np.random.default_rng(queries).random((queries, 5))
    p = permutation_p(values)
    for a, b in [(0, 1), (1, 4), (3, 2)]:
        right = stats.permutation_test(
            (values[:, a] - values[:, b],),
            lambda d, axis: d.mean(axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        assert p[a, b] == pytest.approx(right.pvalue, rel=1e-12)


@given(st.data())
def test_permutation_p__exact_equals_naive_implementation(data):
    queries = data.draw(st.integers(1, 7))
    # equal sums of tenths differ in the last bit
    cell = st.one_of(st.integers(0, 10).map(lambda v: v / 10), st.just(np.nan))
    rows = [[data.draw(cell) for _ in range(3)] for _ in range(queries)]
    p = permutation_p(np.array(rows))
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        x, y = naive.column(rows, a), naive.column(rows, b)
        right = naive.sign_flip(x, y) if naive.both(x, y) else np.nan
        assert p[a, b] == p[b, a] or np.isnan(right)
        assert p[a, b] == pytest.approx(right, rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("missing", [False, True])
def test_permutation_p__sampled_is_close_to_exact(missing):
    values = np.random.default_rng(2).random((17, 4)) + np.array([0, 0.1, 0.2, 0.3])
    if missing:
        values[3, 1] = values[5, 2] = np.nan
    every = permutation_p(values, 2**17)
    some = permutation_p(values, 20_000, rng=4)
    assert some == pytest.approx(every, abs=4 * np.sqrt(0.25 / 20_000))
    assert (some != every)[np.triu_indices(4, 1)].any()
    upper = some[np.triu_indices(4, 1)] * 20_001
    assert upper == pytest.approx(np.round(upper), abs=1e-6)


def test_permutation_p_and_bootstrap__sampled_p_is_never_zero():
    values = np.random.default_rng(2).random((40, 2)) * 0.01 + [0, 1]
    assert permutation_p(values, 99)[0, 1] == 1 / 100
    assert bootstrap(values, 99)[0][0, 1] == 1 / 100


def test_permutation_p__missing_query_leaves_other_flips_unchanged():
    values = np.random.default_rng(8).random((30, 3))
    values[4, 0] = np.nan
    zero = values.copy()
    zero[4, :2] = 0.0  # a zero difference has no effect on a sign flip
    assert permutation_p(values, 500)[0, 1] == permutation_p(zero, 500)[0, 1]


@pytest.mark.parametrize("test", [permutation_p, lambda *a: np.array(bootstrap(*a))])
def test_permutation_p_and_bootstrap__depend_on_the_seed_only(test, monkeypatch):
    values = np.random.default_rng(1).random((25, 6))
    values[2, 3] = np.nan
    first = test(values, 300, 7)
    np.testing.assert_array_equal(test(values, 300, np.random.default_rng(7)), first)
    assert (test(values, 300, 8) != first).any()
    fewer = test(values[:, :4], 300, 7)  # other systems do not matter
    np.testing.assert_allclose(fewer, first[..., :4, :4], rtol=1e-12)
    monkeypatch.setattr(permutation_bootstrap, "_CHUNK", 75)  # small chunks of draws and pairs
    np.testing.assert_allclose(test(values, 300, 7), first, rtol=1e-12)


def slow_bootstrap(x, y, draws, confidence):
    """Compute the bootstrap test of one pair from its definition and given draws."""
    d = np.array([u - v for u, v in naive.both(x, y)])
    again = np.array([d[[int(float(u) * len(d)) for u in row[: len(d)]]].mean() for row in draws])
    far = sum(abs(m - d.mean()) >= abs(d.mean()) - 1e-12 for m in again)
    return (
        (1 + far) / (1 + len(draws)),
        *np.quantile(again, [(1 - confidence) / 2, (1 + confidence) / 2]),
    )


def test_bootstrap__equals_its_definition():
    values = np.random.default_rng(9).random((12, 4)) + np.array([0, 0.02, 0.1, 0.2])
    values[[1, 6], 3] = np.nan
    p, low, high = bootstrap(values, 400, 3, 0.9)
    draws = np.random.default_rng(3).random((400, 12), dtype=np.float32)
    for a, b in [(0, 1), (0, 2), (1, 3), (2, 3)]:
        right = slow_bootstrap(values[:, a].tolist(), values[:, b].tolist(), draws, 0.9)
        assert (p[a, b], low[a, b], high[a, b]) == pytest.approx(right, rel=1e-10)
        assert (p[b, a], low[b, a], high[b, a]) == (p[a, b], -high[a, b], -low[a, b])


def test_bootstrap__interval_close_to_scipy():
    values = np.random.default_rng(4).random((50, 2)) + np.array([0, 0.1])
    p, low, high = bootstrap(values, 10_000)
    right = stats.bootstrap(
        (values[:, 0] - values[:, 1],), np.mean, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert (low[0, 1], high[0, 1]) == pytest.approx((right.low, right.high), abs=0.005)
    assert p[0, 1] == pytest.approx(stats.ttest_rel(*values.T).pvalue, abs=0.03)


def test_permutation_p_and_bootstrap__edge_cases():
    same = np.full((20, 3), 0.3)
    assert (permutation_p(same, 50) == 1).all()
    assert (bootstrap(same, 50)[0] == 1).all()
    assert permutation_p(np.array([[0.0, 1.0]]))[0, 1] == 1
    assert np.isnan(np.array(bootstrap(np.array([[0.0, 1.0]]), 50))[:, 0, 1]).all()
    for values in (np.ones((0, 2)), np.full((4, 2), np.nan)):
        assert np.isnan(permutation_p(values, 50)[0, 1])
        assert np.isnan(np.array(bootstrap(values, 50))[:, 0, 1]).all()
    assert permutation_p(np.ones((4, 0))).shape == (0, 0)
    assert bootstrap(np.ones((4, 1)), 50)[0].tolist() == [[1.0]]


def test_permutation_p_and_bootstrap__ignore_queries_without_values():
    values = np.random.default_rng(1).random((12, 3))
    more = np.vstack([values, np.full((9, 3), np.nan)])
    np.testing.assert_array_equal(permutation_p(more), permutation_p(values))
    np.testing.assert_array_equal(bootstrap(more, 99), bootstrap(values, 99))


@pytest.mark.parametrize("test", [permutation_p, lambda v: bootstrap(v, 200)[0]])
def test_permutation_p_and_bootstrap__unused_value_affects_no_rounding(test):
    values = np.random.default_rng(0).random((10, 3))
    values[0] = [1e18, np.nan, 0.5]
    other = values.copy()
    other[0, 0] = 0.5
    assert test(values)[0, 1] == test(other)[0, 1] < 1


def test_is_enumerated__more_queries_than_a_float_has_powers_of_two():
    assert permutation_bootstrap.is_enumerated(17, 1 << 17)
    assert not permutation_bootstrap.is_enumerated(17, (1 << 17) - 1)
    assert not permutation_bootstrap.is_enumerated(200_000, 10_000)

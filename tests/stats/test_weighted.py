"""Tests of weighted means and their tests: twins, equal weights, level under the null."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

import irmeta
from irmeta.results.matrix import Matrix
from irmeta.stats.means import mean_intervals
from irmeta.stats.paired import weighted_moments
from twins.weighted import weighted_sign_flips, weighted_t


def drawn(queries: int, systems: int = 3, gaps: float = 0.0, seed: int = 0) -> Matrix:
    """Return a matrix with weights from .1 to 10."""
    rng = np.random.default_rng(seed)
    values = rng.random((queries, systems)).round(3)
    values[rng.random(values.shape) < gaps] = np.nan
    labels = tuple(f"q{i}" for i in range(queries)), tuple("abcdef"[:systems])
    return Matrix(values, *labels, weights=10 ** rng.uniform(-1, 1, queries))


@given(st.integers(2, 12), st.integers(0, 99), st.sampled_from([0.0, 0.3]))
def test_weighted__tests_are_those_of_the_twins(queries: int, seed: int, gaps: float):
    matrix = drawn(queries, gaps=gaps, seed=seed)
    assert matrix.weights is not None
    by_t = irmeta.stats.pairwise(matrix, "t")
    by_flips = irmeta.stats.pairwise(matrix, "permutation")
    for a, b in ((0, 1), (0, 2), (1, 2)):
        difference = matrix.values[:, a] - matrix.values[:, b]
        known = ~np.isnan(difference)
        pair = difference[known], matrix.weights[known]
        assert by_t.queries[a, b] == known.sum()
        if known.sum() < 2 or np.ptp(pair[0]) < 1e-9:
            continue
        expected = weighted_t(*pair)
        margin = by_t.high[a, b] - by_t.difference[a, b] if by_t.high is not None else 0
        assert by_t.difference[a, b] == pytest.approx(expected["mean"])
        assert by_t.difference[b, a] == -by_t.difference[a, b]
        assert by_t.p_adjusted[a, b] == pytest.approx(expected["p"], rel=1e-6)
        assert margin / expected["error"] == pytest.approx(
            -stdtrit(expected["freedom"], 0.025), rel=1e-6
        )
        assert by_flips.p_adjusted[a, b] == pytest.approx(weighted_sign_flips(*pair))


def test_weighted__equal_weights_are_no_weights():
    weighted = drawn(20, 4, gaps=0.1)
    plain = replace(weighted, weights=None)
    weighted = replace(weighted, weights=np.full(20, 7.0))
    for test in ("t", "permutation"):
        for of_weights, of_none in (
            (irmeta.stats.pairwise(m, test) for m in (weighted, plain)),
            (irmeta.stats.pairwise(m, test, baseline="a") for m in (weighted, plain)),
        ):
            for name in ("difference", "p_adjusted", "queries", "effect"):
                np.testing.assert_allclose(getattr(of_weights, name), getattr(of_none, name))
    moments = weighted_moments(plain.values, np.full(20, 7.0))
    low, _ = mean_intervals(plain.values)
    margin = moments.error * stdtrit(moments.freedom, 0.975)
    np.testing.assert_allclose(moments.mean - margin, low)
    np.testing.assert_allclose(weighted.means, plain.means)
    np.testing.assert_allclose(moments.freedom, moments.queries - 1)


def test_weighted__a_query_of_weight_2_has_the_mean_of_two():
    matrix = Matrix([[0.1, 0.5], [0.7, 0.3]], ("q", "r"), ("a", "b"), weights=np.array([1.0, 2.0]))
    np.testing.assert_allclose(matrix.means, [0.5, 1.1 / 3])
    assert matrix.only_queries(["r"]).means.tolist() == [0.7, 0.3]
    assert irmeta.stats.pairwise(matrix).difference[0, 1] == pytest.approx(0.5 - 1.1 / 3)


def test_weighted__one_sided_tests_and_differences_without_spread():
    matrix = drawn(14)
    two = irmeta.stats.pairwise(matrix, baseline="a").p_adjusted[:, 0]
    for alternative, sign in (("greater", 1), ("less", -1)):
        one = irmeta.stats.pairwise(matrix, baseline="a", alternative=alternative)
        is_side = sign * one.difference[:, 0] > 0
        expected = np.where(is_side, two / 2, 1 - two / 2)
        np.testing.assert_allclose(one.p_adjusted[1:, 0], expected[1:])
    flat = replace(matrix, values=matrix.values[:, [0, 0, 0]] + np.array([0.0, 0.1, 0.0]))
    pairs = irmeta.stats.pairwise(flat)
    assert np.isnan(pairs.p_adjusted[0, 1])
    assert pairs.untested[0, 1] == "no spread"
    assert pairs.p_adjusted[0, 2] == 1.0


@pytest.mark.parametrize(
    ("spread", "low", "high"), [(0.0, 0.04, 0.06), (0.5, 0.035, 0.06), (1.0, 0.0, 0.05)]
)
def test_weighted__keeps_the_level(spread: float, low: float, high: float):
    rng = np.random.default_rng(1)
    weights = np.exp(rng.normal(0, spread, 50))
    moments = weighted_moments(rng.standard_normal((50, 5000)), weights)
    p = 2 * stdtr(moments.freedom, -np.abs(moments.mean) / moments.error)
    assert low < (p <= 0.05).mean() < high


@pytest.mark.parametrize("test", ["wilcoxon", "sign", "bootstrap", "hsd", "max-t", "t-unpaired"])
def test_weighted__other_tests_are_refused(test: str):
    with pytest.raises(irmeta.UsageError, match="has no form for weights of queries: use t or"):
        irmeta.stats.pairwise(drawn(5), test, baseline="a")
    with pytest.raises(irmeta.UsageError, match="no rank sets"):
        irmeta.stats.rank_sets(drawn(5))


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_weighted__matrix_refuses_wrong_weights(weights: list[float]):
    with pytest.raises(irmeta.UsageError, match="weights must be numbers above 0"):
        Matrix([[0.1], [0.2]], ("q", "r"), ("a",), weights=np.array(weights))

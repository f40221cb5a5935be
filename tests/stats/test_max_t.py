"""Tests of systems against a baseline: max-t, and corrections over these pairs."""

from __future__ import annotations

from itertools import product
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats.baselines import max_t_test
from irmeta.stats.pairs import FAMILY_TESTS, PLAIN_TESTS, pairwise
from support.examples import scaled
from support.judged import numbered_matrix
from twins import significance as naive

GRID = st.integers(0, 8).map(lambda n: n / 8)


@pytest.fixture
def some() -> Matrix:
    return numbered_matrix(np.random.default_rng(3).random((20, 5)) + np.linspace(0, 0.6, 5))


def test_max_t__the_baseline_does_not_differ_from_itself(some: Matrix):
    pairs = pairwise(some, "max-t", baseline="s1", resamples=200, rng=1)
    assert (pairs.low[1, 1], pairs.high[1, 1], pairs.p_adjusted[1, 1]) == (0, 0, 1)


@given(arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=GRID))
@settings(max_examples=scaled(40))
def test_max_t_test__equals_twin_over_all_flips(values: np.ndarray):
    p, _ = max_t_test(values, 1)
    np.testing.assert_allclose(p, naive.max_t(values.tolist(), 1), atol=1e-12)


def test_max_t_test__random_flips_approach_all_flips():
    values = np.random.default_rng(5).random((17, 4)) + np.arange(4) / 10
    exact, _ = max_t_test(values, 0, resamples=2**17)
    drawn, _ = max_t_test(values, 0, resamples=20_000)
    np.testing.assert_allclose(drawn, exact, atol=0.01)
    np.testing.assert_array_equal(drawn, max_t_test(values, 0, resamples=20_000)[0])
    assert (drawn * 20_001 % 1).round(6).tolist() == [0, 0, 0, 0]


def test_max_t_test__one_system_is_the_permutation_test():
    values = np.random.default_rng(1).random((10, 2)) + np.array([0, 0.2])
    p = pairwise(numbered_matrix(values), "permutation").p_adjusted[0, 1]
    assert max_t_test(values, 1)[0].tolist() == [p, 1.0]


def test_max_t_test__copies_of_a_system_cost_nothing():
    values = np.random.default_rng(2).random((12, 2)) + np.array([0, 0.25])
    copies = values[:, [0, 0, 0, 0, 1]]
    single, several = max_t_test(values, 1)[0][0], max_t_test(copies, 4)[0]
    assert several.tolist() == [single] * 4 + [1.0]
    holm = pairwise(
        numbered_matrix(copies), "permutation", correction="holm", baseline="s4"
    ).p_adjusted[0, 4]
    assert holm == pytest.approx(4 * single)


@pytest.mark.parametrize("queries", [12, 40])
def test_max_t_test__interval_excludes_0_where_p_is_small(queries: int):
    values = np.random.default_rng(4).random((queries, 12)) + np.linspace(0, 0.5, 12)
    for confidence in (0.5, 0.9, 0.95, 0.99):
        pairs = pairwise(numbered_matrix(values), "max-t", baseline="s5", confidence=confidence)
        assert pairs.low is not None
        assert pairs.high is not None
        outside = (pairs.low[:, 5] > 0) | (pairs.high[:, 5] < 0)
        np.testing.assert_array_equal(outside, pairs.p_adjusted[:, 5] <= 1 - confidence + 1e-12)


def test_max_t_test__margin_is_the_naive_quantile_of_t_in_standard_errors():
    difference = np.random.default_rng(5).normal(0.1, 0.2, 9)
    (_, margin) = max_t_test(np.stack([np.zeros(9), difference], axis=1), 0, confidence=0.9)[1]
    flipped = [difference * signs for signs in product((-1, 1), repeat=9)]
    ts = sorted(abs(mean(d)) / (stdev(d) / 3) for d in flipped)
    assert margin == pytest.approx(ts[-52] * stdev(difference) / 3)  # 51 of 512 may exceed it


def test_max_t_test__edges():
    assert np.isnan(max_t_test(np.empty((0, 2)), 0)[0]).tolist() == [False, True]
    p, margins = max_t_test(np.array([[0.1, 0.9]]), 0)
    assert (p.tolist(), np.isnan(margins).all()) == ([1.0, 1.0], True)
    p, margins = max_t_test(np.array([[0.1, 0.1 + 1e-13], [0.2, 0.2]]), 0)
    assert p.tolist() == [1.0, 1.0], "a rounding error is no difference"
    constant = np.array([[0.0, 0.5]] * 8)
    assert max_t_test(constant, 0)[0].tolist() == [1.0, 2 / 2**8]


@pytest.mark.parametrize("test", PLAIN_TESTS)
def test_pairwise__baseline_has_the_p_of_all_pairs_and_its_own_correction(some: Matrix, test: str):
    every = pairwise(some, test, resamples=99)
    against = pairwise(some, test, resamples=99, baseline="s2")
    np.testing.assert_array_equal(against.p_adjusted[:, 2], every.p_adjusted[:, 2])
    assert np.isnan(against.p_adjusted[0, 1])
    frame = against.frame()
    assert frame["system_a"].to_list() == ["s0", "s1", "s3", "s4"]
    assert frame["system_b"].unique().to_list() == ["s2"]
    np.testing.assert_array_equal(frame["difference"], every.difference[[0, 1, 3, 4], 2])
    least = every.p_adjusted[[0, 1, 3, 4], 2].min()
    holm = pairwise(some, test, correction="holm", resamples=99, baseline="s2")
    assert np.nanmin(holm.p_adjusted[:, 2]) == pytest.approx(min(1, 4 * least))


@pytest.mark.parametrize("test", FAMILY_TESTS)
def test_pairwise__tests_of_all_pairs_keep_their_correction_with_a_baseline(
    some: Matrix, test: str
):
    every = pairwise(some, test, resamples=99)
    against = pairwise(some, test, resamples=99, baseline="s2")
    for name in ("p_adjusted", "low", "high", "difference"):
        column, expected = getattr(against, name)[:, 2], getattr(every, name)[:, 2]
        np.testing.assert_array_equal(column, expected)
    assert against.frame()["system_b"].unique().to_list() == ["s2"]
    assert "corrected for all pairs of systems" in against.family_text
    assert every.family_text == pairwise(some, "max-t", baseline="s2").family_text == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"test": "max-t"}, "name the baseline"),
        ({"test": "max-t", "baseline": "s1", "correction": "holm"}, "already controls"),
        ({"baseline": "s9"}, "track t has no system 's9' as a baseline"),
    ],
)
def test_pairwise__invalid_baseline_is_refused(some: Matrix, arguments: dict, said: str):
    with pytest.raises(UsageError, match=said):
        pairwise(some, **arguments)

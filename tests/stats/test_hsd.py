"""Tukey's and randomised HSD: scipy, statsmodels, enumeration and naive implementations."""

from __future__ import annotations

import json
import warnings
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import chisquare, ttest_rel
from scipy.stats import tukey_hsd as scipy_tukey_hsd

from irmeta.errors import UsageError
from irmeta.kernels.permutation import permuted_ranges
from irmeta.stats import hsd
from irmeta.stats.permutation_bootstrap import critical_value
from support.examples import scaled
from twins import significance as naive

TABLE = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 6), st.integers(2, 5)),
    elements=st.integers(0, 20).map(lambda v: v / 20),
)


def made(queries: int, systems: int, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 0.1, (queries, 1))
    return rng.beta(2, 4, (queries, systems)) + hard + np.linspace(0, 0.2, systems)


def ranges_of(values: np.ndarray, number: int, key: int = 7, start: int = 0) -> np.ndarray:
    out = np.empty(number)
    permuted_ranges(np.ascontiguousarray(values, np.float64), np.uint64(key), start, out)
    return out


def blocked_hsd(values: np.ndarray) -> np.ndarray:
    return hsd.tukey_hsd(values, "blocked")


def randomised_hsd(values: np.ndarray, resamples: int = 100_000, seed: int = 0) -> np.ndarray:
    return hsd.range_p(values, hsd.mean_ranges(values, resamples, seed))


# Tukey's HSD


def test_tukey_hsd__equals_reference_output(shared: Path):
    told = json.loads((shared / "oracles/case3_innov/out.stats_scipy.json").read_text())
    values = np.array(told["per-topic P@10 matrix"]).T
    one_way = told["scipy tukey_hsd (one-way, unblocked) pvalues"]
    blocked = told["two-way (system+topic) Tukey HSD pvalues"]
    np.testing.assert_allclose(hsd.tukey_hsd(values), one_way, rtol=0, atol=1e-12)
    np.testing.assert_allclose(hsd.tukey_hsd(values, "blocked"), blocked, rtol=0, atol=1e-12)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("queries", "systems"), [(2, 2), (8, 6), (50, 9), (3, 12)])
def test_tukey_hsd__equals_scipy(queries: int, systems: int):
    values = made(queries, systems)
    told = scipy_tukey_hsd(*values.T)
    np.testing.assert_allclose(hsd.tukey_hsd(values), told.pvalue, rtol=0, atol=1e-9)
    for confidence in (0.95, 0.99):
        limits = told.confidence_interval(confidence)
        margin = hsd.tukey_margin(values, confidence)
        off = ~np.eye(systems, dtype=bool)
        difference = values.mean(axis=0)[:, None] - values.mean(axis=0)
        np.testing.assert_allclose((difference - margin)[off], limits.low[off], atol=1e-7)
        np.testing.assert_allclose((difference + margin)[off], limits.high[off], atol=1e-7)


@pytest.mark.exhaustive
def test_tukey_hsd__equals_statsmodels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # raised by imports of statsmodels
        from statsmodels.regression.linear_model import OLS
        from statsmodels.stats.multicomp import pairwise_tukeyhsd
    values = made(20, 5)
    queries, systems = (a.ravel() for a in np.indices(values.shape))
    told = pairwise_tukeyhsd(values.ravel(), systems)
    upper = np.triu_indices(5, 1)
    np.testing.assert_allclose(hsd.tukey_hsd(values)[upper], told.pvalues, rtol=0, atol=1e-8)
    marks = np.hstack([np.eye(20)[queries], np.eye(5)[systems][:, 1:]])
    fit = OLS(values.ravel(), marks).fit()
    error, df = hsd.mean_square_error(values, "blocked")
    assert (df, error) == (fit.df_resid, pytest.approx(fit.mse_resid, rel=1e-12))


@given(TABLE)
@settings(max_examples=scaled(15))
def test_tukey_hsd__equals_naive_implementation(values: np.ndarray):
    rows = values.tolist()
    error = max(naive.one_way_error(rows)[0], naive.two_way_error(rows)[0])
    if min(naive.one_way_error(rows)[0], naive.two_way_error(rows)[0]) < 1e-12 < error:
        return  # the naive implementation has no tolerance for rounding errors
    if error < 1e-12:
        return
    np.testing.assert_allclose(hsd.tukey_hsd(values), naive.tukey_hsd(rows), atol=1e-9)
    np.testing.assert_allclose(hsd.tukey_hsd(values, "blocked"), naive.blocked_hsd(rows), atol=1e-9)


def test_blocked_hsd__equals_paired_t_test_for_two_systems():
    values = made(9, 2)
    told = ttest_rel(values[:, 0], values[:, 1])
    assert hsd.tukey_hsd(values, "blocked")[0, 1] == pytest.approx(told.pvalue, rel=1e-11)
    limits = told.confidence_interval(0.9)
    assert 2 * hsd.tukey_margin(values, 0.9, "blocked") == pytest.approx(
        limits.high - limits.low, rel=1e-9
    )


def test_hsd__significant_where_the_interval_excludes_zero():
    values = made(20, 8) + np.linspace(0.0, 0.4, 8)
    distance = np.abs(values.mean(axis=0)[:, None] - values.mean(axis=0))
    for p, margin in (
        (hsd.tukey_hsd(values), hsd.tukey_margin(values)),
        (hsd.tukey_hsd(values, "blocked"), hsd.tukey_margin(values, design="blocked")),
        (randomised_hsd(values, 999), critical_value(hsd.mean_ranges(values, 999, 0), 0.95)),
    ):
        assert 0 < (p <= 0.05).sum() < p.size - 8
        assert ((p <= 0.05) == (distance > margin)).all()


@pytest.mark.parametrize("test", [hsd.tukey_hsd, blocked_hsd, randomised_hsd])
class TestHSDEdgeCases:
    def test_hsd__symmetric_with_a_diagonal_of_one(self, test):
        p = test(made(7, 5))
        assert (p == p.T).all()
        assert (np.diag(p) == 1).all()
        assert ((p > 0) & (p <= 1)).all()

    def test_hsd__independent_of_system_order(self, test):
        values, order = made(7, 5), [3, 0, 4, 1, 2]
        there, here = test(values)[np.ix_(order, order)], test(values[:, order])
        np.testing.assert_allclose(here, there, atol=1e-11 if test != randomised_hsd else 0.01)

    def test_hsd__p_is_one_for_identical_and_constant_systems(self, test):
        values = made(6, 4)
        values[:, 1] = values[:, 0]
        assert test(values)[0, 1] == 1.0
        assert (test(np.full((6, 4), 0.3)) == 1.0).all()

    def test_hsd__single_system_and_no_system(self, test):
        assert test(made(6, 1)).tolist() == [[1.0]]
        assert test(np.zeros((6, 0))).shape == (0, 0)

    def test_hsd__undefined_without_queries(self, test):
        p = test(np.zeros((0, 2)))
        np.testing.assert_array_equal(p, [[1.0, np.nan], [np.nan, 1.0]])

    def test_hsd__rejects_missing_and_infinite_values(self, test):
        for wrong in (np.nan, np.inf):
            values = made(6, 4)
            values[2, 3] = wrong
            with pytest.raises(UsageError, match="complete"):
                test(values)
        with pytest.raises(UsageError, match="query, system"):
            test(np.zeros(4))

    def test_hsd__independent_of_scale(self, test):
        values = made(8, 5)
        np.testing.assert_allclose(test(values * 1e-3), test(values), atol=1e-11)
        np.testing.assert_allclose(test(values * 1e9), test(values), atol=1e-11)


def test_hsd__unequal_means_cannot_be_tested_without_error():
    flat, nan = np.array([[0.1, 0.3, 0.1]] * 4), np.nan
    p = [[1, nan, 1], [nan, 1, nan], [1, nan, 1]]
    np.testing.assert_array_equal(hsd.tukey_hsd(flat), p)
    assert not hsd.is_significant(flat, 0.05, "one-way").any()
    shifted = flat + np.array([[0.0], [0.1], [0.7], [0.3]])
    np.testing.assert_array_equal(hsd.tukey_hsd(shifted, "blocked"), p)
    assert np.isnan(hsd.tukey_margin(flat))


def test_hsd__single_query():
    values = np.array([[0.1, 0.5, 0.3]])
    expected = np.where(np.eye(3), 1.0, np.nan)
    np.testing.assert_array_equal(hsd.tukey_hsd(values), expected)
    np.testing.assert_array_equal(hsd.tukey_hsd(values, "blocked"), expected)
    assert np.isnan(hsd.tukey_margin(values))
    assert np.isnan(hsd.tukey_margin(values, design="blocked"))
    assert (randomised_hsd(values, 100) == 1.0).all()


# Randomised HSD


@pytest.mark.parametrize("seed", range(4))
def test_randomised_hsd__converges_to_exact_enumeration(seed: int):
    """Sums of these values tie often and differ in the last digits."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, (3, 3)) / 10
    values[:, 2] += rng.random() / 3
    exact, number = np.array(naive.randomised_hsd(values.tolist())), 200_000
    found = randomised_hsd(values, number, seed)
    assert (np.abs(found - exact) <= 4.5 * np.sqrt(exact * (1 - exact) / number) + 1e-5).all()


def test_randomised_hsd__equal_ranges_count_despite_rounding():
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 are different floats."""
    values = np.array([[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]])
    exact = naive.randomised_hsd(values.tolist())[0][1]
    assert exact == 2 / 8
    found = randomised_hsd(values, 100_000)[0, 1]
    assert abs(found - exact) < 0.006
    thirds = np.tile([[0.7], [0.1], [0.2]], (3, 3)) / 3 + np.eye(9, 3)
    shuffled = np.tile([[0.2], [0.7], [0.1]], (3, 3)) / 3 + np.eye(9, 3)
    assert (randomised_hsd(thirds, 2000) == randomised_hsd(shuffled, 2000)).all()


def test_range_p__counts_observed_table():
    values = made(12, 4)
    values[:, 3] += 5.0
    assert randomised_hsd(values, 999)[0, 3] == 1 / 1000


def test_mean_ranges__independent_of_batches_and_workers(monkeypatch: pytest.MonkeyPatch):
    values = made(7, 9)
    whole = hsd.mean_ranges(values, 3000, 5, workers=1)
    monkeypatch.setattr(hsd, "_PART", 63 * 17)
    assert (hsd.mean_ranges(values, 3000, 5, workers=1) == whole).all()
    assert (hsd.mean_ranges(values, 3000, 5, workers=4) == whole).all()
    assert (hsd.mean_ranges(values, 3000, np.random.default_rng(5)) == whole).all()
    assert (hsd.mean_ranges(values, 3000, 6) != whole).any()
    first = ranges_of(values, 100)
    assert (ranges_of(values, 60, start=40) == first[40:]).all()


def test_critical_value__infinite_for_too_few_resamples():
    assert critical_value(np.arange(18.0), 0.95) == np.inf
    assert critical_value(np.arange(19.0), 0.95) == 18.0
    assert critical_value(np.arange(9.0), 0.9) == 8.0  # as a float 1 - 0.9 is less than 0.1
    assert critical_value(np.arange(100_000.0), 0.95) == 95_000.0
    for wrong in (0.0, 1.0, 95.0):
        with pytest.raises(UsageError, match="between 0 and 1"):
            critical_value(np.arange(19.0), wrong)
    with pytest.raises(UsageError, match="resamples = 0 is not"):
        randomised_hsd(made(3, 3), 0)


# Permutations


def enumerated(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct ranges over all permutations of all rows and their shares."""
    ranges = [
        np.ptp(np.sum(rows, axis=0)) for rows in product(*(list(permutations(r)) for r in values))
    ]
    found, counts = np.unique(np.round(ranges, 9), return_counts=True)
    return found, counts / counts.sum()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("rows", "columns"), [(2, 4), (3, 3), (5, 3), (6, 2), (2, 5)])
def test_permuted_ranges__every_permutation_equally_likely(rows: int, columns: int):
    """The sums of random values identify the permutation."""
    values = np.random.default_rng(rows).random((rows, columns))
    classes, shares = enumerated(values)
    number = 400_000
    found, counts = np.unique(np.round(ranges_of(values, number), 9), return_counts=True)
    assert (found == classes).all()
    assert chisquare(counts, shares * number).pvalue > 1e-3


@pytest.mark.exhaustive
@pytest.mark.parametrize("columns", [7, 60, 129])
def test_permuted_ranges__every_position_equally_likely(columns: int):
    """Two rows with one nonzero value each: both are in the same column with chance 1 / columns."""
    number = 1_000_000 // columns
    counts = []
    for place in range(columns):
        values = np.zeros((2, columns))
        values[0, place] = values[1, (3 * place) % columns] = 1.0
        counts.append((ranges_of(values, number, key=place) == 2.0).sum())
    met = np.array([sum(counts), columns * number - sum(counts)])
    assert chisquare(met, columns * number * np.array([1 / columns, 1 - 1 / columns])).pvalue > 1e-3
    spread = number / columns * (1 - 1 / columns)
    assert 0.5 < np.var(counts) / spread < 1.8


WEYL, MASK = 0x9E3779B97F4A7C15, 2**64 - 1
MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def drawn(state: int, words: int, columns: int) -> tuple[list[int], bool]:
    """Return one attempt at the draws of four rows and whether it is rejected."""
    halves: tuple[list[int], list[int]] = ([], [])
    for i in range(words):
        word = (state + i * WEYL) & MASK
        word = ((word ^ (word >> 30)) * MIX[0]) & MASK
        word = ((word ^ (word >> 27)) * MIX[1]) & MASK
        word ^= word >> 31
        halves[0].append(word & 0xFFFFFFFF)
        halves[1].append(word >> 32)
    draws = (halves[0] + halves[1])[: 4 * columns]
    bounds = [i % columns + 1 for i in range(4 * columns)]
    pairs = list(zip(draws, bounds, strict=True))
    return [d * n >> 32 for d, n in pairs], any(d * n % 2**32 < 2**32 % n for d, n in pairs)


def slow_range(values: np.ndarray, key: int, b: int) -> tuple[float, int]:
    """Return the range of permutation b and the number of rejected attempts."""
    rows, columns = values.shape
    groups, words = -(-rows // 4), -(-2 * columns // 32) * 32
    sums, rejections = np.zeros(columns), 0
    for group in range(groups):
        state = (key + (b * groups + group) * words * WEYL) & MASK
        index, rejected = drawn(state, words, columns)
        while rejected:
            rejections += 1
            state = ((state ^ MIX[1]) * MIX[0]) & MASK
            index, rejected = drawn(state, words, columns)
        for d in range(min(4, rows - 4 * group)):
            row = values[4 * group + d].tolist()
            for j in range(columns - 1, -1, -1):
                r = index[d * columns + j]
                row[j], row[r] = row[r], row[j]
            sums += row
    return np.ptp(sums), rejections


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 16), (5, 17), (11, 60)])
def test_permuted_ranges__equal_plain_python(rows: int, columns: int):
    values = made(rows, columns)
    slow = [slow_range(values, 2**63 + 11, b)[0] for b in (0, 1, 1000)]
    fast = [ranges_of(values, 1, 2**63 + 11, b)[0] for b in (0, 1, 1000)]
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_permuted_ranges__redraw_biased_draws():
    """About one in a thousand groups of rows of this length has a biased draw."""
    values, rare = made(4, 2000), 24
    slow, rejections = slow_range(values, 7, rare)
    assert rejections == 1
    assert ranges_of(values, 1, 7, rare)[0] == pytest.approx(slow, rel=1e-12)


@pytest.mark.exhaustive
@pytest.mark.parametrize("design", ["one-way", "blocked"])
def test_is_significant__as_p_up_to_the_level(design):
    test = {"one-way": hsd.tukey_hsd, "blocked": blocked_hsd}[design]
    values = np.random.default_rng(5).normal(size=(12, 9)) + np.linspace(0, 2, 9)
    for level in (0.05, 0.01, 0.5):
        expected = test(values) <= level
        assert 0 < expected.sum() < 72
        assert (hsd.is_significant(values, level, design) == expected).all()
    # Without any error, only means that differ do so significantly; without df, none.
    constant = np.array([[1.0, 1.0, 2.0]] * 3)
    assert hsd.is_significant(constant, 0.05, design).tolist() == (test(constant) == 0).tolist()
    assert not hsd.is_significant(values[:1], 0.05, design).any()

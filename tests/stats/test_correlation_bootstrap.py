"""Bootstrap intervals of the correlation of two measures."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats import orders
from irmeta.stats.correlation import Method, bootstrap_correlation, correlate, in_common

NAN = math.nan
METHODS = get_args(Method)


def correlation(x, y, method: Method) -> float:
    return float(correlate(np.array([x, y], float), method).values[0, 1])


def matrix(values, name="A", direction=1) -> Matrix:
    values = np.asarray(values, float)
    queries = tuple(f"q{i}" for i in range(values.shape[0]))
    systems = tuple(f"s{i}" for i in range(values.shape[1]))
    return Matrix(values, queries, systems, name, "t", direction)


def two_measures(queries=12, systems=9, seed=3) -> tuple[Matrix, Matrix]:
    rng = np.random.default_rng(seed)
    good = rng.random(systems)
    a = np.round(good + rng.normal(0, 0.5, (queries, systems)), 1)
    b = np.round(good + rng.normal(0, 0.5, (queries, systems)), 1)
    return matrix(a), matrix(b, "B")


@pytest.mark.exhaustive
@pytest.mark.parametrize("method", METHODS)
def test_bootstrap_correlation__equals_correlation_of_resampled_means(method):
    a, b = two_measures()
    a.values[0, 0] = a.values[3, 4] = NAN
    found = bootstrap_correlation(a, b, method, resamples=50, rng=7)
    b.values[np.isnan(a.values)] = NAN  # both means are over the values that both define
    weights = np.random.default_rng(7).multinomial(12, [1 / 12] * 12, 50)
    for drawn, sample in zip(weights, found.samples, strict=True):
        rows = np.repeat(np.arange(12), drawn)
        means = [np.round(np.nanmean(m.values[rows], axis=0), 10) for m in (a, b)]
        assert sample == pytest.approx(correlation(*means, method), abs=1e-9)
    low, high = np.quantile(found.samples, [0.025, 0.975])
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    whole = correlation(*(orders.round_means(m.means) for m in (a, b)), method)
    assert found.correlation == pytest.approx(whole)
    assert (found.queries, found.systems) == (12, 9)


def test_bootstrap_correlation__reproducible_and_exact_without_variation():
    a, b = two_measures()
    again = [bootstrap_correlation(a, b, resamples=99, rng=r).samples for r in (1, 1, 2)]
    np.testing.assert_array_equal(again[0], again[1])
    assert (again[0] != again[2]).any()
    same = matrix(np.repeat(a.values[:1], 12, axis=0))
    found = bootstrap_correlation(same, same, resamples=20)
    assert (found.correlation, found.low, found.high) == (1, 1, 1)


def test_bootstrap_correlation__uses_directions_and_counts_undefined():
    a = matrix([[1, 2], [1, 1]])
    b = matrix([[5, 4], [5, 5]], "ASL", -1)
    found = bootstrap_correlation(a, b, resamples=200)
    assert found.correlation == 1
    assert set(found.samples[~np.isnan(found.samples)]) == {1.0}
    (row,) = found.frame().to_dicts()
    assert 20 < row["undefined"] < 80  # a quarter draws the second query twice
    assert row["undefined"] == np.isnan(found.samples).sum()
    assert (row["measure_a"], row["measure_b"], row["method"]) == ("A", "ASL", "tau-b")


def test_bootstrap_correlation__rmse_ignores_direction():
    a, b = matrix([[4, 2]], "ASL", -1), matrix([[1, 2]], "AP")
    assert bootstrap_correlation(a, b, "rmse", resamples=3).high == pytest.approx(math.sqrt(4.5))


def test_bootstrap_correlation__ranks_infinite_means():
    a = matrix([[1, math.inf, 3], [9, 0, 3]])
    found = bootstrap_correlation(a, a, "tau-a", resamples=100)
    assert found.correlation == 1
    assert set(found.samples) == {1.0}
    b = matrix([[2, 3, 1]])
    one = a.only_queries(np.array([0]))
    assert bootstrap_correlation(one, b, "tau-a", resamples=1).correlation == pytest.approx(1 / 3)


def test_bootstrap_correlation__equal_means_tie_despite_rounding():
    values = np.array([[0.1, 0.3, 1.0], [0.2, 0.2, 0.0], [0.3, 0.1, 0.0]])
    found = bootstrap_correlation(matrix(values), matrix(values), "tau-a", resamples=1)
    assert found.correlation == pytest.approx(2 / 3)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1)])
def test_bootstrap_correlation__undefined_without_queries_or_pairs(shape):
    found = bootstrap_correlation(matrix(np.zeros(shape)), matrix(np.zeros(shape)), resamples=5)
    assert np.isnan([found.correlation, found.low, found.high]).all()


def test_bootstrap_correlation__matches_queries_and_systems_by_name():
    a, b = two_measures()
    shuffled = b.only_queries(np.arange(11, 1, -1)).only_systems(np.arange(8, -1, -1))
    one, two = in_common(a, shuffled)
    assert one.queries == two.queries == a.queries[2:]
    assert one.systems == two.systems == a.systems
    np.testing.assert_array_equal(two.values, b.values[2:])
    found = bootstrap_correlation(a, shuffled, resamples=10)
    assert found.queries == 10
    means = [orders.round_means(m.values[2:].mean(axis=0)) for m in (a, b)]
    assert found.correlation == correlation(*means, "tau-b")


def test_bootstrap_correlation__rejects_invalid_arguments():
    a, b = two_measures()
    for wrong in ({"confidence": 1.0}, {"resamples": 0}, {"resamples": 9.5}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            bootstrap_correlation(a, b, **wrong)

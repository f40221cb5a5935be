"""Correlations of measures and their bootstrap intervals: scipy and worked examples."""

from __future__ import annotations

import math
import warnings
from itertools import combinations
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import kendalltau

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats import orders
from irmeta.stats.correlation import (
    Method,
    bootstrap_correlation,
    correlate,
    in_common,
    measure_agreement,
)
from support.examples import scaled
from support.judged import numbered_matrix
from twins.orders import kendall_tau_b

NAN = math.nan


def scores(means: np.ndarray, directions: list[int]) -> Scores:
    """Return scores of one query, whose values [measure, system] are the means."""
    names = tuple("ABCDEFGH"[: len(means)])
    systems = tuple(f"s{i}" for i in range(means.shape[1]))
    values = np.asarray(means, float)[:, None, :]
    return Scores(
        track="t",
        measures=names,
        queries=("q",),
        systems=systems,
        values=values,
        included=np.ones(values.shape, bool),
        no_list=np.zeros(values.shape[1:], bool),
        directions=dict(zip(names, directions, strict=True)),
    )


def tau(a: list[float], b: list[float], directions: tuple[int, int] = (1, 1)) -> float:
    return measure_agreement(scores(np.array([a, b]), list(directions)))["tau"][0]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], 1.0),
        ([1, 2, 3], [30, 20, 10], -1.0),
        ([1, 2, 3], [1, 3, 2], 1 / 3),
        ([1, 1, 2], [1, 2, 3], 2 / math.sqrt(2 * 3)),  # one tie: (2 - 0) / sqrt((3 - 1) 3)
        ([1, 2], [2, 1], -1.0),
    ],
)
def test_measure_agreement__worked_examples(a, b, expected):
    assert tau(a, b) == pytest.approx(expected, abs=1e-12)


def test_measure_agreement__accounts_for_directions():
    assert tau([1, 2, 3], [9, 5, 1], (1, -1)) == pytest.approx(1)
    assert tau([3, 2, 1], [9, 5, 1], (-1, -1)) == pytest.approx(1)
    assert tau([1, 2, 3], [1, 5, 9], (1, -1)) == pytest.approx(-1)


def test_measure_agreement__excludes_systems_without_a_mean():
    frame = measure_agreement(
        scores(np.array([[1, 2, 3, NAN], [2, NAN, 1, 5], [1, 2, 3, 4]]), [1] * 3)
    )
    assert frame.columns == ["measure_a", "measure_b", "tau", "systems", "queries"]
    assert frame.rows() == [
        ("A", "B", pytest.approx(-1), 2, 1),
        ("A", "C", pytest.approx(1), 3, 1),
        ("B", "C", pytest.approx(1 / 3), 3, 1),
    ]


@given(arrays.arrays(float, (2, 4, 5), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN])))
@settings(max_examples=scaled(40))
def test_correlate__measures_use_the_queries_where_both_are_defined(values: np.ndarray):
    queries, systems = tuple("pqrs"), tuple("vwxyz")
    everywhere = np.ones(values.shape, bool)
    known = ~np.isnan(values).any(axis=0)
    of = Scores("t", ("A", "B"), queries, systems, values, everywhere, everywhere[0])
    counts = [int(number) for number in known.sum(axis=0) if number]
    kept = [s for s in range(5) if known[:, s].any()]
    means = [[round(float(side[known[:, s], s].mean()), 9) for s in kept] for side in values]
    (row,) = correlate(of, "tau-b").frame().iter_rows(named=True)
    expected = kendall_tau_b(*means) if len(kept) > 1 else NAN
    assert row["correlation"] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert (row["systems"], row["queries"]) == (len(kept), min(counts, default=0))
    both = [Matrix(side, queries, systems, name) for name, side in zip("AB", values, strict=True)]
    found = bootstrap_correlation(*both, resamples=1)
    assert found.correlation == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert found.queries == known.any(axis=1).sum()


@pytest.mark.parametrize(
    ("a", "b", "systems"),
    [
        ([1, 1, 1], [1, 2, 3], 3),
        ([NAN, NAN, 1], [1, 2, 3], 1),
        ([NAN, NAN, NAN], [1, 2, 3], 0),
        ([1, NAN, NAN], [NAN, 1, 2], 0),
        ([5], [5], 1),
    ],
)
def test_measure_agreement__tau_undefined_without_an_order(a, b, systems):
    (row,) = measure_agreement(scores(np.array([a, b]), [1, -1])).rows()
    assert math.isnan(row[2])
    assert row[3] == systems


def test_measure_agreement__empty_for_a_single_measure():
    frame = measure_agreement(scores(np.array([[1, 2, 3]]), [1]))
    assert frame.height == 0
    assert frame.columns == ["measure_a", "measure_b", "tau", "systems", "queries"]


VALUES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, NAN])
SHAPES = st.tuples(st.integers(2, 4), st.integers(2, 12))


@pytest.mark.exhaustive
@settings(max_examples=scaled(100))
@given(
    arrays.arrays(float, SHAPES, elements=VALUES), st.lists(st.sampled_from([1, -1]), min_size=4)
)
def test_measure_agreement__equals_scipy(means, directions):
    directions = directions[: len(means)]
    frame = measure_agreement(scores(means, directions))
    pairs = list(combinations(range(len(means)), 2))
    assert frame.height == len(pairs)
    for (a, b), found in zip(pairs, frame["tau"], strict=True):
        x, y = directions[a] * means[a], directions[b] * means[b]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = kendalltau(x, y, nan_policy="omit").statistic
        if expected is np.ma.masked:
            expected = NAN
        assert found == pytest.approx(float(expected), abs=1e-12, nan_ok=True)


def test_measure_agreement__orders_systems_by_means_over_queries():
    """System b has the better mean, though a is better on two queries of three."""
    values = np.array([[[0.5, 0.4], [0.5, 0.4], [0.0, 1.0]], [[1, 2], [1, 2], [1, 2]]], float)
    one = Scores(
        track="t",
        measures=("A", "B"),
        queries=("1", "2", "3"),
        systems=("a", "b"),
        values=values,
        included=np.ones(values.shape, bool),
        no_list=np.zeros(values.shape[1:], bool),
        directions={"A": 1, "B": 1},
    )
    assert measure_agreement(one)["tau"].to_list() == [pytest.approx(1)]


def test_measure_agreement__measures_correlate_on_generated_track(made_store):
    frame = measure_agreement(made_store.scores("AP,nDCG,ASL(unretrieved=depth)", track="news"))
    assert (frame["tau"] > 0.5).all()
    assert frame["systems"].to_list() == [20, 20, 20]


METHODS = get_args(Method)


def correlation(x, y, method: Method) -> float:
    return float(correlate(np.array([x, y], float), method).values[0, 1])


def two_measures(queries=12, systems=9, seed=3) -> tuple[Matrix, Matrix]:
    rng = np.random.default_rng(seed)
    good = rng.random(systems)
    a = np.round(good + rng.normal(0, 0.5, (queries, systems)), 1)
    b = np.round(good + rng.normal(0, 0.5, (queries, systems)), 1)
    return numbered_matrix(a), numbered_matrix(b, "B")


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
    same = numbered_matrix(np.repeat(a.values[:1], 12, axis=0))
    found = bootstrap_correlation(same, same, resamples=20)
    assert (found.correlation, found.low, found.high) == (1, 1, 1)


def test_bootstrap_correlation__uses_directions_and_counts_undefined():
    a = numbered_matrix([[1, 2], [1, 1]])
    b = numbered_matrix([[5, 4], [5, 5]], "ASL", -1)
    found = bootstrap_correlation(a, b, resamples=200)
    assert found.correlation == 1
    assert set(found.samples[~np.isnan(found.samples)]) == {1.0}
    (row,) = found.frame().to_dicts()
    assert 20 < row["undefined"] < 80  # a quarter draws the second query twice
    assert row["undefined"] == np.isnan(found.samples).sum()
    assert (row["measure_a"], row["measure_b"], row["method"]) == ("A", "ASL", "tau-b")


def test_bootstrap_correlation__rmse_ignores_direction():
    a, b = numbered_matrix([[4, 2]], "ASL", -1), numbered_matrix([[1, 2]], "AP")
    assert bootstrap_correlation(a, b, "rmse", resamples=3).high == pytest.approx(math.sqrt(4.5))


def test_bootstrap_correlation__ranks_infinite_means():
    a = numbered_matrix([[1, math.inf, 3], [9, 0, 3]])
    found = bootstrap_correlation(a, a, "tau-a", resamples=100)
    assert found.correlation == 1
    assert set(found.samples) == {1.0}
    b = numbered_matrix([[2, 3, 1]])
    one = a.only_queries(np.array([0]))
    assert bootstrap_correlation(one, b, "tau-a", resamples=1).correlation == pytest.approx(1 / 3)


def test_bootstrap_correlation__equal_means_tie_despite_rounding():
    values = np.array([[0.1, 0.3, 1.0], [0.2, 0.2, 0.0], [0.3, 0.1, 0.0]])
    found = bootstrap_correlation(
        numbered_matrix(values), numbered_matrix(values), "tau-a", resamples=1
    )
    assert found.correlation == pytest.approx(2 / 3)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1)])
def test_bootstrap_correlation__undefined_without_queries_or_pairs(shape):
    found = bootstrap_correlation(
        numbered_matrix(np.zeros(shape)), numbered_matrix(np.zeros(shape)), resamples=5
    )
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

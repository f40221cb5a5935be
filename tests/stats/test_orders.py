"""Correlations of orderings: naive implementations, scipy, published values and examples."""

from __future__ import annotations

import json
import math
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from irmeta.errors import UsageError
from irmeta.results.scores import Scores
from irmeta.stats import orders
from irmeta.stats.correlation import Method, correlate
from irmeta.stats.orders import rank_rows
from twins import orders as naive

NAN = math.nan
TWINS = {
    "tau-a": naive.kendall_tau_a,
    "tau-b": naive.kendall_tau_b,
    "tau-ap": naive.tau_ap_a,
    "tau-ap-b": naive.tau_ap_b,
    "tau-gap": naive.tau_gap,
    "spearman": naive.spearman,
    "pearson": naive.pearson,
    "rmse": naive.rmse,
}
METHODS = get_args(Method)
VALUES = st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0, 3.0])


def correlation(x, y, method: Method, **options) -> float:
    return float(correlate(np.array([x, y], float), method, **options).values[0, 1])


def expected(method: str, x: list[float], y: list[float]) -> float:
    """Return the naive correlation over shared systems; NaN where all systems tie."""
    both = [(a, b) for a, b in zip(x, y, strict=True) if not math.isnan(a + b)]
    a, b = [v for v, _ in both], [v for _, v in both]
    if method != "rmse" and (len(set(a)) < 2 or len(set(b)) < 2):
        return NAN
    return TWINS[method](a, b)


@pytest.mark.parametrize("method", TWINS)
@given(
    x=arrays.arrays(
        float, st.tuples(st.integers(1, 4), st.integers(0, 6)), elements=VALUES | st.just(NAN)
    )
)
def test_correlate__equals_naive_implementation(method, x):
    found = correlate(x, method)
    for a, first in enumerate(x.tolist()):
        for b, second in enumerate(x.tolist()):
            assert found.values[a, b] == pytest.approx(
                expected(method, first, second), abs=1e-12, nan_ok=True
            )
            both = ~np.isnan(x[a]) & ~np.isnan(x[b])
            assert found.systems[a, b] == both.sum()


@pytest.mark.parametrize("method", TWINS)
@given(
    x=arrays.arrays(
        float, st.tuples(st.just(2), st.integers(1, 3), st.integers(0, 6)), elements=VALUES
    )
)
def test_orders__row_by_row_equals_all_pairs(method, x):
    function = getattr(
        orders,
        {"tau-a": "kendall_tau_a", "tau-b": "kendall_tau_b"}.get(method, method.replace("-", "_")),
    )
    all_with_all = function(x[0], x[1], False)
    np.testing.assert_allclose(function(x[0], x[1], True), np.diag(all_with_all), atol=1e-12)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("method", METHODS)
def test_correlate__independent_of_block_size(method, monkeypatch):
    """Blocks of pairs of systems do not change the result."""
    x = np.random.default_rng(1).integers(0, 9, (5, 40)) / 8
    whole = correlate(x, method).values
    monkeypatch.setattr(orders, "_BLOCK", 64)
    np.testing.assert_allclose(correlate(x, method).values, whole, atol=1e-13)
    for a, b in ((0, 1), (3, 2), (4, 4)):
        alone = correlate(x[[a, b]], method).values[0, 1]
        assert whole[a, b] == pytest.approx(alone, abs=1e-13)


@given(
    x=arrays.arrays(
        float, st.tuples(st.just(2), st.integers(2, 30)), elements=st.integers(0, 9).map(float)
    )
)
def test_correlate__equals_scipy(x):
    a, b = x
    if len(set(a)) < 2 or len(set(b)) < 2:
        return
    for method, found in (
        ("tau-b", stats.kendalltau(a, b).statistic),
        ("spearman", stats.spearmanr(a, b).statistic),
        ("pearson", stats.pearsonr(a, b).statistic),
    ):
        assert correlation(a, b, method) == pytest.approx(found, abs=1e-12)


def test_correlate__equals_reference_output(shared):
    given = json.loads((shared / "oracles/case3_innov/out.stats_scipy.json").read_text())
    x, y = given["x=P@10"], given["y=AP_rareness@10 alpha=1"]
    assert correlation(x, y, "tau-b") == given["scipy kendall tau-b (p)"][0]
    for method in ("pearson", "spearman"):
        assert correlation(x, y, method) == pytest.approx(given[method][0], abs=1e-14)
    for method, name in (
        (correlation(x, y, "tau-ap"), "trectools tau_ap(estimated=y,truth=x)"),
        (correlation(y, x, "tau-ap"), "trectools tau_ap(estimated=x,truth=y)"),
        (correlation(x, y, "rbo", p=0.8), "rbo pkg rbo_ext(p=0.8)"),
        (correlation(x, y, "rbo", p=0.9), "rbo pkg rbo_ext(p=0.9)"),
    ):
        assert method == pytest.approx(given[name], abs=1e-12)


# Published with the R package ircor (https://rdrr.io/cran/ircor), by the authors of tau_AP,a and b.
IRCOR_X = [0.67, 0.45, 0.29, 0.12, 0.57, 0.24, 0.94, 0.75, 0.08, 0.54]
IRCOR_Y = [0.48, 0.68, 0.32, 0.09, 0.06, 0.61, 0.87, 0.22, 0.44, 0.84]
IRCOR_TIED_X = [0.7, 0.4, 0.3, 0.1, 0.6, 0.2, 0.9, 0.8, 0.1, 0.5]
IRCOR_TIED_Y = [0.5, 0.7, 0.3, 0.1, 0.1, 0.6, 0.9, 0.2, 0.4, 0.8]


@pytest.mark.parametrize(
    ("method", "x", "y", "published"),
    [
        ("tau-ap", IRCOR_X, IRCOR_Y, 0.3928571),
        ("tau-ap", IRCOR_X, IRCOR_TIED_Y, 0.39903),
        ("tau-ap-b", IRCOR_X, IRCOR_TIED_Y, 0.3317019),
        ("tau-ap-b", IRCOR_TIED_X, IRCOR_TIED_Y, 0.339418),
        ("tau-a", IRCOR_X, IRCOR_Y, 0.2),
        ("tau-a", IRCOR_X, IRCOR_TIED_Y, 0.2222222),
        ("tau-b", IRCOR_X, IRCOR_TIED_Y, 0.2247333),
        ("tau-b", IRCOR_TIED_X, IRCOR_TIED_Y, 0.25),
    ],
)
def test_correlate__equals_values_published_for_ircor(method, x, y, published):
    assert correlation(x, y, method) == pytest.approx(published, abs=5e-8)


def test_correlate__tau_ap_takes_the_first_ordering_as_reference():
    """Reference a b c, estimate c a b: above a 0 of 1 is correct, above b 1 of 2."""
    reference, estimate = [3, 2, 1], [2, 1, 3]
    found = correlate(np.array([reference, estimate], float), "tau-ap").values
    assert found[0, 1] == pytest.approx(2 / 2 * (0 / 1 + 1 / 2) - 1)
    # Swapped: the reference is c a b; above b 1 of 1 is correct, above c 0 of 2.
    assert found[1, 0] == pytest.approx(2 / 2 * (1 / 1 + 0 / 2) - 1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("values", [[], [0.5], [2, 2, 2], [NAN, NAN, NAN], [NAN, 1, NAN]])
def test_correlate__undefined_without_an_order(method, values):
    found = correlate(np.array([values, values], float), method)
    defined = method == "rmse" or method.startswith("rbo")
    some = any(not math.isnan(v) for v in values)
    assert bool(np.isnan(found.values).all()) is not (defined and some)


def test_correlate__infinite_values_have_ranks_but_no_pearson():
    x, y = [math.inf, 2, 1, -math.inf], [4, 3, 2, 1]
    for method in ("tau-a", "tau-b", "tau-ap", "tau-ap-b", "spearman"):
        assert correlation(x, y, method) == pytest.approx(1)
    assert correlation(x, y, "rbo") == pytest.approx(1)
    assert math.isnan(correlation(x, y, "pearson"))


@pytest.mark.parametrize("relative", [False, True])
def test_rank_rows__infinite_scores_leave_the_tolerance_of_the_others(relative: bool):
    scores = np.array([[math.inf, 1.0, 1.0 + 1e-13, 0.5, -math.inf, math.nan, math.inf]])
    assert rank_rows(scores, relative).tolist() == [[1, 3, 3, 5, 6, 6, 1]]


def test_correlate__pearson_of_tiny_and_huge_values():
    x, y = np.array([1.0, 2, 4, 8]), np.array([1.0, 3, 2, 5])
    expected = correlation(x, y, "pearson")
    for scale in (1e-300, 1e300):
        assert correlation(x * scale, y, "pearson") == pytest.approx(expected, abs=1e-12)


def test_correlate__accepts_arrays_mappings_and_frames():
    """All input types give the same values; mappings and frames keep their names."""
    x = {"AP": [0.1, 0.2, 0.4], "RR": [0.3, 0.2, 0.5], "half": [NAN, 0.5, 0.7]}
    found = correlate(x)
    assert found.orderings == ("AP", "RR", "half")
    frame = pl.DataFrame({"system": ["a", "b", "c"], **x})
    frame = frame.with_columns(half=pl.Series([None, 0.5, 0.7]))
    for other in (np.array(list(x.values())), pl.DataFrame(x), frame):
        np.testing.assert_array_equal(correlate(other).values, found.values)
    assert correlate(frame).orderings == ("AP", "RR", "half")
    assert correlate(np.zeros((0, 4))).values.shape == (0, 0)
    assert correlate({}).frame().height == 0


def scores() -> Scores:
    values = np.array([[[0.5, 0.4, 0.1]], [[2.0, 9.0, 30.0]]])
    return Scores(
        track="t",
        measures=("AP", "ASL"),
        queries=("q",),
        systems=("a", "b", "c"),
        values=values,
        included=np.ones(values.shape, bool),
        no_list=np.zeros((1, 3), bool),
        directions={"AP": 1, "ASL": -1},
    )


def test_correlate__scores_use_the_direction_of_each_measure():
    assert correlate(scores(), "tau-a").values[0, 1] == pytest.approx(1)
    root = math.sqrt((1.5**2 + 8.6**2 + 29.9**2) / 3)
    assert correlate(scores(), "rmse").values[0, 1] == pytest.approx(root)


def test_correlation_frame__pairs_once_but_both_ways_for_tau_ap():
    x = {"A": [3, 2, 1], "B": [1, 3, 2], "C": [1, 2, 3]}
    frame = correlate(x, "tau-a").frame()
    assert frame.columns == ["ordering_a", "ordering_b", "method", "correlation", "systems"]
    assert frame.rows() == [
        ("A", "B", "tau-a", pytest.approx(-1 / 3), 3),
        ("A", "C", "tau-a", pytest.approx(-1), 3),
        ("B", "C", "tau-a", pytest.approx(1 / 3), 3),
    ]
    both_ways = correlate(x, "tau-ap").frame()
    assert both_ways.height == 6
    for a, b, _, value, _ in both_ways.rows():
        assert value == pytest.approx(naive.tau_ap(x[a], x[b]))


def test_correlate__rejects_invalid_arguments():
    with pytest.raises(UsageError, match="Did you mean 'tau-b'"):
        correlate(np.zeros((2, 3)), "tau_b")
    with pytest.raises(UsageError, match="same systems"):
        correlate({"a": [1.0, 2.0], "b": [1.0]})
    with pytest.raises(UsageError, match="array"):
        correlate(np.zeros(3))


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(0, 5))))
def test_round_rows__equals_round_means_of_each_row(means: np.ndarray):
    with np.errstate(over="ignore"):
        expected = [orders.round_means(row) for row in means]
    np.testing.assert_array_equal(orders.round_rows(means), np.reshape(expected, means.shape))


def test_round_means__removes_rounding_errors_only():
    x = np.array([0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1, 0.6000001])
    assert x[0] != x[1]
    assert orders.round_means(x)[0] == orders.round_means(x)[1] < orders.round_means(x)[2]
    np.testing.assert_array_equal(orders.round_means(x * 1e6), np.round(x * 1e6, 5))
    for same in ([0.0, 0.0], [math.inf, 1.0], [NAN], [1e300], []):
        np.testing.assert_array_equal(orders.round_means(np.array(same)), same)


@pytest.mark.parametrize(
    ("reference", "estimate", "expected"),
    [
        ([0.9, 0.5, 0.4], [3, 2, 1], 1.0),
        ([0.9, 0.5, 0.4], [1, 2, 3], -1.0),
        # b below c: (0.4 - 0.1) / (0.4 + 0.1) = 0.6; c below a: 1
        ([0.9, 0.5, 0.4], [3, 1, 2], 0.8),
        # a below b: -1; c below both: 1
        ([0.9, 0.5, 0.4], [2, 3, 1], 0.0),
        # equal systems have no gap, so that their order costs nothing
        ([0.9, 0.5, 0.5], [3, 2, 1], 1.0),
        ([0.9, 0.5, 0.5], [3, 1, 2], 1.0),
        # a and b tie as first, each half: (0 / 2 + 0 / 2 + 1) / (1 / 2 + 1 / 2 + 1)
        ([0.9, 0.5, 0.4], [2, 2, 1], 0.5),
    ],
)
def test_tau_gap__worked_examples(reference, estimate, expected):
    assert correlation(reference, estimate, "tau-gap") == pytest.approx(expected, abs=1e-12)
    assert naive.tau_gap(reference, estimate) == pytest.approx(expected, abs=1e-12)

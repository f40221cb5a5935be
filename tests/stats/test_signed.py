"""Sign test and Wilcoxon signed-rank test: scipy and naive implementations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from irmeta.stats.paired import sign_test, wilcoxon_test
from irmeta.stats.permutation_bootstrap import permutation_p
from twins import significance as naive


def scipy_wilcoxon(x: np.ndarray, y: np.ndarray) -> float:
    if len(x) == 0:
        return np.nan
    return 1.0 if (x == y).all() else stats.wilcoxon(x, y).pvalue


def scipy_sign(x: np.ndarray, y: np.ndarray) -> float:
    if len(x) == 0:
        return np.nan
    wins, differ = int((x > y).sum()), int((x != y).sum())
    return stats.binomtest(wins, differ).pvalue if differ else 1.0


def sign_p(values: np.ndarray) -> np.ndarray:
    return sign_test(values)[0]


def wilcoxon_p(values: np.ndarray) -> np.ndarray:
    return wilcoxon_test(values)[0]


TESTS = pytest.mark.parametrize(
    ("ours", "right"), [(wilcoxon_p, scipy_wilcoxon), (sign_p, scipy_sign)], ids=["ranks", "signs"]
)


def agree(ours, right, values: np.ndarray, scale: float = 1.0) -> None:
    p = ours(values / scale)
    first, second = np.triu_indices(values.shape[1], 1)
    for a, b in zip(first, second, strict=True):
        known = ~np.isnan(values[:, a] + values[:, b])
        expected = right(values[known, a], values[known, b])
        assert p[a, b] == pytest.approx(expected, rel=1e-9, nan_ok=True), (a, b)
    np.testing.assert_array_equal(p, p.T)
    assert (np.diag(p) == 1).all()


@pytest.mark.exhaustive
@TESTS
@pytest.mark.parametrize("kind", ["clean", "tied", "gaps", "tied gaps"])
@pytest.mark.parametrize("queries", [1, 2, 5, 12, 13, 14, 15, 49, 50, 51, 90])
def test_sign_test_and_wilcoxon_test__equal_scipy(ours, right, kind, queries):
    # scipy changes its method at 13 (with ties or zeros) and at 50 queries
    rng = np.random.default_rng(queries)
    values = rng.random((queries, 3))  # scipy takes 0.4 s for a pair with ties and 13 queries
    if "tied" in kind:
        values = np.round(values * 8) / 8
        values[:, 1] = values[:, 0]
    if "gaps" in kind:
        values[rng.random(values.shape) < 0.1] = np.nan
    agree(ours, right, values)


@pytest.mark.one_in(3)
@TESTS
@pytest.mark.parametrize("name", ["adhoc8_ap", "adhoc5_ap", "web2014_p10", "web2013_err20"])
def test_sign_test_and_wilcoxon_test__equal_scipy_on_real_tracks(ours, right, name, shared):
    path = shared / "score-matrices" / f"{name}.csv"
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    # whole numbers, of which equal differences are equal floats
    agree(ours, right, np.rint(values[:, ::3][:, :24] * 1e6), scale=1e6)


@given(st.data())
def test_sign_test_and_wilcoxon_test__equal_naive_implementation(data):
    queries = data.draw(st.integers(1, 16))
    # multiples of 1/8: equal magnitudes are equal to the last bit
    cell = st.one_of(st.integers(0, 40).map(lambda v: v / 8), st.just(np.nan))
    rows = [[data.draw(cell) for _ in range(2)] for _ in range(queries)]
    values = np.array(rows)
    a, b = values[:, 0].tolist(), values[:, 1].tolist()
    if naive.both(a, b):
        assert wilcoxon_p(values)[0, 1] == pytest.approx(naive.wilcoxon(a, b)[1], rel=1e-9)
        assert sign_p(values)[0, 1] == pytest.approx(naive.sign_test(a, b)[1], rel=1e-9)
    else:
        assert np.isnan(wilcoxon_p(values)[0, 1])
        assert np.isnan(sign_p(values)[0, 1])


def test_wilcoxon_test__independent_of_chunk_size(monkeypatch):
    from irmeta.stats import paired

    values = np.random.default_rng(3).random((20, 9))
    whole = wilcoxon_p(values)
    monkeypatch.setattr(paired, "_CHUNK", 100)
    np.testing.assert_array_equal(wilcoxon_p(values), whole)


def test_sign_test__rounding_error_is_a_tie():
    values = np.array([[0.1 + 0.2, 0.3]] * 9 + [[0.0, 1.0]])
    assert sign_p(values)[0, 1] == 1.0  # the systems differ on one query of ten
    assert sign_p(np.array([[1e-11, 0.0]] * 6))[0, 1] == 2 / 2**6


HITS = (  # of 20 docs; each pair of numbers differs by 1
    [[11, 10], [3, 2], [5, 4], [16, 17], [13, 12], [11, 10], [20, 19]],
    [[1, 0], [2, 0], [3, 5], [9, 4], [20, 7], [6, 6], [0, 3], [11, 9]],
)


@pytest.mark.parametrize("hits", HITS)
def test_wilcoxon_test__equal_differences_of_decimals_tie(hits):
    """P@k and the number of relevant docs have one p-value, which exact fractions give."""
    counts = np.array(hits, float)
    for depth in (3, 7, 15, 20, 30):
        pairs = [[Fraction(v, depth) for v in row] for row in hits]
        right = naive.wilcoxon(*zip(*pairs, strict=True))[1]
        assert wilcoxon_p(counts)[0, 1] == pytest.approx(right)
        assert wilcoxon_p(counts / depth)[0, 1] == pytest.approx(right)
        printed, units = np.round(counts / depth, 4), np.array([1e-4, 0.0])
        assert wilcoxon_test(printed, units)[0][0, 1] == pytest.approx(right)
        assert sign_test(printed, units)[0][0, 1] == sign_p(counts)[0, 1]
        permuted = permutation_p(printed, units=units)[0, 1]
        assert permuted == permutation_p(counts)[0, 1]


def test_wilcoxon_test__seven_equal_hits():
    assert wilcoxon_p(np.array(HITS[0]) / 20)[0, 1] == 0.125


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=14))
def test_wilcoxon_test__printed_decimals_equal_exact_fractions(hits):
    counts = np.array(hits, float)
    for depth in (15, 30):
        exact = naive.wilcoxon(*([Fraction(row[i], depth) for row in hits] for i in (0, 1)))[1]
        assert wilcoxon_p(counts / depth)[0, 1] == pytest.approx(exact, rel=1e-9)
        printed = np.array([[float(f"{v / depth:.4f}") for v in row] for row in hits])
        assert wilcoxon_test(printed, 1e-4)[0][0, 1] == pytest.approx(exact, rel=1e-9)


def test_wilcoxon_test__neighbours_that_span_more_than_a_unit_are_not_all_equal():
    """Differences .01, .02, ... of values with two decimals are distinct."""
    steps = np.arange(1, 9)
    values = np.column_stack([50 + steps * np.array([1, 1, -1, 1, 1, -1, 1, 1]), np.full(8, 50)])
    whole = wilcoxon_p(values.astype(float))
    np.testing.assert_array_equal(
        wilcoxon_test(np.round(values[1:] / 100, 2), 0.01)[0][0, 1],
        wilcoxon_p(values[1:].astype(float))[0, 1],
    )
    assert whole[0, 1] == pytest.approx(wilcoxon_p(values / 100)[0, 1])


@pytest.mark.parametrize("ours", [wilcoxon_p, sign_p])
def test_sign_test_and_wilcoxon_test__edge_cases(ours):
    for queries in (1, 13, 14, 60):
        assert (ours(np.ones((queries, 3))) == 1).all()
    assert np.isnan(ours(np.ones((0, 2)))[0, 1])
    assert np.isnan(ours(np.array([[1.0, np.nan], [np.nan, 2.0]]))[0, 1])
    assert ours(np.ones((4, 1))).tolist() == [[1.0]]
    assert ours(np.ones((4, 0))).shape == (0, 0)


def test_sign_test_and_wilcoxon_test__better_system_despite_smaller_mean():
    """The first system wins one query by so much that its mean is greater too."""
    values = np.column_stack([np.array([0.30] * 19 + [0.90]), np.full(20, 0.31)])
    for test in (sign_test, wilcoxon_test):
        assert test(values)[1].tolist() == [[0, -1], [1, 0]]
        assert test(values[:, [0, 0]])[1].tolist() == [[0, 0], [0, 0]]

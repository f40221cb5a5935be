"""t-tests of all pairs: scipy, naive implementation and numerical cancellation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats.paired import PairedT, paired_differences, unpaired_differences
from irmeta.stats.pairs import pairwise
from twins import significance as naive

BOTH = pytest.mark.parametrize(
    ("differences", "test"),
    [(paired_differences, stats.ttest_rel), (unpaired_differences, stats.ttest_ind)],
    ids=["paired", "unpaired"],
)
TWINS = pytest.mark.parametrize(
    ("differences", "twin"),
    [(paired_differences, naive.paired_t), (unpaired_differences, naive.unpaired_t)],
    ids=["paired", "unpaired"],
)


def gaps(values: np.ndarray, share: float, seed: int) -> np.ndarray:
    missing = np.random.default_rng(seed).random(values.shape) < share
    return np.where(missing, np.nan, values)


def both(values: np.ndarray, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    known = ~np.isnan(values[:, a] + values[:, b])
    return values[known, a], values[known, b]


@BOTH
@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize("queries", [3, 7, 50])
def test_t_tests__p_values_and_intervals_equal_scipy(differences, test, share, queries):
    # more systems than one block holds, with very different variances
    drawn = np.random.default_rng(queries).normal(size=(queries, 140)) * np.logspace(-3, 2, 140)
    values = gaps(drawn, share, 1)
    found = differences(values)
    p, (low, high) = found.p(), found.limits(0.9)
    for a, b in [(0, 1), (3, 139), (127, 128), (60, 20), (139, 128), (130, 138), (1, 0)]:
        x, y = both(values, a, b)
        assert found.queries[a, b] == len(x)
        if len(x) < 2:
            assert np.isnan([p[a, b], low[a, b], high[a, b], found.deviation[a, b]]).all()
            continue
        right = test(x, y)
        interval = right.confidence_interval(0.9)
        assert p[a, b] == pytest.approx(right.pvalue, rel=1e-9)
        assert (low[a, b], high[a, b]) == pytest.approx((interval.low, interval.high), rel=1e-9)
        assert found.mean[a, b] == pytest.approx(x.mean() - y.mean(), rel=1e-9)


@BOTH
@pytest.mark.parametrize("name", ["adhoc8_ap", "adhoc5_ap", "web2014_p10"])
def test_t_tests__equal_scipy_on_real_tracks(differences, test, name, shared):
    path = shared / "score-matrices" / f"{name}.csv"
    values = np.loadtxt(path, delimiter=",", skiprows=1)[:, :40]
    first, second = np.triu_indices(values.shape[1], 1)
    p = differences(values).p()
    right = test(values[:, first], values[:, second]).pvalue
    same = (values[:, first] == values[:, second]).all(axis=0)  # scipy: NaN
    right[same] = 1.0
    assert p[first, second] == pytest.approx(right, rel=1e-8)
    assert (p == p.T).all()
    assert (np.diag(p) == 1).all()


@TWINS
@given(st.data())
def test_t_tests__equal_naive_implementation(differences, twin, data):
    queries, systems = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    cell = st.one_of(st.integers(0, 3).map(float), st.just(np.nan), st.floats(0, 1, width=16))
    rows = [[data.draw(cell) for _ in range(systems)] for _ in range(queries)]
    values = np.array(rows)
    found = differences(values)
    p = found.p()
    for a in range(systems):
        for b in range(systems):
            if a == b:
                assert p[a, b] == 1
                continue
            x, y = both(values, a, b)
            right = twin(x.tolist(), y.tolist())[1]
            assert p[a, b] == pytest.approx(right, rel=1e-7, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_paired_differences__precise_where_covariances_cancel(share):
    # deviations of 1e-9 beside values of 1: s_ii + s_jj - 2 s_ij would lose all digits
    rng = np.random.default_rng(5)
    first = rng.random(40)
    second = first + 1e-9 * rng.normal(size=40)
    values = gaps(np.column_stack([first, second, rng.random(40)]), share, 2)
    x, y = both(values, 0, 1)
    found = paired_differences(values)
    assert found.deviation[0, 1] == pytest.approx((x - y).std(ddof=1), rel=1e-12)
    assert found.p()[0, 1] == pytest.approx(stats.ttest_rel(x, y).pvalue, rel=1e-9)


def test_paired_differences__precise_beyond_the_first_block():
    values = np.random.default_rng(8).random((20, 300))
    values[:, 250] = values[:, 200] + 1e-9 * values[:, 0]
    values[:, 299] = values[:, 140]
    p = paired_differences(values).p()
    assert p[200, 250] == pytest.approx(stats.ttest_rel(values[:, 200], values[:, 250]).pvalue)
    assert p[140, 299] == 1


def test_paired_differences__precise_for_large_query_effects():
    # var(d) is 1e-9 of the variances: a difference of covariances would lose 9 digits
    rng = np.random.default_rng(7)
    values = rng.normal(size=(50, 1)) + 3e-5 * rng.normal(size=(50, 6))
    right = stats.ttest_rel(values[:, :5], values[:, 1:]).pvalue
    assert paired_differences(values).p()[range(5), range(1, 6)] == pytest.approx(right, rel=1e-10)


def test_paired_differences__precise_for_values_far_from_zero():
    rng = np.random.default_rng(6)
    values = 1e9 + rng.normal(size=(30, 5))
    found = paired_differences(values)
    right = stats.ttest_rel(values[:, :4], values[:, 1:]).pvalue
    assert found.p()[range(4), range(1, 5)] == pytest.approx(right, rel=1e-6)


@pytest.mark.parametrize("differences", [paired_differences, unpaired_differences])
@pytest.mark.parametrize("lost", [0, 12])
def test_t_tests__constant_differences(differences, lost):
    # 0.1 + 0.2 - 0.3 is a rounding error and counts as zero
    columns = [np.full(40, 0.3), np.full(40, 0.1 + 0.2), np.full(40, 0.7), np.full(40, 0.3)]
    values = np.column_stack(columns)
    values[:lost, 3] = np.nan
    found = differences(values)
    p, (low, high), effect = found.p(), found.limits(0.95), found.effect()
    assert (p[0, 1], p[0, 3]) == (1, 1)
    assert np.isnan([p[0, 2], p[2, 3]]).all()
    assert (low[0, 2], high[0, 2]) == pytest.approx((-0.4, -0.4))
    assert (effect[0, 1], effect[0, 2], effect[2, 0]) == (0, -np.inf, np.inf)


def test_t_tests__p_is_one_for_identical_systems():
    column = np.random.default_rng(0).random(50)
    values = np.column_stack([column, column, np.random.default_rng(1).random(50), column + 0.25])
    found = paired_differences(values)
    assert (found.mean[0, 1], found.deviation[0, 1], found.p()[0, 1]) == (0, 0, 1)
    assert np.isnan(found.p()[0, 3])  # without spread there is no t
    assert unpaired_differences(values).p()[0, 1] == 1


@pytest.mark.parametrize("differences", [paired_differences, unpaired_differences])
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 0), (5, 1), (0, 0)])
def test_t_tests__undefined_for_too_few_queries(differences, shape):
    found = differences(np.ones(shape))
    p = found.p()
    assert p.shape == (shape[1], shape[1])
    assert (np.diag(p) == 1).all()
    off = ~np.eye(shape[1], dtype=bool)
    assert np.isnan(p[off]).all()
    assert np.isnan(found.effect()[off]).all()
    assert (found.queries[off] == shape[0]).all()


def test_effect__worked_examples():
    values = np.array([[1.0, 0.0], [3.0, 1.0], [5.0, 2.0]])
    # differences 1, 2, 3; variances 4 and 1, pooled 2.5
    assert paired_differences(values).effect()[0, 1] == pytest.approx(2.0)
    assert unpaired_differences(values).effect()[1, 0] == pytest.approx(-2 / np.sqrt(2.5))


@pytest.mark.parametrize("differences", [paired_differences, unpaired_differences])
@pytest.mark.parametrize("queries", [1, 2, 3, 40])
@pytest.mark.parametrize("alpha", [1e-300, 1e-9, 0.05, 0.5, 1])
def test_separated__same_pairs_as_by_p_values(differences, queries, alpha):
    rng = np.random.default_rng(queries)
    values = rng.normal(size=(queries, 12)) + np.arange(12) / 8
    values[:, 3], values[:, 4], values[:, 5] = values[:, 2], values[:, 2] + 1, 0.5
    found = differences(gaps(values, 0.2, 1))
    np.testing.assert_array_equal(found.separated(alpha), found.p()[found.upper] <= alpha)


@pytest.mark.parametrize("differences", [paired_differences, unpaired_differences])
def test_separated__at_the_p_value_of_a_pair(differences):
    """Levels at, just above and just below a p-value, which a critical ratio would not tell."""
    found = differences(np.random.default_rng(0).normal(size=(20, 8)))
    p = found.p()[found.upper]
    for alpha in p[:6].tolist():
        for level in (alpha, np.nextafter(alpha, 0), np.nextafter(alpha, 1)):
            np.testing.assert_array_equal(found.separated(level), p <= level)


def test_paired_t__equals_pairwise():
    values = gaps(np.random.default_rng(3).normal(size=(30, 9)) + np.arange(9) / 9, 0.1, 2)
    names = tuple("abcdefghi")
    matrix = Matrix(values, tuple(map(str, range(30))), names, direction=-1)
    one, other = PairedT(matrix), pairwise(matrix)
    for name in ("p_adjusted", "difference", "upper", "direction", "lead"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for alpha in (0.01, 0.05, 1):
        np.testing.assert_array_equal(one.separated(alpha), other.separated(alpha))
        np.testing.assert_array_equal(one.better(alpha), other.better(alpha))
    with pytest.raises(UsageError, match="alpha"):
        one.separated(2)
    with pytest.raises(UsageError, match="infinite"):
        PairedT(Matrix(np.array([[np.inf]]), ("1",), ("a",)))

"""Coverage and inversion ratios: worked examples and naive implementation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats.new_measure import coverage
from support.examples import scaled
from twins import significance as naive_significance
from twins import stats as naive


def matrix(values, measure: str = "AP", direction: int = 1, systems: str = "abcdef") -> Matrix:
    values = np.array(values, float)
    queries = tuple(map(str, range(len(values))))
    return Matrix(values, queries, tuple(systems[: values.shape[1]]), measure, "t", direction)


# d > c > b = a on all queries, with a little noise
LEVELS = np.array([0.1, 0.1, 0.5, 0.9]) + 0.01 * np.random.default_rng(0).random((10, 4))


def ratios(frame) -> tuple[float, float]:
    return frame["coverage"][0], frame["inversion"][0]


def test_coverage__worked_example():
    # D_ref: c > a, c > b, d > a, d > b, d > c
    new = LEVELS.copy()
    new[:, 2] = LEVELS[:, 3] + 0.3  # c > d significantly: inverted, not covered
    noise = np.where(np.arange(10) < 5, -3.0, 2.9)
    new[:, 0] = LEVELS[:, 3] - noise  # mean of d below a, not significantly: inverted
    frame = coverage(matrix(LEVELS), matrix(new, "P@10"))
    row = frame.row(0, named=True)
    assert (row["reference"], row["new"], row["test"], row["alpha"]) == ("AP", "P@10", "t", 0.05)
    assert (row["pairs"], row["separated_reference"]) == (6, 5)
    assert row["covered"] == 2  # c > b, d > b; c > a is not significant
    assert row["inverted"] == 2  # d > c and d > a
    assert ratios(frame) == (2 / 5, 2 / 5)
    assert row["queries"] == 10


def test_coverage__same_measure_and_reversed_measure():
    assert ratios(coverage(matrix(LEVELS), matrix(LEVELS))) == (1, 0)
    assert ratios(coverage(matrix(LEVELS), matrix(-LEVELS))) == (0, 1)
    # a negated measure with lower as better has the same order
    assert ratios(coverage(matrix(LEVELS), matrix(-LEVELS, "ASL", -1))) == (1, 0)
    assert ratios(coverage(matrix(-LEVELS, "ASL", -1), matrix(LEVELS))) == (1, 0)


def test_coverage__ties_are_neither_covered_nor_inverted():
    assert ratios(coverage(matrix(LEVELS), matrix(np.ones((10, 4))))) == (0, 0)
    assert np.isnan(ratios(coverage(matrix(LEVELS), matrix(np.full((10, 4), np.nan))))).all()


@pytest.mark.parametrize("values", [np.ones((10, 4)), np.full((10, 4), np.nan), np.ones((10, 1))])
def test_coverage__undefined_if_reference_has_no_significant_pair(values):
    frame = coverage(matrix(values), matrix(LEVELS[:, : values.shape[1]]))
    assert frame["separated_reference"][0] == 0
    assert np.isnan(ratios(frame)).all()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("test", "twin"),
    [
        ("t", naive.t_p),
        ("t-unpaired", naive.unpaired_p),
        ("wilcoxon", lambda a, b: naive_significance.wilcoxon(a, b)[1]),
        ("sign", lambda a, b: naive_significance.sign_test(a, b)[1]),
    ],
)
@settings(max_examples=scaled(40))
@given(st.data())
def test_coverage__equals_naive_implementation(test, twin, data):
    systems = data.draw(st.integers(2, 4))
    row = st.lists(st.integers(0, 16).map(lambda v: v / 16), min_size=systems, max_size=systems)
    row |= st.just([np.nan] * systems)  # a query on which the measure is undefined
    old, new = (data.draw(st.lists(row, min_size=4, max_size=6)) for _ in range(2))
    ways = data.draw(st.tuples(*[st.sampled_from([1, -1])] * 2))
    alpha = data.draw(st.sampled_from([0.05, 0.2]))
    frame = coverage(matrix(old, "A", ways[0]), matrix(new, "B", ways[1]), test=test, alpha=alpha)
    right = naive.coverage(old, new, ways, alpha, twin)
    assert ratios(frame) == pytest.approx(right, nan_ok=True)


def test_coverage__matches_systems_by_name():
    turned = matrix(LEVELS[:, ::-1], "P@10", systems="dcba")
    assert ratios(coverage(matrix(LEVELS), turned)) == (1, 0)
    with pytest.raises(UsageError, match="'e' is only in P@10"):
        coverage(matrix(LEVELS), matrix(np.ones((3, 5)), "P@10", systems="abcde"))
    with pytest.raises(UsageError, match="'d' is not in P@10"):
        coverage(matrix(LEVELS), matrix(LEVELS[:, :3], "P@10"))


@pytest.mark.exhaustive
def test_coverage__several_new_measures_with_randomised_hsd():
    news = [matrix(LEVELS, "A"), matrix(LEVELS[:6], "B")]
    frame = coverage(matrix(LEVELS), news, test="hsd-randomised", resamples=500, alpha=0.01)
    assert frame["new"].to_list() == ["A", "B"]
    assert frame["queries"].to_list() == [10, 6]
    assert (frame["coverage"] == 1).all()
    assert coverage(matrix(LEVELS), []).height == 0

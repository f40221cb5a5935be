"""Means of precisions as means of search lengths: values of paper 1, naive implementations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import UsageError
from irmeta.stats.baselines import reduction_in_error
from irmeta.stats.search_lengths import (
    effective_counts,
    effective_weight,
    equivalent_lengths,
    harmonic_mean,
    weighted_mean,
)
from twins import chain as naive

APPENDIX = np.array([1, 1, 1, 2, 4, 5, 10, 10000, 10000], float)
INFINITE = math.inf

some_lengths = st.lists(st.integers(1, 10**6).map(float), min_size=1, max_size=30)


def column(*lengths: float) -> np.ndarray:
    return np.array(lengths, float)[:, None]


def test_harmonic_mean__equations_9_and_10_of_paper_1():
    two = np.array([1.0, 1000.0])
    assert harmonic_mean(two) == pytest.approx(2 / (1 + 1 / 1000))
    assert round(harmonic_mean(two)) == 2  # Eq. 9
    assert round(weighted_mean(two, np.ones(2))) == 500  # Eq. 10: 500.5, "approximately 500"


@pytest.mark.parametrize("first", [1.0, 7.0, 300.0])
def test_harmonic_mean__at_most_twice_the_shorter_length(first: float):
    """Eq. 13."""
    found = [harmonic_mean(np.array([first, other])) for other in (1e3, 1e6, 1e12, INFINITE)]
    assert found == sorted(found)
    assert found[-1] == 2 * first


@given(some_lengths)
def test_weighted_mean__reciprocal_weights_give_the_harmonic_mean(lengths: list[float]):
    """Eqs. 14 and 15: a mean of precisions is a mean of lengths weighted by their reciprocals."""
    own = np.array(lengths)
    left, right = naive.weight_identity(lengths)
    assert harmonic_mean(own) == pytest.approx(left, rel=1e-12)
    assert weighted_mean(own, 1 / own) == pytest.approx(right, rel=1e-12)
    assert harmonic_mean(own) == pytest.approx(weighted_mean(own, 1 / own), rel=1e-12)
    assert weighted_mean(own, np.full(len(own), 3.0)) == pytest.approx(own.mean(), rel=1e-12)


def test_weighted_mean__worked_example():
    own = np.array([2.0, 4.0, 4.0])
    assert harmonic_mean(own) == weighted_mean(own, 1 / own) == 3.0
    assert weighted_mean(own, np.array([1.0, 0.0, 1.0])) == 3.0


def test_harmonic_mean__infinite_for_infinite_lengths():
    assert harmonic_mean(np.array([INFINITE, INFINITE])) == INFINITE
    assert harmonic_mean(np.array([1.0, INFINITE])) == 2.0


def test_equivalent_lengths__appendix_of_paper_1():
    found = equivalent_lengths(APPENDIX)
    # The paper prints 2.9 for the sixth.
    assert np.round(found, 1).tolist() == [1.0, 1.0, 1.0, 2.1, 2.7, 2.8, 3.0, 3.2, 3.2]
    assert found.mean() == pytest.approx(harmonic_mean(APPENDIX), rel=1e-12)


@given(some_lengths)
def test_equivalent_lengths__equal_naive_implementation(lengths: list[float]):
    found = equivalent_lengths(np.array(lengths))
    assert found.tolist() == pytest.approx(naive.equivalent_lengths(lengths), rel=1e-12)


def test_equivalent_lengths__unretrieved_docs():
    assert equivalent_lengths(np.array([1.0, INFINITE])).tolist() == [1.0, 3.0]


@pytest.mark.parametrize("lengths", [[1.0, 0.5], [0.99]])
def test_equivalent_lengths__reject_length_below_1(lengths: list[float]):
    with pytest.raises(UsageError, match="a search length is below 1"):
        equivalent_lengths(np.array(lengths))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan])
def test_precision_means__reject_nonpositive_and_undefined_lengths(bad: float):
    own = np.array([1.0, bad])
    for call in (harmonic_mean, equivalent_lengths, lambda x: weighted_mean(x, np.ones(2))):
        with pytest.raises(UsageError, match="search lengths must be above 0"):
            call(own)


@pytest.mark.parametrize("call", [harmonic_mean, lambda x: weighted_mean(x, x)])
def test_precision_means__reject_empty_input(call):
    with pytest.raises(UsageError, match="no search length was given"):
        call(np.empty(0))


def test_effective_counts__appendix_of_paper_1():
    precision = (1 / APPENDIX).mean()
    (count,) = effective_counts(APPENDIX[:, None], np.array([precision]))
    assert count == 6
    assert round(100 * count / len(APPENDIX)) == 67


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([1, 5, 5], 2),  # 1/AP = 2.14; means 1, 3, 3.67
        ([1, 5], 1),  # 1/AP = 1.67; means 1 and 3
        ([1, 3], 2),  # 1/AP = 1.5; means 1 and 2 are equally near: the larger count
        ([1, 1, 1], 3),
        ([7, INFINITE, INFINITE], 1),
    ],
)
def test_effective_counts__worked_examples(lengths: list[float], expected: int):
    own = column(*lengths)
    found = effective_counts(own, (1 / own).mean(axis=0))
    assert found.tolist() == [expected]


def test_effective_counts__undefined_for_precision_zero():
    lengths = np.array([[1.0, INFINITE, 2.0], [2.0, INFINITE, INFINITE]])
    precision = (1 / lengths).mean(axis=0)
    found = effective_counts(lengths, precision)
    assert math.isnan(found[1])
    assert found[[0, 2]].tolist() == [2, 1]
    weight = effective_weight(lengths, np.array([0.5, 0.25]), precision)
    assert math.isnan(weight[1])
    assert effective_counts(np.empty((0, 2)), np.zeros(2)).shape == (2,)
    assert np.isnan(effective_counts(np.empty((0, 2)), np.array([0.5, 0.0]))).all()


def test_effective_weight__independent_of_doc_order():
    lengths = column(3, 1, 2)
    # ascending 1, 2, 3 with weights 4, 1, 2: means 1, 1.2, 12/7
    weights = np.array([2.0, 4.0, 1.0])
    for precision, expected in ((1.0, 4.0), (1 / 1.2, 5.0), (7 / 12, 7.0)):
        assert effective_weight(lengths, weights, np.array([precision])).tolist() == [expected]


ranks = st.lists(st.integers(1, 60), min_size=1, max_size=12, unique=True)


@given(st.lists(st.tuples(ranks, st.integers(0, 5)), min_size=1, max_size=4))
def test_effective_counts_and_weight__equal_naive_results(drawn: list[tuple[list[int], int]]):
    """Each query has ranks of retrieved relevant docs and a number of missed ones."""
    queries = [
        ([Fraction(rank, place) for place, rank in enumerate(sorted(own), 1)], missed)
        for own, missed in drawn
    ]
    lengths, weights, precisions, docs = [], [], [], []
    for number, (exact, missed) in enumerate(queries):
        size = len(exact) + missed
        own = [*sorted(map(float, exact)), *[INFINITE] * missed]
        precisions.append(float(sum(1 / x for x in exact) / size))
        found = effective_counts(column(*own), np.array(precisions[-1:]))
        assert found.tolist() == [naive.effective_count(exact, size)]
        lengths += own
        weights += [1 / size] * size
        docs += [(x, number, Fraction(1, size)) for x in exact]
    parts = [(x, share) for x, _, share in sorted(docs)]
    target = 1 / (sum(share / x for x, share in parts) / len(queries))
    n = naive.nearest_prefix(parts, target)
    pooled = effective_weight(column(*lengths), np.array(weights), np.array([1 / float(target)]))
    assert pooled.tolist() == pytest.approx([float(sum(share for _, share in parts[:n]))])


@pytest.mark.parametrize(
    ("baseline", "contender", "direction", "percent"),
    [
        (0.456, 0.594, 1, 25),
        (14, 5, -1, 69),
        (0.401, 0.543, 1, 24),
        (0.517, 0.706, 1, 39),
        (51, 6, -1, 90),
        (0.400, 0.572, 1, 29),
        (264, 215, -1, 19),
    ],
)
def test_reduction_in_error__table_1_of_paper_1(
    baseline: float, contender: float, direction: int, percent: int
):
    """Eqs. 11 and 12, from the printed values of the paper."""
    assert round(100 * reduction_in_error(baseline, contender, direction)) == percent


@pytest.mark.parametrize(("baseline", "direction"), [(1.0, 1), (1.0, -1), (0.5, -1), (2.0, -1)])
def test_reduction_in_error__undefined_for_a_perfect_baseline(baseline: float, direction: int):
    assert math.isnan(reduction_in_error(baseline, 0.75, direction))
    assert reduction_in_error(0.5, 0.25, 1) == -0.5
    assert reduction_in_error(5.0, 1.0, -1) == 1.0

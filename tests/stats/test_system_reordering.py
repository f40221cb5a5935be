"""Reordering of the systems of a track by a measure: naive implementation and examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from irmeta.errors import UsageError
from irmeta.stats.new_measure import better, delta_value, reordering
from support.judged import numbered_matrix
from twins import orders as naive_orders
from twins import stats as naive
from twins.significance import both

NAN = math.nan


def unpaired_p(a: list[float], b: list[float]) -> float:
    """Run the naive unpaired t-test over queries defined for both systems."""
    pairs = both(a, b)
    return naive.unpaired_p([x for x, _ in pairs], [y for _, y in pairs])


TESTS = {"t": naive.t_p, "t-unpaired": unpaired_p}


SHAPES = st.tuples(st.integers(2, 6), st.integers(2, 5))
VALUES = st.sampled_from([0.25, 0.3, 0.5, 0.55, 1.0, 2.0])


@pytest.mark.parametrize("test", TESTS)
@given(
    x=arrays.arrays(float, SHAPES, elements=VALUES | st.just(NAN)),
    direction=st.sampled_from([1, -1]),
)
def test_better__equals_naive_implementation(test, x, direction):
    found = better(numbered_matrix(x, direction=direction), alpha=0.2, test=test)
    rows = x.tolist()
    for a in range(x.shape[1]):
        for b in range(x.shape[1]):
            assert found[a, b] == (
                a != b and naive.better(rows, a, b, direction, alpha=0.2, test=TESTS[test])
            )


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(*[arrays.arrays(float, (4, n), elements=VALUES) for _ in range(2)])
    ),
    st.sampled_from([1, -1]),
)
def test_reordering__equals_naive_implementation(two, direction):
    old, new = two
    found = reordering(numbered_matrix(old), numbered_matrix(new, "B", direction), alpha=0.3)
    rows = old.tolist(), new.tolist()
    moved = naive.delta_sorts(*rows, (1, direction), alpha=0.3)
    assert found.moved.tolist() == pytest.approx(moved)
    assert found.delta_sort == pytest.approx(max(moved))
    ratios, left_out = naive.delta_values(*rows, (1, direction))
    assert found.value.tolist() == pytest.approx(ratios)
    assert (found.delta_value, found.left_out) == (pytest.approx(np.mean(ratios)), left_out)
    means = [np.round(v.mean(axis=0), 10).tolist() for v in (old, direction * new)]
    tau = naive_orders.kendall_tau_b(*means)
    assert found.tau == pytest.approx(tau, abs=1e-12, nan_ok=True)


def test_reordering__worked_example():
    """All differences are significant, so the ratio decides.

    Old: c .40 > b .21 > a .20, where b is not 1.1 times a. New: a .80 > c .40 > b .10.
    """
    noise = np.array([[0.01, 0.012, 0.011], [-0.01, -0.012, -0.011], [0, 0, 0]])
    old, new = (
        numbered_matrix(noise + np.array([0.20, 0.21, 0.40])),
        numbered_matrix(noise + np.array([0.80, 0.10, 0.40]), "B"),
    )
    assert better(old).tolist() == [
        [False, False, False],
        [False, False, False],
        [True, True, False],
    ]
    found = reordering(old, new)
    assert found.better_old.tolist() == [1, 1, 0]
    assert found.better_new.tolist() == [0, 2, 1]
    assert found.moved.tolist() == pytest.approx([100 / 3] * 3)
    assert found.delta_sort == pytest.approx(100 / 3)
    assert found.tau == pytest.approx(-1 / 3)
    assert found.value.tolist() == pytest.approx([4, 0.1 / 0.21, 1])
    assert found.frame().columns == [
        *("track", "old", "new", "system", "better_old", "better_new", "moved", "value")
    ]
    assert found.frame().row(1) == (
        *("t", "A", "B", "s1", 1, 2),
        pytest.approx(100 / 3),
        pytest.approx(0.1 / 0.21),
    )
    (row,) = found.summary().to_dicts()
    assert (row["old"], row["new"], row["systems"], row["queries"]) == ("A", "B", 3, 3)
    assert row["delta_value"] == pytest.approx((4 + 0.1 / 0.21 + 1) / 3)


def test_better__same_ratio_for_a_length_and_its_reciprocal():
    """1.09 is not 10 % better than 1, and 1.10 is, for lengths and for precisions."""
    noise = np.array([[0.001], [-0.001], [0.002], [-0.002]])
    for second, yes in ((1.10, True), (1.09, False)):
        lengths = numbered_matrix(np.hstack([1 + noise, second + noise * 0.9]), "ASL", -1)
        assert better(lengths).tolist() == [[False, yes], [False, False]]
        precision = numbered_matrix(np.hstack([1 + noise, second + noise * 0.9]), "P", 1)
        assert better(precision).tolist() == [[False, False], [yes, False]]


def test_better__ratio_of_exactly_ten_percent_suffices_despite_rounding():
    assert 1.1 * 0.10 > 0.11
    noise = np.array([[0.001], [-0.001], [0.002], [-0.002]])
    steady = numbered_matrix(np.hstack([0.10 + noise, 0.11 - noise]))
    assert better(steady).tolist() == [[False, False], [True, False]]


def test_better__zero_means():
    values = numbered_matrix([[0.0, 0.0, 0.2], [0.0, 0.0, 0.21], [0.0, 0.0, 0.19]])
    assert better(values).tolist() == [[False] * 3, [False] * 3, [True, True, False]]
    # Also where every difference is significant and no ratio is required.
    assert better(values, ratio=1, alpha=1).tolist() == better(values).tolist()


def test_better__never_for_identical_systems_or_a_single_query():
    assert not better(numbered_matrix([[0.5, 0.5], [0.1, 0.1]])).any()
    assert not better(numbered_matrix([[0.5, 0.1]])).any()
    found = reordering(numbered_matrix([[0.5, 0.5], [0.1, 0.1]]), numbered_matrix([[1, 1], [1, 1]]))
    assert found.delta_sort == 0
    assert math.isnan(found.tau)


def test_reordering__tau_ties_equal_means_despite_rounding():
    values = numbered_matrix([[0.1, 0.3, 1.0], [0.2, 0.2, 0.0], [0.3, 0.1, 0.1]])
    assert values.means[0] != values.means[1]
    ordered = numbered_matrix([[1, 2, 3]] * 3)
    assert reordering(values, ordered).tau == pytest.approx(2 / math.sqrt(2 * 3))


def test_reordering__uses_the_values_that_both_define():
    rng = np.random.default_rng(1)
    old, new = rng.random((2, 6, 3))
    new[0] = NAN  # a query on which the new measure is undefined
    found = reordering(numbered_matrix(old), numbered_matrix(new, "B"))
    assert found.queries == 5
    assert (
        found.value.tolist()
        == reordering(numbered_matrix(old[1:]), numbered_matrix(new[1:])).value.tolist()
    )


def test_reordering__matches_queries_and_systems_by_name():
    rng = np.random.default_rng(0)
    old, new = numbered_matrix(rng.random((9, 5))), numbered_matrix(rng.random((9, 5)), "B")
    other = new.only_systems(np.array([4, 2, 0, 1, 3])).only_queries(np.arange(8, -1, -1))
    one, two = reordering(old, new), reordering(old, other)
    assert one.systems == two.systems
    np.testing.assert_array_equal(one.moved, two.moved)
    np.testing.assert_allclose(one.value, two.value)
    assert one.tau == two.tau
    assert reordering(old.only_systems(np.array([1, 3])), new).systems == ("s1", "s3")


def test_delta_value__excludes_and_counts_zero_means_of_the_old_measure():
    old = numbered_matrix([[0.0, 0.5, NAN, 0.2]])
    lengths = numbered_matrix([[4.0, 4.0, 4.0, 0.0]], "ASL", -1)
    found = delta_value(old, lengths)
    assert found[1] == pytest.approx(0.5)
    assert np.isnan(found[[0, 2, 3]]).all()
    one = reordering(old, lengths)
    assert (one.left_out, one.delta_value) == (3, 0.5)


def test_delta_value__custom_transformation_to_p_space():
    """Only search lengths are transformed; other means are in P space already."""
    old = numbered_matrix([[0.5, 0.25, 0.0, 0.5]])
    lengths = numbered_matrix([[3.0, 1.0, 7.0, NAN]], "L", -1)

    def worth(means: np.ndarray) -> np.ndarray:
        return 1 / np.log2(1 + means)

    found = delta_value(old, lengths, worth)
    assert found[:2] == pytest.approx([0.5 / 0.5, 1 / 0.25])
    assert np.isnan(found[2:]).all()
    assert delta_value(old, lengths)[:2] == pytest.approx([1 / 3 / 0.5, 4])
    one = reordering(old, lengths, in_p_space=worth)
    np.testing.assert_array_equal(one.value, found)
    back = delta_value(lengths, old, worth)
    assert back[:2] == pytest.approx([1, 0.25])
    higher = numbered_matrix([[0.25, 0.75, 0.5, 1.0]], "B")
    np.testing.assert_array_equal(delta_value(old, higher, worth), delta_value(old, higher))
    # the order of systems does not depend on the transformation
    assert one.tau == reordering(old, lengths).tau


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 1)])
def test_reordering__without_queries_or_pairs(shape):
    values = numbered_matrix(np.full(shape, 0.5))
    found = reordering(values, values)
    assert not found.moved.any()
    assert math.isnan(found.tau)
    assert found.frame().height == shape[1]


def test_better__rejects_negative_means_and_ratio_below_1():
    with pytest.raises(UsageError, match="negative mean"):
        better(numbered_matrix([[-1.0, 0.5], [-2.0, 0.5]]))
    with pytest.raises(UsageError, match="1 or more"):
        better(numbered_matrix([[1.0, 0.5]]), ratio=0.9)

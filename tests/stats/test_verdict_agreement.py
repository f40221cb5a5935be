"""Agreement of measures on queries and pairs of systems: naive implementation and examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from irmeta.errors import UsageError
from irmeta.results.verdicts import Verdicts
from irmeta.stats.verdict_agreement import Preference, agreement, agreements, unanimity
from support.judged import numbered_matrix
from twins import orders as naive_orders
from twins import stats as naive

NAN = math.nan


SHAPES = st.tuples(st.just(3), st.integers(1, 4), st.integers(1, 5))
VALUES = st.sampled_from([0.0, 0.1, 0.1 + 1e-13, 0.5, 2.0, NAN])


@given(arrays.arrays(float, SHAPES, elements=VALUES), st.sampled_from([(1, 1), (1, -1), (-1, -1)]))
def test_agreement__equals_naive_implementation(x, directions):
    rows = [x[0].tolist(), x[1].tolist()]
    found = agreement(
        numbered_matrix(x[0], "A", directions[0]), numbered_matrix(x[1], "B", directions[1])
    )
    twin = naive.agreement(*rows, directions)
    same, opposite, tied_a, tied_b, both = found.counts.sum(axis=1)
    assert found.points == twin.points
    assert (same, opposite, both) == (twin.agree, twin.oppose, twin.both_tie)
    assert tied_a + tied_b == twin.one_ties
    # The naive implementation has each pair once; the correlation is over both directions.
    deltas = [naive.deltas(r, d) for r, d in zip(rows, directions, strict=True)]
    points = [(a, b) for a, b in zip(*deltas, strict=True) if not math.isnan(a + b)]
    both_ways = [*points, *((-a, -b) for a, b in points)]
    expected = naive_orders.pearson([a for a, _ in both_ways], [b for _, b in both_ways])
    if min(same + opposite + tied_a, same + opposite + tied_b) == 0:
        expected = NAN
    assert found.pearson == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(arrays.arrays(float, SHAPES, elements=VALUES))
def test_unanimity__equals_naive_implementation(x):
    directions = [1, -1, 1]
    measures = [numbered_matrix(v, str(i), directions[i]) for i, v in enumerate(x)]
    same, points = naive.unanimity([v.tolist() for v in x], directions)
    (row,) = unanimity(measures).to_dicts()
    assert row["points"] == points
    assert row["unanimous"] == pytest.approx(same / points if points else NAN, nan_ok=True)


def test_agreement__worked_example():
    """Three pairs on each of two queries: a-b, a-c, b-c."""
    a = numbered_matrix([[3, 2, 1], [1, 1, 0]])
    b = numbered_matrix([[9, 5, 7], [4, 4, 4]], "B")
    found = agreement(a, b)
    assert found.counts.tolist() == [[2, 0], [1, 0], [0, 0], [0, 2], [0, 1]]
    assert found.points == 6
    assert found.sign_agreement == pytest.approx(3 / 6)
    assert found.unanimity == pytest.approx(2 / 6)
    top = 1 * 4 + 2 * 2 + 1 * -2
    assert found.pearson == pytest.approx(top / math.sqrt((1 + 4 + 1 + 1 + 1) * (16 + 4 + 4)))
    (row,) = found.frame().to_dicts()
    assert (row["measure_a"], row["measure_b"]) == ("A", "B")
    assert [row[c] for c in ("opposite", "tied_a", "tied_b", "tied_both")] == [
        pytest.approx(n / 6) for n in (1, 1, 3, 1)
    ]
    assert found.per_query().rows() == [("q0", 2, 1, 0, 0, 0), ("q1", 0, 0, 0, 2, 1)]


def test_agreement__verdicts_count_like_their_values():
    rng = np.random.default_rng(1)
    a = numbered_matrix(rng.integers(0, 4, (6, 7)))
    b = numbered_matrix(rng.integers(0, 4, (6, 7)), "B", -1)
    values, verdicts = agreement(a, b), agreement(Verdicts.of(a), Verdicts.of(b))
    np.testing.assert_array_equal(values.counts, verdicts.counts)
    assert verdicts.measures == ("A", "B")
    signs = agreement(numbered_matrix(np.sign(a.values - 1)), Verdicts.of(b))
    assert signs.points == values.points


def test_agreement__preferences_without_values():
    def circle(query: int) -> np.ndarray:
        return np.array([[0, 1, -2], [-1, 0, 3], [2, -3, 0]], float)

    rpp = Preference("RPP", ("q0",), ("s0", "s1", "s2"), circle)
    found = agreement(rpp, numbered_matrix([[3, 2, 1]], "AP"))
    assert found.counts[:, 0].tolist() == [2, 1, 0, 0, 0]
    assert found.pearson == pytest.approx((1 - 4 + 3) / math.sqrt(14 * 6))


def test_agreement__counts_the_queries_where_both_are_defined():
    a, b = (
        numbered_matrix([[3, 2], [1, NAN], [1, 2]]),
        numbered_matrix([[9, 5], [4, 4], [1, 2]], "B"),
    )
    assert agreement(a, b).frame()["queries"].item() == 2
    assert unanimity([a, b])["queries"].item() == 2


def test_agreement__matches_queries_and_systems_by_name():
    x = np.random.default_rng(2).random((4, 6))
    a, b = numbered_matrix(x), numbered_matrix(x, "B")
    other = b.only_queries(np.array([3, 1])).only_systems(np.array([5, 0, 2]))
    found = agreement(a, other)
    assert found.queries == ("q1", "q3")
    assert (found.systems, found.points, found.sign_agreement) == (3, 6, 1)
    assert agreement(other, a).queries == ("q3", "q1")


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3, 1)])
def test_agreement__undefined_without_points(shape):
    empty = numbered_matrix(np.zeros(shape))
    found = agreement(empty, empty)
    assert found.points == 0
    assert np.isnan([found.sign_agreement, found.unanimity, found.pearson]).all()
    (row,) = unanimity([empty, empty]).to_dicts()
    assert np.isnan([row["unanimous"], row["tied"], row["mixed"]]).all()


def test_agreement__infinite_values_have_signs_but_no_correlation():
    found = agreement(numbered_matrix([[math.inf, 1, math.inf]]), numbered_matrix([[3, 2, 1]]))
    assert found.counts[:, 0].tolist() == [1, 1, 0, 0, 0]
    assert math.isnan(found.pearson)


def test_agreements__row_for_each_pair_of_measures():
    x = np.random.default_rng(3).random((3, 4, 5))
    three = [numbered_matrix(v, name) for v, name in zip(x, "ABC", strict=True)]
    frame = agreements(three)
    assert frame["measure_a"].to_list() == ["A", "A", "B"]
    assert frame["measure_b"].to_list() == ["B", "C", "C"]
    assert frame.row(1) == agreement(three[0], three[2]).frame().row(0)
    assert agreements(three[:1]).columns == frame.columns
    assert agreements([]).schema == frame.schema


def test_unanimity__equals_agreement_of_two_and_rejects_no_measures():
    x = np.random.default_rng(4).integers(0, 3, (2, 4, 5))
    a, b = numbered_matrix(x[0]), numbered_matrix(x[1])
    (row,) = unanimity([a, b]).to_dicts()
    found = agreement(a, b)
    assert row["unanimous"] == pytest.approx(found.unanimity)
    assert row["tied"] == pytest.approx(found.frame()["tied_both"][0])
    assert row["unanimous"] + row["tied"] + row["mixed"] == pytest.approx(1)
    with pytest.raises(UsageError, match="needs at least one measure"):
        unanimity([])

"""`Verdicts`: which of two systems is better on each query."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import Verdicts

NAN = math.nan


def of(values: object, direction: int = 1) -> Verdicts:
    array = np.asarray(values, float)
    queries = tuple(f"q{i}" for i in range(len(array)))
    systems = tuple("abcdefgh"[: array.shape[1]])
    return Verdicts.of(Matrix(array, queries, systems, "M", "t", direction))


def test_verdicts__worked_example():
    verdicts = of([[2, 1, 2], [NAN, 0, 1]])
    assert [s.tolist() for s in verdicts] == [
        [[0, 1, 0], [-1, 0, -1], [0, 1, 0]],
        [[0, 0, 0], [0, 0, -1], [0, 1, 0]],
    ]
    assert verdicts.sign(1).dtype == np.int8
    assert (verdicts.queries, verdicts.systems) == (("q0", "q1"), ("a", "b", "c"))
    assert (verdicts.name, verdicts.track) == ("M", "t")


def test_verdicts__lower_is_better_for_direction_minus_one():
    assert of([[2, 1]], -1).sign(0).tolist() == [[0, -1], [1, 0]]


@pytest.mark.parametrize(
    ("difference", "sign"), [(0.0, 0), (1e-13, 0), (-1e-13, 0), (1e-11, 1), (-1e-11, -1)]
)
def test_verdicts__rounding_error_is_a_tie(difference, sign):
    assert of([[difference, 0.0]]).sign(0)[0, 1] == sign
    assert of([[0.1 + 0.2, 0.3]]).sign(0)[0, 1] == 0


def test_verdicts__infinite_values():
    signs = of([[math.inf, math.inf, -math.inf, 0]]).sign(0)
    assert signs[0].tolist() == [0, 0, 1, 1]
    assert signs[2].tolist() == [-1, -1, 0, -1]


@given(
    arrays.arrays(
        float,
        st.tuples(st.integers(0, 3), st.integers(0, 6)),
        elements=st.sampled_from([0.0, 0.5, 1.0, 1.0 + 1e-14, NAN]),
    ),
    st.sampled_from([1, -1]),
)
def test_verdicts__sign_of_the_difference(values, direction):
    found = list(of(values, direction))
    assert len(found) == len(values)
    for row, signs in zip(values, found, strict=True):
        assert signs.shape == (len(row), len(row))
        assert (signs == -signs.T).all()
        for i, a in enumerate(row):
            for j, b in enumerate(row):
                apart = direction * (a - b)
                assert signs[i, j] == int(apart > 1e-12) - int(apart < -1e-12)


SIGNS = np.array([[[0, 1], [-1, 0]], [[0, 0], [0, 0]]])


def test_from_signs__returns_the_given_signs():
    verdicts = Verdicts.from_signs(SIGNS, ("1", "2"), ("a", "b"), "RPP")
    assert [s.tolist() for s in verdicts] == SIGNS.tolist()
    assert verdicts.sign(0).dtype == np.int8
    assert verdicts.name == "RPP"


def test_from_signs__accepts_preferences_of_any_magnitude():
    found = Verdicts.from_signs(SIGNS * 0.3, ("1", "2"), ("a", "b"))
    assert [s.tolist() for s in found] == SIGNS.tolist()


def test_from_signs__rounding_error_is_a_tie():
    found = Verdicts.from_signs(SIGNS * 1e-16, ("1", "2"), ("a", "b"))
    assert not found.sign(0).any()


def test_from_signs__copies_the_array():
    signs = SIGNS.copy()
    verdicts = Verdicts.from_signs(signs, ("1", "2"), ("a", "b"))
    signs[:] = 0
    assert verdicts.sign(0)[0, 1] == 1


def test_from_signs__without_queries_or_systems():
    assert list(Verdicts.from_signs(np.zeros((0, 2, 2)), (), ("a", "b"))) == []
    assert Verdicts.from_signs(np.zeros((1, 0, 0)), ("1",), ()).sign(0).shape == (0, 0)


@pytest.mark.parametrize(
    "signs",
    [
        np.ones((2, 2, 2)),
        SIGNS[:1],
        SIGNS[0],
        np.zeros((2, 3, 3)),
        np.where(SIGNS == 1, NAN, SIGNS),
        np.ones((2, 2, 2), bool),
        np.array([[[1, 0], [0, 0]]] * 2),
    ],
)
def test_from_signs__requires_antisymmetric_signs(signs):
    with pytest.raises(UsageError, match="antisymmetric"):
        Verdicts.from_signs(signs, ("1", "2"), ("a", "b"))

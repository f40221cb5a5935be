"""`Verdicts`: which of two systems is better on each query."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

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

"""Which of two systems is better on each query: verdicts, and preferences of all forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import BlockPreferences, Preference, TrackPreferences, Verdicts
from irmeta.stats.verdict_agreement import Preference as ImportedByStatistics

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


@given(
    arrays.arrays(
        float,
        st.tuples(st.integers(0, 3), st.integers(0, 6)),
        elements=st.sampled_from([0.0, 1e-13, 1e-11, 1.0, 1.0 + 1e-14, math.inf, -math.inf, NAN]),
    ),
    st.sampled_from([1, -1]),
)
def test_verdicts__sign_of_the_difference(values, direction):
    found = list(of(values, direction))
    assert len(found) == len(values)
    for row, signs in zip(values.tolist(), found, strict=True):
        assert signs.shape == (len(row), len(row))
        assert (signs == -signs.T).all()
        for i, a in enumerate(row):
            for j, b in enumerate(row):
                apart = direction * (a - b)
                assert signs[i, j] == int(apart > 1e-12) - int(apart < -1e-12)


SYSTEMS = ("a", "b", "c")


def antisymmetric(seed: int) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).random((3, 3)), 1)
    return upper - upper.T


def block(seeds: list[int | None]) -> BlockPreferences:
    """Return preferences of one query for each seed; None: undefined."""
    defined = np.array([seed is not None for seed in seeds], bool)
    return BlockPreferences(defined, 3, lambda q: antisymmetric(seeds[q]))


@pytest.fixture
def found() -> TrackPreferences:
    blocks = ((("q1", "q2"), block([1, 2])), (("q3", "q4", "q5"), block([None, 4, 5])))
    return TrackPreferences(
        "Mine", "t", SYSTEMS, ("g", "g", None), (*blocks, (("q6",), block([6])))
    )


def test_preference__finds_the_block_of_each_query(found):
    preference = found.preference()
    assert preference.queries == ("q1", "q2", "q3", "q4", "q5", "q6")
    for index, query in enumerate(preference.queries):
        expected = np.full((3, 3), np.nan) if query == "q3" else antisymmetric(int(query[1]))
        np.testing.assert_array_equal(preference.difference(index), expected)


def test_means__over_defined_queries_of_all_blocks(found):
    expected = np.mean([antisymmetric(seed) for seed in (1, 2, 4, 5, 6)], axis=0)
    np.testing.assert_allclose(found.means(), expected, rtol=1e-12)
    assert [query for query, _ in found.differences()] == ["q1", "q2", "q4", "q5", "q6"]
    frame = found.frame()
    assert frame.select("system", "other").rows()[:3] == [("a", "b"), ("a", "c"), ("b", "a")]
    assert frame["value"][1] == found.means()[0, 2]
    assert frame["queries"].to_list() == [5] * 6
    rows = found.per_query().filter(system="b", other="c")
    assert rows["query"].to_list() == ["q1", "q2", "q4", "q5", "q6"]
    assert rows["value"][2] == antisymmetric(4)[1, 2]


def test_win_rates__weigh_the_systems_of_a_group_as_one(found):
    assert found.opponents(by_group=True).tolist() == [0.5, 0.5, 1.0]
    values, means = found.win_rates(by_group=True).values, found.win_rates().values
    assert np.isnan(values[2]).all()
    one = antisymmetric(5)
    np.testing.assert_allclose(means[4], one.sum(axis=1) / 2, rtol=1e-12)
    expected = [(one[0, 1] / 2 + one[0, 2]) / 1.5, (one[1, 0] / 2 + one[1, 2]) / 1.5]
    np.testing.assert_allclose(values[4], [*expected, one[2, :2].mean()], rtol=1e-12)


def test_track_preferences__without_blocks():
    nothing = TrackPreferences("Mine", "t", SYSTEMS, (), ())
    assert np.isnan(nothing.means()).all()
    assert nothing.win_rates().values.shape == (0, 3)
    assert nothing.per_query().is_empty()


VALUES = np.array([[1.0, 3.0, np.nan], [np.inf, np.inf, 2.0]])
DIFFERENCES = [
    [[0, -2, np.nan], [2, 0, np.nan], [np.nan] * 3],
    [[np.nan, np.nan, np.inf], [np.nan, np.nan, np.inf], [-np.inf, -np.inf, 0]],
]


def matrix(direction: int = 1) -> Matrix:
    return Matrix(VALUES, ("1", "2"), ("a", "b", "c"), "AP", "t", direction)


@pytest.mark.parametrize("direction", [1, -1])
def test_preference_of__matrix_gives_oriented_differences(direction):
    preference = Preference.of(matrix(direction))
    assert (preference.name, preference.queries) == ("AP", ("1", "2"))
    assert preference.systems == ("a", "b", "c")
    found = [preference.difference(query) for query in range(2)]
    np.testing.assert_array_equal(found, direction * np.array(DIFFERENCES))


def test_preference_of__verdicts_give_signs():
    verdicts = Verdicts.of(matrix())
    preference = Preference.of(verdicts)
    assert (preference.name, preference.systems) == ("AP", ("a", "b", "c"))
    for query, sign in enumerate(verdicts):
        assert preference.difference(query).dtype == np.float64
        np.testing.assert_array_equal(preference.difference(query), sign)


def test_preference_of__returns_a_preference_unchanged():
    preference = Preference.of(matrix())
    assert Preference.of(preference) is preference
    assert ImportedByStatistics is Preference

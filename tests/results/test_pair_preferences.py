"""`TrackPreferences` of several blocks, with undefined queries and groups."""

from __future__ import annotations

import numpy as np
import pytest

from irmeta.results.verdicts import BlockPreferences, TrackPreferences

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

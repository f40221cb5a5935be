"""Preferences of matrices, verdicts and functions."""

import numpy as np
import pytest

from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import Preference, Verdicts
from irmeta.stats.verdict_agreement import Preference as ImportedByStatistics

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

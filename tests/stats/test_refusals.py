"""Invalid arguments of statistics raise clear errors; numpy integers are valid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from irmeta.errors import UsageError
from irmeta.policies import ReadPolicy
from irmeta.results.matrix import Matrix
from irmeta.stats import hsd
from irmeta.stats.aggregation import mc4
from irmeta.stats.correlation import correlate
from irmeta.stats.discriminative_power import power
from irmeta.stats.new_measure import better, coverage
from irmeta.stats.pairs import pairwise
from irmeta.stats.permutation_bootstrap import bootstrap, permutation_p
from irmeta.stats.ranking_stability import stability, swap_rates
from irmeta.stats.resampling import query_subsets
from irmeta.studies.reanalysis.study import OverviewOptions

QUERIES, SYSTEMS = tuple("123456"), ("a", "b", "c")
VALUES = np.random.default_rng(0).random((len(QUERIES), len(SYSTEMS)))
MATRIX = Matrix(VALUES, QUERIES, SYSTEMS, "AP", "t")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: power(MATRIX, alpha=(95,)), "alpha = 95 is not between 0 and 1"),
        (lambda: coverage(MATRIX, MATRIX, alpha=95), "alpha = 95 is not between 0 and 1"),
        (lambda: better(MATRIX, alpha=-1), "alpha = -1 is not between 0 and 1"),
        (lambda: pairwise(MATRIX).separated(float("nan")), "alpha = nan is not"),
        (lambda: pairwise(MATRIX, confidence=95), "confidence = 95 is not"),
        (lambda: pairwise(MATRIX, "bootstrap", resamples=10.5), "resamples = 10.5 is not"),
        (lambda: permutation_p(VALUES, 0), "resamples = 0 is not"),
        (lambda: bootstrap(VALUES, 0), "resamples = 0 is not"),
        (lambda: hsd.mean_square_error(VALUES, "oneway"), "Did you mean 'one-way'"),
        (lambda: Matrix(VALUES, QUERIES, SYSTEMS, direction=0), "direction = 0 is neither"),
        (lambda: Matrix("x", QUERIES, SYSTEMS), "values must be numbers"),
        (lambda: swap_rates(MATRIX, bins=2.5), "bins = 2.5 is not"),
        (lambda: mc4(MATRIX, steps=2.5), "steps = 2.5 is not"),
        (lambda: query_subsets(MATRIX, [2], 2.5), "replicates = 2.5 is not"),
        (lambda: OverviewOptions(rarity_depth=2.5), "rarity_depth = 2.5 is not"),
        (lambda: OverviewOptions(unretrieved="none"), "unretrieved = 'none' is not a choice"),
        (lambda: correlate({"x": np.ones((2, 3)), "y": np.ones((2, 3))}), "one value for each"),
        (lambda: correlate(np.array([["a", "b"]])), "orderings must be numeric"),
        (
            lambda: correlate(pl.DataFrame({"s": ["a"], "x": [1.0], "y": ["?"]})),
            "column 'y' is not numeric",
        ),
    ],
)
def test_statistics__error_names_the_invalid_argument(call: Callable[[], object], said: str):
    with pytest.raises(UsageError, match=said):
        call()


def test_statistics__accept_numpy_integers():
    ten = np.int64(10)
    same = (
        pairwise(MATRIX, "bootstrap", resamples=ten).p_adjusted
        == pairwise(MATRIX, "bootstrap", resamples=10).p_adjusted
    )
    assert same.all()
    assert stability(MATRIX, size=np.int32(2), trials=ten).size == 2
    assert type(OverviewOptions(rarity_depth=ten).rarity_depth) is int
    assert type(ReadPolicy(depth=ten).depth) is int


def test_matrix__accepts_lists_of_values():
    assert Matrix([[1, 2], [3, 4]], ("1", "2"), ("a", "b")).means.tolist() == [2, 3]

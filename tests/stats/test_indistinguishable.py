"""Groups of systems without a significant difference."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.stats.discriminative_power import indistinguishable_groups
from twins.significance import sets_without_difference


@st.composite
def separations(draw: st.DrawFn) -> np.ndarray:
    size = draw(st.integers(0, 7))
    pairs = list(combinations(range(size), 2))
    found = np.zeros((size, size), bool)
    for a, b in draw(st.lists(st.sampled_from(pairs))) if pairs else []:
        found[a, b] = found[b, a] = True
    return found


@given(separations())
def test_indistinguishable_groups__all_largest_sets(separated: np.ndarray):
    assert indistinguishable_groups(separated) == sets_without_difference(separated.tolist())


def test_indistinguishable_groups__none_where_there_are_too_many():
    separated = np.zeros((20, 20), bool)
    for i in range(0, 20, 2):  # 2 ** 10 sets: one system of each pair
        separated[i, i + 1] = separated[i + 1, i] = True
    assert indistinguishable_groups(separated) is None
    assert len(indistinguishable_groups(separated, most=1024) or []) == 1024


def test_comparison_groups__a_shared_letter_is_no_difference(made_store: irmeta.Store):
    (comparison,) = irmeta.compare(made_store, "AP", track="news", test="hsd-randomised")
    groups = comparison.groups()
    assert groups is not None
    assert groups["system"].equals(comparison.systems["system"])
    letters = dict(groups.iter_rows())
    separated = comparison.pairs.separated(comparison.alpha)
    for (i, a), (j, b) in combinations(enumerate(comparison.pairs.systems), 2):
        assert separated[i, j] == (not set(letters[a]) & set(letters[b])), (a, b)
    assert groups["groups"][0] == "a"
    (baseline,) = irmeta.compare(made_store, "AP", track="web", baseline="ibisBase", test="t")
    assert baseline.groups() is None


def test_comparison_groups__numbers_beyond_the_alphabet():
    size = 30  # neighbours by mean do not differ, so that there are 29 groups
    matrix = irmeta.Matrix(
        np.zeros((2, size)), ("q1", "q2"), tuple(f"s{i:02}" for i in range(size))
    )
    (comparison,) = irmeta.compare(matrix)
    p = np.where(abs(np.subtract.outer(np.arange(size), np.arange(size))) > 1, 0.0, 1.0)
    comparison.pairs.p_adjusted[:] = p
    groups = comparison.groups()
    assert groups is not None
    assert groups.filter(pl.col("system") == "s02")["groups"].to_list() == ["2,3"]

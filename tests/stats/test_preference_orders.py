"""Orders by preference, their rank sets, and intransitive triples."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import UsageError
from irmeta.results.verdicts import Verdicts
from irmeta.stats.aggregation import borda, mc4
from irmeta.stats.orders import rank_rows
from irmeta.stats.preferences import intransitive_triples, preference_order
from irmeta.stats.rank_confidence import rank_sets
from support.judged import numbered_matrix


def test_rank_rows__ties_share_the_smallest_rank():
    scores = np.array([[0.5, 1.0, 0.5 + 1e-14, 0.0], [np.nan, 1, 2, np.nan]])
    assert rank_rows(scores).tolist() == [[2, 1, 2, 4], [3, 2, 1, 3]]
    tiny = np.array([[1.0, 3e-11, 2e-11, 3e-11 * (1 + 1e-12)]])
    assert rank_rows(tiny, relative=True).tolist() == [[1, 2, 4, 2]]


@given(st.integers(0, 999), st.integers(2, 8), st.integers(2, 7))
def test_preference_order__equals_aggregation_of_verdicts(seed, queries, systems):
    values = numbered_matrix(np.random.default_rng(seed).integers(0, 3, (queries, systems)))
    verdicts = Verdicts.of(values)
    decided = {"majority": "decided"}
    for by, order, choices in (
        ("borda", borda(verdicts), {}),
        ("mc4", mc4(verdicts, steps=10), {}),
        ("mc4", mc4(verdicts, steps=10, **decided), decided),
    ):
        found = preference_order(values, by, resamples=20, **choices)
        both = found.join(order, on="system", suffix="_expected")
        assert both.height == systems
        assert both["rank"].to_list() == both["rank_expected"].to_list()
        assert both["score"].to_list() == pytest.approx(both["score_expected"].to_list())


def test_preference_order__rank_sets_are_those_of_win_rates_and_of_borda_counts():
    values = np.random.default_rng(4).normal([0, 1, 1, 4], 0.5, (30, 4)).round(1)
    found = preference_order(numbered_matrix(values), resamples=60, rng=9).drop("score")
    columns = ("system", "rank", "rank_low", "rank_high")
    sets = rank_sets(numbered_matrix(values), resamples=60, rng=9).systems
    assert found.equals(sets.select(columns))
    better = [[(row[s] > row).sum() + (row[s] == row).sum() / 2 - 0.5 for s in range(4)]
              for row in values]  # fmt: skip
    found = preference_order(numbered_matrix(values), "borda", resamples=60, rng=9)
    sets = rank_sets(numbered_matrix(better), resamples=60, rng=9).systems
    assert found.select(columns).equals(sets.select(columns))
    assert found["score"].sum() == pytest.approx(np.sum(better))
    assert found["rank_low"].to_list()[0] == 1


def test_preference_order__no_rank_sets_by_mc4():
    values = np.random.default_rng(4).integers(0, 4, (30, 5))
    found = preference_order(numbered_matrix(values), "mc4")
    assert found["rank"].is_sorted()
    assert found["rank_low"].to_list() == found["rank_high"].to_list() == [None] * 5


def test_preference_order__single_system_and_no_query():
    nothing = numbered_matrix(np.full((2, 1), np.nan))
    for by in ("win-rate", "borda", "mc4"):
        assert preference_order(nothing, by)["rank"].to_list() == [None]
    frame = preference_order(numbered_matrix([[1.0], [2.0]]), "mc4")
    assert frame.select(pl.exclude("score")).rows() == [("s0", 1, None, None)]


def test_preference_order__unknown_rule_is_an_error():
    with pytest.raises(UsageError, match="by = 'elo' is not a choice"):
        preference_order(numbered_matrix([[1, 2]]), "elo")
    with pytest.raises(UsageError, match="majority = 'half' is not a choice"):
        preference_order(numbered_matrix([[1, 2]]), "mc4", majority="half")
    with pytest.raises(UsageError, match="majority = 'decided' is for by = 'mc4', not 'borda'"):
        preference_order(numbered_matrix([[1, 2]]), "borda", majority="decided")


@given(st.integers(0, 999), st.integers(0, 7))
def test_intransitive_triples__equal_naive_count(seed, systems):
    signs = np.random.default_rng(seed).integers(-1, 2, (3, systems, systems))
    upper = np.triu(signs, 1)
    preferences = (upper - upper.transpose(0, 2, 1)).astype(float)
    cycles = triples = 0
    for one in preferences:
        for a, b, c in permutations(range(systems), 3):
            if a == min(a, b, c):
                cycles += one[a, b] > 0 and one[b, c] > 0 and one[c, a] > 0
                triples += b < c
    expected = pytest.approx(cycles / triples) if triples else pytest.approx(np.nan, nan_ok=True)
    assert intransitive_triples(preferences) == expected
    gaps = [*preferences, np.full((systems, systems), np.nan)]
    assert intransitive_triples(gaps) == expected

"""Orders by preference, their bootstrap intervals, and intransitive triples."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irmeta
from irmeta.errors import UsageError
from irmeta.results.verdicts import Verdicts
from irmeta.stats.aggregation import borda, mc4, rank_intervals, rank_rows
from irmeta.stats.preferences import intransitive_triples, preference_order


def matrix(values: object, direction: int = 1) -> irmeta.Matrix:
    array = np.asarray(values, float)
    queries, systems = (
        tuple(f"{letter}{i}" for i in range(size))
        for letter, size in zip("qs", array.shape, strict=True)
    )
    return irmeta.Matrix(array, queries, systems, "AP", direction=direction)


def naive_rank(means: list[float]) -> list[int]:
    return [1 + sum(other > own + 1e-9 for other in means) for own in means]


@given(st.integers(0, 999), st.integers(2, 6), st.integers(1, 6))
def test_rank_intervals__equal_naive_bootstrap_of_the_same_draws(seed, queries, systems):
    values = np.random.default_rng(seed).integers(0, 4, (queries, systems))
    found = rank_intervals(matrix(values), resamples=80, rng=seed).sort("system")
    draws = np.random.default_rng(seed).random((80, queries), np.float32)
    ranks = [
        naive_rank([float(np.mean([values[int(np.float64(d) * queries), s] for d in row]))
                    for s in range(systems)])
        for row in draws
    ]  # fmt: skip
    assert found["rank"].to_list() == naive_rank(values.mean(axis=0).tolist())
    for s in range(systems):
        own = sorted(row[s] for row in ranks)
        assert found["rank_low"][s] == own[1]  # the 2nd and the 78th of 80
        assert found["rank_high"][s] == own[77]
        first = sum((row[s] == 1) / row.count(1) for row in ranks) / 80
        assert found["p_first"][s] == pytest.approx(first)
    assert found["p_first"].sum() == pytest.approx(1)


def test_rank_intervals__less_is_better_reverses_the_order():
    found = rank_intervals(matrix([[1, 2, 3], [1, 2, 3]], direction=-1))
    columns = ("system", "mean", "rank", "rank_low", "rank_high", "p_first")
    assert found.select(columns).rows() == [
        ("s0", 1.0, 1, 1, 1, 1.0), ("s1", 2.0, 2, 2, 2, 0.0), ("s2", 3.0, 3, 3, 3, 0.0)
    ]  # fmt: skip


def test_rank_intervals__few_queries():
    one = rank_intervals(matrix([[1, 2]]))
    assert one.select("system", "rank", "rank_low", "p_first").rows() == [
        ("s1", 1, None, None), ("s0", 2, None, None)
    ]  # fmt: skip
    none = rank_intervals(matrix(np.full((2, 2), np.nan)))
    assert none["rank"].to_list() == none["rank_high"].to_list() == [None, None]
    assert none["mean"].is_nan().all()


@pytest.mark.parametrize(
    ("choices", "message"), [({"resamples": 0}, "resamples"), ({"confidence": 0}, "confidence")]
)
def test_rank_intervals__invalid_argument_is_an_error(choices, message):
    with pytest.raises(UsageError, match=message):
        rank_intervals(matrix([[1, 2]]), **choices)


def test_rank_rows__ties_share_the_smallest_rank():
    scores = np.array([[0.5, 1.0, 0.5 + 1e-14, 0.0], [np.nan, 1, 2, np.nan]])
    assert rank_rows(scores).tolist() == [[2, 1, 2, 4], [3, 2, 1, 3]]
    tiny = np.array([[1.0, 3e-11, 2e-11, 3e-11 * (1 + 1e-12)]])
    assert rank_rows(tiny, relative=True).tolist() == [[1, 2, 4, 2]]


@given(st.integers(0, 999), st.integers(2, 8), st.integers(2, 7))
def test_preference_order__equals_aggregation_of_verdicts(seed, queries, systems):
    values = matrix(np.random.default_rng(seed).integers(0, 3, (queries, systems)))
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


@pytest.mark.parametrize("by", ["borda", "mc4", "mc4 decided"])
def test_preference_order__intervals_equal_orders_of_resampled_queries(by):
    values = np.random.default_rng(4).integers(0, 4, (6, 5))  # wins on half of the queries
    by, _, majority = by.partition(" ")
    majority = majority or "queries"
    found = preference_order(matrix(values), by, majority=majority, resamples=60, rng=9)
    found = found.sort("system")
    draws = np.random.default_rng(9).random((60, 6), np.float32)
    ranks = []
    for row in draws:
        drawn = matrix(values[(row.astype(float) * 6).astype(int)])
        verdicts = Verdicts.of(drawn)
        chain = mc4(verdicts, steps=10, majority=majority)
        order = borda(verdicts) if by == "borda" else chain
        ranks.append(order.sort("system")["rank"].to_list())
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="inverted_cdf")
    assert found["rank_low"].to_list() == low.tolist()
    assert found["rank_high"].to_list() == high.tolist()


def test_preference_order__single_system_and_no_query():
    nothing = matrix(np.full((2, 1), np.nan))
    for by in ("win-rate", "borda", "mc4"):
        assert preference_order(nothing, by)["rank"].to_list() == [None]
    frame = preference_order(matrix([[1.0], [2.0]]), "mc4")
    assert frame.select(pl.exclude("score")).rows() == [("s0", 1, 1, 1, 1.0)]


def test_preference_order__unknown_rule_is_an_error():
    with pytest.raises(UsageError, match="by = 'elo' is not a choice"):
        preference_order(matrix([[1, 2]]), "elo")
    with pytest.raises(UsageError, match="majority = 'half' is not a choice"):
        preference_order(matrix([[1, 2]]), "mc4", majority="half")
    with pytest.raises(UsageError, match="majority = 'decided' is for by = 'mc4', not 'borda'"):
        preference_order(matrix([[1, 2]]), "borda", majority="decided")


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

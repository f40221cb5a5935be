"""Leaderboards by two sets of labels, compared with naive code and by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from irmeta.results.matrix import Matrix
from irmeta.stats import conclusions
from irmeta.stats import judged_orders as orders
from irmeta.stats.paired import (
    paired_differences,
    significant_signs,
    unpaired_differences,
    upper_values,
)
from irmeta.stats.pairs import pairwise
from irmeta.stats.resampling import draw_query_sets
from twins import judging as twin
from twins import orders as naive_orders
from twins import significance as naive

VALUES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.75, 1.0])
SEED = np.random.SeedSequence(5)


def matrices(queries: int, systems: int) -> st.SearchStrategy[list[list[float]]]:
    row = st.lists(VALUES, min_size=systems, max_size=systems)
    return st.lists(row, min_size=queries, max_size=queries)


SIDES = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(matrices(*shape), matrices(*shape))
)

SIDES_OF_HALVES = st.tuples(st.integers(4, 8), st.integers(2, 4)).flatmap(
    lambda shape: st.tuples(matrices(*shape), matrices(*shape))
)


@given(SIDES, st.integers(1, 5))
def test_best__shares_overlap_and_regret_equal_all_ways_to_break_ties(sides, size: int):
    every = [1] * len(sides[0])
    reference, judge = (twin.means(side, every) for side in sides)
    if size > len(reference):
        assert all(math.isnan(one) for one in regret_of(reference, judge, size))
        return
    found = orders.shares_of_best(np.array(judge), size)
    assert found.tolist() == pytest.approx(twin.shares_of_best(judge, size))
    assert orders.common_best(np.array(reference), np.array(judge), size) == pytest.approx(
        twin.common_best(reference, judge, size)
    )
    _, regret = regret_of(reference, judge, size)
    assert regret == pytest.approx(twin.regret(reference, judge, size), abs=1e-12)
    assert regret >= 0


def regret_of(reference: list[float], judge: list[float], size: int) -> tuple[float, float]:
    return orders.regret_of_best(np.array(reference), np.array(judge), size)


@pytest.mark.exhaustive
@given(SIDES)
def test_correlations__of_drawn_queries_equal_twins(sides):
    reference, judge = map(np.array, sides)
    weights = orders.drawn_queries(len(reference), 3, SEED)
    means = [orders.means_of(side, weights) for side in (reference, judge)]
    found = orders.order_correlations(*means)
    for draw, times in enumerate(np.rint(weights * len(reference)).astype(int).tolist()):
        x, y = (twin.means(side, times) for side in sides)
        expected = {
            "tau_b": naive_orders.kendall_tau_b(x, y),
            "spearman": naive_orders.spearman(x, y),
            "tau_ap": naive_orders.tau_ap_a(x, y),
            "tau_ap_judge": naive_orders.tau_ap_a(y, x),
            "tau_gap": naive_orders.tau_gap(x, y),
            "pearson": naive_orders.pearson(x, y),
            "rmse": naive_orders.rmse(x, y),
        }
        assert expected.keys() == orders.LIMITS.keys()
        if len(set(x)) == 1 or len(set(y)) == 1:
            expected |= dict.fromkeys(("tau_ap", "tau_ap_judge"), math.nan)
        assert {name: found[name][draw] for name in expected} == pytest.approx(
            expected, nan_ok=True, abs=1e-9
        )


@given(st.integers(2, 9), st.integers(1, 20))
def test_half_weights__are_equal_halves_without_a_common_query(queries: int, splits: int):
    halves = draw_query_sets(queries, queries // 2, 2, splits, 0)
    weights = orders.half_weights(halves, queries)
    for split, both in enumerate(halves.tolist()):
        assert not set(both[0]) & set(both[1])
        for half, side in zip(both, weights, strict=True):
            assert len(half) == queries // 2
            expected = [float(q in half) / len(half) for q in range(queries)]
            assert side[split].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("correction", ["none", "holm"])
@given(matrices(5, 4), st.sampled_from([0.01, 0.05, 0.3]))
def test_significant_signs__equal_the_p_values(correction: str, values, alpha: float):
    array = np.array(values)
    found = significant_signs(paired_differences(array), alpha, correction == "holm")
    matrix = Matrix(array, tuple("12345"), tuple("abcd"))
    expected = pairwise(matrix, correction=correction).better(alpha)
    assert found.tolist() == conclusions.pair_signs(expected).tolist()
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    p = [naive.paired_t(naive.column(values, a), naive.column(values, b))[1] for a, b in pairs]
    p = naive.holm(p) if correction == "holm" else p
    for sign, one in zip(found, p, strict=True):
        if abs(one - alpha) > 1e-9:
            assert bool(sign) == (one <= alpha)


def squares(size: int) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.sampled_from([-1, 0, 1]), min_size=size, max_size=size)
    return st.lists(row, min_size=size, max_size=size)


SIGNS = st.integers(1, 5).flatmap(lambda size: st.tuples(*[squares(size)] * 3))


@given(SIGNS)
def test_conclusions__equal_the_counts_of_pairs(drawn):
    mine, theirs, sign = (_antisymmetric(np.array(one)) for one in drawn)
    signs = conclusions.pair_signs(mine > 0), conclusions.pair_signs(theirs > 0)
    found = conclusions.count_conclusions(*signs, upper_values(sign.astype(float)))
    expected = twin.conclusions(mine.tolist(), theirs.tolist())
    assert {name: getattr(found, name) for name in expected} == expected
    upper = np.triu(np.ones(mine.shape, bool), 1)
    assert found.new_agree == int(((mine == 0) & (theirs != 0) & (sign == theirs) & upper).sum())
    total = found.kept + found.reversed + found.lost
    assert math.isnan(found.survived) if not total else found.survived == found.kept / total


def test_conclusions__rounding_error_of_equal_means_is_no_direction():
    """Of two systems with equal sums of P@10, no judge agrees with the order."""
    a, b = np.array([[9, 2, 1, 3, 4], [1, 9, 4, 3, 2]]) / 10
    assert sum(a - b) != 0
    signs = np.array([0], np.int8), np.array([np.sign(sum(a - b))], np.int8)
    assert conclusions.count_conclusions(*signs, np.array([sum(a - b)])).new_agree == 0
    for moments in (paired_differences, unpaired_differences):
        assert moments(np.column_stack([a, b])).mean[0, 1] == 0


def _antisymmetric(signs: np.ndarray) -> np.ndarray:
    upper = np.triu(signs, 1)
    return upper - upper.T


def test_halves__conclusions_of_each_are_compared_with_the_other():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(12, 3)) * 0.1 + np.array([0.9, 0.5, 0.5])
    halves = draw_query_sets(12, 6, 2, 4, 0)
    found = list(conclusions.conclusions_of_halves(values, halves, 0.05, [False, True]))
    names = tuple(map(str, range(6)))
    for both, one, other in zip(halves, found[::2], found[1::2], strict=True):
        for i, correction in enumerate(("none", "holm")):
            sides = [
                pairwise(Matrix(values[part], names, tuple("abc")), correction=correction)
                for part in both
            ]
            signs = [conclusions.pair_signs(side.better(0.05)) for side in sides]
            means = [upper_values(side.difference) for side in sides]
            assert one[i] == conclusions.count_conclusions(signs[0], signs[1], means[0])
            assert other[i] == conclusions.count_conclusions(signs[1], signs[0], means[1])
    assert sum(one.kept for one, _ in found) > 0


def test_interval__is_around_the_estimate_and_within_bounds():
    draws = np.array([0.8, 0.9, np.nan, 1.0])
    found = orders.around_estimate(0.98, draws)
    assert (found.drawn, found.sd) == (pytest.approx(0.9), pytest.approx(0.1))
    assert (found.low, found.high) == (pytest.approx(0.98 - 0.196, abs=1e-4), 1.0)
    undefined = orders.around_estimate(0.5, np.array([np.nan, 0.2]))
    assert math.isnan(undefined.low)
    assert undefined.value == 0.5


def test_places__ties_are_in_the_order_of_the_systems():
    assert orders.places(np.array([0.2, 0.5, 0.2, 0.9])).tolist() == [2, 1, 3, 0]


@given(SIDES_OF_HALVES, st.sampled_from([0.05, 0.3]))
def test_survival_limits__equal_shares_of_halves_one_by_one(sides, alpha: float):
    queries = len(sides[0])
    halves = draw_query_sets(queries, queries // 2, 2, 4, 1)
    shares = [_survived(sides, half, alpha) for both in halves.tolist() for half in both]
    known = [share for share in shares if not math.isnan(share)]
    found = conclusions.survival_limits(np.array(sides[0]), np.array(sides[1]), halves, alpha)
    whole = _survived(sides, list(range(queries)), alpha)
    if len(known) < 2 or math.isnan(whole):
        assert all(math.isnan(one) for one in found)
        return
    margin = t.ppf(0.975, queries - 1) * math.sqrt(naive.variance(known))
    expected = max(whole - margin, 0.0), min(whole + margin, 1.0)
    assert found == pytest.approx(expected, abs=1e-9)


def _survived(sides: Sequence[naive.Rows], queries: list[int], alpha: float) -> float:
    signs = list[dict[tuple[int, int], int]]()
    for side in sides:
        rows, found = [side[query] for query in queries], {}
        for a in range(len(rows[0])):
            for b in range(a + 1, len(rows[0])):
                x, y = naive.column(rows, a), naive.column(rows, b)
                if naive.paired_t(x, y)[1] <= alpha:
                    found[a, b] = 1 if naive.mean(x) > naive.mean(y) else -1
        signs.append(found)
    own, other = signs
    return (
        sum(other.get(pair) == sign for pair, sign in own.items()) / len(own) if own else math.nan
    )


@pytest.mark.parametrize(
    "queries", [9, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (20, 53))]
)
def test_survival_limits__cover_the_share_on_other_queries_in_simulations(queries: int):
    """30 systems; a judge with its own noise and its own bias for each system."""
    rng = np.random.default_rng(1)
    means, bias = rng.normal(0.4, 0.06, 30), rng.normal(0, 0.03, 30)

    def drawn() -> tuple[np.ndarray, np.ndarray]:
        noise = rng.normal(0, 0.15, (queries, 30)) + rng.normal(0, 0.2, (queries, 1))
        return means + noise, means + noise + bias + rng.normal(0, 0.12, (queries, 30))

    shares = [_share(*drawn()) for _ in range(500)]
    truth = np.nanmean(shares)
    halves = draw_query_sets(queries, queries // 2, 2, 50, 1)
    limits = np.array([conclusions.survival_limits(*drawn(), halves, 0.05) for _ in range(100)])
    assert ((limits[:, 0] <= truth) & (truth <= limits[:, 1])).mean() >= 0.9
    assert np.ptp(limits, axis=1).mean() < 8 * np.nanstd(shares)


def _share(reference: np.ndarray, judge: np.ndarray) -> float:
    tested = [paired_differences(one) for one in (reference, judge)]
    signs = [significant_signs(one, 0.05, holm=False) for one in tested]
    return conclusions.count_conclusions(signs[0], signs[1], upper_values(tested[0].mean)).survived

"""Preferences of all pairs of systems: naive implementation and integer limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irmeta.kernels import pair_preferences
from irmeta.kernels.jit import jit
from irmeta.kernels.pair_preferences import (
    add_preferences,
    add_weighted_preferences,
    preference_counts,
)
from support.examples import scaled
from twins.preferences import all_wins_less_losses, rpp

DTYPES = (np.uint16, np.uint32)


def made(
    rng: np.random.Generator, systems: int, levels: int, deepest: int, found: float
) -> list[list[int]]:
    """Draw ranks of relevant docs for each system; each is retrieved with probability `found`."""
    counts = rng.binomial(min(levels, deepest), found, systems)
    return [sorted((rng.choice(deepest, n, replace=False) + 1).tolist()) for n in counts]


def as_ranks(systems: list[list[int]], levels: int, dtype: type) -> np.ndarray:
    """Return ranks as an array like that of `JudgedRanks.sorted_ranks`."""
    ranks = np.full((levels, len(systems)), np.iinfo(dtype).max, dtype)
    for s, found in enumerate(systems):
        ranks[: len(found), s] = found
    return ranks


def counts_of(ranks: np.ndarray, start: int = 0, stop: int | None = None) -> np.ndarray:
    systems = ranks.shape[1]
    out = np.full((systems, systems), 99, np.int32)
    preference_counts(ranks, start, len(ranks) if stop is None else stop, out)
    return out


def preferences_of(ranks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    out = np.zeros((ranks.shape[1], ranks.shape[1]))
    add_preferences(ranks, offsets, out)
    return out


def by_query(ranks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Compute preferences from the counts of each query."""
    total = np.zeros((ranks.shape[1], ranks.shape[1]))
    for start, stop in pairwise(offsets):
        if stop > start:
            total += counts_of(ranks, start, stop) / (stop - start)
    return total


def assert_antisymmetric(found: np.ndarray) -> None:
    np.testing.assert_array_equal(found, -found.T)
    assert not np.diagonal(found).any()


@settings(deadline=None, max_examples=scaled(70))
@given(
    st.sampled_from(DTYPES),
    st.integers(1, 40),
    st.integers(0, 50),
    st.sampled_from([55, 1000]),  # 55 gives many ties
    st.sampled_from([0.1, 0.5, 0.9, 1.0]),
    st.integers(0, 2**32),
)
def test_preference_counts__equal_naive_implementation(
    dtype, systems, levels, deepest, found, seed
):
    held = made(np.random.default_rng(seed), systems, levels, deepest, found)
    out = counts_of(as_ranks(held, levels, dtype))
    np.testing.assert_array_equal(out, all_wins_less_losses(held, levels))
    assert_antisymmetric(out)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("systems", [31, 32, 33, 63, 64, 65, 130])
@pytest.mark.parametrize(("dtype", "deepest"), [(np.uint16, 65534), (np.uint32, 70000)])
def test_preference_counts__wide_blocks_and_deep_lists(systems, dtype, deepest):
    held = made(np.random.default_rng(systems), systems, 20, deepest, 0.8)
    held[0] = [deepest - 1, deepest]  # adjacent to the 16-bit rank of unretrieved docs
    out = counts_of(as_ranks(held, 20, dtype))
    np.testing.assert_array_equal(out, all_wins_less_losses(held, 20))


@settings(deadline=None, max_examples=scaled(40))
@given(
    st.sampled_from(DTYPES),
    st.integers(1, 40),
    st.lists(st.integers(0, 50), max_size=6),
    st.integers(0, 2**32),
)
def test_add_preferences__equals_naive_implementation(dtype, systems, levels, seed):
    rng = np.random.default_rng(seed)
    held = [made(rng, systems, m, 60, 0.6) for m in levels]
    empty = np.empty((0, systems), dtype)
    ranks = np.concatenate([empty, *map(lambda q, m: as_ranks(q, m, dtype), held, levels)])
    offsets = np.concatenate([[0], np.cumsum(levels, dtype=np.int64)]).astype(np.int64)
    out = preferences_of(ranks, offsets)
    np.testing.assert_array_equal(out, by_query(ranks, offsets))
    assert_antisymmetric(out)
    a, b = rng.integers(0, systems, 2)
    exact = sum((rpp(q[a], q[b], m) for q, m in zip(held, levels, strict=True) if m), Fraction(0))
    assert out[a, b] == pytest.approx(float(exact), abs=1e-14)


def test_add_preferences__adds_to_the_output_array():
    ranks, offsets = np.array([[1, 2, 2]], np.uint16), np.array([0, 1])
    out = np.array([[0.0, 1, 2], [-1, 0, 3], [-2, -3, 0]])
    add_preferences(ranks, offsets, out)
    assert out.tolist() == [[0, 2, 3], [-2, 0, 3], [-3, -3, 0]]


ROWS = pair_preferences.ROWS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("levels", [[ROWS, 1], [0, 700, 3000, 1, ROWS + 1, 0, 90, 4000, 500]])
def test_add_preferences__more_rows_than_a_block(dtype, levels):
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(levels)])
    ranks = rng.integers(1, 9, (offsets[-1], 35)).astype(dtype)
    out = preferences_of(ranks, offsets)
    np.testing.assert_allclose(out, by_query(ranks, offsets), rtol=0, atol=1e-14)
    assert_antisymmetric(out)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("levels", [32767, 32768, 65535, 65536, 70000])
def test_preference_counts__beyond_16_bits(dtype, levels):
    """System 0 beats 1 (nothing retrieved) on all levels; 2 beats 0 on half of them."""
    ranks = np.empty((levels, 3), dtype)
    ranks[:] = 7, np.iinfo(dtype).max, 7
    ranks[: levels // 2, 2] = 6
    half = levels // 2
    expected = [[0, levels, -half], [-levels, 0, -levels], [half, levels, 0]]
    assert counts_of(ranks).tolist() == expected
    found = preferences_of(ranks, np.array([0, levels]))
    np.testing.assert_array_equal(found, np.array(expected) / levels)


@pytest.mark.parametrize("dtype", DTYPES)
def test_preference_counts__ranks_at_the_limits_of_the_dtype(dtype):
    top = int(np.iinfo(dtype).max)
    values = [1, 2, top // 2, top // 2 + 1, top - 1, top]
    found = counts_of(np.array([values], dtype))
    assert found.tolist() == [[(b > a) - (b < a) for b in values] for a in values]


def weighted_of(ranks: np.ndarray, weights: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    out = np.zeros((ranks.shape[1], ranks.shape[1]))
    add_weighted_preferences(ranks, weights, offsets, out)
    return out


@settings(deadline=None, max_examples=scaled(40))
@given(
    st.sampled_from(DTYPES),
    st.integers(1, 70),
    st.lists(st.integers(0, 50), max_size=6),
    st.integers(0, 2**32),
)
def test_add_weighted_preferences__equals_naive_implementation(dtype, systems, levels, seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(levels, dtype=np.int64)]).astype(np.int64)
    ranks = rng.integers(1, 30, (offsets[-1], systems)).astype(dtype)
    ranks[rng.random(ranks.shape) < 0.2] = np.iinfo(dtype).max
    weights = rng.random(len(ranks))
    expected = np.zeros((systems, systems))
    for row, weight in zip(ranks.astype(np.int64), weights, strict=True):
        expected += weight * np.sign(row - row[:, None])
    out = weighted_of(ranks, weights, offsets)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)
    assert_antisymmetric(out)
    rounded = weighted_of(ranks, np.ones(len(ranks)), offsets)
    sums = [counts_of(ranks, start, stop) for start, stop in pairwise(offsets)]
    np.testing.assert_array_equal(rounded, sum(sums, np.zeros_like(rounded)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_over_queries__do_not_depend_on_how_queries_are_split(dtype):
    rng = np.random.default_rng(1)
    levels = [3, 0, 2500, 1700, 40, 7, 3000, 11, 900]
    offsets = np.concatenate([[0], np.cumsum(levels)])
    ranks = rng.integers(1, 40, (offsets[-1], 37)).astype(dtype)
    weights = rng.random(len(ranks))
    whole = preferences_of(ranks, offsets), weighted_of(ranks, weights, offsets)
    for cut in (1, 4, 8):
        plain, weighted = np.zeros((2, 37, 37))
        for part in (offsets[: cut + 1], offsets[cut:]):
            rows = slice(part[0], part[-1])
            add_preferences(ranks[rows], part - part[0], plain)
            add_weighted_preferences(ranks[rows], weights[rows], part - part[0], weighted)
        np.testing.assert_array_equal(plain, whole[0])
        np.testing.assert_array_equal(weighted, whole[1])


@jit
def add_shares(counts, levels, shares, at):
    pair_preferences._add_shares(counts, levels, shares, at)


@pytest.mark.exhaustive
def test_add_shares__rounded_like_a_division():
    for levels in [*range(1, 700), 32767, 99991, 2**31 - 1]:
        every = np.unique(np.linspace(-levels, levels, 2048).astype(np.int32))
        counts = np.resize(every, (4, 16, 32))
        shares = np.zeros((4, 16, 32))
        for i in range(4):
            add_shares(counts[i], float(levels), shares[i], 0)
        np.testing.assert_array_equal(shares, counts / levels)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("systems", [0, 1, 3])
def test_preference_counts_and_add_preferences__zero_without_rows(dtype, systems):
    ranks = np.empty((0, systems), dtype)
    assert not counts_of(ranks).any()
    assert not preferences_of(ranks, np.array([0])).any()
    assert not preferences_of(ranks, np.array([0, 0, 0])).any()


X = {2: 4, 3: 3, 7: 1, 9: 3}  # Section 3: grades by rank; missing 1, 1, 2, 4, 5
Y = {1: 3, 3: 4, 4: 5, 5: 3, 8: 1, 9: 1}  # missing 1, 2, 4


@pytest.mark.parametrize(
    ("grade", "m", "expected"),
    [(1, 9, -5), (4, 3, 0)],  # X wins i = 1 at grade 4, as Section 4 says; Y wins i = 2
)
def test_preference_counts__worked_example_of_the_paper(grade, m, expected):
    held = [sorted(rank for rank, g in ranking.items() if g >= grade) for ranking in (X, Y)]
    assert rpp(held[0], held[1], m) == Fraction(expected, m)
    assert counts_of(as_ranks(held, m, np.uint16))[0, 1] == expected

"""Kernels over lists: naive implementations as reference."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irmeta.kernels import lists as kernels
from irmeta.kernels.lists import gather_floats, gather_ints, gather_names
from irmeta.kernels.rank_agreement import count_level_pairs
from irmeta.trec.runs import NO_RANK
from irmeta.trec.tie_orders import contradicting_lists
from twins import reading as naive

SCORE = st.one_of(
    st.sampled_from([1.0, 1.0 + 1e-9, 0.0, -0.0, 2.0, -1.0, 1e39, 1e300, -1e39, 1e-50]),
    st.floats(-9, 9),
)
ROW = st.tuples(SCORE, st.integers(-2, 5) | st.just(NO_RANK))
LISTS = st.lists(st.lists(ROW, min_size=1, max_size=7), min_size=1, max_size=5)
FALLING = LISTS.map(lambda found: [sorted(rows, key=lambda r: -r[0]) for rows in found])


def laid_out(found: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *map(len, found)])
    rows = [row for own in found for row in own]
    return starts, np.array([r[0] for r in rows]), np.array([r[1] for r in rows], np.int32)


@given(st.one_of(LISTS, FALLING))
def test_score_states__equal_naive_implementation(found: list):
    starts, scores, _ = laid_out(found)
    states = np.empty(len(found), np.uint8)
    kernels.score_states(starts, scores, states)
    assert states.tolist() == [naive.goes([row[0] for row in rows]) for rows in found]


@given(LISTS)
def test_ranks_fall__detects_decreasing_ranks(found: list):
    starts, _, ranks = laid_out(found)
    fall = np.empty(len(found), bool)
    kernels.ranks_fall(starts, ranks, fall)
    assert fall.tolist() == [any(b < a for (_, a), (_, b) in pairwise(own)) for own in found]


@given(FALLING)
@example([[(2.0, 1), (1.0, NO_RANK), (0.5, 0)]])
@example([[(2.0, 3), (1.0, 4), (1.0, 2)]])
def test_ranks_contradict__equals_naive_implementation(found: list):
    starts, scores, ranks = laid_out(found)
    said = np.empty(len(found), bool)
    kernels.ranks_contradict(starts, scores, ranks, NO_RANK, said)
    right = [
        naive.contradicts([s for s, _ in rows], [None if r == NO_RANK else r for _, r in rows])
        for rows in found
    ]
    assert said.tolist() == right
    of_row = np.repeat(np.arange(len(found)), np.diff(starts))
    assert contradicting_lists(of_row, scores, ranks) == sum(right)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), min_size=1))
def test_spread_and_count_up__rows_and_ranks_of_lists(found: list[tuple[int, int]]):
    starts, lengths = np.array(found).T.copy()
    rows = np.empty(lengths.sum(), np.int64)
    kernels.spread(starts, lengths, rows)
    assert rows.tolist() == [start + i for start, length in found for i in range(length)]
    ranks = np.empty(len(rows), np.int32)
    kernels.count_up(np.cumsum([0, *lengths]), ranks)
    assert ranks.tolist() == [i + 1 for _, length in found for i in range(length)]


@given(FALLING, st.integers(0, 7), st.randoms())
def test_order_ties__sorts_tied_docs_in_descending_order(found: list, longest: int, random):
    starts, scores, _ = laid_out(found)
    docs = np.array(random.sample(range(99), len(scores)), np.int32)
    which = np.array([i for i in range(len(found)) if i % 3 != 2])
    has_long_tie, changed = np.empty(len(which), bool), np.empty((2, len(scores)), np.int64)
    count = kernels.order_ties(starts, which, scores, docs, longest, *changed, has_long_tie)
    rows = np.arange(len(scores))
    assert (changed[0, :count] != changed[1, :count]).all()
    rows[changed[0, :count]] = changed[1, :count]
    for i, own in enumerate(found):
        at, known = range(starts[i], starts[i + 1]), [naive.float32(score) for score, _ in own]
        blocks = [known.count(score) for score in known]
        if i in which:
            assert has_long_tie[which.tolist().index(i)] == (max(blocks) > longest)
        for row, block in zip(at, blocks, strict=True):
            if i not in which or block > longest:
                assert rows[row] == row
        if i in which and max(blocks) <= longest:
            best = sorted(at, key=lambda row: (-naive.float32(scores[row]), -docs[row]))
            assert rows[list(at)].tolist() == best


@pytest.mark.exhaustive
@given(FALLING)
def test_count_tied__equals_naive_implementation(found: list):
    starts, scores, _ = laid_out(found)
    which, (tied, rounded) = np.arange(len(found))[::2], np.zeros((2, len(found)), np.int64)
    kernels.count_tied(starts, which, scores, tied, rounded)
    known = [[naive.float32(score) for score, _ in rows] for rows in found]
    right = [sum(own.count(s) > 1 for s in own) for own in known]
    assert tied.tolist() == [count * (i % 2 == 0) for i, count in enumerate(right)]
    as_given = [[score for score, _ in rows] for rows in found]
    differing = [
        sum(len({b for b in own if naive.float32(b) == naive.float32(a)}) > 1 for a in own)
        for own in as_given
    ]
    assert rounded.tolist() == [count * (i % 2 == 0) for i, count in enumerate(differing)]


INTS = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=9)
FLOATS = st.lists(st.floats(allow_nan=False), min_size=1, max_size=9)


@st.composite
def places(draw: st.DrawFn, arrays: list[list]) -> list[tuple[int, int, int]]:
    """Draw lists as (array, first row, number of rows)."""
    found = []
    for _ in range(draw(st.integers(0, 6))):
        source = draw(st.integers(0, len(arrays) - 1))
        start = draw(st.integers(0, len(arrays[source])))
        found.append((source, start, draw(st.integers(0, len(arrays[source]) - start))))
    return found


def columns(chosen: list[tuple[int, int, int]]) -> tuple[np.ndarray, ...]:
    return tuple(np.array([place[i] for place in chosen], np.int64) for i in range(3))


def addresses(arrays: list[np.ndarray]) -> np.ndarray:
    return np.array([array.ctypes.data for array in arrays], np.int64)


@pytest.mark.parametrize(
    ("gather", "kind", "values"), [(gather_ints, np.int32, INTS), (gather_floats, float, FLOATS)]
)
@given(data=st.data())
def test_gather__equals_slices_bit_for_bit(gather, kind, values, data: st.DataObject):
    arrays = data.draw(st.lists(values, min_size=1, max_size=4))
    chosen = data.draw(places(arrays))
    held = [np.array(own, kind) for own in arrays]
    right = [value for i, start, size in chosen for value in arrays[i][start : start + size]]
    out = np.empty(len(right), kind)
    gather(addresses(held), *columns(chosen), out)
    assert out.tobytes() == np.array(right, kind).tobytes()


@given(st.data(), st.lists(st.lists(st.integers(0, 4), min_size=1), min_size=1, max_size=4))
def test_gather_names__maps_values_by_the_table_of_each_array(
    data: st.DataObject, arrays: list[list[int]]
):
    chosen = data.draw(places(arrays))
    tables = [data.draw(st.lists(st.integers(0, 99), min_size=5, max_size=5)) for _ in arrays]
    held = [np.array(own, np.int32) for own in arrays]
    kept = [np.array(own, np.int32) for own in tables]
    right = [tables[i][n] for i, start, size in chosen for n in arrays[i][start : start + size]]
    out = np.empty(len(right), np.int32)
    gather_names(addresses(held), addresses(kept), *columns(chosen), out)
    assert out.tolist() == right


MISSING = 65535
BINS = 20


def plain(ranks, is_first, terms):
    counts, distances = np.zeros(3, np.int64), np.zeros((len(terms), 2 * BINS + 1), np.int64)
    for level, row in enumerate(ranks):
        for a, b in combinations(range(len(row)), 2):
            differs = row[a] != row[b]
            counts += (differs, row[a] == row[b] == MISSING, differs and is_first[level])
            for d, term in enumerate(terms):
                scaled = abs(term[level, a] - term[level, b]) * BINS
                nearest = round(scaled)
                if not differs:
                    place = 0
                elif abs(scaled - nearest) <= 1e-9 and nearest > 0:
                    place = 2 * nearest
                else:
                    place = 2 * int(scaled) + 1
                distances[d, place] += 1
    return counts, distances


@pytest.mark.parametrize("seed", range(4))
def test_count_level_pairs__equals_plain_loops(seed: int):
    rng = np.random.default_rng(seed)
    ranks = np.sort(rng.integers(1, 9, (12, 7)), axis=0).astype(np.uint16)
    ranks[rng.random(ranks.shape) < 0.3] = MISSING
    is_first = rng.random(len(ranks)) < 0.3
    rank = ranks.astype(float)
    # 0.05 steps lie on the borders of bins, to rounding.
    terms = np.stack([0.5 ** (rank - 1), 1 / np.log2(rank + 1), np.maximum(1 - 0.05 * rank, 0)])
    terms[:, ranks == MISSING] = 0.0
    counts, distances = np.zeros(3, np.int64), np.zeros((len(terms), 2 * BINS + 1), np.int64)
    for part in (slice(0, 5), slice(5, None)):
        args = (ranks[part], is_first[part], MISSING, np.ascontiguousarray(terms[:, part]))
        count_level_pairs(*args, BINS, counts, distances)
    expected = plain(ranks.tolist(), is_first, terms)
    np.testing.assert_array_equal(counts, expected[0])
    np.testing.assert_array_equal(distances, expected[1])
    assert distances[:, 2::2].any()

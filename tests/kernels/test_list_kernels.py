"""Kernels over lists: naive implementations as reference."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irmeta.kernels import lists as kernels
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

"""The five tie orders against the naive twin, ranks, and ranks that contradict the scores."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import order as naive_order

from irmeta.errors import DataError
from irmeta.policies import TieOrder
from irmeta.trec.ordering import (
    as_float32,
    contradicting_lists,
    ranks_from,
    sort_lists,
    sorted_lists,
)
from irmeta.trec.rows import NO_RANK

ORDERS = get_args(TieOrder)
# Ties, ties as float32 only, signs of zero, and what float32 rounds to zero or to infinity.
SCORES = [1.0, 1.0, 1.0 + 1e-9, -1.0, -1.0 - 1e-9, 16777216.0, 16777217.0, 0.0, -0.0]
SCORES += [1e-50, -1e-50, 1e39, 1e300, -1e39, 0.1, 0.25]
DOCS = [
    "a",
    "b",
    "c",
    "d",
    "B",
    "doc10",
    "doc9",
    "é",
    "z",
    "zz",
    "ﬀ",
    "文",
    "😀",
    "\uffff",
    "1",
    "-",
]

LISTS = st.lists(
    st.lists(
        st.tuples(
            st.sampled_from(DOCS), st.sampled_from(SCORES) | st.floats(-9, 9), st.integers(-2, 4)
        ),
        unique_by=lambda row: row[0],
        max_size=8,
    ),
    min_size=1,
    max_size=4,
)


def permutation(order: str, lists: list, shuffle: np.ndarray | None = None) -> list[tuple]:
    """(list, doc) in the order of `sort_lists`; `shuffle` interleaves the rows of the lists."""
    rows = [(i, *row) for i, rows in enumerate(lists) for row in rows]
    if shuffle is not None:
        # The rows of one list keep their order among themselves.
        own = [iter([row for row in rows if row[0] == i]) for i in range(len(lists))]
        rows = [next(own[rows[at][0]]) for at in shuffle]
    place = {doc: i for i, doc in enumerate(sorted(DOCS, key=str.encode))}
    found = sort_lists(
        order,
        np.array([i for i, *_ in rows], np.int32),
        np.array([score for _, _, score, _ in rows], np.float64),
        np.array([place[doc] for _, doc, _, _ in rows], np.int32),
        np.arange(1, len(rows) + 1, dtype=np.int32),
        np.array([rank for *_, rank in rows], np.int32),
    )
    return [(rows[at][0], rows[at][1]) for at in found]


@pytest.mark.parametrize("order", ORDERS)
@given(lists=LISTS, seed=st.integers(0, 99))
def test_lists_are_ordered_as_the_naive_twin_orders_them(order, lists, seed):
    shuffle = np.random.default_rng(seed).permutation(sum(map(len, lists)))
    expected = [(i, doc) for i, rows in enumerate(lists) for doc in naive_order(rows, order)]
    assert permutation(order, lists) == expected
    assert permutation(order, lists, shuffle) == expected


@pytest.mark.parametrize(
    ("order", "docs"),
    [
        ("trec_eval", "dcba"),  # b, c and d tie as float32
        ("trec_eval10", "cdba"),
        ("score-file", "cbda"),
        ("file", "abcd"),
        ("rank", "bdac"),
    ],
)
def test_the_five_orders_differ(order, docs):
    rows = [("a", -2.0, 2), ("b", 1.0, 1), ("c", 1 + 1e-9, 3), ("d", 1.0, 1)]
    assert "".join(doc for _, doc in permutation(order, [rows])) == docs


def test_order_by_rank_needs_whole_ranks():
    with pytest.raises(DataError, match="tie order `rank`, but some ranks are not whole numbers"):
        permutation("rank", [[("a", 1.0, 1), ("b", 1.0, NO_RANK)]])
    assert permutation("file", [[("a", 1.0, NO_RANK)]]) == [(0, "a")]


def test_scores_beyond_float32_become_infinite_without_a_warning():
    assert as_float32(np.array([1e39, -1e39, 1e-50, 0.1])).tolist() == [
        np.inf,
        -np.inf,
        0.0,
        float(np.float32(0.1)),
    ]


@pytest.mark.parametrize(
    ("starts", "ranks"),
    [([0], []), ([0, 1], [1]), ([0, 3], [1, 2, 3]), ([0, 1, 1, 3, 6], [1, 1, 2, 1, 2, 3])],
)
def test_ranks_begin_anew_with_every_list(starts, ranks):
    found = ranks_from(np.array(starts))
    assert found.tolist() == ranks
    assert found.dtype == np.int32


@pytest.mark.parametrize(
    ("rows", "contradicting"),
    [
        ([(0, 3.0, 1), (0, 2.0, 2), (0, 1.0, 3)], 0),
        ([(0, 1.0, 3), (0, 2.0, 2), (0, 3.0, 1)], 0),  # only the file's order differs
        ([(0, 3.0, 3), (0, 2.0, 2), (0, 1.0, 1)], 1),
        ([(0, 3.0, 0), (0, 5.0, 0), (0, 1.0, 0)], 0),  # ranked 0 throughout
        ([(0, 2.0, 2), (0, 2.0, 1), (0, 1.0, 3)], 0),  # the rank column orders tied docs
        ([(0, 1.0, 1), (0, 1.0 + 1e-9, 2)], 0),  # tied as float32
        ([(0, 1.0, 1), (0, 2.0, NO_RANK), (0, 0.5, 2)], 0),  # what has no rank says nothing
        ([(0, 1.0, NO_RANK)], 0),
        ([(0, 1.0, 1), (1, 2.0, 2), (2, 1.0, 1), (2, 2.0, 2)], 1),  # lists apart
        ([(1, 1.0, 1), (0, 1.0, 1), (1, 2.0, 2), (0, 2.0, 2), (2, 2.0, 2), (2, 1.0, 3)], 2),
        ([], 0),
    ],
)
def test_a_list_contradicts_its_ranks_when_no_order_by_score_agrees(rows, contradicting):
    lists, score, rank = zip(*rows, strict=True) if rows else ([], [], [])
    found = contradicting_lists(
        np.array(lists, np.int32), np.array(score, np.float64), np.array(rank, np.int32)
    )
    assert found == contradicting


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.integers(-3, 3)), max_size=40),
    st.sampled_from([0, 2**32 - 4]),
)
def test_one_sort_of_64_bits_is_that_of_three_keys(rows, above):
    lists, key, tied = np.array(rows, np.int64).reshape(-1, 3).T
    found = sorted_lists(lists + above, key.astype(np.uint32), tied)
    wanted = sorted(rows)
    assert [rows[i] for i in found] == wanted


def test_lists_beyond_32_bits_are_refused():
    with pytest.raises(ValueError, match="numbered from 0"):
        sorted_lists(np.array([1, 2**32]), np.zeros(2, np.uint32), np.zeros(2))

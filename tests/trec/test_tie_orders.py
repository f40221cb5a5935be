"""Sorting of rows: tie orders of irmeta, and any other tie rule, against naive code."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.errors import DataError
from irmeta.kernels.lists import score_states
from irmeta.policies import TieOrder
from irmeta.trec import tie_orders
from irmeta.trec.runs import NO_RANK
from irmeta.trec.tie_orders import (
    TIE_RULES,
    TieRule,
    as_float32,
    contradicting_lists,
    missing_rank,
    order_lists,
    ranks_from,
    ranks_under,
    row_without_rank,
    sort_rows,
    sorted_lists,
    tie_blocks,
    tied_rows,
)
from twins.measures import float32
from twins.measures import order as naive_order

ORDERS = get_args(TieOrder)
RULES = [
    TieRule(column, tie_break, float32=single)
    for column, tie_break, single in product(
        ("score", "rank_given", "position"), ("doc", "line"), (False, True)
    )
    if column == "score" or not single
]
# Ties, ties in float32 only, signed zeros, and scores that are 0 or infinite in float32.
SCORES = [1.0, 1.0, 1.0 + 1e-9, -1.0, -1.0 - 1e-9, 16777216.0, 16777217.0, 0.0, -0.0]
SCORES += [1e-50, -1e-50, 1e39, 1e300, -1e39, 0.1, 0.25]
DOCS = [*"abcdBz1-é文😀ﬀ\uffff", "doc10", "doc9", "zz"]
ROW = st.tuples(
    st.sampled_from(DOCS), st.sampled_from(SCORES) | st.floats(-9, 9), st.integers(-2, 4)
)
LISTS = st.lists(
    st.lists(ROW, unique_by=lambda row: row[0], min_size=1, max_size=8), min_size=1, max_size=4
)
# As in real files, scores are nearly sorted, and often the ranks too.
NEARLY_SORTED = LISTS.map(lambda lists: [sorted(rows, key=lambda r: -r[1]) for rows in lists])


def arrays(rows: list[tuple]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return list numbers and columns for (list, doc, score, rank, position), docs as numbers."""
    number = {doc: i for i, doc in enumerate(sorted(DOCS, key=str.encode))}
    return np.array([i for i, *_ in rows], np.int64), {
        "doc": np.array([number[doc] for _, doc, *_ in rows], np.int32),
        "score": np.array([score for _, _, score, *_ in rows], np.float64),
        "rank_given": np.array([rank for *_, rank, _ in rows], np.int32),
        "position": np.array([position for *_, position in rows], np.int32),
    }


def numbered(lists: list) -> list[tuple]:
    """Return all rows, each with its list number first and its position last."""
    rows = [(i, *row) for i, rows in enumerate(lists) for row in rows]
    return [(*row, position) for position, row in enumerate(rows, 1)]


def docs_in_order(order: str, lists: list, shuffle: np.ndarray | None = None) -> list[tuple]:
    """Return (list, doc) in the order of `sort_rows`; `shuffle` interleaves the lists."""
    rows = numbered(lists)
    if shuffle is not None:
        # The rows of one list keep their order among themselves.
        of_list = [iter([row for row in rows if row[0] == i]) for i in range(len(lists))]
        rows = [next(of_list[rows[index][0]]) for index in shuffle]
    return [rows[index][:2] for index in sort_rows(order, *arrays(rows))]


@pytest.mark.parametrize("order", ORDERS)
@given(lists=LISTS, seed=st.integers(0, 99))
def test_sort_rows__equals_naive_order_of_each_list(order, lists, seed):
    shuffle = np.random.default_rng(seed).permutation(sum(map(len, lists)))
    expected = [(i, doc) for i, rows in enumerate(lists) for doc in naive_order(rows, order)]
    assert docs_in_order(order, lists) == expected
    assert docs_in_order(order, lists, shuffle) == expected


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
def test_sort_rows__the_five_orders_differ(order, docs):
    rows = [("a", -2.0, 2), ("b", 1.0, 1), ("c", 1 + 1e-9, 3), ("d", 1.0, 1)]
    assert "".join(doc for _, doc in docs_in_order(order, [rows])) == docs


def test_sort_rows__order_by_rank_needs_whole_ranks():
    without = [[("a", 1.0, 1), ("b", 1.0, NO_RANK)]]
    with pytest.raises(DataError, match="tie order `rank`, but some ranks are not whole numbers"):
        docs_in_order("rank", without)
    assert docs_in_order("file", without) == [(0, "a"), (0, "b")]


def test_row_without_rank__only_for_the_rank_order():
    columns = {"rank_given": np.array([1, NO_RANK, NO_RANK], np.int32)}
    assert {order: row_without_rank(order, columns) for order in ORDERS} == {
        **dict.fromkeys(ORDERS),
        "rank": 1,
    }
    assert row_without_rank("rank", {"rank_given": np.array([0, -1], np.int32)}) is None


def test_missing_rank__message_names_file_or_system_and_advice():
    assert str(missing_rank("rank", file="t/runs/x")) == (
        "t/runs/x: tie order `rank`, but some ranks are not whole numbers. "
        "Choose another tie order, or repair the rank column."
    )
    assert str(missing_rank("rank", track="t", system="x")) == (
        "track t: tie order `rank`, but some of its ranks are not whole numbers: 'x'. "
        "Choose another tie order, or leave the run out of the collection."
    )


def test_tie_rules__one_distinct_rule_per_tie_order():
    assert tuple(TIE_RULES) == ORDERS
    assert len(set(TIE_RULES.values())) == len(TIE_RULES)
    assert set(TIE_RULES.values()) <= set(RULES)


def naive_key(rule: TieRule, row: tuple) -> float:
    """Return the primary sort key, ascending."""
    _, _, score, rank, position = row
    if rule.column == "score":
        return -float32(score) if rule.float32 else -score
    return rank if rule.column == "rank_given" else position


def naive_rows(rule: TieRule, rows: list[tuple]) -> list[tuple]:
    """Sort the rows of one list by a rule."""
    if rule.tie_break == "doc":
        rows = sorted(rows, key=lambda row: row[1].encode(), reverse=True)
    return sorted(rows, key=lambda row: naive_key(rule, row))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("rule", RULES, ids=str)
@given(lists=LISTS | NEARLY_SORTED, longest_tie=st.sampled_from([1, 2, 64]))
def test_tie_rule__any_declared_rule_equals_naive_order(rule, lists, longest_tie):
    made: Any = "made"
    rows = numbered(lists)
    _, columns = arrays(rows)
    starts = np.cumsum([0, *map(len, lists)])
    expected = [naive_rows(rule, [row for row in rows if row[0] == i]) for i in range(len(lists))]
    in_order = [row for rows in expected for row in rows]
    states = np.empty(len(lists), np.uint8)
    score_states(starts, columns["score"], states)
    with (
        patch.dict(TIE_RULES, {"made": rule}),
        patch.object(tie_orders, "LONGEST_TIE", longest_tie),
    ):
        ranks = ranks_under(made, starts, columns)
        permutation = np.array([position - 1 for *_, position in in_order])
        first, last = tie_blocks(made, starts, columns, permutation)
        order_lists(made, starts, states, columns)
        tied, _ = tied_rows(made, starts, states, columns["score"])
    for name, values in arrays(in_order)[1].items():
        assert columns[name].tolist() == values.tolist()
    for i, listed in enumerate(expected):
        keys = [naive_key(rule, row) for row in listed]
        for rank, (*_, position) in enumerate(listed, 1):
            equal = [r for r, key in enumerate(keys, 1) if key == keys[rank - 1]]
            assert ranks[position - 1] == rank
            assert (first[position - 1], last[position - 1]) == (equal[0], equal[-1])
        scores = [float32(score) for _, _, score, *_ in listed]
        assert tied[i] == sum(scores.count(score) > 1 for score in scores)


@pytest.mark.parametrize("order", ORDERS)
def test_tie_order_functions__accept_zero_lists(order):
    _, columns = arrays([])
    starts = np.zeros(1, np.int64)
    states = np.empty(0, np.uint8)
    order_lists(order, starts, states, columns)
    assert ranks_under(order, starts, columns).tolist() == []
    assert [x.tolist() for x in tied_rows(order, starts, states, columns["score"])] == [[], []]
    blocks = tie_blocks(order, starts, columns, np.empty(0, np.int64))
    assert [block.tolist() for block in blocks] == [[], []]


def test_as_float32__large_scores_become_infinite_without_warning():
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
def test_ranks_from__ranks_restart_with_every_list(starts, ranks):
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
        ([(0, 1.0, 1), (0, 2.0, NO_RANK), (0, 0.5, 2)], 0),  # a row without a rank is ignored
        ([(0, 1.0, NO_RANK)], 0),
        ([(0, 1.0, 1), (1, 2.0, 2), (2, 1.0, 1), (2, 2.0, 2)], 1),  # lists are compared separately
        ([(1, 1.0, 1), (0, 1.0, 1), (1, 2.0, 2), (0, 2.0, 2), (2, 2.0, 2), (2, 1.0, 3)], 2),
        ([], 0),
    ],
)
def test_contradicting_lists__counts_lists_with_ranks_against_scores(rows, contradicting):
    lists, score, rank = zip(*rows, strict=True) if rows else ([], [], [])
    found = contradicting_lists(
        np.array(lists, np.int32), np.array(score, np.float64), np.array(rank, np.int32)
    )
    assert found == contradicting


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 2, *[st.integers(-2, 2)] * 2), max_size=40),
    st.sampled_from([0, 2**32 - 4]),
)
def test_sorted_lists__equals_sort_by_all_keys(rows, above):
    lists, key, *tie_keys = np.array(rows, np.int64).reshape(-1, 4).T
    permutation = sorted_lists(lists + above, key.astype(np.uint32), *tie_keys)
    assert [rows[i] for i in permutation] == sorted(rows)


def test_sorted_lists__list_numbers_beyond_32_bits_are_refused():
    with pytest.raises(ValueError, match="numbered from 0"):
        sorted_lists(np.array([1, 2**32]), np.zeros(2, np.uint32), np.zeros(2))

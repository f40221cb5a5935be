"""Sorting of rows by list, ranks, and ranks that contradict scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.trec.runs import NO_RANK
from irmeta.trec.tie_orders import as_float32, contradicting_lists, ranks_from, sorted_lists


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

"""Sort the rows of ranked lists, and rank rows that are in list order."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.lists import count_up, spread
from irmeta.trec.rows import NO_RANK


def sorted_lists(lists: np.ndarray, key: np.ndarray, *tie_keys: np.ndarray) -> np.ndarray:
    """Return the permutation that sorts rows by list, then key, then tie keys, each ascending.

    `lists` is the index of each row's list, from 0 to 2^32 - 1; `key` uint32, see `descending_bits`
    and `ascending_bits`.

    Raises
    ------
    ValueError
        If the index of a list does not fit into 32 bits.

    Notes
    -----
    One sort of 64 bits, then one of only the rows that share list and key, is faster than lexsort,
    which sorts all rows once per key.
    """
    if len(lists) and not 0 <= lists.min() <= lists.max() < 2**32:
        raise ValueError("lists are numbered from 0 to 2^32 - 1.")
    both = lists.astype(np.uint64) << np.uint64(32) | key
    permutation = np.argsort(both, kind="stable")  # fast for mostly sorted rows
    ordered = both[permutation]
    same = ordered[1:] == ordered[:-1]
    if same.any():
        tied = np.flatnonzero(np.r_[same, False] | np.r_[False, same])
        rows = permutation[tied]
        permutation[tied] = rows[np.lexsort((*(k[rows] for k in tie_keys[::-1]), both[rows]))]
    return permutation


def descending_bits(score: np.ndarray) -> np.ndarray:
    """Map float32 scores to uint32 in reverse order; 0 and -0 map to the same number."""
    bits = (score + np.float32(0)).view(np.uint32)
    ascending = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    return ~ascending


def ascending_bits(number: np.ndarray) -> np.ndarray:
    """Map int32 numbers to uint32 in the same order."""
    return (number.astype(np.int64) + 2**31).astype(np.uint32)


def as_float32(score: np.ndarray) -> np.ndarray:
    """Round scores as trec_eval 7-9 do; as in C, scores beyond float32 become infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return score.astype(np.float32)


def contradicting_lists(lists: np.ndarray, score: np.ndarray, rank: np.ndarray) -> int:
    """Count the lists whose rank column contradicts every order by score.

    After sorting by rank, then score, a rising score is a contradiction. Lists with all ranks 0, or
    with a rank column that only orders tied docs, have no contradiction.
    """
    known = rank != NO_RANK
    if not known.all():
        lists, score, rank = lists[known], score[known], rank[known]
    score = as_float32(score)
    by_rank = sorted_lists(lists, ascending_bits(rank), -score)
    same = lists[by_rank][1:] == lists[by_rank][:-1]
    rises = same & (score[by_rank][1:] > score[by_rank][:-1])
    return len(np.unique(lists[by_rank][1:][rises]))


def ranks_from(starts: np.ndarray) -> np.ndarray:
    """Return the 1-based ranks of rows in list order: int32. List i begins at row ``starts[i]``."""
    ranks = np.empty(starts[-1], np.int32)
    count_up(starts, ranks)
    return ranks


def rows_of(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the row numbers of lists with the given `starts`, list after list: int64."""
    rows = np.empty(lengths.sum(), np.int64)
    spread(starts, lengths, rows)
    return rows

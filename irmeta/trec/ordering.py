"""The five tie orders, each as the keys that sort one system's rows into ranked lists."""

from __future__ import annotations

import numpy as np

from irmeta.errors import DataError
from irmeta.kernels.lists import count_up
from irmeta.policies import TieOrder
from irmeta.trec.rows import NO_RANK


def sort_lists(
    order: TieOrder,
    lists: np.ndarray,
    score: np.ndarray,
    doc: np.ndarray,
    position: np.ndarray,
    rank: np.ndarray,
) -> np.ndarray:
    """The permutation that puts rows into list order: by list, then best first.

    Parameters
    ----------
    lists
        An integer per row that tells the lists apart, and their order.
    score
        float64, as read.
    doc
        Integers that sort as the docs' bytes do (at least within a list).
    position
        The row's place in its file.
    rank
        The file's own rank, `NO_RANK` where it has none.

    Raises
    ------
    DataError
        With ``rank``, when a row has no usable rank.

    Notes
    -----
    ``trec_eval`` compares scores as float32, as trec_eval 7-9 do: two scores that differ only in
    float64 are tied, and the doc decides. ``trec_eval10`` compares float64. Both put the greater
    doc first. All others leave ties in line order, as ndeval's and NTCIREVAL's stable readings do.
    """
    if order == "file":
        return np.lexsort((position, lists))
    if order == "rank":
        if (rank == NO_RANK).any():
            raise no_rank()
        return np.lexsort((position, rank, lists))
    if order == "score-file":
        return np.lexsort((position, -score, lists))
    if order == "trec_eval":
        return sorted_lists(lists, _falling_bits(as_float32(score)), -doc.astype(np.int64))
    return np.lexsort((-doc.astype(np.int64), -score, lists))


def no_rank(file: str | None = None) -> DataError:
    """The fault of lists that the order ``rank`` cannot be had of."""
    fix = "Choose another tie order, or repair the rank column."
    problem = "tie order `rank`, but some ranks are not whole numbers"
    return DataError(problem, file=file, fix=fix)


def sorted_lists(lists: np.ndarray, key: np.ndarray, tied: np.ndarray) -> np.ndarray:
    """The permutation by list, then key, then `tied`, each ascending.

    One sort of 64 bits, and another of the rows whose key is not alone: six times as fast as
    lexsort, which sorts once for each of the three.

    Parameters
    ----------
    lists
        As in `sort_lists`, from 0 to 2^32 - 1.
    key
        uint32.

    Raises
    ------
    ValueError
        If a number of a list does not fit into 32 bits.
    """
    if len(lists) and not 0 <= lists.min() <= lists.max() < 2**32:
        raise ValueError("lists are numbered from 0 to 2^32 - 1.")
    both = lists.astype(np.uint64) << np.uint64(32) | key
    falls = both[1:] < both[:-1]
    order = np.argsort(both) if falls.any() else np.arange(len(both))
    found = both[order]
    same = found[1:] == found[:-1]
    if same.any():
        places = np.flatnonzero(np.r_[same, False] | np.r_[False, same])
        rows = order[places]
        order[places] = rows[np.lexsort((tied[rows], both[rows]))]
    return order


def _falling_bits(score: np.ndarray) -> np.ndarray:
    """uint32 that ascend as float32 scores fall; equal where they are, 0 and -0 too."""
    bits = (score + np.float32(0)).view(np.uint32)
    ascending = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    return ~ascending


def as_float32(score: np.ndarray) -> np.ndarray:
    """Scores as trec_eval 7-9 hold them; what float32 cannot hold becomes infinite, as in C."""
    with np.errstate(over="ignore", under="ignore"):
        return score.astype(np.float32)


def contradicting_lists(lists: np.ndarray, score: np.ndarray, rank: np.ndarray) -> int:
    """How many lists have a rank column that no order by score agrees with.

    Rows are put in rank order, equal ranks by score: a score that then rises is a contradiction.
    Lists ranked 0 throughout, or whose rank column orders tied docs, contradict nothing.
    """
    known = rank != NO_RANK
    if not known.all():
        lists, score, rank = lists[known], score[known], rank[known]
    score = as_float32(score)
    by_rank = sorted_lists(lists, (rank.astype(np.int64) + 2**31).astype(np.uint32), -score)
    same = lists[by_rank][1:] == lists[by_rank][:-1]
    rises = same & (score[by_rank][1:] > score[by_rank][:-1])
    return len(np.unique(lists[by_rank][1:][rises]))


def ranks_from(starts: np.ndarray) -> np.ndarray:
    """1-based ranks of rows in list order, int32, given where the rows of each list begin.

    `starts` is int64 [lists + 1].
    """
    ranks = np.empty(starts[-1], np.int32)
    count_up(starts, ranks)
    return ranks

"""Cutoffs, divisors and sums along lists and ideal lists, shared by the measures."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from irmeta.kernels.cutoff_sums import amounts_within, count_within
from irmeta.measures.spec import Cutoffs
from irmeta.rankings.judged import JudgedRanks


def rank_cuts(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Convert cutoffs to int64 ranks, at most the largest rank of the arrays (also for None)."""
    last = view.missing - 1
    return np.array([last if k is None else min(k, last) for k in ks], np.int64)


def empty_values(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Return zeros of a measure's shape: [cutoff, query, system]."""
    return np.zeros((len(ks), *view.lengths.shape))


def divide(values: np.ndarray, by: np.ndarray, undefined: float | np.ndarray) -> np.ndarray:
    """Divide `values`; return `undefined` where the divisor is not above 0."""
    return np.where(by > 0, values / np.where(by > 0, by, 1), undefined)


def per_query(values: np.ndarray, by: np.ndarray, undefined: float) -> np.ndarray:
    """Divide `values` [cutoff, query, system] by a divisor per query, or per cutoff and query."""
    return divide(values, by[..., None], undefined)


def retrieved(view: JudgedRanks, low: float, below: float | None = None) -> np.ndarray:
    """Count the docs with a grade from `low`, and less than `below`: float64 [query, system]."""
    ranks, offsets = view.sorted_ranks(low, below)
    counts = empty_values(view, [None])
    count_within(ranks, offsets, rank_cuts(view, [None]), counts)
    return counts[0]


def valued_by_rank(
    view: JudgedRanks, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort the docs of positive value by rank, for each query and system.

    Parameters
    ----------
    values
        float64 by row of the view, with at most 256 distinct values.

    Returns
    -------
    ranks, labels, offsets
        As returned by `JudgedRanks.sort_by_rank`.
    by_label
        float64: the value of each label.
    """
    rows = values > 0
    by_label, labels = np.unique(values[rows], return_inverse=True)
    is_uniform = len(by_label) < 2
    return *view.sort_by_rank(rows, None if is_uniform else labels.astype(np.uint8)), by_label


def running_sums(offsets: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the sums of the first 0, 1, 2, ... values of each query.

    Returns
    -------
    sums
        float64: the sum of the first i of query q is ``sums[starts[q] + i]``.
    starts
        int64 [queries + 1].
    """
    starts = offsets + np.arange(len(offsets))
    sums = np.zeros(starts[-1])
    for q, (start, stop) in enumerate(pairwise(offsets)):
        np.cumsum(values[start:stop], out=sums[starts[q] + 1 : starts[q + 1]])
    return sums, starts


def sums_at(sums: np.ndarray, starts: np.ndarray, ks: np.ndarray) -> np.ndarray:
    """Return the running sums at each k, and the total beyond the last: float64 [k, query]."""
    last = np.diff(starts) - 1
    return sums[starts[:-1] + np.minimum(ks[:, None], last)]


def positions(offsets: np.ndarray) -> np.ndarray:
    """Compute the number of each row within its query, from 1: int64."""
    sizes = np.diff(offsets)
    return np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], sizes)


def add_up(
    view: JudgedRanks, ranks: np.ndarray, offsets: np.ndarray, amounts: np.ndarray, ks: Cutoffs
) -> np.ndarray:
    """Add up the amounts at ranks up to each cutoff: float64 [cutoff, query, system]."""
    out = empty_values(view, ks)
    amounts_within(ranks, offsets, amounts, rank_cuts(view, ks), out)
    return out

"""Judged docs in the order of a list, and running sums along the ideal list."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from irmeta.kernels.amounts import amounts_within
from irmeta.measures.cuts import empty_values, rank_cuts
from irmeta.measures.spec import Cutoffs
from irmeta.rankings.judged import JudgedRanks


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

"""Shared helper functions for cutoffs and divisors."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.relevant_counts import count_within
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


def retrieved(view: JudgedRanks, low: int, high: int = 127) -> np.ndarray:
    """Count the docs with a grade in low..high in each list: float64 [query, system]."""
    ranks, offsets = view.sorted_ranks(low, high)
    counts = empty_values(view, [None])
    count_within(ranks, offsets, rank_cuts(view, [None]), counts)
    return counts[0]

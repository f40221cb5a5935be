"""Small helpers that the families share."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.precision import count_within
from irmeta.measures.spec import Cutoffs
from irmeta.rankings.judged import JudgedRanks


def rank_cuts(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Cutoffs as int64 ranks; none, and any beyond the arrays' greatest rank, is that rank."""
    last = view.missing - 1
    return np.array([last if k is None else min(k, last) for k in ks], np.int64)


def empty_values(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Zeros of a measure's shape: [cutoff, query, system]."""
    return np.zeros((len(ks), *view.lengths.shape))


def over(values: np.ndarray, by: np.ndarray, undefined: float | np.ndarray) -> np.ndarray:
    """`values` over a divisor; `undefined` where that is not above 0."""
    return np.where(by > 0, values / np.where(by > 0, by, 1), undefined)


def per_query(values: np.ndarray, by: np.ndarray, undefined: float) -> np.ndarray:
    """`values` [cutoff, query, system] over a divisor a query, or a cutoff and query."""
    return over(values, by[..., None], undefined)


def retrieved(view: JudgedRanks, low: int, high: int = 127) -> np.ndarray:
    """How many docs with a grade in low..high each list holds: float64 [query, system]."""
    ranks, offsets = view.sorted_ranks(low, high)
    found = empty_values(view, [None])
    count_within(ranks, offsets, rank_cuts(view, [None]), found)
    return found[0]

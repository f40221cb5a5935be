"""Small helpers that the families share."""

from __future__ import annotations

import numpy as np

from irmeta.measures.spec import Cutoffs
from irmeta.rankings.judged import JudgedRanks


def rank_cuts(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Cutoffs as int64 ranks; none, and any beyond the arrays' greatest rank, is that rank."""
    last = view.missing - 1
    return np.array([last if k is None else min(k, last) for k in ks], np.int64)


def empty_values(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Zeros of a measure's shape: [cutoff, query, system]."""
    return np.zeros((len(ks), *view.lengths.shape))


def per_query(values: np.ndarray, by: np.ndarray, undefined: float) -> np.ndarray:
    """`values` [cutoff, query, system] over a divisor a query; `undefined` where that is 0."""
    safe = np.where(by > 0, by, 1)
    return np.where((by > 0)[..., None], values / safe[..., None], undefined)

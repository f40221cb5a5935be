"""Ranks of judged docs, sorted within each query and system."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def sorted_by_rank(
    ranks: np.ndarray, labels: np.ndarray | None, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted ranks and labels [docs, systems]: see `JudgedRanks.sort_by_rank`."""
    if labels is None:
        _sort_queries(ranks, offsets)
        return ranks, np.zeros(ranks.shape, np.uint8)
    # Sorting rank and label as one number is much faster than argsort.
    bits = 8 * labels.itemsize
    wide = np.uint32 if 8 * ranks.itemsize + bits <= 32 else np.uint64
    keys = ranks.astype(wide) << wide(bits) | labels.astype(wide)[:, None]
    _sort_queries(keys, offsets)
    return (keys >> wide(bits)).astype(ranks.dtype), keys.astype(labels.dtype)


def _sort_queries(keys: np.ndarray, offsets: np.ndarray) -> None:
    """Sort each column within the rows of each query."""
    for start, stop in pairwise(offsets):
        if stop - start > 1:
            keys[start:stop].sort(axis=0)

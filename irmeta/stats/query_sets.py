"""Disjoint sets of queries, drawn at random for each trial."""

from __future__ import annotations

import numpy as np

from irmeta.errors import UsageError, check_whole


def draw_query_sets(
    queries: int, size: int, sets: int, trials: int, rng: int | np.random.Generator
) -> np.ndarray:
    """Draw query indices without replacement within a trial: int64 [trial, set, query]."""
    check_whole("trials", trials)
    if size == 0:
        return np.zeros((0, sets, 0), np.int64)
    every = np.tile(np.arange(queries), (trials, 1))
    order = np.random.default_rng(rng).permuted(every, axis=1)
    return order[:, : sets * size].reshape(trials, sets, size)


def checked_query_sets(subsets: np.ndarray, queries: int) -> np.ndarray:
    """Check that the indices are of queries, each at most once in a trial."""
    indices = np.ascontiguousarray(subsets, np.int64)
    if indices.ndim != 2 or (indices.size and not (0 <= indices.min() <= indices.max() < queries)):
        raise UsageError(f"sets of queries are arrays [trial, query] of indices below {queries}.")
    ordered = np.sort(indices, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise UsageError("a trial has a duplicate query: queries are drawn without replacement.")
    return indices

"""Overlap of the docs that systems retrieve, and the fewest systems that retrieve most of them."""

from __future__ import annotations

import numpy as np


def jaccard(hits: np.ndarray) -> np.ndarray:
    """Compute the Jaccard coefficients of the sets of docs of all pairs of systems.

    Parameters
    ----------
    hits : ndarray of bool, shape (docs, systems)
        Whether a system retrieves a doc.

    Returns
    -------
    ndarray of float64, shape (systems, systems)
        Docs that both systems retrieve over docs that either retrieves; NaN if there are none.

    Examples
    --------
    >>> jaccard(np.array([[True, True], [True, False]]))[0].tolist()
    [1.0, 0.5]
    """
    numbers = hits.astype(np.float64)  # whole numbers, so the products are exact
    both, each = numbers.T @ numbers, numbers.sum(axis=0)
    either = each[:, None] + each - both
    return np.where(either > 0, both / np.maximum(either, 1), np.nan)


def greedy_cover(hits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order systems so that each adds the most docs to those of the systems before it.

    Parameters
    ----------
    hits : ndarray of bool, shape (docs, systems)
        Whether a system retrieves a doc.

    Returns
    -------
    order : ndarray of int64, shape (systems,)
        Indices of the systems; of equal systems the first comes first.
    added : ndarray of int64, shape (systems,)
        Docs that each system of `order` adds.

    Examples
    --------
    >>> order, added = greedy_cover(np.array([[True, True], [False, True], [True, False]]))
    >>> order.tolist(), added.tolist()
    ([0, 1], [2, 1])
    """
    order, added, is_new = [], [], np.ones(len(hits), bool)
    remaining = np.ones(hits.shape[1], bool)
    for _ in range(hits.shape[1]):
        gain = np.where(remaining, hits[is_new].sum(axis=0), -1)
        best = int(gain.argmax())
        order.append(best)
        added.append(int(gain[best]))
        remaining[best] = False
        is_new &= ~hits[:, best]
    return np.array(order, np.int64), np.array(added, np.int64)

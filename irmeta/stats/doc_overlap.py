"""Overlap of the docs that systems retrieve, and orders of systems that follow from it."""

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


def cluster_order(similarities: np.ndarray) -> np.ndarray:
    """Order systems so that similar systems are neighbours.

    Parameters
    ----------
    similarities : ndarray of float64, shape (systems, systems)
        Symmetric, from 0 to 1, such as `jaccard`; NaN counts as 0.

    Returns
    -------
    ndarray of int64, shape (systems,)
        Indices of the systems: leaves of the average linkage of 1 - similarity, turned so that the
        sum of distances between neighbours is least.

    References
    ----------
    .. [1] Bar-Joseph, Gifford and Jaakkola (2001). Fast optimal leaf ordering for hierarchical
       clustering. doi:10.1093/bioinformatics/17.suppl_1.S22

    Examples
    --------
    >>> values = np.array([[1.0, 0.1, 0.8], [0.1, 1.0, 0.2], [0.8, 0.2, 1.0]])
    >>> cluster_order(values).tolist()
    [1, 2, 0]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    if len(similarities) < 2:
        return np.arange(len(similarities))
    above = np.triu_indices(len(similarities), 1)
    distances = 1.0 - np.nan_to_num(similarities[above])
    return leaves_list(linkage(distances, "average", optimal_ordering=True)).astype(np.int64)

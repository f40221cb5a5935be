"""What systems contribute to the pool: overlap of their docs, and effects of leaving one out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from irmeta.measures.names import parse_measure
from irmeta.measures.pools import ReducedPool
from irmeta.stats.orders import round_means, tie_groups


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


def leave_out_effects(
    before: np.ndarray,
    after: np.ndarray,
    members: Sequence[int],
    *,
    direction: int = 1,
    others: str = "rescored",
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute how the left-out systems fare by the judgments of the pool without them.

    Parameters
    ----------
    before, after : ndarray of float64, shape (systems,)
        Means of one measure by the whole pool, and by the pool without the members. Ranks are
        among these systems; NaN marks a system without a mean.
    members : sequence of int
        Indices of the left-out systems.
    direction : {1, -1}, default 1
        1: greater is better; -1: less is better.
    others : {'rescored', 'original'}, default 'rescored'
        Means of all other systems when the new ranks are determined: by the reduced pool, or by
        the whole pool.

    Returns
    -------
    delta_percent : ndarray of float64, shape (members,)
        100 (after - before) / before; NaN where `before` is 0 or a mean is undefined.
    rank, rank_left_out : ndarray of float64, shape (members,)
        Ranks from 1, before and after; systems with equal means share the better rank. NaN for
        an undefined mean.

    Notes
    -----
    Means that agree in 12 significant digits are equal.

    References
    ----------
    .. [1] Lu, Moffat and Culpepper (2016), Section 4.2 and Table 5. doi:10.1007/s10791-016-9282-6

    Examples
    --------
    >>> before, after = np.array([0.5, 0.4, 0.3]), np.array([0.3, 0.4, 0.3])
    >>> [values.tolist() for values in irmeta.stats.leave_out_effects(before, after, [0])]
    [[-40.0], [1.0], [2.0]]
    """
    chosen = np.asarray(members, np.int64)
    new = after
    if others == "original":
        new = before.copy()
        new[chosen] = after[chosen]
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = 100.0 * (after[chosen] - before[chosen]) / before[chosen]
    delta[before[chosen] == 0] = np.nan
    return delta, _ranks(before * direction)[chosen], _ranks(new * direction)[chosen]


def left_out_rows(
    whole: ReducedPool, pool: ReducedPool, others: str = "rescored"
) -> Iterator[dict[str, Any]]:
    """Yield the effects on left-out systems by measure, as rows of `Store.pools.leave_out`."""
    members = [whole.scores.systems.index(system) for system in pool.left_out]
    before, after = whole.means, pool.means
    for m, measure in enumerate(whole.scores.measures):
        direction, cutoff = whole.scores.directions[measure], _cutoff(measure)
        effects = leave_out_effects(
            before[m], after[m], members, direction=direction, others=others
        )
        for i, (delta, *ranks) in enumerate(zip(*(e.tolist() for e in effects), strict=True)):
            rank, new_rank = (None if np.isnan(rank) else int(rank) for rank in ranks)
            yield {
                "left_out": pool.part,
                "system": pool.left_out[i],
                "measure": measure,
                "k": cutoff,
                "judged_lost": whole.judged - pool.judged,
                "relevant_lost": whole.relevant - pool.relevant,
                "value": float(before[m, members[i]]),
                "value_left_out": float(after[m, members[i]]),
                "delta_percent": delta,
                "rank": rank,
                "rank_left_out": new_rank,
            }


@cache  # of each left-out part, the same measures
def _cutoff(measure: str) -> float | None:
    return parse_measure(measure).cutoff


def _ranks(means: np.ndarray) -> np.ndarray:
    """Return 1 + the number of systems with a greater mean; NaN for an undefined mean."""
    above, _ = tie_groups(round_means(means)[None])
    return np.where(np.isnan(means), np.nan, 1.0 + above[0])

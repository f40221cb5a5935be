"""Effects of leaving a system out of the pool on its mean and on its rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irmeta.measures.names import parse_measure
from irmeta.measures.pools import ReducedPool
from irmeta.stats.orders import round_means


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
    before, after = (one.scores.mean_values() for one in (whole, pool))
    for m, measure in enumerate(whole.scores.measures):
        direction = whole.scores.directions[measure]
        effects = leave_out_effects(
            before[m], after[m], members, direction=direction, others=others
        )
        for i, (delta, *ranks) in enumerate(zip(*(e.tolist() for e in effects), strict=True)):
            rank, new_rank = (None if np.isnan(rank) else int(rank) for rank in ranks)
            yield {
                "left_out": pool.part,
                "system": pool.left_out[i],
                "measure": measure,
                "k": parse_measure(measure).cutoff,
                "judged_lost": whole.judged - pool.judged,
                "relevant_lost": whole.relevant - pool.relevant,
                "value": float(before[m, members[i]]),
                "value_left_out": float(after[m, members[i]]),
                "delta_percent": delta,
                "rank": rank,
                "rank_left_out": new_rank,
            }


def _ranks(means: np.ndarray) -> np.ndarray:
    """Return 1 + the number of systems with a greater mean; NaN for an undefined mean."""
    rounded = round_means(means)
    greater = (rounded[None, :] > rounded[:, None]).sum(axis=1)
    return np.where(np.isnan(means), np.nan, 1.0 + greater)

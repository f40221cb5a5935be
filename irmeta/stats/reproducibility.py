"""How close a rerun of an experiment comes to the original: lists, values and effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from irmeta.stats.resampling import Rng, seed_sequence

LEVELS = (2.5, 97.5)
"""Percentiles of 95 % intervals."""


def tau_union(original: Sequence[str], rerun: Sequence[str]) -> float:
    """Compute Kendall's tau union of two lists of docs.

    Docs of each list, in its order, stand for their places in the sorted union of both lists; tau
    correlates these numbers rank by rank, to the end of the shorter list.

    Parameters
    ----------
    original, rerun : sequence of str
        Docs, best first, each once.

    Returns
    -------
    float
        From -1 to 1; NaN with fewer than two ranks.

    References
    ----------
    .. [1] Breuer et al. (2020). doi:10.1145/3397271.3401036

    Examples
    --------
    >>> irmeta.stats.tau_union(["d1", "d2", "d3"], ["d1", "d2", "d4"])
    1.0
    """
    place = {doc: i for i, doc in enumerate(sorted({*original, *rerun}))}
    ranks = min(len(original), len(rerun))
    if ranks < 2:
        return float("nan")
    first, second = (np.array([place[doc] for doc in one[:ranks]]) for one in (original, rerun))
    agreement = 0
    for i in range(1, ranks):
        agreement += int((np.sign(first[i] - first[:i]) * np.sign(second[i] - second[:i])).sum())
    return agreement / (ranks * (ranks - 1) / 2)


def overlap_to(original: Sequence[str], rerun: Sequence[str], p: float, depth: int) -> float:
    """Compute rank-biased overlap of two lists to a depth, over its greatest value there.

    Docs beyond the end of a list are none; `irmeta.stats.rbo` extrapolates instead.

    References
    ----------
    .. [1] Breuer et al. (2020). doi:10.1145/3397271.3401036
    """
    ranks = {doc: rank for rank, doc in enumerate(original[:depth], 1)}
    both = [max(ranks[doc], rank) for rank, doc in enumerate(rerun[:depth], 1) if doc in ranks]
    shared = np.cumsum(np.bincount(np.array(both, np.int64), minlength=depth + 1))[1:]
    weights = p ** np.arange(depth)
    return float((weights * shared / np.arange(1, depth + 1)).sum() / weights.sum())


def error(original: np.ndarray, rerun: np.ndarray) -> float:
    """Compute the root mean square error of values by query."""
    return float(np.sqrt(np.mean((original - rerun) ** 2)))


def error_of_pairs(values: np.ndarray) -> float:
    """Compute `error` of values [query, 2]: original and rerun."""
    return error(values[:, 0], values[:, 1])


def relative_error(original: np.ndarray, rerun: np.ndarray) -> float:
    """Compute the root mean square error over its greatest value for values from 0 to 1."""
    return error(original, rerun) / float(np.sqrt(np.mean(np.maximum(original, 1 - original) ** 2)))


def effect_ratio(values: np.ndarray) -> float:
    """Divide the mean improvement of the rerun by that of the original.

    Parameters
    ----------
    values : ndarray of float64, shape (queries, 4)
        Original baseline and advanced run, rerun baseline and advanced run.

    Returns
    -------
    float
        1: the effect is reproduced; NaN or infinite if the original has none.

    References
    ----------
    .. [1] Breuer et al. (2020). doi:10.1145/3397271.3401036

    Examples
    --------
    >>> irmeta.stats.effect_ratio(np.array([[0.25, 0.75, 0.5, 0.75]]))
    0.5
    """
    base, advanced, rerun_base, rerun_advanced = values.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(rerun_advanced - rerun_base) / np.mean(advanced - base))


def delta_relative_improvement(values: np.ndarray) -> float:
    """Subtract the relative improvement of the rerun from that of the original.

    Parameters
    ----------
    values : ndarray of float64, shape (queries, 4)
        As of `effect_ratio`.

    Returns
    -------
    float
        0: the relative improvement is reproduced; below 0: the rerun improves more.

    References
    ----------
    .. [1] Breuer et al. (2020). doi:10.1145/3397271.3401036

    Examples
    --------
    >>> irmeta.stats.delta_relative_improvement(np.array([[0.25, 0.75, 0.5, 0.75]]))
    1.5
    """
    base, advanced, rerun_base, rerun_advanced = values.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((advanced - base) / base - (rerun_advanced - rerun_base) / rerun_base)


def interval(
    statistic: Callable[[np.ndarray], float], values: np.ndarray, resamples: int, rng: Rng
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic of values [query, ...] over draws."""
    generator = np.random.default_rng(seed_sequence(rng))
    draws = generator.integers(0, len(values), (resamples, len(values)))
    found = np.array([statistic(values[draw]) for draw in draws])
    if not np.isfinite(found).all():
        return float("nan"), float("nan")
    low, high = np.percentile(found, LEVELS)
    return float(low), float(high)

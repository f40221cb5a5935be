"""Agreement of a rerun of an experiment with the original: lists, values and effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr

from irmeta.kernels.rank_agreement import concordant_pairs
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
    place = {doc: float(i) for i, doc in enumerate(sorted({*original, *rerun}))}
    ranks = min(len(original), len(rerun))
    if ranks < 2:
        return float("nan")
    first, second = (np.array([[place[doc] for doc in docs[:ranks]]]) for docs in (original, rerun))
    counts = np.zeros((1, 3), np.int64)
    concordant_pairs(first, second, counts)
    return int(counts[0, 0]) / (ranks * (ranks - 1) / 2)


def overlap_to(original: Sequence[str], rerun: Sequence[str], p: float, depth: int) -> float:
    """Compute rank-biased overlap of two lists down to a depth, divided by its maximum there.

    Docs beyond the end of a list are none (Breuer et al. 2020, doi:10.1145/3397271.3401036).
    """
    ranks = {doc: rank for rank, doc in enumerate(original[:depth], 1)}
    both = [max(ranks[doc], rank) for rank, doc in enumerate(rerun[:depth], 1) if doc in ranks]
    shared = np.cumsum(np.bincount(np.array(both, np.int64), minlength=depth + 1))[1:]
    weights = p ** np.arange(depth)
    return float((weights * shared / np.arange(1, depth + 1)).sum() / weights.sum())


def error(original: np.ndarray, rerun: np.ndarray) -> float:
    """Compute the root mean square error of values by query."""
    return float(np.sqrt(np.mean((original - rerun) ** 2)))


def relative_error(original: np.ndarray, rerun: np.ndarray) -> float:
    """Compute the root mean square error, divided by its maximum for values from 0 to 1."""
    return error(original, rerun) / float(np.sqrt(np.mean(np.maximum(original, 1 - original) ** 2)))


def unpaired_p(original: np.ndarray, rerun: np.ndarray) -> float:
    """Compute the two-sided p-value of Student's test of two samples with one variance.

    Samples may differ in size. Without variance p is 1 for equal means and 0 for others; NaN for
    fewer than three values in all.
    """
    freedom = len(original) + len(rerun) - 2
    if freedom < 1:
        return float("nan")
    squares = sum(float(((values - values.mean()) ** 2).sum()) for values in (original, rerun))
    difference = float(original.mean() - rerun.mean())
    if squares == 0:
        return float(difference == 0)
    scale = np.sqrt(squares / freedom * (1 / len(original) + 1 / len(rerun)))
    return float(2 * stdtr(freedom, -abs(difference / scale)))


def effect_ratio(original: np.ndarray, rerun: np.ndarray) -> float:
    """Divide the mean improvement of the rerun by that of the original.

    Parameters
    ----------
    original, rerun : ndarray of float64, shape (queries, 2)
        Values of the baseline and of the advanced run. The queries of a rerun may be others.

    Returns
    -------
    float
        1: the effect is reproduced; NaN or infinite if the original has none.

    References
    ----------
    .. [1] Breuer et al. (2020). doi:10.1145/3397271.3401036

    Examples
    --------
    >>> irmeta.stats.effect_ratio(np.array([[0.25, 0.75]]), np.array([[0.5, 0.75]]))
    0.5
    """
    base, advanced = original.T
    rerun_base, rerun_advanced = rerun.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(rerun_advanced - rerun_base) / np.mean(advanced - base))


def delta_relative_improvement(original: np.ndarray, rerun: np.ndarray) -> float:
    """Subtract the relative improvement of the rerun from that of the original.

    Parameters
    ----------
    original, rerun : ndarray of float64, shape (queries, 2)
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
    >>> values = np.array([[0.25, 0.75]]), np.array([[0.5, 0.75]])
    >>> irmeta.stats.delta_relative_improvement(*values)
    1.5
    """
    (base, advanced), (rerun_base, rerun_advanced) = original.mean(axis=0), rerun.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float((advanced - base) / base - (rerun_advanced - rerun_base) / rerun_base)


def interval(
    statistic: Callable[..., Any],
    *samples: np.ndarray,
    resamples: int,
    rng: Rng,
    paired: bool = True,
    at_once: bool = False,
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic of samples over draws of queries.

    Samples that are `paired` share the draws. With `at_once` the statistic takes all draws [draw,
    query, ...]. NaN if the statistic of a draw is not finite.
    """
    generator = np.random.default_rng(seed_sequence(rng))
    draws = [
        generator.integers(0, len(sample), (resamples, len(sample)))
        for sample in samples[: 1 if paired else None]
    ]
    draws *= len(samples) if paired else 1
    pairs = [draws] if at_once else zip(*draws, strict=True)
    resampled = np.array(
        [
            statistic(*(sample[draw] for sample, draw in zip(samples, by, strict=True)))
            for by in pairs
        ]
    )
    if not np.isfinite(resampled).all():
        return float("nan"), float("nan")
    low, high = np.percentile(resampled, LEVELS)
    return float(low), float(high)

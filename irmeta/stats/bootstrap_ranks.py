"""Ranks of systems by mean value, with bootstrap intervals over queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from irmeta.errors import check_share, check_whole
from irmeta.results.matrix import Matrix
from irmeta.stats.permutation_bootstrap import bootstrap_means

MEANS_HELD = 1 << 22  # resampled means at once


def rank_intervals(
    matrix: Matrix,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Rank systems by their mean, with bootstrap intervals of the rank over queries.

    Parameters
    ----------
    matrix : Matrix
        Values of one measure, or win rates of a preference; a query without a value of every system
        is left out.
    resamples : int, default 1000
        Number of resamples of as many queries, drawn with replacement; all systems share them.
    confidence : float, default 0.95
        Confidence level of the percentile intervals.
    rng : int or Generator, default 0
        Random seed. The same seed gives the same intervals.

    Returns
    -------
    DataFrame
        One row per system, best first: system; mean (NaN without a query); rank (1 for the best;
        equal means, to 12 significant digits, share the smallest rank); rank_low and rank_high,
        the interval; p_first, the share of resamples in which the system is first, split evenly
        between systems that share the first rank. rank is null without a query, the interval for
        fewer than two queries.

    Raises
    ------
    UsageError
        For fewer than one resample, or a confidence level that is not between 0 and 1.

    References
    ----------
    .. [1] Efron and Tibshirani (1993). An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> irmeta.stats.rank_intervals(ap).select("system", "rank", "rank_low", "rank_high").rows()
    [('a', 1, 1, 2), ('b', 2, 1, 2), ('c', 3, 3, 3)]
    """
    check_whole("resamples", resamples)
    check_share("confidence", confidence)
    complete = matrix.complete()
    draws = np.random.default_rng(rng).random((resamples, len(complete.queries)), np.float32)

    means = complete.means if complete.queries else np.full(len(matrix.systems), np.nan)
    found = summarise_ranks(
        complete.systems,
        means * matrix.direction,
        lambda part: bootstrap_means(complete.oriented, draws[part]).T,
        draws.shape,
        confidence,
    )
    return found.select(
        "system", (pl.col("score") * matrix.direction).alias("mean"), *found.columns[2:]
    )


def summarise_ranks(
    systems: tuple[str, ...],
    score: np.ndarray,
    resampled: Callable[[slice], np.ndarray],
    drawn: tuple[int, ...],
    confidence: float,
    *,
    relative: bool = False,
) -> pl.DataFrame:
    """Return score, rank, its interval and p_first of each system, best first.

    Parameters
    ----------
    score
        float64 [system]: greater is better.
    resampled
        Function from a slice of the resamples to their scores: float64 [resample, system].
    drawn
        Number of resamples and of queries.
    relative
        Whether scores are equal that differ by at most 1e-9 of the larger one, as in
        `irmeta.stats.aggregation`; otherwise by 1e-12 of the largest score.
    """
    resamples, queries = drawn
    size = len(systems)
    is_known = queries > 1 and size > 0 and not np.isnan(score).any()
    ranks, first = np.ones((resamples, size), np.int32), np.zeros(size)
    step = max(1, MEANS_HELD // max(size, 1))
    for start in range(0, resamples if is_known else 0, step):
        part = slice(start, min(start + step, resamples))
        ranks[part] = rank_rows(resampled(part), relative)
        is_first = ranks[part] == 1
        first += (is_first / is_first.sum(axis=1, keepdims=True)).sum(axis=0)
    # Rounded, because 1000 x 0.025000000000000022 would be in the 26th resample, not the 25th.
    tails = [round((1 - confidence) / 2, 12), round((1 + confidence) / 2, 12)]
    low, high = np.quantile(ranks, tails, axis=0, method="inverted_cdf").astype(np.int32)
    frame = pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.String),
            "score": score,
            "rank": rank_rows(score[None], relative)[0],
            "rank_low": low,
            "rank_high": high,
            "p_first": first / resamples,
        }
    )
    interval = [pl.when(pl.lit(is_known)).then(c).alias(c) for c in frame.columns[3:]]
    rank = pl.when(pl.col("score").is_not_nan()).then("rank").alias("rank")
    order = (pl.col("score").is_nan(), "rank", "system")
    return frame.sort(*order).select("system", "score", rank, *interval)


def rank_rows(scores: np.ndarray, relative: bool = False) -> np.ndarray:
    """Rank each row, greatest first, equal scores sharing the smallest rank: int32 [row, system].

    A NaN ranks last.
    """
    known = np.nan_to_num(scores, nan=-np.inf)
    order = np.argsort(-known, axis=1, kind="stable")
    ordered = np.take_along_axis(known, order, axis=1)
    upper, lower = ordered[:, :-1], ordered[:, 1:]
    if relative:
        slack = 1e-9 * np.abs(upper)
    else:
        slack = 1e-12 * np.abs(np.nan_to_num(scores)).max(axis=1, initial=0.0, keepdims=True)
    starts = np.zeros(scores.shape, np.int32)
    with np.errstate(invalid="ignore"):  # of two undefined scores
        starts[:, 1:] = np.where(upper - lower > slack, np.arange(1, scores.shape[1]), 0)
    ranks = np.empty(scores.shape, np.int32)
    np.put_along_axis(ranks, order, np.maximum.accumulate(starts, axis=1) + 1, axis=1)
    return ranks

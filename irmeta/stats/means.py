"""Confidence intervals of the mean of each system over queries, and spread of means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

import numpy as np
import polars as pl
from scipy.special import stdtrit

from irmeta.errors import UsageError, check_choice, check_share, check_whole
from irmeta.policies import MeanInterval
from irmeta.results.scores import Scores
from irmeta.stats.paired import LEAST_CLUSTERS, weighted_moments
from irmeta.stats.replicates import grouped
from irmeta.stats.resampling import draw_counts

_CHUNK = 1 << 22  # cells of drawn counts held at once


def mean_intervals(
    values: np.ndarray,
    method: MeanInterval = "t",
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute a confidence interval of the mean of each system over queries.

    Each interval is of one mean alone. Whether intervals of two systems overlap says nothing about
    their difference, because both are measured on the same queries: see `pairwise`.

    Parameters
    ----------
    values : ndarray of float64, shape (queries, systems)
        NaN: undefined; a mean is over the other queries.
    method : {'t', 'bootstrap'}, default 't'
        ``t``: mean +- t s / sqrt(n) with n - 1 degrees of freedom; ``bootstrap``: percentiles of
        the means of resampled queries, the same for all systems; too narrow by few queries.
    confidence : float, default 0.95
        Confidence level of each interval.
    resamples : int, default 10,000
        Number of resamples, for the bootstrap.
    rng : int or Generator, default 0
        Random seed.

    Returns
    -------
    low, high : ndarray of float64, shape (systems,)
        Limits, which may lie outside the range of the measure; NaN for fewer than two queries.

    Raises
    ------
    UsageError
        For an unknown method, a confidence level that is not between 0 and 1, or fewer than one
        resample.

    References
    ----------
    .. [1] Efron, B. and Tibshirani, R. J. (1993). An introduction to the bootstrap, Section 13.3.
       doi:10.1201/9780429246593

    Examples
    --------
    >>> low, high = irmeta.stats.mean_intervals(np.array([[0.2], [0.4], [0.6]]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([-0.097], [0.897])
    """
    check_choice("interval", method, get_args(MeanInterval))
    check_share("confidence", confidence)
    check_whole("resamples", resamples)
    known = ~np.isnan(values)
    number, filled = known.sum(axis=0), np.where(known, values, 0.0)
    is_defined = number > 1
    if method == "t":
        mean = filled.sum(axis=0) / np.maximum(number, 1)
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        freedom = np.maximum(number - 1, 1)
        error = np.sqrt(squares / freedom / np.maximum(number, 1))
        margin = stdtrit(freedom, (1 + confidence) / 2) * error
        low, high = mean - margin, mean + margin
    else:
        drawn = np.concatenate(list(resampled_means(filled, known, resamples, rng)))
        shares = ((1 - confidence) / 2, (1 + confidence) / 2)
        low, high = np.full((2, len(is_defined)), np.nan)
        if is_defined.any():  # numpy has no quantile of nothing
            low[is_defined], high[is_defined] = np.nanquantile(drawn[:, is_defined], shares, axis=0)
    return np.where(is_defined, low, np.nan), np.where(is_defined, high, np.nan)


def resampled_means(
    filled: np.ndarray, known: np.ndarray, resamples: int, rng: int | np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield the means of resampled queries: float64 [resample, system]; NaN without a query."""
    generator, queries = np.random.default_rng(rng), len(filled)
    step = max(1, _CHUNK // max(queries, 1))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        counts = draw_counts(queries, size, generator).astype(np.float64)
        used = counts @ known.astype(np.float64)
        yield np.divide(counts @ filled, used, out=np.full(used.shape, np.nan), where=used > 0)


def cluster_intervals(
    values: np.ndarray,
    members: list[np.ndarray],
    method: MeanInterval,
    rng: int | np.random.Generator = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the 95 % intervals of `mean_intervals` by clusters of queries, given their places.

    Whole clusters are drawn; of fewer than `LEAST_CLUSTERS`, and for ``t``, the interval is
    Student's t of their means, weighted by the numbers of their queries.
    """
    known = ~np.isnan(values)
    sums = np.array([np.where(known, values, 0.0)[places].sum(axis=0) for places in members])
    numbers = np.array([known[places].sum(axis=0) for places in members], np.float64)
    if method == "bootstrap" and len(members) >= LEAST_CLUSTERS:
        drawn = np.concatenate(list(resampled_means(sums, numbers, 10_000, rng)))
        low, high = np.nanquantile(drawn, (0.025, 0.975), axis=0)
        return low, high
    limits = np.full((2, values.shape[1]), np.nan)
    for system in range(values.shape[1]):
        sizes = numbers[:, system][numbers[:, system] > 0]
        means = sums[:, [system]][numbers[:, system] > 0] / sizes[:, None]
        if len(sizes) > 1:
            limits[:, [system]] = weighted_moments(means, sizes).limits()
    return limits[0], limits[1]


def with_intervals(
    frame: pl.DataFrame,
    scores: Scores,
    method: MeanInterval,
    rng: int | np.random.Generator = 0,
    clusters: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """Add the columns low and high after the means of `scores`; NaN unless a mean is arithmetic.

    With the cluster of each query, see `cluster_intervals`. Raises UsageError for the bootstrap of
    weighted means, and for weights beside clusters.
    """
    if scores.weights is not None and clusters is not None:
        problem = "intervals by clusters, such as variants of a query, have no weights of queries"
        raise UsageError(f"{problem}: omit the weights or the intervals.")
    members = None if clusters is None else grouped(scores.queries, clusters)[1]
    if scores.weights is not None and method != "t":
        raise UsageError("weighted means have intervals 't' alone: omit 'bootstrap'.")
    measures, systems = len(scores.measures), len(scores.systems)
    limits = np.full((2, measures, systems), np.nan)
    counted = scores.included & ~np.isnan(scores.values)
    for place, measure in enumerate(scores.measures):
        if measure not in scores.averages:
            values = np.where(counted[place], scores.values[place], np.nan)
            if members is not None:
                limits[:, place] = cluster_intervals(values, members, method, rng)
                continue
            if scores.weights is None:
                limits[:, place] = mean_intervals(values, method, rng=rng)
                continue
            limits[:, place] = weighted_moments(values, scores.weights).limits()
    intervals = pl.DataFrame(
        {
            "system": np.repeat(np.array(scores.systems, object), measures),
            "measure": np.tile(np.array(scores.measures, object), systems),
            **{name: limit.T.ravel() for name, limit in zip(("low", "high"), limits, strict=True)},
        },
        {"system": pl.String, "measure": pl.String, "low": pl.Float64, "high": pl.Float64},
    )
    place = frame.columns.index("value") + 1
    order = [*frame.columns[:place], "low", "high", *frame.columns[place:]]
    joined = frame.join(intervals, on=["system", "measure"], how="left", maintain_order="left")
    return joined.select(order)


def mean_sd(name: str, values: pl.Series) -> dict[str, float]:
    """Return the mean as `name` and the sample standard deviation (n - 1) as `name`_sd.

    NaN values are excluded. The mean is NaN without a value, the deviation for fewer than two.
    """
    known = values.drop_nans().to_numpy()
    return {
        name: float(known.mean()) if len(known) else float("nan"),
        f"{name}_sd": float(known.std(ddof=1)) if len(known) > 1 else float("nan"),
    }


def spread(name: str, values: pl.Series, least: float, most: float) -> dict[str, float]:
    """Return `mean_sd`, and the mean minus and plus the deviation, clipped to [least, most].

    The ends are `name`_low and `name`_high: see `irmeta.schema.columns.spread_columns`.
    """
    moments = mean_sd(name, values)
    mean, sd = moments.values()
    ends = {"low": float(np.maximum(mean - sd, least)), "high": float(np.minimum(mean + sd, most))}
    return moments | {f"{name}_{end}": value for end, value in ends.items()}

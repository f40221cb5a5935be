"""Random effects: the mean of several tracks, the share that agrees, and components by REML.

The numbers of tracks differ by more than the sampling of their queries, so that the mean of tracks
is that of a model of random effects: number = mean + effect of the track + error of its queries,
with a variance between tracks and the known standard error of each. The interval of the mean is
that of Hartung and Knapp; the prediction interval is for the true number of another track.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import betaincinv, stdtrit

from irmeta.errors import UsageError, check_share

FEWEST = 5
"""Tracks from which a variance between tracks is estimated."""
LEAST_VARIANCE = 1e-12
"""Least variance of a number, as a share of the greatest or of the spread: none has no error."""


class TracksMean(NamedTuple):
    """A random-effects mean over tracks, with its confidence interval.

    `next_low`, `next_high`: prediction interval of the true number of another track. `variance`:
    that between tracks (Paule and Mandel).
    """

    mean: float
    low: float
    high: float
    next_low: float
    next_high: float
    variance: float


def random_effects(numbers: np.ndarray, errors: np.ndarray, confidence: float = 0.95) -> TracksMean:
    """Compute the random-effects mean of the numbers of tracks, with its intervals.

    `errors` are standard errors, at least 0. UsageError: fewer than `FEWEST` tracks, or a number or
    standard error that is not finite. The variance between tracks is the solution of ``sum(w
    (number - mean)^2) = tracks - 1`` with ``w = 1 / (variance + errors^2)``, 0 where it is negative
    (Paule and Mandel 1982). The variance of the mean is that of Hartung and Knapp (2001), not below
    ``1 / sum(w)`` (Roever et al. 2015: the unmodified one is too small where standard errors
    differ), with Student's t of ``tracks - 1``. The prediction interval adds the variance between
    tracks, with Student's t of ``tracks - 2`` (Higgins et al. 2009).
    """
    numbers, errors = np.asarray(numbers, np.float64), np.asarray(errors, np.float64)
    check_share("confidence", confidence)
    tracks = len(numbers)
    if tracks < FEWEST or numbers.shape != errors.shape:
        raise UsageError(
            f"a random-effects mean needs {FEWEST} tracks, with a standard error each."
        )
    if not (np.isfinite(numbers).all() and np.isfinite(errors).all() and (errors >= 0).all()):
        raise UsageError("a random-effects mean needs finite numbers, and standard errors from 0.")
    spread = float(numbers.var(ddof=1))
    within = np.maximum(errors**2, LEAST_VARIANCE * max(float((errors**2).max()), spread))
    if not within.any():  # equal numbers without errors
        mean = float(numbers[0])
        return TracksMean(mean, mean, mean, mean, mean, 0.0)
    variance = paule_mandel(numbers, within)
    weights = 1.0 / (variance + within)
    mean = float(np.average(numbers, weights=weights))
    excess = float(np.sum(weights * (numbers - mean) ** 2)) / (tracks - 1)
    of_mean = max(1.0, excess) / float(weights.sum())
    share = (1.0 + confidence) / 2.0
    margin = float(stdtrit(tracks - 1, share)) * math.sqrt(of_mean)
    ahead = float(stdtrit(tracks - 2, share)) * math.sqrt(of_mean + variance)
    return TracksMean(mean, mean - margin, mean + margin, mean - ahead, mean + ahead, variance)


def paule_mandel(numbers: np.ndarray, within: np.ndarray) -> float:
    """Estimate the variance between tracks from numbers and their variances above 0, [track]."""
    from scipy.optimize import brentq  # imported late: slow, and needed by claims alone

    def excess(variance: float) -> float:
        weights = 1.0 / (variance + within)
        mean = np.average(numbers, weights=weights)
        return float(np.sum(weights * (numbers - mean) ** 2)) - (len(numbers) - 1)

    if excess(0.0) <= 0.0:
        return 0.0
    # With equal weights the sum is (tracks - 1) spread / variance, so that this is above the root.
    above = 2.0 * float(numbers.var(ddof=1)) + 2.0 * float(within.max())
    while excess(above) > 0.0:
        above *= 2.0
    root: Any = brentq(excess, 0.0, above, xtol=1e-14 * above)
    return float(root)


def share_interval(holding: int, number: int, confidence: float = 0.95) -> tuple[float, float]:
    """Compute the exact interval of Clopper and Pearson (1934) for a share of independent votes.

    Its coverage is at least `confidence` for independent votes; tracks that share docs, queries or
    systems are none. Without a vote, or for more votes `holding` than all, raises UsageError.
    """
    check_share("confidence", confidence)
    if not 0 <= holding <= number or number < 1:
        raise UsageError(f"holding = {holding} is no number of {number} votes.")
    tail = (1.0 - confidence) / 2.0
    low = betaincinv(holding, number - holding + 1, tail) if holding else 0.0
    high = betaincinv(holding + 1, number - holding, 1.0 - tail) if holding < number else 1.0
    return float(low), float(high)


def reml_components(
    values: np.ndarray, runs: np.ndarray, start: tuple[float, ...]
) -> tuple[float, ...]:
    """Estimate the variances of `irmeta.stats.replicates.FACETS` of normal values, none below 0.

    `values` are float64 [query, run], runs sorted by method, `runs` the number of each method, and
    `start` the estimates to start from, negative ones counting as small. All runs have all queries,
    so that the mean of the queries and their deviations from it are independent. With Q queries and
    Z the method of each run, the covariance of the deviations of runs is ``e I + sq Z Z' + q J``,
    and that of the mean, times Q, is ``(e + Q r) I + (sq + Q s) Z Z' + q J``, of which the mean of
    all values takes up J: see Searle, Casella and McCulloch (Variance components, 1992, Chapter 6).
    Returns s, r, q, sq and e; NaN without any spread.
    """
    queries = len(values)
    first = np.concatenate([[0], np.cumsum(runs)[:-1]]).astype(int)
    scale = float(values.var())
    if scale == 0:
        return (np.nan,) * 5
    of_query = values - values.mean(axis=0)
    totals = np.add.reduceat(of_query, first, axis=1)
    moments = totals.T @ totals  # of the sums over the runs of two methods
    within = float((of_query**2).sum() - (np.diag(moments) / runs).sum())
    means = values.mean(axis=0) * np.sqrt(queries)
    of_method = np.add.reduceat(means, first) / runs
    within_mean = float(((means - np.repeat(of_method, runs.astype(int))) ** 2).sum())
    free = float((runs - 1).sum())

    def of_deviations(a: float, b: float, c: float) -> tuple[float, np.ndarray]:
        """Return -2 log likelihood of a I + b Z Z' + c J, and its gradient."""
        w = 1 / (a + runs * b)
        total, crossed = runs @ w, moments @ w
        shrunk = 1 + c * total
        square = w @ crossed
        log_part = free * np.log(a) - np.log(w).sum() + np.log(shrunk)
        trace = within / a + (np.diag(moments) / runs) @ w - c * square / shrunk
        out = list[Any]()
        for in_a, dw in ((1, -(w**2)), (0, -runs * w**2)):
            change = runs @ dw
            log_change = in_a * free / a - (dw / w).sum() + c * change / shrunk
            trace_change = -in_a * within / a**2 + (np.diag(moments) / runs) @ dw
            trace_change -= c * (2 * dw @ crossed / shrunk - c * square * change / shrunk**2)
            out.append((queries - 1) * log_change + trace_change)
        out.append((queries - 1) * total / shrunk - square / shrunk**2)
        return (queries - 1) * log_part + trace, np.array(out)

    def of_mean(a: float, b: float) -> tuple[float, np.ndarray]:
        """Return -2 log restricted likelihood of the mean, a I + b Z Z', and its gradient."""
        w = 1 / (a + runs * b)
        weights = runs * w
        deviations = of_method - weights @ of_method / weights.sum()
        value = free * np.log(a) - np.log(w).sum() + np.log(weights.sum())
        value += within_mean / a + weights @ deviations**2
        out = [
            in_a * (free / a - within_mean / a**2)
            - (dw / w).sum()
            + (runs @ dw) / weights.sum()
            + (runs * dw) @ deviations**2
            for in_a, dw in ((1, -(w**2)), (0, -runs * w**2))
        ]
        return value, np.array(out)

    def criterion(shares: np.ndarray) -> tuple[float, np.ndarray]:
        s, r, q, sq, e = shares * scale
        deviations, by_deviation = of_deviations(e, sq, q)
        mean, by_mean = of_mean(e + queries * r, sq + queries * s)
        a, b, c = by_deviation
        in_a, in_b = by_mean
        gradient = np.array([queries * in_b, queries * in_a, c, b + in_b, a + in_a])
        return deviations + mean, gradient * scale

    at = np.maximum(np.array(start) / scale, 1e-3)
    least = [(0.0, None)] * 4 + [(LEAST_VARIANCE, None)]
    exact = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5_000, "maxfun": 50_000}
    fitted = minimize(criterion, at, jac=True, method="L-BFGS-B", bounds=least, options=exact)
    return tuple((fitted.x * scale).tolist())

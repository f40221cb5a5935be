"""Permutation and bootstrap tests of the mean difference of every two systems at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irmeta.errors import check_share, check_whole
from irmeta.kernels.permutation_bootstrap import count_as_far, resampled_means, weighted_sums
from irmeta.stats.paired import square

EXACT = 16
"""Up to so many queries every way to flip signs is tried."""
_CHUNK = 2**21  # numbers held at once


def permutation_p(
    values: np.ndarray, resamples: int = 10_000, rng: int | np.random.Generator = 0
) -> np.ndarray:
    """Two-tailed p-values of the sign-flip permutation test [system, system], the diagonal 1.

    Fisher's randomisation: were two systems alike, each difference could as well have the other
    sign. p is how often the sum of the differences with flipped signs is as far from 0 as without:
    ``count / 2^n`` over all flips where there are at most 16 queries or ``2^n <= resamples``, else
    ``(1 + count) / (1 + resamples)`` over flips drawn at random, the same for all pairs.

    Parameters
    ----------
    values
        float64 [query, system]; NaN: undefined, and the pair leaves the query out.

    Notes
    -----
    Sums that differ by rounding only are equally far. Identical systems have p = 1, as has every
    pair on a single query; a pair that shares no query has NaN. The number of queries that decides
    whether all flips are tried is that of the matrix, without queries on which no system has a
    value; a pair that leaves some of them out has the same flips of the others.
    """
    values = _used(values)
    check_whole("resamples", resamples)
    queries, systems = values.shape
    x = np.nan_to_num(values, nan=0.0)
    slack = _slack(x)
    whole, first, second = _parts(values)
    totals = x.sum(axis=0)[whole]
    limit = np.abs(np.subtract.outer(totals, totals)) - np.add.outer(slack[whole], slack[whole])
    count = np.zeros(limit.shape, np.int64)
    rest_count = np.zeros(len(first), np.int64)
    exact = queries <= EXACT or 2.0**queries <= resamples
    flips = _every_flip(queries, systems) if exact else _flips(queries, systems, resamples, rng)
    for some in flips:
        count_as_far(np.ascontiguousarray(x[:, whole].T @ some.T), limit, count)
        for at in _slices(len(first), max(len(some), queries)):
            pairs = np.nan_to_num(values.T[first[at]] - values.T[second[at]], nan=0.0)
            bar = np.abs(pairs.sum(axis=1)) - _slack_of_pairs(values, first[at], second[at])
            rest_count[at] += (np.abs(pairs @ some.T) >= bar[:, None]).sum(axis=1)
    counts = np.zeros((systems, systems), np.int64)
    counts[np.ix_(whole, whole)] = count
    counts[first, second] = rest_count
    upper = np.triu(np.ones((systems, systems), bool), 1)
    far = counts[upper]
    p = far / 2.0 ** max(queries - 1, 0) if exact else (1 + far) / (1 + resamples)
    p[_shared(values)[upper] == 0] = np.nan
    return square(p, upper)


def bootstrap(
    values: np.ndarray,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    confidence: float = 0.95,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The paired bootstrap of the mean difference: p, low, high, each [system, system].

    As many queries as a pair has are drawn with replacement; the same draws serve all pairs. With
    D the mean difference and D* that of a resample, two-tailed

        p = (1 + #{|D* - D| >= |D|}) / (1 + resamples),

    the shift method (Noreen 1989; Smucker, Allan, Carterette 2007, doi:10.1145/1321440.1321528):
    D* - D stands for the difference of systems that are alike. low and high are the percentile
    interval, the (1 - confidence) / 2 and (1 + confidence) / 2 quantiles of D*.

    Parameters
    ----------
    values
        float64 [query, system]; NaN: undefined, and the pair leaves the query out.

    Notes
    -----
    Not Sakai's bootstrap (2006), whose D* is studentised. Distances that differ by rounding only
    are equal. Identical systems have p = 1; a constant difference has 1 / (1 + resamples) and an
    interval of no width. A pair that shares fewer than two queries has NaN.
    """
    check_whole("resamples", resamples)
    check_share("confidence", confidence)
    values = _used(values)
    queries, systems = values.shape
    upper = np.triu(np.ones((systems, systems), bool), 1)
    first, second = np.nonzero(upper)
    generator = np.random.default_rng(rng)
    draws = generator.random((resamples, queries), dtype=np.float32)
    whole = _whole(values)
    means = _means_of_whole(np.where(whole, values, 0.0), draws)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    p, low, high = np.full((3, len(first)), np.nan)
    for at in _slices(len(first), max(resamples, queries)):
        a, b = first[at], second[at]
        differences = values.T[a] - values.T[b]
        there = (~np.isnan(differences)).sum(axis=1)
        number = np.maximum(there, 1)
        seen = np.nan_to_num(differences, nan=0.0).sum(axis=1) / number
        least = np.abs(seen) - _slack_of_pairs(values, a, b) / number
        again = means[a] - means[b]
        odd = np.flatnonzero(~(whole[a] & whole[b]))
        some = np.zeros((len(odd), resamples))
        resampled_means(np.ascontiguousarray(differences[odd]), draws, some)
        again[odd] = some
        far = np.abs(again - seen[:, None]) >= least[:, None]
        p[at] = np.where(there > 1, (1 + far.sum(axis=1)) / (1 + resamples), np.nan)
        found = np.quantile(again, tails, axis=1, overwrite_input=True)
        low[at], high[at] = np.where(there > 1, found, np.nan)
    del means, first, second
    limits = np.zeros((2, systems, systems))
    for square_limit, above, below in zip(limits, (low, high), (high, low), strict=True):
        # below the diagonal the systems change places, and with them the ends and the sign
        square_limit[upper], square_limit.T[upper] = above, -below
    return square(p, upper), limits[0], limits[1]


def _used(values: np.ndarray) -> np.ndarray:
    """Without the queries on which no system has a value."""
    return values[~np.isnan(values).all(axis=1)]


def _whole(values: np.ndarray) -> np.ndarray:
    """bool [system]: it has a value on every query."""
    return np.logical_not(np.isnan(values).any(axis=0))


def _shared(values: np.ndarray) -> np.ndarray:
    known = (~np.isnan(values)).astype(np.float64)
    return known.T @ known


def _slack(x: np.ndarray) -> np.ndarray:
    """How far rounding may move a sum of each system's values [system]."""
    return np.abs(x).sum(axis=0) * _rounding(x)


def _slack_of_pairs(values: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """How far it may move the sum of their differences [pair], over the queries of both."""
    sizes = np.abs(values.T[first]) + np.abs(values.T[second])
    return np.nansum(sizes, axis=1) * _rounding(values)


def _rounding(values: np.ndarray) -> float:
    """How far it may move a sum over all queries, as a share of its terms' sizes."""
    return 2 * len(values) * float(np.finfo(np.float64).eps)


def _parts(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The systems with a value on every query, and the pairs that have another in them."""
    whole = _whole(values)
    first, second = np.nonzero(np.triu(~np.logical_and.outer(whole, whole), 1))
    return np.flatnonzero(whole), first, second


def _slices(number: int, width: int) -> Iterator[slice]:
    """Stretches of so many rows of that width as are held at once."""
    step = max(1, _CHUNK // max(width, 1))
    return (slice(start, min(start + step, number)) for start in range(0, number, step))


def _every_flip(queries: int, systems: int) -> Iterator[np.ndarray]:
    """Every row of signs [flip, query] whose last is 1: the others only turn all signs round."""
    for at in _slices(2 ** max(queries - 1, 0), max(queries, systems)):
        bits = np.arange(at.start, at.stop)[:, None] >> np.arange(queries)
        yield 1.0 - 2.0 * (bits & 1)


def _flips(
    queries: int, systems: int, resamples: int, rng: int | np.random.Generator
) -> Iterator[np.ndarray]:
    """Rows of random signs [flip, query], the same however many are held at once."""
    bits = np.random.default_rng(rng).integers(0, 2, (resamples, queries), np.int8)
    for at in _slices(resamples, max(queries, systems)):
        yield bits[at] * 2.0 - 1.0


def _means_of_whole(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Resampled means [system, resample] of systems with a value on every query."""
    resamples, queries = draws.shape
    out = np.zeros((values.shape[1], resamples))
    by_system = np.ascontiguousarray(values.T)
    for at in _slices(resamples, max(queries, values.shape[1])):
        places = (draws[at].astype(np.float64) * queries).astype(np.int64)
        rows = np.arange(len(places))[:, None] * queries
        times = np.bincount((rows + places).ravel(), minlength=places.size)
        weights = np.ascontiguousarray(times.reshape(places.shape).T / max(queries, 1))
        sums = np.zeros((values.shape[1], len(places)))
        weighted_sums(by_system, weights, sums)
        out[:, at] = sums
    return out

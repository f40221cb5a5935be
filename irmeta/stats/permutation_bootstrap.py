"""Permutation and bootstrap tests of the mean difference of all pairs of systems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irmeta.equality import Units, of_pairs, pair_sum_tolerances, sum_tolerances
from irmeta.errors import UsageError, check_share, check_whole
from irmeta.kernels.pair_statistics import count_as_far, resampled_means, weighted_sums
from irmeta.stats.paired import shared_queries, square

EXACT = 16
"""Largest number of queries for which all sign flips are enumerated."""
LEAST_PERCENTILE = 100
"""Fewest queries of a pair for which percentile intervals with Bonferroni's level hold together."""
_CHUNK = 2**21  # numbers held at once


def permutation_p(
    values: np.ndarray,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    units: Units = 0.0,
) -> np.ndarray:
    """Compute two-sided p-values of the sign-flip permutation test [system, system].

    p is the share of sign flips whose |sum of differences| is at least the observed one, but for
    rounding: ``count / 2^n`` over all flips for at most 16 queries or ``2^n <= resamples``, else
    ``(1 + count) / (1 + resamples)`` over random flips, the same for all pairs. n counts the
    queries of the matrix on which any system has a value. NaN where a pair shares no query.
    """
    values = _used(values)
    check_whole("resamples", resamples)
    queries, systems = values.shape
    x = np.nan_to_num(values, nan=0.0)
    slack = sum_tolerances(values, units)
    is_complete = _is_complete(values)
    complete = np.flatnonzero(is_complete)
    first, second = np.nonzero(np.triu(~np.logical_and.outer(is_complete, is_complete), 1))
    totals = x.sum(axis=0)[complete]
    limit = np.abs(np.subtract.outer(totals, totals)) - of_pairs(slack[complete])
    complete_count = np.zeros(limit.shape, np.int64)
    partial_count = np.zeros(len(first), np.int64)
    exact = is_enumerated(queries, resamples)
    for signs in sign_flips(queries, systems, resamples, rng):
        count_as_far(np.ascontiguousarray(x[:, complete].T @ signs.T), limit, complete_count)
        for part in _slices(len(first), max(len(signs), queries)):
            pairs = np.nan_to_num(values.T[first[part]] - values.T[second[part]], nan=0.0)
            slacks = pair_sum_tolerances(values, units, first[part], second[part])
            bar = np.abs(pairs.sum(axis=1)) - slacks
            partial_count[part] += (np.abs(pairs @ signs.T) >= bar[:, None]).sum(axis=1)
    counts = np.zeros((systems, systems), np.int64)
    counts[np.ix_(complete, complete)] = complete_count
    counts[first, second] = partial_count
    upper = np.triu(np.ones((systems, systems), bool), 1)
    count = counts[upper]
    p = count / 2.0 ** max(queries - 1, 0) if exact else (1 + count) / (1 + resamples)
    p[shared_queries(values)[upper] == 0] = np.nan
    return square(p, upper)


def bootstrap(
    values: np.ndarray,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    confidence: float = 0.95,
    units: Units = 0.0,
    *,
    joint: bool = False,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the paired bootstrap of the mean difference: p, low, high, each [system, system].

    Each resample draws as many queries as a pair has; all pairs share the draws. With D the mean
    difference and D* that of a resample, ``p = (1 + #{|D* - D| >= |D|}) / (1 + resamples)`` by the
    shift method (Noreen 1989; Smucker, Allan, Carterette 2007, doi:10.1145/1321440.1321528); limits
    are percentiles of D*. Sakai's (2006) is studentised. `joint`: quantiles of one of many
    intervals count the sample as a resample, and are infinite with too few. NaN without spread.
    With `weights` of rows, which are drawn with them, means are weighted, and no value is NaN.
    """
    check_whole("resamples", resamples)
    check_share("confidence", confidence)
    values = _used(values)
    queries, systems = values.shape
    upper = np.triu(np.ones((systems, systems), bool), 1)
    first, second = np.nonzero(upper)
    generator = np.random.default_rng(rng)
    draws = generator.random((resamples, queries), dtype=np.float32)
    is_complete = _is_complete(values)
    shares = np.ones((queries, 1)) if weights is None else weights[:, None]
    means = bootstrap_means(np.where(is_complete, values, 0.0) * shares, draws)
    if weights is not None:
        means /= bootstrap_means(shares, draws)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    p, low, high = np.full((3, len(first)), np.nan)
    for part in _slices(len(first), max(resamples, queries)):
        a, b = first[part], second[part]
        differences = values.T[a] - values.T[b]
        shared = (~np.isnan(differences)).sum(axis=1)
        number = np.maximum(shared, 1) if weights is None else weights.sum()
        observed = (np.nan_to_num(differences, nan=0.0) * shares[:, 0]).sum(axis=1) / number
        slack = pair_sum_tolerances(values, units, a, b) / number
        least = np.abs(observed) - slack
        ends = (of.reduce(differences, axis=1, initial=np.nan) for of in (np.fmax, np.fmin))
        spread = np.subtract(*ends)
        is_tested = (shared > 1) & ((spread > slack) | (np.abs(observed) <= slack))
        resampled = means[a] - means[b]
        gaps = np.flatnonzero(~(is_complete[a] & is_complete[b]))
        gap_means = np.zeros((len(gaps), resamples))
        resampled_means(np.ascontiguousarray(differences[gaps]), draws, gap_means)
        resampled[gaps] = gap_means
        is_far = np.abs(resampled - observed[:, None]) >= least[:, None]
        p[part] = np.where(is_tested, (1 + is_far.sum(axis=1)) / (1 + resamples), np.nan)
        method = "weibull" if joint else "linear"
        interval = np.quantile(resampled, tails, axis=1, overwrite_input=True, method=method)
        if joint and tails[0] * (1 + resamples) < 1:
            interval[0], interval[1] = -np.inf, np.inf
        low[part], high[part] = np.where(is_tested, interval, np.nan)
    del means, first, second
    limits = np.zeros((2, systems, systems))
    for square_limit, above, below in zip(limits, (low, high), (high, low), strict=True):
        # Below the diagonal the systems are swapped, so the ends swap and change sign.
        square_limit[upper], square_limit.T[upper] = above, 0.0 - below
    return square(p, upper), limits[0], limits[1]


def _used(values: np.ndarray) -> np.ndarray:
    """Remove the queries on which no system has a value."""
    return values[~np.isnan(values).all(axis=1)]


def _is_complete(values: np.ndarray) -> np.ndarray:
    """Check which systems have a value on every query: bool [system]."""
    return np.logical_not(np.isnan(values).any(axis=0))


def _slices(number: int, width: int) -> Iterator[slice]:
    """Split `number` rows of a given width into slices that fit in memory."""
    step = max(1, _CHUNK // max(width, 1))
    return (slice(start, min(start + step, number)) for start in range(0, number, step))


def is_enumerated(queries: int, resamples: int) -> bool:
    """Check whether all sign flips of the queries are enumerated."""
    return queries <= max(EXACT, resamples.bit_length() - 1)  # 2 ** queries <= resamples


def sign_flips(
    queries: int, systems: int, resamples: int, rng: int | np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield rows of signs [flip, query]: half of all flips where these are enumerated, or random.

    The other half are their negations. `systems` limits the rows that are yielded at once, of which
    random flips are independent.
    """
    width = max(queries, systems)
    if is_enumerated(queries, resamples):
        for part in _slices(2 ** max(queries - 1, 0), width):
            bits = np.arange(part.start, part.stop)[:, None] >> np.arange(queries)
            yield 1.0 - 2.0 * (bits & 1)
    else:
        bits = np.random.default_rng(rng).integers(0, 2, (resamples, queries), np.int8)
        for part in _slices(resamples, width):
            yield bits[part] * 2.0 - 1.0


def critical_value(largest: np.ndarray, confidence: float, *, is_every: bool = False) -> float:
    """Return what a statistic must exceed for p of at most ``1 - confidence``.

    `largest` are ascending statistics of random permutations or resamples, or of every permutation:
    random ones do not include the sample, which counts as one more. Infinite if there are too few
    for such a p.
    """
    check_share("confidence", confidence)
    more = 0 if is_every else 1
    # The factor guards the floor against rounding of, say, 0.05 * 100,001.
    allowed = int(np.floor((1.0 - confidence) * (len(largest) + more) * (1.0 + 1e-12))) - more
    if allowed < 1 - more:
        return float("inf")
    return float(largest[max(len(largest) - allowed - 1, 0)])


def query_counts(draws: np.ndarray) -> np.ndarray:
    """Count how often each resample draws each query: int64 [resample, query].

    `draws` is float32 in [0, 1) [resample, query]: relative indices of queries.
    """
    queries = draws.shape[1]
    drawn = (draws.astype(np.float64) * queries).astype(np.int64)
    rows = np.arange(len(drawn))[:, None] * queries
    return np.bincount((rows + drawn).ravel(), minlength=drawn.size).reshape(drawn.shape)


def bootstrap_means(values: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Compute resampled means [system, resample] of systems with a value on every query."""
    resamples, queries = draws.shape
    out = np.zeros((values.shape[1], resamples))
    by_system = np.ascontiguousarray(values.T)
    for part in _slices(resamples, max(queries, values.shape[1])):
        times = query_counts(draws[part])
        weights = np.ascontiguousarray(times.T / max(queries, 1))
        sums = np.zeros((values.shape[1], len(times)))
        weighted_sums(by_system, weights, sums)
        out[:, part] = sums
    return out


def defined_tests(values: np.ndarray, tested: np.ndarray) -> int:
    """Count the tested pairs that share enough queries for a p-value."""
    return int((shared_queries(values)[tested] > 1).sum())


def check_percentiles(test: str, values: np.ndarray, tested: np.ndarray) -> None:
    """Refuse percentile intervals of all pairs at once by few queries: they are too narrow."""
    if test != "bootstrap":
        return
    shared = shared_queries(values)[tested]
    least = int(shared[shared > 1].min(initial=LEAST_PERCENTILE))
    if least < LEAST_PERCENTILE:
        raise UsageError(
            f"bootstrap with bonferroni needs {LEAST_PERCENTILE} queries, and a pair of systems has"
            f" {least}: its percentile intervals would be too narrow. Use test 't' with bonferroni,"
            " or 'bootstrap-max-t'."
        )

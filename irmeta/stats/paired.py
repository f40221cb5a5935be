"""Tests of the per-query differences of all pairs of systems: Student's t, sign, Wilcoxon.

Queries may have weights, fixed numbers such as how often users ask each: with equal weights all
numbers are those without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, ndtr, stdtr, stdtrit

from irmeta.equality import Units, tolerances
from irmeta.errors import UsageError, check_share
from irmeta.kernels.pair_statistics import (
    count_signs,
    mirror,
    paired_moments,
    pooled_moments,
    signed_rank_tails,
    signed_ranks,
    tie_magnitudes,
)
from irmeta.results.matrix import Matrix

ROUNDING = 16 * np.finfo(np.float64).eps
"""A residual spread of at most this share of the whole counts as 0."""

NEAR = 1e-4
"""Relative distance from a critical value within which a p-value is computed."""

_PAIRS = 1 << 18
"""Pairs whose p-values are computed at once."""


@dataclass(frozen=True)
class Differences:
    """Differences of all pairs of systems, over the queries on which both have a value.

    [system, system]: float64 `mean`, the row's minus the column's; `deviation` of the differences
    (divisor n - 1) or, if not `paired`, the pooled one of values; int32 number of `queries`. NaN
    for no query, or of a deviation fewer than two.
    """

    mean: np.ndarray
    deviation: np.ndarray
    queries: np.ndarray
    paired: bool = True

    @cached_property
    def upper(self) -> np.ndarray:
        """Mask of the upper triangle, each pair once: bool [system, system]."""
        return np.triu(np.ones(self.mean.shape, bool), 1)

    def p(self) -> np.ndarray:
        """Compute two-sided p-values of Student's t [system, system], with diagonal 1.

        ``t = mean / (deviation / sqrt(n))`` with n - 1 degrees of freedom when paired, else ``mean
        / (deviation sqrt(2 / n))`` with 2 n - 2. NaN without spread, but 1 for equal means.
        """
        size = len(self.mean)
        out, index, step = np.empty((size, size)), np.arange(size), max(1, _PAIRS // max(1, size))
        for rows in (slice(start, start + step) for start in range(0, size, step)):
            upper = index > index[rows, None]
            arrays = (moments[rows][upper] for moments in (self.mean, self.deviation, self.queries))
            out[rows][upper] = self._p(*arrays)
        np.fill_diagonal(out, 1.0)
        mirror(out, 1.0)
        return out

    def separated(self, alpha: float) -> np.ndarray:
        """Compute whether ``p() <= alpha`` for each pair above the diagonal: bool [pair].

        The pairs are those of `upper`.
        """
        upper = self.upper
        mean, deviation = self.mean[upper], self.deviation[upper]
        pairs = Differences(mean, deviation, self.queries[upper], self.paired)
        return pairs.separated_each(alpha)

    def separated_each(self, alpha: float) -> np.ndarray:
        """Compute whether p is at most `alpha`, of arrays [pair].

        Only ratios near the critical one need a p-value.
        """
        mean, deviation, number = self.mean, self.deviation, self.queries
        ratio, error = self._ratio(mean, deviation, number)
        critical = self._by_number(lambda freedom: -stdtrit(freedom, alpha / 2))[number]
        is_near = ~(np.abs(ratio - critical) > NEAR * critical) | ~(error > 0)
        is_separated = ratio > critical
        near = (array[is_near] for array in (mean, deviation, number))
        is_separated[is_near] = self._p(*near) <= alpha
        return is_separated

    def separated_by_holm(self, alpha: float) -> np.ndarray:
        """Compute whether p with Holm's correction is at most `alpha`, of arrays [pair].

        All pairs have the same number of queries.
        """
        number = int(self.queries.max(initial=0))
        is_far = np.zeros(len(self.mean), bool)
        if number < 2:
            return is_far
        ratio, error = self._ratio(self.mean, self.deviation, self.queries)
        tests = int(((error > 0) | (self.mean == 0)).sum())  # others have no p-value
        order = np.argsort(-ratio, kind="stable")[:tests]
        freedom = float(self._freedom(np.array(number)))
        critical = _holm_critical_values(freedom, tests, alpha)
        is_far[order] = np.logical_and.accumulate(ratio[order] >= critical)
        return is_far

    def _ratio(
        self, mean: np.ndarray, deviation: np.ndarray, number: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return |t|, 0 where the standard error is 0 or undefined, and that error."""
        error = deviation * self._per_query(number)
        ratio = np.divide(mean, error, out=np.zeros(len(mean)), where=error > 0)
        return np.abs(ratio, out=ratio), error

    def _p(self, mean: np.ndarray, deviation: np.ndarray, number: np.ndarray) -> np.ndarray:
        ratio, error = self._ratio(mean, deviation, number)
        p = 2 * stdtr(self._freedom(number), -ratio)
        flat = error == 0
        p[flat] = np.where(mean[flat] == 0, 1.0, np.nan)
        p[number < 2] = np.nan
        return p

    def limits(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Compute the confidence interval of the difference [system, system]; NaN as for `p`."""
        factor = self._by_number(lambda freedom: stdtrit(freedom, (1 + confidence) / 2))
        factor *= self._per_query(np.arange(len(factor)))
        margin = factor[self.queries]
        margin *= self.deviation
        low = self.mean - margin
        return low, np.add(self.mean, margin, out=margin)

    def effect(self) -> np.ndarray:
        """Compute the mean difference in standard deviations [system, system]; NaN below 2 queries.

        Cohen's d_z when paired, else Cohen's d with the pooled deviation. Without deviation 0 where
        the means are equal, else infinite.
        """
        out = np.copysign(np.inf, self.mean)
        out[np.isnan(self.deviation)] = np.nan
        out[(self.deviation == 0) & (self.mean == 0)] = 0.0
        return np.divide(self.mean, self.deviation, out=out, where=self.deviation > 0)

    def _by_number(self, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return a function of the degrees of freedom for 0, 1, ... queries; NaN without any."""
        freedom = self._freedom(np.arange(self.queries.max(initial=0) + 1))
        values = np.full(len(freedom), np.nan)
        is_defined = freedom > 0
        values[is_defined] = of(freedom[is_defined])
        return values

    def _freedom(self, number: np.ndarray) -> np.ndarray:
        return number - 1.0 if self.paired else 2.0 * number - 2.0

    def _per_query(self, number: np.ndarray) -> np.ndarray:
        """Return the factor from standard deviation to standard error."""
        return np.sqrt((1.0 if self.paired else 2.0) / np.maximum(number, 1))


@lru_cache(maxsize=16)
def _holm_critical_values(freedom: float, tests: int, alpha: float) -> np.ndarray:
    return stdtrit(freedom, 1.0 - alpha / np.arange(tests, 0, -1) / 2.0)


@lru_cache(maxsize=4)
def _upper_places(systems: int) -> np.ndarray:
    return np.flatnonzero(np.triu(np.ones((systems, systems), bool), 1))


def upper_values(square: np.ndarray) -> np.ndarray:
    """Return the values above the diagonal, row by row: [pair]."""
    return square.ravel()[_upper_places(len(square))]


def significant_signs(differences: Differences, alpha: float, holm: bool) -> np.ndarray:
    """Return which system of each pair is significantly better by the paired t-test: int8 [pair].

    All pairs have the same queries, so that critical values decide, which is faster than p-values.
    """
    mean, deviation = upper_values(differences.mean), upper_values(differences.deviation)
    pairs = Differences(mean, deviation, upper_values(differences.queries), differences.paired)
    is_far = pairs.separated_by_holm(alpha) if holm else pairs.separated_each(alpha)
    return np.where(is_far, np.sign(mean), 0.0).astype(np.int8)


def square(upper_values: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Build a symmetric [system, system] from the values above the diagonal, row by row."""
    out = np.empty(upper.shape)
    np.fill_diagonal(out, 1.0)
    out[upper] = upper_values
    mirror(out, 1.0)
    return out


def paired_differences(values: np.ndarray) -> Differences:
    """Compute the moments of the per-query differences of all pairs; those within rounding are 0.

    A pair depends on its two systems alone, and ignores queries where either is NaN.
    """
    differences = _differences(paired_moments, values)
    np.fill_diagonal(differences.deviation, 0.0)
    return differences


def pair_moments(values: np.ndarray, pairs: tuple[np.ndarray, np.ndarray]) -> Differences:
    """Compute the moments of `paired_differences` for pairs above the diagonal: arrays [pair]."""
    mean, deviation, queries = _upper_moments(paired_moments, values)
    return Differences(mean[pairs], deviation[pairs], queries[pairs])


def unpaired_differences(values: np.ndarray) -> Differences:
    """Compute the difference of means and the pooled deviation of all pairs of systems.

    ``s_p^2 = (s_ii + s_jj) / 2``: both systems have the same number of queries, because a query
    counts for a pair only where both have a value.
    """
    return replace(_differences(pooled_moments, values), paired=False)


def _differences(moments: Callable[..., None], values: np.ndarray) -> Differences:
    mean, deviation, queries = _upper_moments(moments, values)
    mirror(mean, -1.0)
    mirror(deviation, 1.0)
    np.fill_diagonal(mean, 0.0)
    return Differences(mean, deviation, np.maximum(queries, queries.T))


def _upper_moments(
    moments: Callable[..., None], values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return means, deviations and numbers of queries, written above the diagonal alone."""
    mean, deviation = np.empty((2, values.shape[1], values.shape[1]))
    queries = np.zeros(mean.shape, np.int32)
    moments(np.ascontiguousarray(values, np.float64), tolerances(values), mean, deviation, queries)
    return mean, deviation, queries


EXACT_RANKS = 50
"""Largest number of queries with an exact null distribution of Wilcoxon's test, without ties."""
EXACT_SIGNS = 13
"""Largest number of queries for which that distribution is enumerated, ties and zeros included."""
_CHUNK = 2**20  # differences held at once


def sign_test(values: np.ndarray, units: Units = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Compute p and lead (int8) of the two-sided sign test on all pairs of systems.

    With k the smaller number of wins among the n queries on which the systems differ, ``p = min(1,
    2 P(X <= k))`` for X binomial with n trials and probability 1/2. Values equal by
    `irmeta.equality` are ties, as in `Verdicts`, and excluded; p is NaN where a pair shares no
    query.
    """
    systems = values.shape[1]
    plus, minus = np.zeros((2, systems, systems), np.int32)
    within = tolerances(values, units)
    count_signs(np.ascontiguousarray(values, np.float64), within, plus, minus)
    upper = np.triu(np.ones((systems, systems), bool), 1)
    less = np.minimum(plus, minus)[upper].astype(np.float64)
    p = np.minimum(1.0, 2 * bdtr(less, (plus + minus)[upper], 0.5))
    p[shared_queries(values)[upper] == 0] = np.nan
    return square(p, upper), _lead(np.sign(plus - minus)[upper], upper)


def shared_queries(values: np.ndarray) -> np.ndarray:
    """Count the queries on which both systems of a pair have a value: float64 [system, system]."""
    known = (~np.isnan(values)).astype(np.float64)
    return known.T @ known


def _lead(signs: np.ndarray, upper: np.ndarray) -> np.ndarray:
    lead = np.zeros(upper.shape, np.int8)
    lead[upper] = signs
    return lead - lead.T


def wilcoxon_test(values: np.ndarray, units: Units = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Compute p and lead (int8) of the two-sided Wilcoxon signed-rank test on all pairs of systems.

    Zeros are dropped, equal magnitudes share their mean rank, and the null distribution is that of
    ``scipy.stats.wilcoxon``: exact for n <= 50 without ties and zeros, enumerated for n <= 13 with
    some, else normal with the variance corrected for ties, without continuity correction.

    Unlike in scipy, differences that are equal but for rounding tie (by `irmeta.equality`), so that
    P@20 and the number of relevant docs in 20 have one p; neighbours that together span more than
    the tolerance tie only within 1e-12. A pair whose differences are all 0 has p = 1 for any n.
    """
    queries, systems = values.shape
    upper = np.triu(np.ones((systems, systems), bool), 1)
    first, second = np.nonzero(upper)
    p, leads = np.empty(len(first)), np.empty(len(first), np.int8)
    by_system = np.ascontiguousarray(values.T, np.float64)
    within, noise = tolerances(values, units), tolerances(values)
    step = max(1, _CHUNK // max(queries, 1))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        a, b = first[part], second[part]
        p[part], leads[part] = rank_sums_p(
            by_system[a] - by_system[b],
            np.maximum(within[a], within[b]),
            np.maximum(noise[a], noise[b]),
        )
    return square(p, upper), _lead(leads, upper)


def rank_sums_p(
    differences: np.ndarray, within: np.ndarray, noise: np.ndarray, side: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Compute p and lead for the rows of `differences` [pair, query]; overwrites these.

    `within` and `noise` are tolerances [pair]: see `tie_magnitudes`. With `side` 1 large rank sums
    of the positive differences have a small p, with -1 small ones.
    """
    pairs, queries = differences.shape
    shared = queries - np.isnan(differences).sum(axis=1)
    differences[np.abs(differences) <= within[:, None]] = np.nan
    order = np.argsort(np.abs(differences), axis=1)
    tie_magnitudes(differences, order, within, noise)
    plus, ties = np.empty(pairs), np.empty(pairs)
    number = np.empty(pairs, np.int64)
    signed_ranks(differences, order, plus, number, ties)

    count = number.astype(np.float64)
    error = np.sqrt((count * (count + 1) * (2 * count + 1) - ties / 2) / 24)
    middle = count * (count + 1) / 4
    z = np.divide(plus - middle, error, out=np.zeros(pairs), where=number > 0)
    p = ndtr(-side * z) if side else 2 * ndtr(-np.abs(z))
    is_clean = (number == shared) & (ties == 0)
    exact = np.flatnonzero(is_clean & (number <= EXACT_RANKS))
    if len(exact):
        tails = _rank_sum_tails(int(number[exact].max()))
        minus = 2 * middle - plus
        sums = np.minimum(plus, minus) if side == 0 else minus if side > 0 else plus
        tail = tails[number[exact], sums[exact].astype(np.int64)]
        p[exact] = tail if side else np.minimum(1.0, 2 * tail)
    few = np.flatnonzero(~is_clean & (shared <= EXACT_SIGNS))
    if len(few):
        tails, ways = np.empty(len(few)), np.empty(EXACT_SIGNS * (EXACT_SIGNS + 1) + 1)
        signed_rank_tails(differences[few], order[few], number[few], plus[few], side, ways, tails)
        p[few] = tails
    p[number == 0] = 1.0
    p[shared == 0] = np.nan
    return p, np.sign(plus - middle)


@cache
def _rank_sum_tails(most: int) -> np.ndarray:
    """Compute P(sum of the positive ranks <= w) [n, w] for n = 0 to `most` differences."""
    tails = np.ones((most + 1, most * (most + 1) // 2 + 1))
    chance = np.zeros(tails.shape[1])
    chance[0] = 1.0
    for n in range(1, most + 1):
        chance /= 2
        chance[n:] += chance[:-n].copy()
        tails[n] = np.cumsum(chance)
    return tails


def check_alpha(alpha: float) -> None:
    """Raise `UsageError` unless a significance level is above 0 and at most 1."""
    if alpha != 1:
        check_share("alpha", alpha)


def check_finite(matrix: Matrix) -> None:
    """Raise `UsageError` for the first infinite value of a matrix."""
    infinite = np.argwhere(np.isinf(matrix.values))
    if len(infinite):
        query, system = infinite[0]
        raise UsageError(
            f"query {matrix.queries[query]!r} has an infinite value for {matrix.systems[system]!r}:"
            " its mean cannot be tested. Remove the query, or use a bounded measure."
        )


class PairedT:
    """The test ``t`` of `irmeta.stats.pairwise`, without effect sizes and intervals.

    Which pairs are significantly different is known without most of the p-values.
    """

    lead: None = None
    """The test favours the greater mean: see `Pairs.lead`."""

    def __init__(self, matrix: Matrix) -> None:
        check_finite(matrix)
        if matrix.weights is not None:
            raise UsageError("queries have weights, which only `pairwise` counts.")
        self.direction: int = matrix.direction
        self.differences: Differences = paired_differences(matrix.values)
        self._better = dict[float, np.ndarray]()

    @property
    def difference(self) -> np.ndarray:
        """The row's mean minus the column's: float64 [system, system]."""
        return self.differences.mean

    @property
    def upper(self) -> np.ndarray:
        """Mask of the pairs, each once: bool [system, system]."""
        return self.differences.upper

    @cached_property
    def p_adjusted(self) -> np.ndarray:
        """The p-values, uncorrected: see `Pairs.p_adjusted`."""
        return self.differences.p()

    def separated(self, alpha: float = 0.05) -> np.ndarray:
        """Return whether p <= `alpha`: see `Pairs.separated`."""
        check_alpha(alpha)
        is_separated = np.zeros(self.difference.shape, bool)
        if "p_adjusted" in self.__dict__:  # computed already
            is_separated[self.upper] = self.p_adjusted[self.upper] <= alpha
        else:
            is_separated[self.upper] = self.differences.separated(alpha)
        return is_separated | is_separated.T

    def better(self, alpha: float = 0.05) -> np.ndarray:
        """Return whether the row is significantly better than the column: bool [system, system]."""
        if alpha not in self._better:  # a reference is compared with many measures
            is_greater = np.sign(self.difference) * self.direction > 0
            self._better[alpha] = self.separated(alpha) & is_greater
        return self._better[alpha]


WEIGHTED_TESTS = ("t", "permutation")
"""Tests of two systems with a weighted form."""
CLUSTERED_TESTS = ("t", "permutation", "bootstrap", "hsd-randomised", "bootstrap-max-t", "max-t")
"""Tests that can resample whole clusters of queries, or take their means."""
LEAST_CLUSTERS = 20
"""Fewest clusters that are resampled; of fewer, a t-test compares their means."""


class WeightedMoments(NamedTuple):
    """Moments of the defined values of columns: arrays [column].

    `mean`; `deviation`, the weighted standard deviation; standard `error` of the mean with its
    degrees of `freedom`; number of `queries`. The mean is NaN without a query, all others for fewer
    than two.
    """

    mean: np.ndarray
    deviation: np.ndarray
    error: np.ndarray
    freedom: np.ndarray
    queries: np.ndarray

    def limits(self, confidence: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the limits of the interval of the mean by Student's t."""
        margin = stdtrit(self.freedom, (1 + confidence) / 2) * self.error
        return self.mean - margin, self.mean + margin


def weighted_moments(
    values: np.ndarray, weights: np.ndarray, within: float | np.ndarray = 0.0
) -> WeightedMoments:
    """Compute the weighted mean over queries of each column of values, and its standard error.

    With shares ``c_i = w_i / sum w``, mean ``m = sum c_i x_i`` and ``S = sum c_i^2``, the variance
    of m is ``sum c_i^2 (x_i - m)^2 / v_i`` with ``v_i = 1 - 2 c_i + S``: the bias-reduced
    linearisation of Bell and McCaffrey (2002, Survey Methodology 28(2)), unbiased for values of
    equal variance, whatever the weights, and consistent without equal variance. The degrees of
    freedom are Satterthwaite's for normal values, ``S^2 / tr(G^2)`` there: n - 1 for equal weights,
    fewer where few queries have most of the weight. Pustejovsky and Tipton (2018,
    doi:10.1080/07350015.2016.1247004) have the weighted form (CR2, with a working model of equal
    variances). `weights` are above 0. Values that differ from the mean by at most `within` have no
    spread.
    """
    known = ~np.isnan(values)
    of_known = np.where(known, weights[:, None], 0.0)
    total, number = of_known.sum(axis=0), known.sum(axis=0)
    share = np.divide(of_known, total, out=np.zeros(known.shape), where=total > 0)
    x = np.where(known, values, 0.0)
    mean = np.where(number > 0, (share * x).sum(axis=0), np.nan)
    squares = np.where(known, x - mean, 0.0) ** 2
    squares[:, squares.max(axis=0, initial=0.0) <= np.square(within)] = 0.0
    concentration = (share**2).sum(axis=0)
    is_tested = number > 1
    residual = np.where(is_tested, 1.0 - 2.0 * share + concentration, 1.0)
    factor = share**2 / residual
    variance = (factor * squares).sum(axis=0)
    spread = (share * squares).sum(axis=0) / np.where(is_tested, 1.0 - concentration, 1.0)
    # tr(G^2): factor_i factor_j (S - c_i - c_j)^2 over all i and j, but v_i for S - 2 c_i if i = j.
    half = concentration / 2.0 - share
    every = 2.0 * (factor * half**2).sum(axis=0) * factor.sum(axis=0)
    every += 2.0 * (factor * half).sum(axis=0) ** 2
    every += (factor**2 * (residual**2 - 4.0 * half**2)).sum(axis=0)
    freedom = np.divide(concentration**2, every, out=np.full(len(number), np.nan), where=is_tested)
    deviation, error = (
        np.where(is_tested, np.sqrt(squared), np.nan) for squared in (spread, variance)
    )
    return WeightedMoments(mean, deviation, error, freedom, number.astype(np.int32))


@dataclass(frozen=True)
class WeightedDifferences(Differences):
    """Weighted differences of all pairs: see `weighted_moments` for `error` and `freedom`."""

    error: np.ndarray = field(kw_only=True)
    freedom: np.ndarray = field(kw_only=True)

    def p(self) -> np.ndarray:
        """Compute two-sided p-values of Student's t [system, system], with diagonal 1.

        NaN for fewer than two queries, and without spread, but 1 for equal means.
        """
        out = np.where(self.mean == 0, 1.0, np.nan)
        is_tested = self.error > 0
        ratio = np.abs(self.mean[is_tested]) / self.error[is_tested]
        out[is_tested] = 2 * stdtr(self.freedom[is_tested], -ratio)
        out[self.queries < 2] = np.nan
        np.fill_diagonal(out, 1.0)
        return out

    def limits(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Compute the confidence interval of the difference [system, system]; NaN as for `p`."""
        margin = self.error * stdtrit(self.freedom, (1 + confidence) / 2)
        np.fill_diagonal(margin, 0.0)
        return self.mean - margin, self.mean + margin


def weighted_differences(values: np.ndarray, weights: np.ndarray) -> WeightedDifferences:
    """Compute the weighted moments of the per-query differences of all pairs of systems.

    A pair depends on its two systems alone, and ignores queries where either is NaN.
    """
    systems, within = values.shape[1], tolerances(values)
    mean, deviation, error, freedom = np.zeros((4, systems, systems))
    queries = np.zeros((systems, systems), np.int32)
    for row in range(systems):
        differences = values[:, [row]] - values[:, row:]
        moments = weighted_moments(differences, weights, np.maximum(within[row], within[row:]))
        for square, of_row in zip((mean, deviation, error, freedom, queries), moments, strict=True):
            square[row, row:] = of_row
    mirror(mean, -1.0)
    for square in (deviation, error, freedom):
        mirror(square, 1.0)
    np.fill_diagonal(mean, 0.0)
    np.fill_diagonal(deviation, 0.0)
    both = np.maximum(queries, queries.T)
    return WeightedDifferences(mean, deviation, both, error=error, freedom=freedom)


def linearised(matrix: Matrix) -> Matrix:
    """Return values whose means without weights, and their errors, are the weighted ones."""
    if matrix.weights is None:
        return matrix
    shares = (matrix.weights / matrix.weights.mean())[:, None]
    means = matrix.means
    return replace(matrix, values=means + (matrix.values - means) * shares, weights=None)

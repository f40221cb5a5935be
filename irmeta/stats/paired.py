"""Student's t-tests of all pairs of systems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr, stdtrit

from irmeta.kernels.pair_moments import mirror, paired_moments, pooled_moments

ROUNDING = 16 * np.finfo(np.float64).eps
"""A spread of differences of at most this share of the greatest value counts as 0."""

_PAIRS = 1 << 18
"""Pairs whose p-values are computed at once."""


@dataclass(frozen=True)
class Differences:
    """Differences of all pairs of systems, over the queries on which both have a value.

    Attributes
    ----------
    mean
        float64 [system, system]: the row's mean minus the column's; NaN without a query.
    deviation
        float64 [system, system]: the standard deviation (divisor n - 1) of the per-query
        differences, or if not `paired` the pooled deviation of the two systems' values; NaN for
        fewer than two queries.
    queries
        int32 [system, system]: number of queries used.
    """

    mean: np.ndarray
    deviation: np.ndarray
    queries: np.ndarray
    paired: bool = True

    @property
    def upper(self) -> np.ndarray:
        """Mask of the upper triangle, each pair once: bool [system, system]."""
        return np.triu(np.ones(self.mean.shape, bool), 1)

    def p(self) -> np.ndarray:
        """Compute two-sided p-values of Student's t [system, system], with diagonal 1.

        ``t = mean / (deviation / sqrt(n))`` with n - 1 degrees of freedom when paired, else
        ``mean / (deviation sqrt(2 / n))`` with 2 n - 2. If the deviation is 0, p is 1 where the
        means are equal, else 0. NaN for fewer than two queries.
        """
        size = len(self.mean)
        out, index, step = np.empty((size, size)), np.arange(size), max(1, _PAIRS // max(1, size))
        for rows in (slice(start, start + step) for start in range(0, size, step)):
            upper = index > index[rows, None]
            arrays = (one[rows][upper] for one in (self.mean, self.deviation, self.queries))
            out[rows][upper] = self._p(*arrays)
        np.fill_diagonal(out, 1.0)
        mirror(out, 1.0)
        return out

    def _p(self, mean: np.ndarray, deviation: np.ndarray, number: np.ndarray) -> np.ndarray:
        error = deviation * self._per_query(number)
        ratio = np.divide(mean, error, out=np.zeros(len(mean)), where=error > 0)
        np.negative(np.abs(ratio, out=ratio), out=ratio)
        p = 2 * stdtr(self._freedom(number), ratio)
        flat = error == 0
        p[flat] = np.where(mean[flat] == 0, 1.0, 0.0)
        p[number < 2] = np.nan
        return p

    def limits(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Compute the confidence interval of the difference [system, system]; NaN as for `p`."""
        freedom = self._freedom(np.arange(self.queries.max(initial=0) + 1))
        factor = np.full(len(freedom), np.nan)
        is_defined = freedom > 0
        factor[is_defined] = stdtrit(freedom[is_defined], (1 + confidence) / 2)
        factor *= self._per_query(np.arange(len(factor)))
        margin = factor[self.queries]
        margin *= self.deviation
        low = self.mean - margin
        return low, np.add(self.mean, margin, out=margin)

    def effect(self) -> np.ndarray:
        """Compute the mean difference in standard deviations [system, system].

        The effect size is Cohen's d_z (mean over standard deviation of the differences) when
        paired, else Cohen's d with the pooled deviation. If the deviation is 0, the effect size is
        0 where the means are equal, else infinite with the sign of the difference. NaN for fewer
        than two queries.
        """
        out = np.copysign(np.inf, self.mean)
        out[np.isnan(self.deviation)] = np.nan
        out[(self.deviation == 0) & (self.mean == 0)] = 0.0
        return np.divide(self.mean, self.deviation, out=out, where=self.deviation > 0)

    def _freedom(self, number: np.ndarray) -> np.ndarray:
        return number - 1.0 if self.paired else 2.0 * number - 2.0

    def _per_query(self, number: np.ndarray) -> np.ndarray:
        """Return the factor from standard deviation to standard error."""
        return np.sqrt((1.0 if self.paired else 2.0) / np.maximum(number, 1))


def square(upper_values: np.ndarray, upper: np.ndarray, diagonal: float = 1.0) -> np.ndarray:
    """Build a symmetric [system, system] from the values above the diagonal, row by row."""
    out = np.empty(upper.shape)
    np.fill_diagonal(out, diagonal)
    out[upper] = upper_values
    mirror(out, 1.0)
    return out


def paired_differences(values: np.ndarray) -> Differences:
    """Compute the moments of the per-query differences of all pairs of systems.

    The numbers of a pair depend on the values of its two systems alone. A deviation within rounding
    is 0.

    Parameters
    ----------
    values
        float64 [query, system]; a pair ignores queries where either system is NaN (undefined).
    """
    differences = _differences(paired_moments, values)
    np.fill_diagonal(differences.deviation, 0.0)
    return differences


def unpaired_differences(values: np.ndarray) -> Differences:
    """Compute the difference of means and the pooled deviation of all pairs of systems.

    ``s_p^2 = (s_ii + s_jj) / 2``: both systems have the same number of queries, because a query
    counts for a pair only where both have a value.
    """
    return replace(_differences(pooled_moments, values), paired=False)


def _differences(moments: Callable[..., None], values: np.ndarray) -> Differences:
    mean, deviation = np.empty((2, values.shape[1], values.shape[1]))
    queries = np.zeros(mean.shape, np.int32)
    moments(np.ascontiguousarray(values, np.float64), ROUNDING, mean, deviation, queries)
    mirror(mean, -1.0)
    mirror(deviation, 1.0)
    np.fill_diagonal(mean, 0.0)
    return Differences(mean, deviation, np.maximum(queries, queries.T))

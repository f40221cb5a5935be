"""Weighted means over queries: standard errors, and Student's t-test of paired differences.

The weights are fixed numbers, such as how often users ask each query. With equal weights all
numbers are those of `irmeta.stats.paired`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from irmeta.equality import tolerances
from irmeta.kernels.pair_statistics import mirror
from irmeta.results.matrix import Matrix
from irmeta.stats.paired import Differences

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


def weighted_moments(
    values: np.ndarray, weights: np.ndarray, within: float | np.ndarray = 0.0
) -> WeightedMoments:
    """Compute the weighted mean over queries of each column and its standard error.

    With shares ``c_i = w_i / sum w``, mean ``m = sum c_i x_i`` and ``S = sum c_i^2``, the variance
    of m is ``sum c_i^2 (x_i - m)^2 / v_i`` with ``v_i = 1 - 2 c_i + S``: the bias-reduced
    linearisation of Bell and McCaffrey (2002, Survey Methodology 28(2)), unbiased for values of
    equal variance, whatever the weights, and consistent without equal variance. The degrees of
    freedom are Satterthwaite's for normal values, ``S^2 / tr(G^2)`` there: n - 1 for equal weights,
    fewer where few queries have most of the weight. Pustejovsky and Tipton (2018,
    doi:10.1080/07350015.2016.1247004) have the weighted form (CR2, with a working model of equal
    variances).

    Parameters
    ----------
    values
        float64 [query, column], NaN: undefined.
    weights
        float64 [query], above 0.
    within
        Values that differ from the mean by no more have no spread.
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

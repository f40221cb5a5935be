"""Student's t-tests of every two systems at once, in closed form over the covariance matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from irmeta.kernels.paired import mirror, paired_moments, pooled_moments

CANCELS = 1e-10
"""Where var(d) is at most this share of s_ii + s_jj, d's own moments are taken instead."""
ROUNDING = 16 * np.finfo(np.float64).eps
"""A spread of differences up to this share of the greatest value is rounding, and counts as 0."""
_ROWS = 128  # systems whose pairs are computed together: the block stays in the cache


@dataclass(frozen=True)
class Differences:
    """How every two systems differ, over the queries on which both have a value.

    Attributes
    ----------
    mean
        float64 [system, system]: the row's mean less the column's; NaN without a query.
    deviation
        float64 [system, system]: the standard deviation (divisor n - 1) of the per-query
        differences, or if not `paired` the pooled one of the two systems' values; NaN for fewer
        than two queries.
    queries
        int32 [system, system].
    """

    mean: np.ndarray
    deviation: np.ndarray
    queries: np.ndarray
    paired: bool = True

    @property
    def upper(self) -> np.ndarray:
        """bool [system, system]: each pair once."""
        return np.triu(np.ones(self.mean.shape, bool), 1)

    def p(self) -> np.ndarray:
        """Two-tailed p-values of Student's t [system, system], the diagonal 1.

        ``t = mean / (deviation / sqrt(n))`` with n - 1 degrees of freedom when paired, else
        ``mean / (deviation sqrt(2 / n))`` with 2 n - 2. Without spread p is 1 where the means are
        equal, else 0. NaN for fewer than two queries.
        """
        upper = self.upper
        mean, deviation, number = self.mean[upper], self.deviation[upper], self.queries[upper]
        error = deviation * self._per_query(number)
        ratio = np.divide(mean, error, out=np.zeros(len(mean)), where=error > 0)
        np.negative(np.abs(ratio, out=ratio), out=ratio)
        p = 2 * stdtr(self._freedom(number), ratio)
        flat = error == 0
        p[flat] = np.where(mean[flat] == 0, 1.0, 0.0)
        p[number < 2] = np.nan
        return square(p, upper)

    def limits(self, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """The confidence interval of the difference [system, system]; NaN as for `p`."""
        freedom = self._freedom(np.arange(self.queries.max(initial=0) + 1))
        factor = np.full(len(freedom), np.nan)
        some = freedom > 0
        factor[some] = stdtrit(freedom[some], (1 + confidence) / 2)
        factor *= self._per_query(np.arange(len(factor)))
        reach = self.deviation * factor[self.queries]
        low = self.mean - reach
        return low, np.add(self.mean, reach, out=reach)

    def effect(self) -> np.ndarray:
        """The mean difference in standard deviations [system, system].

        When paired this is Cohen's d_z (mean over standard deviation of the differences), else
        Cohen's d with the pooled deviation. Without spread: 0 where the means are equal, else
        infinite with the sign of the difference. NaN for fewer than two queries.
        """
        out = np.where(np.isnan(self.deviation), np.nan, np.copysign(np.inf, self.mean))
        out[(self.deviation == 0) & (self.mean == 0)] = 0.0
        return np.divide(self.mean, self.deviation, out=out, where=self.deviation > 0)

    def _freedom(self, number: np.ndarray) -> np.ndarray:
        return number - 1.0 if self.paired else 2.0 * number - 2.0

    def _per_query(self, number: np.ndarray) -> np.ndarray:
        """What a standard deviation is multiplied by to give the standard error."""
        return np.sqrt((1.0 if self.paired else 2.0) / np.maximum(number, 1))


def square(upper_values: np.ndarray, upper: np.ndarray, diagonal: float = 1.0) -> np.ndarray:
    """A symmetric [system, system] from the values above the diagonal, row by row."""
    out = np.empty(upper.shape)
    np.fill_diagonal(out, diagonal)
    out[upper] = upper_values
    mirror(out, 1.0)
    return out


def paired_differences(values: np.ndarray) -> Differences:
    """The moments of the per-query differences of every two systems.

    ``var(d_ij) = s_ii + s_jj - 2 s_ij`` from one matrix product. Where that is at most
    ``1e-10 (s_ii + s_jj)``, or sd(d) at most 1e-10 of the greatest value, digits cancel and the
    moments are taken from the differences themselves; a deviation within rounding is then 0.

    Parameters
    ----------
    values
        float64 [query, system]; NaN: undefined, and the pair leaves the query out.
    """
    known = ~np.isnan(values)
    # A query's mean over the systems is in no difference: without it fewer digits cancel.
    easy = _mean(values, known, 1)
    return _differences(values, known, values - easy[:, None], paired=True)


def unpaired_differences(values: np.ndarray) -> Differences:
    """The difference of means and the pooled deviation of every two systems.

    ``s_p^2 = (s_ii + s_jj) / 2``: both systems have the same number of queries, because a query
    counts for a pair only where both have a value. Cancellation is met as for paired differences.
    """
    return _differences(values, ~np.isnan(values), values, paired=False)


def _differences(
    values: np.ndarray, known: np.ndarray, shifted: np.ndarray, paired: bool
) -> Differences:
    systems = values.shape[1]
    level = _mean(shifted, known, 0)
    centred = np.where(known, shifted - level, 0.0)
    largest = np.max(np.abs(np.where(known, values, 0.0)), axis=0, initial=0.0)
    by_system = np.ascontiguousarray(values.T, np.float64)
    exact = paired_moments if paired else pooled_moments
    mean, deviation = np.zeros((systems, systems)), np.zeros((systems, systems))
    queries = np.zeros((systems, systems), np.int32)
    for rows, cols, number, between, squares, scale in _blocks(centred, known, paired):
        between += level[rows, None] - level[cols]
        between[number == 0] = np.nan
        freedom = np.where(number > 1, (number - 1) * (1 if paired else 2), np.nan)
        magnitude = np.maximum(largest[rows, None], largest[cols])
        close = squares <= CANCELS * scale
        close |= squares <= number * (CANCELS * magnitude) ** 2
        np.sqrt(np.maximum(squares, 0.0, out=squares) / freedom, out=squares)
        first, second = np.nonzero(np.triu(close & (number > 1), 1))
        at = first, second
        some_mean, some_deviation = between[at], squares[at]
        start = rows.start
        exact(by_system, first + start, second + start, ROUNDING, some_mean, some_deviation)
        between[at], squares[at] = some_mean, some_deviation
        mean[rows, cols], deviation[rows, cols], queries[rows, cols] = between, squares, number
        queries[cols, rows] = number.T
    mirror(mean, -1.0)
    mirror(deviation, 1.0)
    np.fill_diagonal(mean, 0.0)
    if paired:
        np.fill_diagonal(deviation, 0.0)
    return Differences(mean, deviation, queries, paired)


def _blocks(
    x: np.ndarray, known: np.ndarray, paired: bool
) -> Iterator[tuple[slice, slice, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """For some systems against them and those after: how many queries they share, the mean
    difference of the centred values there, the sum of squares, and what it was the rest of."""
    systems = x.shape[1]
    complete = bool(known.all())
    own = (x * x).sum(axis=0)
    mask, squared = known.astype(np.float64), x * x
    for start in range(0, systems, _ROWS):
        rows, cols = slice(start, min(start + _ROWS, systems)), slice(start, systems)
        shape = (rows.stop - start, systems - start)
        if complete:
            number = np.full(shape, float(len(x)))
            between, scale = np.zeros(shape), own[rows, None] + own[cols]
            squares = scale.copy()
        else:
            number = mask[:, rows].T @ mask[:, cols]
            rows_sum, cols_sum = x[:, rows].T @ mask[:, cols], mask[:, rows].T @ x[:, cols]
            scale = squared[:, rows].T @ mask[:, cols] + mask[:, rows].T @ squared[:, cols]
            at_least_one = np.maximum(number, 1.0)
            between = (rows_sum - cols_sum) / at_least_one
            lost = between**2 * at_least_one if paired else (rows_sum**2 + cols_sum**2)
            squares = scale - (lost if paired else lost / at_least_one)
        if paired:
            squares -= 2 * (x[:, rows].T @ x[:, cols])
        yield rows, cols, number, between, squares, scale


def _mean(values: np.ndarray, known: np.ndarray, axis: int) -> np.ndarray:
    """The mean of the known values; 0 where there is none."""
    total = np.where(known, values, 0.0).sum(axis=axis)
    return total / np.maximum(known.sum(axis=axis), 1)

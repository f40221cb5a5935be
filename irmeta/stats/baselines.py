"""Comparisons of systems with a baseline: one-sided tests, max-t, relative differences, risk.

A one-sided test asks whether a system's values are greater (`side` 1) or smaller (-1) than the
baseline's, as the `alternative` of scipy.stats does. `max_t_test` has a side itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from scipy.special import bdtr, stdtrit

from irmeta.equality import Units, pair_sum_tolerances, signs, sum_tolerances, tolerances
from irmeta.errors import UsageError, check_choice, check_share, check_whole, did_you_mean
from irmeta.results.matrix import Matrix
from irmeta.stats.paired import Differences, rank_sums_p
from irmeta.stats.permutation_bootstrap import critical_value, is_enumerated, sign_flips


def max_t_test(
    values: np.ndarray,
    baseline: int,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    confidence: float = 0.95,
    units: Units = 0.0,
    side: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Test every system against a baseline, with control of the family-wise error rate.

    Dunnett's test of several treatments against a control [1]_, with the null distribution of the
    largest ``|t|`` by permutation instead of a multivariate t [2]_: under the null hypothesis, all
    differences of a query from the baseline may change their sign together. A system's p is the
    share of sign flips whose largest ``|t|`` of all systems is at least the system's own. Systems
    that resemble one another cost less than with Holm's correction, because the flips keep their
    correlation.

    Parameters
    ----------
    values : ndarray of float64, shape (queries, systems)
        Values without gaps (`Matrix.complete().values`).
    baseline : int
        Index of the baseline.
    resamples : int, default 10,000
        Number of random sign flips. All flips are enumerated for at most 16 queries or
        ``2^queries <= resamples``.
    rng : int or Generator, default 0
        Random seed.
    confidence : float, default 0.95
        Confidence level of the intervals.
    units : float or ndarray of float64, shape (systems,), default 0.0
        Unit of the last printed digit: see `Matrix.units`.
    side : {0, 1, -1}, default 0
        0: two-sided. 1 or -1: only greater or smaller values than the baseline's count, and the
        largest t or -t takes the place of the largest ``|t|``; a system equal to the baseline is
        left out of it, and the interval has one limit.

    Returns
    -------
    p_values : ndarray of float64, shape (systems,)
        ``count / 2^n`` over all flips, else ``(1 + count) / (1 + resamples)``; 1 for the baseline
        and for a system equal to it; NaN without a query.
    margins : ndarray of float64, shape (systems,)
        Half the width of the interval of the mean difference: the intervals hold for all systems
        simultaneously, and exclude 0 where p is at most ``1 - confidence``. Infinite where there
        are too few flips for such a p, NaN for fewer than two queries.

    Notes
    -----
    Differences of equal values are zeros: see `irmeta.equality`. The sum of squares of a system's
    differences is the same for every flip, so ``|t|`` increases with ``u = |sum of differences| /
    sqrt(sum of squares)``, which is compared instead: ``t^2 = (n - 1) u^2 / (n - u^2)``.

    References
    ----------
    .. [1] Dunnett, C. W. (1955). A multiple comparison procedure for comparing several treatments
       with a control. doi:10.1080/01621459.1955.10501294
    .. [2] Westfall, P. H. and Young, S. S. (1993). Resampling-based multiple testing, Section 2.6
       (single-step max T).

    Examples
    --------
    >>> p_values, margins = irmeta.stats.max_t_test(ap.values, baseline=2)
    >>> p_values.tolist()
    [0.125, 0.125, 1.0]
    """
    check_whole("resamples", resamples)
    check_share("confidence", confidence)
    queries, systems = values.shape
    if queries == 0:
        p = np.full(systems, np.nan)
        p[baseline] = 1.0
        return p, np.full(systems, np.nan)
    differences = values - values[:, [baseline]]
    within, slack = (of(values, units) for of in (tolerances, sum_tolerances))
    differences[np.abs(differences) <= np.maximum(within, within[baseline])] = 0.0
    norm = np.sqrt((differences**2).sum(axis=0))
    unit = np.divide(differences, norm, out=np.zeros_like(differences), where=norm > 0)
    enumerated = is_enumerated(queries, resamples)
    observed = side * unit.sum(axis=0) if side else np.abs(unit.sum(axis=0))
    flips = sign_flips(queries, systems, resamples, rng)
    compared = unit[:, norm > 0] if side and norm.any() else unit
    sums = (side * (signs @ compared) if side else np.abs(signs @ compared) for signs in flips)
    if side and enumerated:  # half of the flips are yielded
        sums = (both for signed in sums for both in (signed, -signed))
    largest = np.sort(np.concatenate([statistics.max(axis=1) for statistics in sums]))
    slack = np.maximum(slack, slack[baseline])
    slack = np.divide(slack, norm, out=np.zeros_like(norm), where=norm > 0)
    reached = len(largest) - np.searchsorted(largest, observed - slack)
    p = reached / len(largest) if enumerated else (1 + reached) / (1 + len(largest))
    p[norm == 0.0] = 1.0
    limit = critical_value(largest, confidence, is_every=enumerated)
    return p, _margins(differences, limit, queries)


def _margins(differences: np.ndarray, limit: float, queries: int) -> np.ndarray:
    """Return the largest t by chance, in standard errors of each system."""
    if queries < 2:
        return np.full(differences.shape[1], np.nan)
    gap = queries - limit**2
    if not gap > 4 * queries * np.finfo(np.float64).eps * queries:
        return np.full(differences.shape[1], np.inf)
    t = limit * np.sqrt((queries - 1) / gap)
    return t * differences.std(axis=0, ddof=1) / np.sqrt(queries)


def cross(values: np.ndarray, place: int, diagonal: float) -> np.ndarray:
    """Return values in one row and column of a [system, system] that is else NaN."""
    out = np.full((len(values), len(values)), np.nan)
    np.fill_diagonal(out, diagonal)
    out[place] = out[:, place] = values
    out[place, place] = diagonal
    return out


def risk(matrix: Matrix, baseline: str, alpha: float = 1.0) -> Matrix:
    """Compute the risk-sensitive gain of each system over a baseline, by query.

    Parameters
    ----------
    matrix : Matrix
        Values of one measure.
    baseline : str
        A system of the matrix.
    alpha : float, default 1.0
        Weight of the risk, at least 0: a loss counts 1 + alpha times, a gain once. ndeval's
        ``-riskAlpha``.

    Returns
    -------
    Matrix
        For each query and system the difference from the baseline, positive where the system is
        better, times 1 + alpha where it is worse; 0 for the baseline, NaN where either value is
        undefined. Its means are URisk of the systems.

    Raises
    ------
    UsageError
        If the matrix has no such system, or `alpha` is not a number from 0.

    References
    ----------
    .. [1] Wang, Bennett and Collins-Thompson (2012). Robust ranking models via risk-sensitive
       optimization. doi:10.1145/2348283.2348385

    Examples
    --------
    >>> irmeta.stats.risk(ap, "b", alpha=2).means.round(3).tolist()
    [0.075, 0.0, -1.275]
    """
    if baseline not in matrix.systems:
        hint = did_you_mean(baseline, matrix.systems)
        raise UsageError(f"baseline = {baseline!r} is not a system of the matrix. {hint}")
    if not _is_weight(alpha):
        raise UsageError(f"alpha = {alpha!r} is not a number from 0.")
    column = matrix.values[:, [matrix.systems.index(baseline)]]
    gains = matrix.direction * (matrix.values - column)
    return replace(matrix, values=np.where(gains < 0, (1.0 + alpha) * gains, gains), direction=1)


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value < float("inf")


def reduction_in_error(baseline: float, contender: float, direction: int) -> float:
    """Compute RRIE: the relative reduction of the baseline's distance from a perfect system.

    Parameters
    ----------
    baseline, contender : float
        Means of both systems.
    direction : {1, -1}
        1: greater is better and 1 is perfect (Eq. 11); -1: search lengths, least 1 (Eq. 12).

    Returns
    -------
    float
        At most 1, negative where the contender is worse. NaN for a perfect baseline, and where
        either value is beyond perfect: Eq. 3 gives lists without a non-relevant doc search lengths
        below 1.

    References
    ----------
    .. [1] Alex, Hall and Metzler (2022). Atomized search length: beyond user models, Section 4.3.

    Examples
    --------
    >>> round(irmeta.stats.reduction_in_error(0.5, 0.6, 1), 3)
    0.2
    """
    before, after = (
        (1.0 - baseline, 1.0 - contender) if direction > 0 else (baseline - 1.0, contender - 1.0)
    )
    return (before - after) / before if before > 0 and after >= 0 else float("nan")


SIDES = {"two-sided": 0, "greater": 1, "less": -1}
ONE_SIDED = ("t", "t-unpaired", "wilcoxon", "sign", "permutation", "max-t")
"""Tests that can be one-sided."""


def side_of(alternative: str, test: str, baseline: str | None) -> int:
    """Return the side of an alternative: 1 greater, -1 less, 0 two-sided; or raise `UsageError`."""
    check_choice("alternative", alternative, tuple(SIDES))
    if alternative != "two-sided" and baseline is None:
        raise UsageError(f"alternative {alternative!r} needs a baseline to compare systems with.")
    if alternative != "two-sided" and test not in ONE_SIDED:
        tests = f"{', '.join(ONE_SIDED[:-1])} or {ONE_SIDED[-1]}"
        raise UsageError(f"{test} has no one-sided form: use {tests}, or alternative 'two-sided'.")
    return SIDES[alternative]


def one_sided_p(
    test: str,
    values: np.ndarray,
    differences: Differences,
    baseline: int,
    side: int,
    resamples: int,
    rng: int | np.random.Generator,
    units: Units,
) -> np.ndarray:
    """Compute one-sided p [system] of each system against the baseline; 1 for the baseline.

    1 for a system that equals the baseline on every query, but 0.5 in t-unpaired; NaN as in the
    two-sided test.
    """
    if test in ("t", "t-unpaired"):
        p, mean = differences.p()[:, baseline], differences.mean[:, baseline]
        one_sided = np.where(side * mean > 0, p / 2, 1 - p / 2)
        p = np.where(differences.deviation[:, baseline] == 0, p, one_sided)
    elif test == "permutation":
        p = _permutation_p(values, baseline, side, resamples, rng, units)
    else:
        gains = values - values[:, [baseline]]
        within, noise = (
            np.maximum(of_system, of_system[baseline])
            for of_system in (tolerances(values, units), tolerances(values))
        )
        if test == "sign":
            p = _sign_p(gains, within, side)
        else:
            p, _ = rank_sums_p(np.ascontiguousarray(gains.T), within, noise, side)
    p[baseline] = 1.0
    return p


def one_sided_limits(
    low: np.ndarray, high: np.ndarray, baseline: int, side: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits [system, system] of which those on the other side are infinite.

    The side is that of a system minus the baseline, and the other one of the baseline minus it.
    """
    low, high = low.copy(), high.copy()
    is_open = np.arange(len(low)) != baseline
    above, below = (high, low) if side > 0 else (low, high)
    above[is_open, baseline] = side * np.inf
    below[baseline, is_open] = -side * np.inf
    return low, high


def _sign_p(gains: np.ndarray, within: np.ndarray, side: int) -> np.ndarray:
    """Compute P(X <= losses) for X binomial with probability 1/2: ``scipy.stats.binomtest``."""
    sign = signs(side * gains, within)
    losses = (sign < 0).sum(axis=0)
    p = bdtr(losses.astype(np.float64), losses + (sign > 0).sum(axis=0), 0.5)
    p[np.isnan(gains).all(axis=0)] = np.nan
    return p


def _permutation_p(
    values: np.ndarray,
    baseline: int,
    side: int,
    resamples: int,
    rng: int | np.random.Generator,
    units: Units,
) -> np.ndarray:
    """Compute the share of sign flips whose sum of gains is at least the observed one."""
    values = values[~np.isnan(values).all(axis=1)]
    queries, systems = values.shape
    gains = side * np.nan_to_num(values - values[:, [baseline]], nan=0.0)
    place = np.arange(systems)
    slack = pair_sum_tolerances(values, units, place, np.full(systems, baseline))
    least = gains.sum(axis=0) - slack
    is_exact, reached = is_enumerated(queries, resamples), np.zeros(systems, np.int64)
    for flips in sign_flips(queries, systems, resamples, rng):
        sums = flips @ gains
        reached += (sums >= least).sum(axis=0)
        if is_exact:  # half of the flips are yielded
            reached += (-sums >= least).sum(axis=0)
    p = reached / 2.0**queries if is_exact else (1 + reached) / (1 + resamples)
    p[np.isnan(values - values[:, [baseline]]).all(axis=0)] = np.nan
    return p


FIELLER = "uncorrected"
"""Kind of the intervals, each of which holds for its system alone: see `Pairs.interval`."""
_UNDEFINED = "undefined: "
_SCHEMA = {
    "relative": pl.Float64,
    "relative_low": pl.Float64,
    "relative_high": pl.Float64,
    "relative_interval": pl.String,
}


def relative_differences(values: np.ndarray, baseline: int, confidence: float) -> pl.DataFrame:
    """Compute the ratio of each system's mean to the baseline's, minus 1, with its interval.

    The interval has the ratios R that Student's paired t-test of ``system - R baseline`` does not
    reject (Fieller 1954, doi:10.1111/j.2517-6161.1954.tb00159.x).
    """
    within = np.maximum(tolerances(values), tolerances(values)[baseline])
    rows = list[tuple[float | None, float | None, float | None, str | None]]()
    for place, system_values in enumerate(values.T):
        known = ~np.isnan(system_values - values[:, baseline])
        pair = system_values[known], values[known, baseline]
        nothing = (None, None, None, None)
        rows.append(nothing if place == baseline else _difference(*pair, confidence, within[place]))
    return pl.DataFrame(rows, _SCHEMA, orient="row")


def _difference(
    own: np.ndarray, base: np.ndarray, confidence: float, within: float
) -> tuple[float, float, float, str]:
    """Return the relative difference of one system, its limits, and their kind."""
    number, nan = len(own), float("nan")
    if number == 0:
        return nan, nan, nan, f"{_UNDEFINED}no shared query"
    mean = float(base.mean())
    if not mean > within:
        return nan, nan, nan, f"{_UNDEFINED}the baseline's mean is not above 0"
    ratio = float(own.mean()) / mean
    residuals = own - ratio * base
    if number == 1:
        return ratio - 1, nan, nan, f"{_UNDEFINED}one query"
    if (np.abs(own - base) <= within).all():
        return ratio - 1, 0.0, 0.0, FIELLER
    if (np.abs(residuals) <= within).all():
        return ratio - 1, nan, nan, f"{_UNDEFINED}no spread"
    square = float(stdtrit(number - 1, (1 + confidence) / 2)) ** 2
    spread = float(base.var(ddof=1)) / number
    width = mean**2 - square * spread
    if not width > 0:
        return ratio - 1, nan, nan, f"{_UNDEFINED}the interval of the baseline's mean holds 0"
    # The determinant of both variances is computed from residuals, since differences cancel.
    shared = float(np.cov(own, base)[0, 1]) / number
    slope = shared / spread if spread > 0 else 0.0
    determinant = spread * float((own - slope * base).var(ddof=1)) / number
    error = mean**2 * float(residuals.var(ddof=1)) / number
    middle = (ratio * mean**2 - square * shared) / width
    half = np.sqrt(max(square * (error - square * determinant), 0.0)) / width
    return ratio - 1, float(middle - half - 1), float(middle + half - 1), FIELLER

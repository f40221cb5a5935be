"""One-sided tests of systems against a baseline: t, Wilcoxon, sign and permutation.

A test asks whether a system's values are greater (`side` 1) or smaller (-1) than the baseline's, as
the `alternative` of scipy.stats does. `max_t_test` has a side itself.
"""

from __future__ import annotations

import numpy as np
from scipy.special import bdtr

from irmeta.equality import Units, pair_sum_tolerances, signs, tolerances
from irmeta.errors import UsageError, check_choice
from irmeta.stats.paired import Differences, rank_sums_p
from irmeta.stats.permutation_bootstrap import is_enumerated, sign_flips

SIDES = {"two-sided": 0, "greater": 1, "less": -1}
ONE_SIDED = ("t", "t-unpaired", "wilcoxon", "sign", "permutation", "max-t")
"""Tests that can be one-sided."""


def side_of(alternative: str, test: str, baseline: str | None) -> int:
    """Return the side of an alternative: 1 greater, -1 less, 0 two-sided.

    Raises
    ------
    UsageError
        For an unknown alternative, and a one-sided one of another test or without a baseline.
    """
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
        p = _t_p(differences, baseline, side)
    elif test == "permutation":
        p = _permutation_p(values, baseline, side, resamples, rng, units)
    else:
        gains = values - values[:, [baseline]]
        within, noise = (
            np.maximum(one, one[baseline])
            for one in (tolerances(values, units), tolerances(values))
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


def _t_p(differences: Differences, baseline: int, side: int) -> np.ndarray:
    p, mean = (of[:, baseline] for of in (differences.p(), differences.mean))
    one_sided = np.where(side * mean > 0, p / 2, 1 - p / 2)
    return np.where(differences.deviation[:, baseline] == 0, p, one_sided)


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

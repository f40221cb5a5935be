"""Relative differences of means of systems from a baseline, with intervals by Fieller's method."""

from __future__ import annotations

import numpy as np
import polars as pl
from scipy.special import stdtrit

from irmeta.equality import tolerances

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

    The ratios R that Student's paired t-test of ``system - R baseline`` does not reject [1]_. They
    are an interval exactly if that of the baseline's mean excludes 0.

    Parameters
    ----------
    values
        float64 [query, system]; a system is compared on the queries where it and the baseline have
        a value.
    baseline
        Index of the baseline, whose row is null.
    confidence
        Level of each two-sided interval.

    Returns
    -------
    DataFrame
        A row per system: relative, relative_low, relative_high, relative_interval (``uncorrected``,
        or ``undefined: `` with the reason, where limits are NaN).

    References
    ----------
    .. [1] Fieller, E. C. (1954). Some problems in interval estimation.
       doi:10.1111/j.2517-6161.1954.tb00159.x
    """
    within = np.maximum(tolerances(values), tolerances(values)[baseline])
    rows = list[tuple[float | None, float | None, float | None, str | None]]()
    for place, own in enumerate(values.T):
        known = ~np.isnan(own - values[:, baseline])
        pair = own[known], values[known, baseline]
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

"""Risk-sensitive comparison of systems with a baseline."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from irmeta.errors import UsageError, did_you_mean
from irmeta.results.matrix import Matrix


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

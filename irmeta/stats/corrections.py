"""Corrections of p-values for multiple testing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from irmeta.errors import UsageError, did_you_mean
from irmeta.policies import Correction

LEVELS = (0.05, 0.01)
"""Default levels of significance."""
CORRECTIONS = get_args(Correction)
SIMULTANEOUS = ("bonferroni",)
"""Corrections with intervals that hold for all pairs simultaneously."""


def adjusted(p: np.ndarray, correction: str) -> np.ndarray:
    """Adjust p-values so that ``adjusted <= alpha`` rejects as the procedure does at level alpha.

    Parameters
    ----------
    p : ndarray of float64, shape (tests,)
        One p-value per hypothesis, for a symmetric matrix the part above the diagonal. NaN
        (undefined) stays NaN and does not count in m.
    correction : {'none', 'bonferroni', 'holm', 'benjamini-hochberg'}
        The procedure; see Notes.

    Returns
    -------
    ndarray of float64, shape (tests,)
        Adjusted p-values, at most 1, rounded to 15 digits. Equal p-values stay equal.

    Raises
    ------
    UsageError
        If `correction` is unknown.

    Notes
    -----
    With the m defined values in ascending order p_(1) <= ... <= p_(m):

    - ``bonferroni``: m p;
    - ``holm``: the running maximum of (m - k + 1) p_(k);
    - ``benjamini-hochberg``: the running minimum, from the greatest down, of (m / k) p_(k), which
      controls the false discovery rate instead of the family-wise error rate.

    References
    ----------
    .. [1] Holm, S. (1979). A simple sequentially rejective multiple test procedure.
    .. [2] Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate.

    Examples
    --------
    >>> irmeta.stats.adjusted(np.array([0.01, 0.04, 0.03]), "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    if correction not in CORRECTIONS:
        hint = did_you_mean(correction, CORRECTIONS)
        raise UsageError(f"unknown correction {correction!r}. {hint}")
    if correction == "none":
        return p.copy()
    known = np.flatnonzero(~np.isnan(p))
    if correction == "bonferroni":
        out = np.full(p.shape, np.nan)
        out[known] = np.minimum(_short(p[known] * len(known)), 1.0)
        return out
    order = known[np.argsort(p[known], kind="stable")]
    rank = np.arange(1, len(order) + 1)
    steps = p[order]
    if correction == "holm":
        steps = np.maximum.accumulate(steps * (len(order) + 1 - rank))
    else:
        steps = np.minimum.accumulate((steps * len(order) / rank)[::-1])[::-1]
    out = np.full(p.shape, np.nan)
    out[order] = np.minimum(_short(steps), 1.0)
    return out


def interval_confidence(confidence: float, correction: str, tests: int) -> float:
    """Return the confidence level of each of several intervals that hold together at `confidence`.

    Bonferroni's intervals exclude 0 exactly where the adjusted p is at most ``1 - confidence``; the
    other corrections have no intervals, so that their level is `confidence` itself.
    """
    if correction not in SIMULTANEOUS:
        return confidence
    return 1.0 - (1.0 - confidence) / max(tests, 1)


def _short(p: np.ndarray) -> np.ndarray:
    """Round to 15 significant digits: a product that should be 0.05 is sometimes slightly larger.

    p-values of resampling are multiples of, say, 1 / 10,000 and may equal the level exactly.
    """
    digits = 14 - np.floor(np.log10(np.maximum(p, 1e-200)))
    scale = 10.0**digits
    return np.where(p > 1e-200, np.round(p * scale) / scale, p)


def joint_tests(systems: tuple[str, ...], baselines: Sequence[str], *, sided: bool) -> np.ndarray:
    """Return the mask of the tests of several baselines; two-sided, two baselines have one test."""
    places = [systems.index(name) for name in baselines]
    mask = np.zeros((len(systems),) * 2, bool)
    mask[:, places] = True
    for number, place in enumerate(places):
        mask[place, place] = False
        if not sided:
            mask[places[:number], place] = False
    return mask

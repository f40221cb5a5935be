"""Corrections of p-values for the number of pairs tested."""

from __future__ import annotations

import numpy as np

from irmeta.errors import UsageError, did_you_mean

CORRECTIONS = ("none", "bonferroni", "holm", "benjamini-hochberg")


def adjusted(p: np.ndarray, correction: str) -> np.ndarray:
    """p-values such that ``adjusted <= alpha`` rejects what the procedure rejects at level alpha.

    With the m defined values in ascending order p_(1) <= ... <= p_(m):

    - ``bonferroni``: m p;
    - ``holm`` (1979): the running maximum of (m - k + 1) p_(k);
    - ``benjamini-hochberg`` (1995): the running minimum, from the greatest down, of (m / k) p_(k),
      which controls the false discovery rate and not the chance of any error;

    each at most 1, and rounded to 15 digits. Equal p-values stay equal.

    Parameters
    ----------
    p
        float64 [test]: each hypothesis once, so of a symmetric matrix the part above the diagonal.
        NaN: undefined; stays NaN and is not counted in m.

    Raises
    ------
    UsageError
        If there is no such correction.
    """
    if correction not in CORRECTIONS:
        hint = did_you_mean(correction, CORRECTIONS)
        raise UsageError(f"no correction {correction!r}. {hint}")
    if correction == "none":
        return p.copy()
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    place = np.arange(1, len(order) + 1)
    steps = p[order]
    if correction == "bonferroni":
        steps = steps * len(order)
    elif correction == "holm":
        steps = np.maximum.accumulate(steps * (len(order) + 1 - place))
    else:
        steps = np.minimum.accumulate((steps * len(order) / place)[::-1])[::-1]
    out = np.full(p.shape, np.nan)
    out[order] = np.minimum(_short(steps), 1.0)
    return out


def _short(p: np.ndarray) -> np.ndarray:
    """The nearest numbers of 15 digits.

    A product that should be 0.05 is otherwise a bit more now and then: p-values of drawn samples,
    which are multiples of 1 / 10,000 and the like, may lie at their very limit.
    """
    digits = 14 - np.floor(np.log10(np.maximum(p, 1e-200)))
    scale = 10.0**digits
    return np.where(p > 1e-200, np.round(p * scale) / scale, p)

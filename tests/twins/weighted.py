"""Naive twins of weighted means over queries and their tests."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy import stats


def weighted_t(differences: Sequence[float], weights: Sequence[float]) -> dict[str, float]:
    """Weighted mean, its standard error and degrees of freedom, and Student's two-sided p.

    By matrices: the mean is c'x, the residuals are M x with M = I - 1 c', and the variance is the
    quadratic form x' G x, whose expectation and variance for normal x of equal variance give the
    degrees of freedom (Bell and McCaffrey 2002).
    """
    n = len(differences)
    x, w = np.array(differences), np.array(weights)
    c = w / w.sum()
    residual_maker = np.eye(n) - np.outer(np.ones(n), c)
    variances = np.diag(residual_maker @ residual_maker.T)
    form = residual_maker.T @ np.diag(c**2 / variances) @ residual_maker
    freedom = np.trace(form) ** 2 / np.trace(form @ form)
    mean, error = float(c @ x), math.sqrt(x @ form @ x)
    p = 2 * stats.t.sf(abs(mean) / error, freedom)
    return {"mean": mean, "error": error, "freedom": float(freedom), "p": float(p)}


def weighted_sign_flips(differences: Sequence[float], weights: Sequence[float]) -> float:
    """Share of all sign flips whose |sum of weight times difference| is at least the observed."""
    products = [w * d for w, d in zip(weights, differences, strict=True)]
    observed = abs(math.fsum(products))
    sums = [
        abs(math.fsum(s * x for s, x in zip(signs, products, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(products))
    ]
    return sum(one >= observed - 1e-9 for one in sums) / len(sums)

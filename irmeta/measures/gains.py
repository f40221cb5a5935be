"""From grades to gains, by name."""

from __future__ import annotations

import numpy as np


def gains(grades: np.ndarray, kind: str, rel: int = 1, highest: int = 1) -> np.ndarray:
    """The gain of each grade, float64; grades below 1 (`rel` for binary) gain nothing.

    Parameters
    ----------
    kind
        ``binary``: 1 from `rel` on. ``grade``: g. ``linear``: g / highest.
        ``exp``: (2^g - 1) / 2^highest.
    highest
        The highest grade of the track's qrels set, or a given one; never the query's.
    """
    grade = np.maximum(grades, 0).astype(np.float64)
    if kind == "binary":
        return (grades >= rel).astype(np.float64)
    if kind == "grade":
        return grade
    return grade / highest if kind == "linear" else (2.0**grade - 1.0) / 2.0**highest

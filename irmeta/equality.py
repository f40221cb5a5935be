"""Equality of values but for rounding: the one home of ties, for tests, verdicts, ranks and counts.

Values are floats, and 0.55 - 0.5 is not 0.15 - 0.1. Two values, two differences of values, or two
means are equal if they differ by at most 1e-12 times the larger of 1 and the greatest |value|.
Values that were printed with a fixed number of decimals are equal within one unit of the last.
"""

from __future__ import annotations

import numpy as np

TIE = 1e-12
"""Largest difference of two values up to 1 that tie."""
Units = float | np.ndarray
"""Unit of the last printed digit of values, of all or of each system; 0 for floats."""


def tolerance(greatest: float) -> float:
    """Return the largest difference that counts as 0 among values up to `greatest` in size."""
    return TIE * max(1.0, greatest)


def tolerances(values: np.ndarray, units: Units = 0.0) -> np.ndarray:
    """Return the largest difference of a system's values that counts as 0: float64 [system].

    `values` are float64 [query, system], NaN and infinite ones ignored; `units` as `Matrix.units`.
    Of two systems, the larger counts.
    """
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    return TIE * np.maximum(1.0, sizes.max(axis=0, initial=0.0)) + units


def sum_tolerances(values: np.ndarray, units: Units = 0.0) -> np.ndarray:
    """Return the largest difference of sums over queries that counts as 0: float64 [system].

    The sum of n printed values has a standard deviation below 0.6 sqrt(n) units; 2 are allowed.
    """
    number = len(values)
    return number * tolerances(values) + 2.0 * np.sqrt(number) * np.asarray(units)


def pair_sum_tolerances(
    values: np.ndarray, units: Units, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return `sum_tolerances` of pairs over the queries on which both have a value: [pair]."""
    sizes = np.maximum(np.abs(values.T[first]), np.abs(values.T[second]))
    of_systems = np.broadcast_to(units, values.shape[1])
    return sum_tolerances(sizes.T, np.maximum(of_systems[first], of_systems[second]))


def of_pairs(of_systems: np.ndarray) -> np.ndarray:
    """Return the larger tolerance of each pair: [system, system], or [1] if all are equal."""
    if not len(of_systems) or (of_systems == of_systems[0]).all():
        return of_systems[:1]
    return np.maximum.outer(of_systems, of_systems)


def signs(differences: np.ndarray, within: float | np.ndarray = TIE) -> np.ndarray:
    """Return the signs of differences as int8; 0 within a tolerance, and for NaN."""
    return (differences > within).astype(np.int8) - (differences < -within).astype(np.int8)

"""Unit of the last digit of values that were printed as rounded decimals, as by trec_eval -q."""

from __future__ import annotations

import numpy as np
import polars as pl

MOST_DECIMALS = 11
"""Values with more decimals are floats."""
FEWEST_DECIMALS = 4
"""Values with fewer decimals may be exact, as those of P@10 and P@1000; but see `units_of`."""


def decimals(column: pl.Series) -> np.ndarray:
    """Count the decimals of each number of a column of text: int64, -1 for missing values.

    A column of another type holds floats, which were not printed: all -1.
    """
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return np.full(len(column), -1)
    text = column.cast(pl.String).str.strip_chars()
    digits = text.str.extract(r"\.(\d*)").str.len_chars().fill_null(0).cast(pl.Int64)
    exponent = text.str.extract(r"[eE]([+-]?\d+)$").cast(pl.Int64, strict=False).fill_null(0)
    found = (digits - exponent).clip(0).to_numpy()
    is_number = text.str.contains(r"^[-+]?\.?\d").fill_null(value=False).to_numpy()
    return np.where(is_number, found, -1)


def units_of(numbers: np.ndarray, system: np.ndarray, systems: int) -> tuple[float, ...]:
    """Return the unit of the last digit of each system's values; 0 for exact values and floats.

    Parameters
    ----------
    numbers
        Numbers of decimals: see `decimals`. The values of a system are rounded if one has 4 to 11
        decimals and none more, or if all have 3.
    system
        Index of the system of each value.
    systems
        Number of systems.
    """
    most, least = np.full(systems, -1), np.full(systems, MOST_DECIMALS + 1)
    known = numbers >= 0
    np.maximum.at(most, system[known], numbers[known])
    np.minimum.at(least, system[known], numbers[known])
    is_fixed = (most == FEWEST_DECIMALS - 1) & (least == most)
    is_rounded = is_fixed | ((most >= FEWEST_DECIMALS) & (most <= MOST_DECIMALS))
    return tuple(10.0**-n if rounded else 0.0 for n, rounded in zip(most, is_rounded, strict=True))

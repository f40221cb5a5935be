"""Other arithmetic on the values per query that may be behind a published mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from irmeta.results.averages import mean_over_queries

ROUNDING = 1e-9
"""Allowed beyond half a unit of the last printed digit, for sums in another order."""


def equal_as_printed(values: np.ndarray, printed: np.ndarray, digits: np.ndarray) -> np.ndarray:
    """Return whether values, rounded to a number of decimals, may be the printed ones.

    NaN equals NaN.
    """
    bound = 0.5 * 10.0 ** -digits.astype(np.float64) + ROUNDING
    with np.errstate(invalid="ignore"):
        is_near = np.abs(values - printed) <= bound
    return is_near | (np.isnan(values) & np.isnan(printed))


def other_means(
    values: np.ndarray, queries: Sequence[str], printed: np.ndarray, digits: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield other means and whether they are the printed ones.

    Parameters
    ----------
    values
        float64 [query, mean]; NaN: undefined.
    queries
        Names of the queries.
    printed
        float64 [mean]: means of one measure for several systems.
    digits
        Decimals of `printed`.

    Yields
    ------
    reason
        The arithmetic in words.
    is_equal
        bool [mean].
    """
    for places in np.unique(digits).tolist():
        rounded = mean_over_queries(values.round(places))
        is_equal = equal_as_printed(rounded, printed, digits) & (digits == places)
        yield f"mean of values per query with {places} digits", is_equal
    counted = ~np.isnan(values)
    number = counted.sum(axis=0) - counted
    total = np.nansum(values, axis=0) - np.where(counted, values, 0.0)
    without = np.divide(total, number, out=np.full(values.shape, np.nan), where=number > 0)
    is_equal = equal_as_printed(without, printed, digits) & counted
    best = int(is_equal.sum(axis=1).argmax())
    if is_equal[best].sum() > 1:  # among many queries, one fits a single mean by chance
        yield f"mean without query {queries[best]}", is_equal[best]

"""Twins of the averages over queries. NaN is left out; NaN is what is left where all is."""

import math
import statistics
from collections.abc import Iterable

LEAST = 0.00001
"""trec_eval's MIN_GEO_MEAN."""


def known(values: Iterable[float]) -> list[float]:
    """The values that are not NaN."""
    return [value for value in values if not math.isnan(value)]


def arithmetic(values: Iterable[float]) -> float:
    """meas_avg.c: the mean."""
    kept = known(values)
    return sum(kept) / len(kept) if kept else math.nan


def geometric(values: Iterable[float]) -> float:
    """meas_avg.c with m_gm_map.c: e to the mean logarithm, of values raised to at least 0.00001."""
    return math.exp(arithmetic(math.log(max(value, LEAST)) for value in known(values)))


def harmonic(values: Iterable[float]) -> float:
    """1 over the mean of 1 / value; 0 if any value is 0."""
    kept = known(values)
    return 0.0 if 0 in kept else 1 / arithmetic(1 / value for value in kept)


def median(values: Iterable[float]) -> float:
    """The value in the middle, or the mean of the two there."""
    kept = known(values)
    return float(statistics.median(kept)) if kept else math.nan


def total(values: Iterable[float]) -> float:
    """trec_eval's summary of counts: the sum."""
    return float(sum(known(values)))


def difficulty(values: dict[str, float], aps: dict[str, list[float]]) -> float:
    """The mean with a query's weight 1 - its mean AP; `aps` has every system's, by query."""
    weights = {q: 1 - arithmetic(aps[q]) for q, value in values.items() if not math.isnan(value)}
    weight = sum(weights.values())
    return sum(w * values[q] for q, w in weights.items()) / weight if weight else math.nan

"""Twins of coefficients of agreement, from the definitions, for two lists of labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations

Labels = Sequence[tuple[float, float]]
"""Grades of the reference and the judge, one pair for each doc."""


def kappa(labels: Labels, distance: Callable[[float, float], float]) -> float:
    """Cohen (1968): 1 - mean distance of the pairs / mean distance of all pairs of labels."""
    seen = sum(distance(a, b) for a, b in labels) / len(labels)
    chance = sum(distance(a, b) for a, _ in labels for _, b in labels) / len(labels) ** 2
    return math.nan if chance == 0 else 1 - seen / chance


def nominal(a: float, b: float) -> float:
    return float(a != b)


def linear(a: float, b: float) -> float:
    return abs(a - b)


def quadratic(a: float, b: float) -> float:
    return (a - b) ** 2


def alpha(units: Sequence[Sequence[float]], metric: str) -> float:
    """Krippendorff's alpha: labels of each doc by any number of judges, pair by pair."""
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    counts = Counter(values)

    def distance(a: float, b: float) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        low, high = sorted((a, b))
        between = sum(n for value, n in counts.items() if low <= value <= high)
        return (between - (counts[low] + counts[high]) / 2) ** 2 if a != b else 0.0

    seen = sum(
        sum(distance(a, b) for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    ) / len(values)
    chance = sum(distance(a, b) for a, b in permutations(values, 2))
    chance /= len(values) * (len(values) - 1)
    return math.nan if chance == 0 else 1 - seen / chance


def gwet(labels: Labels, levels: Sequence[float], weights: str) -> float:
    """Gwet's AC1 (`weights` nominal) and AC2 (quadratic)."""
    width = max(levels) - min(levels)

    def weight(a: float, b: float) -> float:
        return float(a == b) if weights == "nominal" else 1 - (a - b) ** 2 / width**2

    q = len(levels)
    if q == 1:
        return math.nan
    total = sum(weight(a, b) for a in levels for b in levels)
    share = {
        level: sum((a == level) + (b == level) for a, b in labels) / (2 * len(labels))
        for level in levels
    }
    chance = total / (q * (q - 1)) * sum(p * (1 - p) for p in share.values())
    return (sum(weight(a, b) for a, b in labels) / len(labels) - chance) / (1 - chance)


def spearman(labels: Labels) -> float:
    """Pearson's correlation of average ranks."""
    columns = list(zip(*labels, strict=True))
    ranks = [
        [sum(b < a for b in one) + (sum(b == a for b in one) + 1) / 2 for a in one]
        for one in columns
    ]
    means = [sum(one) / len(one) for one in ranks]
    x, y = ([r - mean for r in one] for one, mean in zip(ranks, means, strict=True))
    square = sum(a * a for a in x) * sum(b * b for b in y)
    return math.nan if square == 0 else sum(map(lambda a, b: a * b, x, y)) / math.sqrt(square)

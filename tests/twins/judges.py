"""Slow, obvious twins of the statistics of judges. They share no code with irmeta, use no numpy.

Values are rows of floats, one row a query and one column a system, greater is better.
"""

from __future__ import annotations

import math
from functools import cache

from twins.orders import kendall_tau_b
from twins.significance import Rows, mean, t_from, t_limits, variance

# Bias


def weighted(values: list[float], weights: list[float]) -> float:
    return math.fsum(v * w for v, w in zip(values, weights, strict=True))


def line(human: Rows, judge: Rows, weights: list[float]) -> tuple[float, list[float]]:
    """Slope of the least-squares line through (human, judge) means of systems, and residuals."""
    x = [weighted(list(column), weights) for column in zip(*human, strict=True)]
    y = [weighted(list(column), weights) for column in zip(*judge, strict=True)]
    dx, dy = [v - mean(x) for v in x], [v - mean(y) for v in y]
    slope = math.fsum(a * b for a, b in zip(dx, dy, strict=True)) / math.fsum(a * a for a in dx)
    return slope, [b - slope * a for a, b in zip(dx, dy, strict=True)]


def contributions(human: Rows, judge: Rows) -> tuple[list[float], Rows]:
    """What each query contributes to the slope and to the residuals: [query], [query][system].

    The value plus its change as the weight of the query grows, by finite differences.
    """
    queries, step = len(human), 1e-4
    slope, residuals = line(human, judge, [1 / queries] * queries)
    slopes, rows = [], []
    for q in range(queries):
        sides = []
        for e in (step, -step):
            weights = [(1 - e) / queries + (e if i == q else 0) for i in range(queries)]
            sides.append(line(human, judge, weights))
        (slope_up, up), (slope_down, down) = sides
        slopes.append(slope + (slope_up - slope_down) / (2 * step))
        changes = [(a - b) / (2 * step) for a, b in zip(up, down, strict=True)]
        rows.append([r + c for r, c in zip(residuals, changes, strict=True)])
    return slopes, rows


def tested(values: list[float], confidence: float) -> tuple[float, float, float, float]:
    """Mean, limits and p of Student's t over queries."""
    _, p = t_from(mean(values), variance(values) / len(values), len(values) - 1)
    return mean(values), *t_limits(values, confidence), p


def contrast(residuals: Rows, members: list[bool]) -> list[float]:
    """Mean of the members minus mean of the others, for each query."""
    return [
        mean([r for r, m in zip(row, members, strict=True) if m])
        - mean([r for r, m in zip(row, members, strict=True) if not m])
        for row in residuals
    ]


# Mixtures


def means(values: Rows) -> list[float]:
    """Rounded means of systems, so that equal means tie."""
    return [round(mean(list(column)), 11) for column in zip(*values, strict=True)]


def mixture(human: Rows, judge: Rows, labelled: list[int]) -> dict[str, float]:
    """tau-b of one mixture, and of the labelled queries alone, with the reference."""
    others = [q for q in range(len(human)) if q not in labelled]
    mixed = means([human[q] if q in labelled else judge[q] for q in range(len(human))])
    alone = means([human[q] for q in labelled]) if labelled else None
    full = means(human)
    rest = means([human[q] for q in others]) if others else None

    def tau(x: list[float] | None, y: list[float] | None) -> float:
        return math.nan if x is None or y is None else kendall_tau_b(x, y)

    return {
        "tau": tau(mixed, full),
        "tau_unlabelled": tau(mixed, rest),
        "alone": tau(alone, full),
        "alone_unlabelled": tau(alone, rest),
    }


# Prediction-powered means


def covariance(a: list[float], b: list[float]) -> float:
    pairs = zip(a, b, strict=True)
    return math.fsum((x - mean(a)) * (y - mean(b)) for x, y in pairs) / (len(a) - 1)


def corrected(
    y: list[float], f: list[float], rest: list[float], method: str
) -> tuple[float, float, float]:
    """Estimate, squared standard error and weight of the judge."""
    n, m = len(y), len(rest)
    if m == 0:
        w = 0.0
    elif method == "ppi++":
        spread = variance(f + rest)
        w = covariance(y, f) / ((1 + n / m) * spread) if spread > 0 else 0.0
        w = min(max(w, 0.0), 1.0)
    else:
        w = 1.0
    residual = variance([a - w * b for a, b in zip(y, f, strict=True)])
    if method == "difference":
        estimate = w * mean(f + rest) + mean([a - w * b for a, b in zip(y, f, strict=True)])
        return estimate, (1 - n / (n + m)) * residual / n, w
    estimate = mean(y) + w * (mean(rest) - mean(f) if m else 0.0)
    spread = variance(rest) if m > 1 else variance(f + rest)
    return estimate, residual / n + (w * w * spread / m if m else 0.0), w


@cache
def t_quantile(n: int, confidence: float) -> float:
    """The two-sided quantile of Student's t with n - 1 degrees of freedom."""
    unit = [-1.0, 1.0] + [0.0] * (n - 2)  # any n values: their limits give the quantile
    low, high = t_limits(unit, confidence)
    return (high - low) / 2 / math.sqrt(variance(unit) / n)


def margin(squared_error: float, n: int, confidence: float) -> float:
    """Half the width of Student's interval with n - 1 degrees of freedom."""
    return t_quantile(n, confidence) * math.sqrt(squared_error)

"""Coverage of the intervals of claims where the truth is known.

    python benchmarks/claim_intervals.py [SAMPLES]

Queries are drawn from a population of systems and queries: a mean of each system, an effect of each
query, their interaction, and two measures of the same lists. The truth of a statistic is its mean
over 4,000 samples of as many queries: a count of significant pairs, or tau of two orders, has
another value with more queries. For each sample, the interval is that of `irmeta study --interval`.
Prints coverage of 95 %, with the mean width over that of the statistic's own spread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import kendalltau
from scipy.stats import t as student

from irmeta.studies.framework.intervals import Drawing, interval_of, query_sets

SYSTEMS, DRAWS, SEED, TRUTH = 20, 20, 11, 4_000
Values = np.ndarray
"""float64 [measure, system, query]."""


def sample(queries: int, rng: np.random.Generator) -> Values:
    """Draw the values of two measures on some queries, skewed and within 0 to 1."""
    means = np.linspace(-0.6, 0.6, SYSTEMS)[:, None]
    difficulty = rng.normal(0.0, 1.0, queries)
    shared = means + difficulty + rng.normal(0.0, 0.7, (SYSTEMS, queries))
    second = shared + rng.normal(0.0, 0.9, (SYSTEMS, queries)) + 0.2 * np.sin(9 * means)
    return 1.0 / (1.0 + np.exp(1.0 - np.stack([shared, second])))


def mean_difference(values: Values) -> float:
    """Mean of the best system by the first measure minus that of the median system."""
    means = np.sort(values[0].mean(axis=1))
    return float(means[-1] - np.median(means))


def tau(values: Values) -> float:
    """tau-b of the orders of systems by both measures."""
    return kendall(values.mean(axis=2))


def kendall(means: np.ndarray) -> float:
    """tau-b of two rows."""
    result: Any = kendalltau(*means)  # whose stub is a tuple of anything
    return float(result.statistic)


def significant_pairs(values: Values) -> float:
    """Share of pairs that t separates by the first measure minus that by the second, in %."""
    return significant(values[0]) - significant(values[1])


def significant(values: np.ndarray) -> float:
    """Share of the pairs of systems whose means differ by the paired t-test at .05, in %."""
    upper = np.triu_indices(len(values), 1)
    differences = (values[:, None] - values[None])[upper]
    queries = values.shape[1]
    error = differences.std(axis=1, ddof=1) / np.sqrt(queries)
    ratio = np.abs(differences.mean(axis=1)) / error
    return float(100 * np.mean(ratio > student.ppf(0.975, queries - 1)))


def greatest(values: Values) -> float:
    """Greatest distance of a system's means by both measures, as a maximum over rows of a table."""
    means = values.mean(axis=2)
    return float(np.abs(means[0] - means[1]).max())


def theta(values: Values) -> float:
    """Least number of systems from the top after which orders agree: a threshold as theta is."""
    means = values.mean(axis=2)
    order = np.argsort(-means[0])
    for first in range(2, SYSTEMS):
        if kendall(means[:, order[:first]]) < 0.5:
            return float(first)
    return float(SYSTEMS)


STATISTICS: dict[str, Callable[[Values], float]] = {
    "mean over queries": mean_difference,
    "tau of two orders": tau,
    "count of significant pairs": significant_pairs,
    "maximum": greatest,
    "threshold": theta,
}


def coverage(
    statistic: Callable[[Values], float], queries: int, drawing: Drawing, samples: int
) -> tuple[float, float]:
    """Return the share of intervals that have the truth, and their mean half width over 2 sd."""
    rng = np.random.default_rng([SEED, queries])
    numbers = np.array([statistic(sample(queries, rng)) for _ in range(TRUTH)])
    truth, spread = numbers.mean(), numbers.std()
    names, covered, widths = [*map(str, range(queries))], 0, 0.0
    for _ in range(samples):
        values = sample(queries, rng)
        sets = [[int(name) for name in part] for part in query_sets(names, drawing, rng)]
        rows = pl.DataFrame({
            "number": [statistic(values[:, :, part]) for part in sets],
            "method": drawing.method, "drawn": [len(part) for part in sets], "queries": queries,
        })  # fmt: skip
        interval = interval_of(statistic(values), rows)
        assert interval is not None
        covered += interval.low <= truth <= interval.high
        widths += (interval.high - interval.low) / 2
    return covered / samples, widths / samples / (1.96 * spread)


def main(samples: int) -> None:
    """Print one line per statistic, method and number of queries."""
    for name, statistic in STATISTICS.items():
        for method in ("half", "jackknife"):
            for queries in (25, 50):
                drawing = Drawing(method, DRAWS)
                share, width = coverage(statistic, queries, drawing, samples)
                print(
                    f"{name:28} {method:10} {queries:3} queries: {share:.3f}, width {width:.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)

"""Bootstrap over queries of the greatest studentised difference between systems.

One bootstrap serves the intervals of all differences at once (test ``bootstrap-max-t`` of
`pairwise`) and the rank sets of systems (`rank_sets`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, stdtrit

from irmeta.errors import UsageError, check_choice, check_whole
from irmeta.kernels.pair_maxima import pair_maxima
from irmeta.parallel import ordered_map
from irmeta.phrases import count
from irmeta.results.averages import mean_over_queries
from irmeta.stats.hsd import range_margin, reached_p
from irmeta.stats.paired import Differences, paired_differences
from irmeta.stats.permutation_bootstrap import bootstrap_means, query_counts

Errors = Literal["fixed", "renewed"]
LEAST_FIXED = 25
"""Fewest queries for rank sets with standard errors that all resamples share; see its notes."""
LEAST_JOINT = 50
"""The same for intervals of all differences at once, with maxima converted to Student's t."""
SPREAD = 1e-12
"""Share of a pair's sum of squares up to which a resample has no spread."""
_LEAST_ROWS = 128  # systems of a task; each task holds the maxima of all systems


@dataclass(frozen=True)
class PairBootstrap:
    """Differences of all pairs of systems, and resamples of the queries (see `query_counts`).

    [system, system]: standard `error` of the mean difference, 0 for a pair that cannot be tested,
    and `ratio` of both, 0 there. `errors`: all resamples have those of the sample (``fixed``), or
    each its own (``renewed``).
    """

    values: np.ndarray
    differences: Differences
    error: np.ndarray
    ratio: np.ndarray
    draws: np.ndarray
    errors: Errors

    def both_sides(self) -> np.ndarray:
        """Return which signs of t* count for the row's system: 3, both, for all testable pairs."""
        return np.where(self.error > 0, 3, 0).astype(np.int8)

    def largest(self, tested: np.ndarray) -> np.ndarray:
        """Compute the greatest t* of the pairs of each system: float64 [system, resample].

        `tested` is int8 [system, system]: 1 if t* counts for the row's system, 2 if -t* does, 3:
        both. It becomes 0 for a pair that has no spread or shares no query in some resample.
        """
        values, systems, found = self.values, self.values.shape[1], self.differences
        times = np.ascontiguousarray(query_counts(self.draws).T, np.float64)
        centred = np.nan_to_num(values - mean_over_queries(values))
        shifts = bootstrap_means(centred, self.draws)
        pairs = (np.ascontiguousarray(values.T), shifts, found.mean, self.error, found.queries)
        how = (times, self.errors == "renewed", SPREAD)
        size = max(_LEAST_ROWS, -(-systems // 16))

        def part(first: int) -> np.ndarray:
            out = np.zeros(shifts.shape)
            pair_maxima(*pairs, *how, first, min(first + size, systems), tested, out)
            return out

        largest = np.zeros(shifts.shape)
        for out in ordered_map(part, range(0, systems, size)):
            np.maximum(largest, out, out=largest)
        return largest


def pair_bootstrap(
    values: np.ndarray, resamples: int, rng: int | np.random.Generator, errors: Errors | None = None
) -> PairBootstrap:
    """Prepare the bootstrap of the values of systems, float64 [query, system], NaN: undefined.

    All pairs share the draws, and use the drawn queries on which both systems have a value.
    `errors` of None: ``fixed`` with at least `LEAST_FIXED` queries, which a pair then needs, else
    ``renewed``.
    """
    check_whole("resamples", resamples)
    values = np.ascontiguousarray(values[~np.isnan(values).all(axis=1)], np.float64)
    number = len(values)
    if errors is not None:
        check_choice("errors", errors, get_args(Errors))
    if errors == "fixed" and number < LEAST_FIXED:
        raise UsageError(
            f"errors = 'fixed' needs {LEAST_FIXED} queries, more than {count(number, 'query')}: "
            "use 'renewed', which computes the standard errors anew in each resample."
        )
    chosen = errors or ("fixed" if number >= LEAST_FIXED else "renewed")
    differences = paired_differences(values)
    is_tested = differences.queries >= (LEAST_FIXED if chosen == "fixed" else 2)
    error = np.zeros(differences.mean.shape)
    np.divide(
        differences.deviation, np.sqrt(differences.queries), out=error,
        where=is_tested & (differences.deviation > 0),
    )  # fmt: skip
    ratio = np.divide(differences.mean, error, out=np.zeros(error.shape), where=error > 0)
    draws = np.random.default_rng(rng).random((resamples, number), np.float32)
    return PairBootstrap(values, differences, error, ratio, draws, chosen)


def max_t_pairs(
    values: np.ndarray, resamples: int, rng: int | np.random.Generator, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Test all pairs of systems by the bootstrap of the greatest studentised difference.

    Returns p, ``(1 + #{max |t*| >= |t|}) / (1 + resamples)`` over all pairs, and half the width of
    the intervals that hold for all pairs at once. NaN for a pair that cannot be tested.
    """
    errors: Errors = "fixed" if len(values) >= LEAST_JOINT else "renewed"
    boot = pair_bootstrap(values, resamples, rng, errors)
    tested = boot.both_sides()
    largest = boot.largest(tested).max(axis=0, initial=0.0)
    if boot.errors == "fixed":
        largest = _as_student(largest, len(values))
    largest.sort()
    p = reached_p(np.abs(boot.ratio), largest)
    limit = range_margin(largest, confidence)
    margin = np.multiply(boot.error, limit, out=np.full(p.shape, np.nan), where=tested > 0)
    differences = boot.differences
    is_equal = (differences.deviation == 0) & (differences.mean == 0)
    p[tested == 0], p[is_equal], margin[is_equal] = np.nan, 1.0, 0.0
    np.fill_diagonal(p, 1.0)
    return p, margin


def _as_student(largest: np.ndarray, queries: int) -> np.ndarray:
    """Convert maxima with fixed standard errors to values of Student's t of the same tail.

    Without it, 13 to 16 % of tables of 20 or 60 equal systems and 50 queries would have a
    significant pair; with it 6 to 7 %, but up to 10 % with 25 queries.
    """
    tail = ndtr(-largest * np.sqrt(queries / (queries - 1)))
    return -stdtrit(queries - 1, tail)

"""Averages over queries of values, and means at many cutoffs or by permuted labels.

Sums over queries add in the order of the queries, as in trec_eval. The order of numpy's sums
depends on the shape of the array, and so on the number of systems evaluated together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice
from irmeta.phrases import count
from irmeta.summaries import Result, Summary

GEOMETRIC_FLOOR = 1e-5  # trec_eval's MIN_GEO_MEAN

# The C library's functions, as in trec_eval: the last bit of numpy's depends on the processor.
_log = np.frompyfunc(math.log, 1, 1)
_exp = np.frompyfunc(math.exp, 1, 1)


def sum_over_queries(
    values: np.ndarray, counted: np.ndarray, total: np.ndarray | None = None
) -> np.ndarray:
    """Add up the counted values of each system, query after query: float64 [..., system].

    `values` are float64 [..., query, system], `counted` bool of the same shape. `total`, float64
    [..., system], is the sum over earlier queries, updated in place.
    """
    addends = np.where(counted, values, 0.0)
    out = np.zeros(addends.shape[:-2] + addends.shape[-1:]) if total is None else total
    for query in np.moveaxis(addends, -2, 0):
        out += query
    return out


def mean_over_queries(values: np.ndarray, counted: np.ndarray | None = None) -> np.ndarray:
    """Compute the mean of the values [..., query, system] of each system: float64 [..., system].

    `counted` says which values count; None: all except NaN. NaN where nothing is counted.
    """
    counted = ~np.isnan(values) if counted is None else counted
    return _divide(sum_over_queries(values, counted), counted.sum(axis=-2))


def average(
    how: str, values: np.ndarray, counted: np.ndarray, difficulty: np.ndarray | None = None
) -> np.ndarray:
    """Average over queries, the second to last axis of `values`, where `counted`: [..., system].

    Parameters
    ----------
    how
        ``arithmetic``; ``geometric``: the exponential of the mean logarithm, values below 1e-5
        counted as 1e-5, as trec_eval's gm_map; ``harmonic``: 0 where a value is 0 (both mean
        something only for values of at least 0); ``median``; ``sum``; ``difficulty``: weighted by
        `difficulty`, 1 - the mean AP (rel=1) of all systems for a query, as NMAP (Mizzaro 2008,
        The Good, the Bad, the Difficult, and the Easy, ECIR). The weights, and so the average of a
        system, depend by definition on which systems the track has; no other average does.
        Without values the result is NaN, and 0 for ``sum``.
    difficulty
        float64 [query]. The weights are normalised to the sum 1 over the queries averaged; where
        all weights are 0, the result is NaN.
    """
    check_choice("average", how, (*_BY_NAME, "sum", "difficulty"))
    if how == "sum":
        return sum_over_queries(values, counted)
    if how == "difficulty":
        if difficulty is None:
            raise UsageError("average = 'difficulty' needs the difficulty of each query.")
        return weighted_mean(values, counted, difficulty)
    return _BY_NAME[how](values, counted)


def weighted_mean(values: np.ndarray, counted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the weighted mean of the counted values of each system: float64 [..., system].

    `weights` are float64 [query]; NaN where those of the counted queries are all 0.
    """
    of_values = np.where(counted, weights[:, None], 0.0)
    products = np.where(counted, values, 0.0) * of_values
    total = sum_over_queries(products, counted)
    sum_of_weights = sum_over_queries(of_values, counted)
    return _divide(total, sum_of_weights)


def _divide(total: np.ndarray, number: np.ndarray) -> np.ndarray:
    out = np.full(np.shape(total), np.nan)
    return np.divide(total, number, out=out, where=number > 0)


def _geometric(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    logarithms = np.asarray(_log(np.fmax(values, GEOMETRIC_FLOOR)), np.float64)
    return np.asarray(_exp(mean_over_queries(logarithms, counted)), np.float64)


def _harmonic(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        slowness = mean_over_queries(1.0 / np.where(counted, values, 1.0), counted)
        return 1.0 / slowness


def _median(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    ordered = np.sort(np.where(counted, values, np.nan), axis=-2)  # NaN last
    number = counted.sum(axis=-2, keepdims=True)
    low = np.take_along_axis(ordered, np.maximum(number - 1, 0) // 2, axis=-2)
    high = np.take_along_axis(ordered, np.minimum(number // 2, ordered.shape[-2] - 1), axis=-2)
    return np.where(number > 0, (low + high) / 2.0, np.nan).squeeze(axis=-2)


_BY_NAME = {
    "arithmetic": mean_over_queries,
    "geometric": _geometric,
    "harmonic": _harmonic,
    "median": _median,
}


@dataclass(frozen=True, repr=False)
class Curve(Result):
    """Means over queries of one track.

    Attributes
    ----------
    measure
        The name of the measure, without a cutoff.
    ks
        Cutoffs.
    ds
        Pool depths; None: all judgments.
    values, queries
        float64 and int64 [pool depth, cutoff, system]: means, and their numbers of queries.
    pool
        Description of the systems that made the pool, if a value depends on the pool.
    direction
        1: greater is better; -1: less is better.
    """

    track: str
    measure: str
    ks: tuple[int, ...]
    ds: tuple[int | None, ...]
    systems: tuple[str, ...]
    values: np.ndarray
    queries: np.ndarray
    pool: str | None = None
    direction: int = 1

    def _summary(self) -> Summary:
        sizes = {"system": self.systems, "cutoff": self.ks, "pool depth": self.ds}
        facts = [count(len(values), noun) for noun, values in sizes.items()]
        return Summary(f"{self.measure} on {self.track}", facts)

    def frame(self) -> pl.DataFrame:
        """Return one row per system, pool depth and cutoff, sorted in this order.

        Returns
        -------
        DataFrame
            track, system, measure, d (null: all judgments), k, value, queries.
        """
        shape = len(self.systems), len(self.ds), len(self.ks)
        system, d, k = (axis.ravel() for axis in np.indices(shape))
        by_system = (2, 0, 1)
        return pl.DataFrame(
            {
                "track": pl.repeat(self.track, len(system), eager=True),
                "system": pl.Series(self.systems, dtype=pl.String).gather(system),
                "measure": pl.repeat(self.measure, len(system), eager=True),
                "d": pl.Series(self.ds, dtype=pl.Int32).gather(d),
                "k": pl.Series(self.ks, dtype=pl.Int32).gather(k),
                "value": self.values.transpose(by_system).ravel(),
                "queries": self.queries.transpose(by_system).ravel().astype(np.int32),
            }
        )


@dataclass(frozen=True, repr=False)
class PermutedMeans(Result):
    """Means of a measure by a judge's labels, and by permutations of them.

    Attributes
    ----------
    track, judge, measure : str
        Names of the track, of the judge, and of the measure as it was asked for.
    systems : sequence of str
        Names of the systems.
    direction : {1, -1}
        1: greater is better; -1: less is better.
    queries : int
        Number of queries averaged: those with labels by the reference and by the judge.
    values : ndarray of float64, shape (1 + draws, systems)
        Means by the labels of the judge, then by permuted ones.
    unjudged : ndarray of float64, shape (systems,)
        Mean share of the first ten ranks without a label by the judge.
    """

    track: str
    judge: str
    measure: str
    systems: Sequence[str]
    direction: int
    queries: int
    values: np.ndarray
    unjudged: np.ndarray

    def _summary(self) -> Summary:
        draws, systems = self.values.shape
        facts = [count(systems, "system"), count(draws - 1, "draw")]
        return Summary(f"{self.measure} by {self.judge}", facts)

    def frame(self) -> pl.DataFrame:
        """Return one row per draw and system: track, judge, measure, draw, system, value.

        Draw 0 is of the judge's labels.
        """
        draw, system = (axis.ravel() for axis in np.indices(self.values.shape))
        keys = {"track": self.track, "judge": self.judge, "measure": self.measure}
        return pl.DataFrame(
            {
                "draw": draw,
                "system": pl.Series(self.systems, dtype=pl.String).gather(system),
                "value": self.values.ravel(),
            }
        ).select(*(pl.lit(text).alias(key) for key, text in keys.items()), pl.all())

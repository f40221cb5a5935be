"""The loss of a judge's order of systems, beside the reference's order on as many other queries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from irmeta.stats.judged_orders import means_of
from irmeta.stats.orders import kendall_tau_b

SPLITS = 10
"""Splits of each resample; their variance is subtracted, and that of the estimate's added."""
SIZES = 1.6448536269514722 + 0.8416212335729143
"""Standard errors to a loss that a one-sided test at .05 finds with power .8."""


class SplitTaus(NamedTuple):
    """Tau-b of splits of the queries in halves A and B: float64 [split].

    Attributes
    ----------
    people
        The reference on A with the reference on B.
    judge
        The judge on one half with the reference on the other, mean of both ways.
    """

    people: np.ndarray
    judge: np.ndarray


def split_taus(
    reference: np.ndarray, judge: np.ndarray, halves: tuple[np.ndarray, np.ndarray]
) -> SplitTaus:
    """Correlate orders by disjoint halves of the queries.

    Parameters
    ----------
    reference, judge
        float64 [query, system]; greater is better.
    halves
        Weights of the queries of both halves, float64 [split, query].
    """
    (one, other), (mine, yours) = (
        [means_of(values, half) for half in halves] for values in (reference, judge)
    )
    ways = kendall_tau_b(mine, other, True), kendall_tau_b(yours, one, True)
    return SplitTaus(kendall_tau_b(one, other, True), (ways[0] + ways[1]) / 2)


class OrderLoss(NamedTuple):
    """Mean tau-b of a judge minus that of people, with its bootstrap over queries.

    Attributes
    ----------
    difference, error
        The mean over splits, and its standard error; NaN where undefined.
    low, high
        One-sided 95 % limits by Student's t.
    least
        Least loss that is found with power .8.
    """

    difference: float
    error: float
    low: float
    high: float
    least: float

    def as_people(self, margin: float) -> str | None:
        """Return how the judge orders systems beside people: None where undefined."""
        if np.isnan(self.low):
            return None
        if self.low > -margin:
            return "as well"
        return "worse" if self.high < -margin else "cannot be said"


def order_loss(
    reference: np.ndarray, judge: np.ndarray, taus: SplitTaus, draws: int, seed: int
) -> OrderLoss:
    """Compare tau-b of a judge with that of people, both on equally many queries.

    Queries are drawn with replacement, and the distinct ones split, so that no query is in both
    halves. Resamples have fewer distinct queries, which shifts their difference: it is no
    percentile interval, but the estimate minus t times the standard deviation of resamples.
    """
    number = len(reference)
    weights = resampled_halves(number, draws, np.random.default_rng((seed, number)))
    found = split_taus(reference, judge, weights)
    drawn = (found.judge - found.people).reshape(-1, SPLITS)
    drawn = drawn[~np.isnan(drawn).any(axis=1)]
    splits = (taus.judge - taus.people)[~np.isnan(taus.judge - taus.people)]
    if len(drawn) < 2 or len(splits) < 2:
        return OrderLoss(*[np.nan] * 5)
    difference = round(float(splits.mean()), 15)
    variance = drawn.mean(axis=1).var(ddof=1) - drawn.var(axis=1, ddof=1).mean() / SPLITS
    error = float(np.sqrt(max(variance, 0.0) + splits.var(ddof=1) / len(splits)))
    reach = float(stdtrit(number - 1.0, 0.95)) * error
    return OrderLoss(difference, error, difference - reach, difference + reach, SIZES * error)


def resampled_halves(
    queries: int, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw queries, and split the distinct ones in halves: weights [draw x split, query]."""
    counts = rng.multinomial(queries, np.full(queries, 1.0 / queries), draws)
    counts = np.repeat(counts[(counts > 0).sum(axis=1) > 1], SPLITS, axis=0)
    order = rng.random(counts.shape) + (counts == 0)  # drawn queries first
    place = np.argsort(np.argsort(order, axis=1), axis=1)
    half = (counts > 0).sum(axis=1, keepdims=True) // 2
    sides = (counts * (place < half), counts * ((place >= half) & (place < 2 * half)))
    one, other = (side / side.sum(axis=1, keepdims=True) for side in sides)
    return one, other

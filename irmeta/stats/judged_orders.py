"""Orders of systems by the labels of a reference and of a judge, and the noise of queries.

Values are float64 [query, system] of one measure by the labels of one set, without NaN, on the same
queries and systems for all sets; greater values are better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from irmeta.equality import TIE, tolerance
from irmeta.kernels.pair_statistics import weighted_sums
from irmeta.stats.orders import (
    kendall_tau_b,
    pearson,
    rmse,
    round_means,
    spearman,
    tau_ap,
    tau_gap,
    tie_groups,
)
from irmeta.stats.resampling import draw_counts

LIMITS = {
    **dict.fromkeys(
        ("tau_b", "tau_ap", "tau_ap_judge", "tau_gap", "spearman", "pearson"), (-1.0, 1.0)
    ),
    "rmse": (0.0, np.inf),
}
"""Range of each correlation of two leaderboards: see `order_correlations`."""
NORMAL = 1.959963984540054  # the quantile .975 of the standard normal distribution


def means_of(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute weighted means over queries, rounded to 12 digits: float64 [draw, system].

    Parameters
    ----------
    values
        float64 [query, system].
    weights
        float64 [draw, query], whose rows add up to 1.
    """
    sums = np.zeros((values.shape[1], len(weights)))
    weighted_sums(np.ascontiguousarray(values.T), np.ascontiguousarray(weights.T), sums)
    return round_means(sums.T)


def whole(queries: int) -> np.ndarray:
    """Return the weights of the mean over all queries: float64 [1, query]."""
    return np.full((1, queries), 1.0 / max(queries, 1))


def drawn_queries(queries: int, draws: int, seed: np.random.SeedSequence) -> np.ndarray:
    """Draw the queries with replacement: weights, float64 [draw, query]."""
    return draw_counts(queries, draws, seed) / queries


def half_weights(halves: np.ndarray, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of the means over two halves of the queries: float64 [split, query].

    `halves` are int64 [split, 2, query]; of an odd number of queries, one is in neither half.
    """
    weights = np.zeros((2, len(halves), queries))
    for half, indices in zip(weights, halves.transpose(1, 0, 2), strict=True):
        np.put_along_axis(half, indices, 1.0 / max(queries // 2, 1), axis=1)
    return weights[0], weights[1]


def order_correlations(reference: np.ndarray, judge: np.ndarray) -> dict[str, np.ndarray]:
    """Return the correlations of means by a reference and by a judge, float64 [ordering].

    NaN where all systems tie in either, except for rmse.
    """
    return {
        "tau_b": kendall_tau_b(reference, judge, True),
        "tau_ap": tau_ap(reference, judge, True),
        "tau_ap_judge": tau_ap(judge, reference, True),
        "tau_gap": tau_gap(reference, judge, True),
        "spearman": spearman(reference, judge, True),
        "pearson": pearson(reference, judge, True),
        "rmse": rmse(reference, judge, True),
    }


@dataclass(frozen=True)
class Interval:
    """An estimate with its bootstrap; its limits are 1.96 standard deviations away, within a range.

    Percentiles would be too low: a resample that draws the same queries for both sides correlates
    less.
    """

    value: float
    drawn: float
    sd: float
    low: float
    high: float


def around_estimate(
    value: float, draws: np.ndarray, limits: tuple[float, float] = (-1.0, 1.0)
) -> Interval:
    """Return the interval of a correlation from its values in resamples; NaN are left out."""
    defined = draws[~np.isnan(draws)]
    if len(defined) < 2 or np.isnan(value):
        return Interval(value, *[np.nan] * 4)
    sd = float(defined.std(ddof=1))
    low, high = np.clip((value - NORMAL * sd, value + NORMAL * sd), *limits)
    return Interval(value, float(defined.mean()), sd, float(low), float(high))


def shares_of_best(means: np.ndarray, size: int) -> np.ndarray:
    """Return the share of each system in the best `size`: float64 [system].

    Systems that tie at the border share the remaining places; the shares add up to `size`, or to
    the number of systems if that is smaller.
    """
    above, tied = (counts[0] for counts in tie_groups(means[None]))
    return np.clip((size - above) / tied, 0.0, 1.0)


def common_best(reference: np.ndarray, judge: np.ndarray, size: int) -> float:
    """Count the systems that the best `size` by both have in common; ties share places."""
    shares = shares_of_best(reference, size), shares_of_best(judge, size)
    return float(np.minimum(*shares).sum())


def regret_of_best(reference: np.ndarray, judge: np.ndarray, size: int) -> tuple[float, float]:
    """Return the mean of the best `size` systems, and how much lower that of the judge's best is.

    NaN for fewer systems than `size`.
    """
    if size > len(reference):
        return np.nan, np.nan
    best, chosen = (
        float((shares_of_best(means, size) * reference).sum() / size)
        for means in (reference, judge)
    )
    return best, 0.0 if abs(best - chosen) <= tolerance(abs(best)) else best - chosen


def places(means: np.ndarray) -> np.ndarray:
    """Return the place of each system, from 0: int64 [system].

    Ties are ordered by the index of the systems, which are sorted by name.
    """
    places = np.empty(len(means), np.int64)
    places[np.argsort(-means, kind="stable")] = np.arange(len(means))
    return places


SPLITS = 10
"""Splits of each resample; their variance is subtracted, and that of the estimate's added."""
LEAST_MANY = 5
"""Fewest queries, and systems, by which the tau of many queries is estimated."""
ANGLES = 49
"""Angles between the true means by both sets that are tried, from 0 to 180 degrees."""
TAILS = 0.01
"""Share of simulated taus beyond each limit. With .025, limits of 25 and 53 queries cover as few
as 88 % of simulated judges, since the path of `many_query_tau` is estimated too."""
SIZES = 1.6448536269514722 + 0.8416212335729143
"""Standard errors to a loss that a one-sided test at .05 finds with power .8."""


class SplitTaus(NamedTuple):
    """Tau-b of splits of the queries in halves A and B: float64 [split].

    `people`: the reference on A with the reference on B; `judge`: the mean of the judge on one half
    with the reference on the other, both ways.
    """

    people: np.ndarray
    judge: np.ndarray


def split_taus(
    reference: np.ndarray, judge: np.ndarray, halves: tuple[np.ndarray, np.ndarray]
) -> SplitTaus:
    """Correlate orders by disjoint halves of the queries, weights float64 [split, query]."""
    (one, other), (mine, yours) = (
        [means_of(values, half) for half in halves] for values in (reference, judge)
    )
    ways = kendall_tau_b(mine, other, True), kendall_tau_b(yours, one, True)
    return SplitTaus(kendall_tau_b(one, other, True), (ways[0] + ways[1]) / 2)


class OrderLoss(NamedTuple):
    """Mean tau-b of a judge minus that of people, with its bootstrap over queries.

    `difference` over splits and its standard `error`; `low` and `high`, one-sided 95 % limits by
    Student's t; `least`, the least loss found with power .8.
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

    The distinct ones of resampled queries are split. They are fewer, which shifts the difference,
    so that the limits are the estimate minus and plus t times the deviation, and no percentiles.
    """
    number = len(reference)
    weights = resampled_halves(number, draws, np.random.default_rng((seed, number)))
    resampled = split_taus(reference, judge, weights)
    drawn = (resampled.judge - resampled.people).reshape(-1, SPLITS)
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
    counts = draw_counts(queries, draws, rng)
    counts = np.repeat(counts[(counts > 0).sum(axis=1) > 1], SPLITS, axis=0)
    order = rng.random(counts.shape) + (counts == 0)  # drawn queries first
    place = np.argsort(np.argsort(order, axis=1), axis=1)
    half = (counts > 0).sum(axis=1, keepdims=True) // 2
    sides = (counts * (place < half), counts * ((place >= half) & (place < 2 * half)))
    first, second = (side / side.sum(axis=1, keepdims=True) for side in sides)
    return first, second


class ManyQueryTau(NamedTuple):
    """Tau-b of the orders that many queries would give, with a 95 % interval; NaN: undefined."""

    value: float
    low: float
    high: float


def many_query_tau(reference: np.ndarray, judge: np.ndarray, draws: np.ndarray) -> ManyQueryTau:
    """Estimate tau-b of the orders that many queries would give, by inversion of a test.

    The true means by the judge turn by an angle from the reference's; limits are the true taus
    where the observed tau leaves the central 98 % of simulated ones. Of judges of true tau .6 to 1
    on 25 and 53 queries, 92 to 100 % are covered.
    """
    both, queries = (reference, judge), len(reference)
    if min(reference.shape) < LEAST_MANY:
        return ManyQueryTau(*[np.nan] * 3)
    means = [values.mean(axis=0) - values.mean() for values in both]
    left = [_without_noise(values) for values in both]
    if min(left) == 0.0:
        return ManyQueryTau(*[np.nan] * 3)
    lengths = [
        np.sqrt(share) * np.linalg.norm(side) for share, side in zip(left, means, strict=True)
    ]
    along = means[0] / np.linalg.norm(means[0])
    across = means[1] - (means[1] @ along) * along
    if np.linalg.norm(across) > TIE * np.linalg.norm(means[1]):
        across /= np.linalg.norm(across)
    growth = np.sqrt(queries / (queries - 1))  # a resample has this much less noise
    errors = [growth * (means_of(values, draws) - values.mean(axis=0)) for values in both]
    true_reference = lengths[0] * along
    shares, taus = [], []
    for angle in np.linspace(0.0, np.pi, ANGLES):
        true_judge = lengths[1] * (np.cos(angle) * along + np.sin(angle) * across)
        taus.append(_tau(true_reference[None], true_judge[None])[0])
        simulated = _tau(true_reference + errors[0], true_judge + errors[1])
        shares.append(np.nanquantile(simulated, (TAILS, 0.5, 1.0 - TAILS)))
    path = np.minimum.accumulate(taus)
    observed = _tau(*(side[None] for side in means))[0]
    high, value, low = (
        float(np.interp(-observed, -curve, path))
        for curve in np.minimum.accumulate(shares, axis=0).T
    )
    return ManyQueryTau(value, low, high)


def _without_noise(values: np.ndarray) -> float:
    """Return the share of the variance of the systems' means that is not noise of the queries."""
    queries, systems = values.shape
    means = values.mean(axis=0)
    errors = values - values.mean(axis=1, keepdims=True) - means + means.mean()
    noise = (errors**2).sum() / ((queries - 1) * (systems - 1) * queries)
    variance = means.var(ddof=1)
    return max(0.0, 1.0 - noise / variance) if variance > TIE**2 else 0.0


def _tau(reference: np.ndarray, judge: np.ndarray) -> np.ndarray:
    return kendall_tau_b(round_means(reference), round_means(judge), True)

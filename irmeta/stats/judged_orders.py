"""Orders of systems by the labels of a reference and of a judge, and the noise of queries.

Values are float64 [query, system] of one measure by the labels of one set, without NaN, on the same
queries and systems for all sets; greater values are better. The last parts are of systems that
re-rank their lists by the labels of a judge, and of the decisiveness of a judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betainc, stdtrit

from irmeta.equality import TIE, signs, tolerance
from irmeta.kernels.pair_statistics import weighted_sums
from irmeta.stats.orders import (
    kendall_tau_b,
    pearson,
    rmse,
    round_means,
    spearman,
    tau_ap,
    tau_gap,
    tau_of_means,
    tie_groups,
)
from irmeta.stats.resampling import Rng, draw_counts

LIMITS = {
    **dict.fromkeys(
        ("tau_b", "tau_ap", "tau_ap_judge", "tau_gap", "spearman", "pearson"), (-1.0, 1.0)
    ),
    "rmse": (0.0, np.inf),
}
"""Range of each correlation of two leaderboards: see `order_correlations`."""
NORMAL = 1.959963984540054  # the quantile .975 of the standard normal distribution


def means_of(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute weighted means of [query, system], rounded to 12 digits: float64 [draw, system].

    `weights` are float64 [draw, query], whose rows add up to 1.
    """
    sums = np.zeros((values.shape[1], len(weights)))
    weighted_sums(np.ascontiguousarray(values.T), np.ascontiguousarray(weights.T), sums)
    return round_means(sums.T)


def whole(queries: int) -> np.ndarray:
    """Return the weights of the mean over all queries: float64 [1, query]."""
    return np.full((1, queries), 1.0 / max(queries, 1))


def drawn_queries(queries: int, draws: int, seed: Rng) -> np.ndarray:
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
        taus.append(tau_of_means(true_reference[None], true_judge[None])[0])
        simulated = tau_of_means(true_reference + errors[0], true_judge + errors[1])
        shares.append(np.nanquantile(simulated, (TAILS, 0.5, 1.0 - TAILS)))
    path = np.minimum.accumulate(taus)
    observed = tau_of_means(*(side[None] for side in means))[0]
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


Values = tuple[np.ndarray, np.ndarray]
FOUND = NORMAL + 0.8416212335729143
"""Standard errors of an effect that a two-sided test at .05 finds with power .8."""


class Estimate(NamedTuple):
    """A value with its 95 % interval: 1.96 standard deviations of draws; NaN: undefined."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, draws: np.ndarray) -> Estimate:
        """Return the interval of a value from its values in draws; NaN are left out."""
        interval = around_estimate(value, draws, (-np.inf, np.inf))
        return cls(value, interval.low, interval.high)

    @property
    def detectable(self) -> float:
        """The effect that is found with power .8."""
        return (self.high - self.value) / NORMAL * FOUND


def adopted_taus(
    before: Values, after: Values, adopts: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Correlate the orders by the reference and by the judge: tau-b, float64 [draw].

    Values are of the lists as they are, and re-ranked. `adopts`, bool [draw, system] or [1, system]
    for all draws: whose lists are re-ranked. `weights` are float64 [draw, query], or [1, query].
    """
    reference, judge = (
        np.where(adopts, means_of(changed, weights), means_of(plain, weights))
        for plain, changed in zip(before, after, strict=True)
    )
    return tau_of_means(reference, judge)


@dataclass(frozen=True)
class Adoption:
    """Systems that adopt one set of labels, beside their lists as they are."""

    before: Values
    after: Values

    def taus(self, weights: np.ndarray) -> np.ndarray:
        """Return tau-b of each draw of queries if all systems adopt the labels."""
        adopts = np.ones((1, self.before[0].shape[1]), bool)
        return adopted_taus(self.before, self.after, adopts, weights)

    def tau_of(self, adopters: int, draws: int, rng: np.random.Generator) -> Estimate:
        """Return the mean tau-b if some systems adopt the labels, drawn `draws` times.

        The interval draws systems and queries together. A single adopter is each system in turn.
        """
        queries, systems = self.before[0].shape
        order = rng.random((draws, systems)).argsort(axis=1)
        drawn = order.argsort(axis=1) < adopters
        every = np.eye(systems, dtype=bool) if adopters == 1 else drawn
        means = adopted_taus(self.before, self.after, every, whole(queries))
        if np.isnan(means).all():
            return Estimate(*[np.nan] * 3)
        if queries < 2:
            return Estimate(float(np.nanmean(means)), np.nan, np.nan)
        resampled = drawn_queries(queries, draws, rng)
        return Estimate.of(
            float(np.nanmean(means)), adopted_taus(self.before, self.after, drawn, resampled)
        )

    @property
    def gains(self) -> Values:
        """Mean gain of all systems by adoption, float64 [query]: by the reference, by the judge."""
        reference, judge = (
            (changed - plain).mean(axis=1)
            for plain, changed in zip(self.before, self.after, strict=True)
        )
        return reference, judge

    def confirmed(self, weights: np.ndarray) -> Estimate:
        """Return the share of the judged gain that the reference confirms; NaN: no gain."""
        reference, judge = self.gains
        if judge.mean() <= TIE:
            return Estimate(*[np.nan] * 3)
        shares = (weights @ reference) / np.maximum(weights @ judge, TIE)
        low, high = np.quantile(shares, (0.025, 0.975)) if len(judge) > 1 else (np.nan, np.nan)
        return Estimate(float(reference.mean() / judge.mean()), float(low), float(high))

    @property
    def deviations(self) -> tuple[float, float]:
        """Standard deviation of the systems' means if all adopt: by the reference, by the judge."""
        reference, judge = (float(values.mean(axis=0).std()) for values in self.after)
        return reference, judge

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Place of each system if it alone adopts, from 1; ties share the best: int64 [system]."""
        places = list[np.ndarray]()
        for plain, changed in zip(self.before, self.after, strict=True):
            others, adopter = (round_means(side.mean(axis=0)) for side in (plain, changed))
            is_better = others[None, :] > adopter[:, None] + TIE
            np.fill_diagonal(is_better, val=False)
            places.append(is_better.sum(axis=1) + 1)
        return places[0], places[1]


def circular_effect(own: Adoption, other: Adoption, weights: np.ndarray) -> Estimate:
    """Return the tau-b lost because the systems adopt the judge's labels, not those of another set.

    tau-b(all adopt the other labels) - tau-b(all adopt the judge's), both of the judge with the
    reference. If the other set is the reference itself and both sets came from equally good people,
    either could be called the judge, and the effect is 0 on average. A fall of tau-b by adoption
    alone shows nothing, since re-ranked systems differ less.
    """
    every = whole(own.before[0].shape[0])
    value = float((other.taus(every) - own.taus(every))[0])
    if len(own.before[0]) < 2:
        return Estimate(value, np.nan, np.nan)
    return Estimate.of(value, other.taus(weights) - own.taus(weights))


SHAPES = (0.01, 100.0)
"""Least and greatest decisiveness that is fitted."""
_GRID = np.geomspace(*SHAPES, 401)
_BLOCK = 1 << 22  # win rates held at once


@dataclass(frozen=True)
class Decisiveness:
    """Decisiveness of a judge, and its biases to systems, with 95 % intervals over queries.

    After Gera et al. 2024 (JuStRank, arXiv:2412.09569, Section 6 and Appendices E and F). A win
    rate is the share of queries on which a system has the greater value of two; a tie is half a
    win. The win rates by the reference are mapped to the judge's by the distribution function F of
    Beta(a, a). Its shape a is the decisiveness: 1 where the judge's win rates are the reference's,
    above 1 where the judge exaggerates them, below 1 where it flattens them. The bias of a system
    is the mean over all other systems of its win rate by the judge minus F of that by the
    reference.

    The paper's reference is Chatbot Arena, with battles on other prompts; here both sides have the
    same queries. The rule of the fit is ours: a minimizes the sum of squared residuals over all
    pairs of systems, within `SHAPES`.

    Intervals are the estimate plus and minus 1.96 standard deviations over resamples of the
    queries; those of the shape are of its logarithm. NaN: undefined.
    """

    shape: float
    low: float
    high: float
    spread: float  # standard deviation of the biases over systems
    biases: np.ndarray  # bias of each system, its lower and its upper limit: float64 [3, system]


def decisiveness(
    reference: np.ndarray,
    judge: np.ndarray,
    draws: np.ndarray,
    within: tuple[float, float] = (TIE, TIE),
) -> Decisiveness:
    """Fit the win rates of a judge to those of a reference: float64 [query, system] each.

    `draws` are weights of resampled queries, float64 [draw, query], multiples of 1 / queries;
    `within` is the largest difference of two values that ties, by each.
    """
    queries, systems = reference.shape
    pairs = np.triu_indices(systems, 1)
    wins = [
        signs(values[:, pairs[0]] - values[:, pairs[1]], tie).astype(np.float64)
        for values, tie in zip((reference, judge), within, strict=True)
    ]
    expected = betainc(_GRID[:, None], _GRID[:, None], np.linspace(0.0, 1.0, 2 * queries + 1))
    rates, judged = next(_rates(wins, whole(queries)))
    shape = _fit(rates, judged, expected, exactly=True)
    biases = _biases(rates, judged, shape, pairs, reference.shape)
    fits, drawn = list[float](), list[np.ndarray]()
    for rates, judged in _rates(wins, draws) if queries > 1 else ():
        fits.append(_fit(rates, judged, expected))
        drawn.append(_biases(rates, judged, fits[-1], pairs, reference.shape))
    limits = around_estimate(np.log(shape), np.log(fits), tuple(np.log(SHAPES)))
    margin = NORMAL * np.std(drawn, axis=0, ddof=1) if len(drawn) > 1 else np.nan
    return Decisiveness(
        shape,
        float(np.exp(limits.low)),
        float(np.exp(limits.high)),
        float(biases.std()),
        np.stack([biases, biases - margin, biases + margin]),
    )


def _rates(wins: list[np.ndarray], weights: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the win rates of all pairs by the reference and by the judge, for each draw."""
    step = max(1, _BLOCK // wins[0].shape[1])
    for start in range(0, len(weights), step):
        block = weights[start : start + step]
        yield from zip(*((block @ side + 1.0) / 2.0 for side in wins), strict=True)


def _fit(
    reference: np.ndarray, judge: np.ndarray, expected: np.ndarray, exactly: bool = False
) -> float:
    """Return the shape of least squares; if not `exactly`, the nearest of a grid.

    `expected`: the judge's win rates by shape of the grid and win rate of the reference, of which
    there are few: pairs of the same are added up.
    """
    places = np.rint(reference * (expected.shape[1] - 1)).astype(np.int64)
    pairs = np.bincount(places, minlength=expected.shape[1])
    sums = np.bincount(places, judge, minlength=expected.shape[1])
    best = int(((expected * pairs - 2.0 * sums) * expected).sum(axis=1).argmin())
    if not exactly:
        return float(_GRID[best])
    rates = np.linspace(0.0, 1.0, expected.shape[1])

    def squares(log_shape: float) -> float:
        shape = np.exp(log_shape)
        values = betainc(shape, shape, rates)
        return float(((values * pairs - 2.0 * sums) * values).sum())

    near = np.log(_GRID[[max(best - 1, 0), min(best + 1, len(_GRID) - 1)]])
    least: Any = minimize_scalar(squares, bounds=near, options={"xatol": 1e-9})
    return float(np.exp(least.x))


def _biases(
    reference: np.ndarray,
    judge: np.ndarray,
    shape: float,
    pairs: tuple[np.ndarray, ...],
    size: tuple[int, int],
) -> np.ndarray:
    """Return the mean residual of each system over all others: float64 [system].

    `size` are the numbers of queries, of which win rates are multiples, and of systems.
    """
    queries, systems = size
    rates = np.linspace(0.0, 1.0, 2 * queries + 1)
    expected = betainc(shape, shape, rates)[np.rint(reference * 2 * queries).astype(np.int64)]
    residuals = judge - expected
    sums = np.bincount(pairs[0], residuals, systems) - np.bincount(pairs[1], residuals, systems)
    return sums / (systems - 1)

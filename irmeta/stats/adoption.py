"""Orders of systems that re-rank their lists by the labels of a judge.

Values are pairs of float64 [query, system], by the reference and by the judge, without NaN; greater
is better.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from irmeta.equality import TIE
from irmeta.stats.judged_orders import NORMAL, means_of, whole
from irmeta.stats.orders import kendall_tau_b, round_means
from irmeta.stats.resampling import draw_counts

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
        defined = draws[~np.isnan(draws)]
        if len(defined) < 2 or np.isnan(value):
            return cls(value, np.nan, np.nan)
        reach = NORMAL * float(defined.std(ddof=1))
        return cls(value, value - reach, value + reach)

    @property
    def detectable(self) -> float:
        """The effect that is found with power .8."""
        return (self.high - self.value) / NORMAL * FOUND


def adopted_taus(
    before: Values, after: Values, adopts: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Correlate the orders by the reference and by the judge: tau-b, float64 [draw].

    Parameters
    ----------
    before, after
        Values of the lists as they are, and re-ranked.
    adopts
        bool [draw, system], or [1, system] for all draws: whose lists are re-ranked.
    weights
        float64 [draw, query], or [1, query]: the queries of each draw.
    """
    reference, judge = (
        round_means(np.where(adopts, means_of(changed, weights), means_of(plain, weights)))
        for plain, changed in zip(before, after, strict=True)
    )
    return kendall_tau_b(reference, judge, True)


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
        resampled = draw_counts(queries, draws, rng) / queries
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

"""Labels of a judge for docs that people did not label: mapped grades, and orders of systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from irmeta.errors import UsageError
from irmeta.stats.judged_orders import Estimate, means_of
from irmeta.stats.orders import kendall_tau_b, rank_rows
from irmeta.stats.resampling import draw_counts

Map = str | Mapping[float, float]
"""``same``, ``expected``, ``drawn``, or the people's grade of each grade of the judge."""


class MeanGrades(NamedTuple):
    """Grades of a judge, with the docs of each that people labelled.

    `levels`: float64 [level], ascending. `counts`: int64 [level]: docs that people labelled.
    `means`: float64 [level]: their mean grade by people; of a level without such docs, that of the
    nearest level with some, the lower of two; NaN: no level has any.
    """

    levels: np.ndarray
    counts: np.ndarray
    means: np.ndarray


def mean_grades(judge: np.ndarray, people: np.ndarray) -> MeanGrades:
    """Average people's grades by grade of the judge: float64 [doc] each; NaN: no label."""
    levels = np.unique(judge[~np.isnan(judge)])
    is_both = ~np.isnan(judge) & ~np.isnan(people)
    code, grades = np.searchsorted(levels, judge[is_both]), people[is_both]
    counts = np.bincount(code, minlength=len(levels))
    if not counts.any():
        return MeanGrades(levels, counts, np.full(len(levels), np.nan))
    means = np.bincount(code, grades, len(levels)) / np.maximum(counts, 1)
    return MeanGrades(levels, counts, means[_nearest(levels, counts)])


def _nearest(levels: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return for each level the nearest one with a doc that people labelled: int64 [level]."""
    fitted = np.flatnonzero(counts)
    return fitted[np.abs(levels[:, None] - levels[fitted]).argmin(axis=1)]


def mapped_grades(
    how: Map, judge: np.ndarray, people: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Convert a judge's grades to the scale of people: float64 [doc]; NaN: no label by the judge.

    ``expected``: the mean grade by people of the docs that have this grade by the judge; ``drawn``:
    the grade by people of one of these docs, drawn at random for each doc. Both read only docs with
    a label by people, so that docs whose label is not to be known have NaN in `people`. A mapping
    raises UsageError for a grade that it lacks.
    """
    if how == "same":
        return judge
    is_known = ~np.isnan(judge)
    mapped = np.full(len(judge), np.nan)
    if isinstance(how, Mapping):
        if unknown := sorted({*judge[is_known].tolist()} - {*how}):
            raise UsageError(f"the map lacks the judge's grade {unknown[0]:g}.")
        mapped[is_known] = [how[grade] for grade in judge[is_known].tolist()]
        return mapped
    levels, counts, means = mean_grades(judge, people)
    code = np.searchsorted(levels, judge[is_known])
    if how == "expected" or not counts.any():
        mapped[is_known] = means[code]
        return mapped
    both = np.flatnonzero(is_known & ~np.isnan(people))
    both = both[np.argsort(judge[both], kind="stable")]
    source, first = _nearest(levels, counts)[code], np.cumsum(counts) - counts
    chosen = first[source] + (rng.random(len(code)) * counts[source]).astype(np.int64)
    mapped[is_known] = people[both[chosen]]
    return mapped


class Effect(NamedTuple):
    """How one treatment of docs without a label orders the systems, over draws of new teams.

    `tau`: tau-b with the reference. `places`: mean places by which new systems stand higher than
    by the reference. `difference`: tau-b minus that of another treatment. `raised`: share of the
    draws with a greater tau-b than by the other.
    """

    tau: Estimate
    places: Estimate
    difference: Estimate
    raised: float

    @property
    def verdict(self) -> str | None:
        """Whether the difference is above or below 0; None: undefined."""
        _, low, high = self.difference
        if np.isnan(low):
            return None
        return "helps" if low > 0 else "does harm" if high < 0 else "not shown"


@dataclass(frozen=True)
class Orders:
    """Tau-b with the reference, and places won by new systems: float64 [1 + resample, draw] each.

    The first row is of all queries; the others are of queries drawn with replacement.
    """

    taus: np.ndarray
    places: np.ndarray

    @classmethod
    def of(
        cls, reference: np.ndarray, values: np.ndarray, is_new: np.ndarray, weights: np.ndarray
    ) -> Orders:
        """Compare the order of systems by a reference with those by the labels of each draw.

        `reference` is float64 [query, system], `values` [draw, query, system]; greater is better.
        `is_new`, bool [draw, system]: systems of the teams without docs in the pool. `weights`,
        float64 [1 + resample, query]: `whole`, then those of drawn queries.
        """
        true = means_of(reference, weights)
        true_ranks = rank_rows(true)
        taus, places = np.empty((2, len(weights), len(values)))
        for d, (of_draw, new) in enumerate(zip(values, is_new, strict=True)):
            means = means_of(of_draw, weights)
            taus[:, d] = kendall_tau_b(true, means, True)
            places[:, d] = (true_ranks - rank_rows(means))[:, new].mean(axis=1)
        return cls(taus, places)

    def effect(self, other: Orders, seed: int) -> Effect:
        """Return the means over draws of teams, with intervals over draws and queries together."""
        resamples, draws = self.taus[1:].shape
        shares = draw_counts(draws, resamples, seed) / draws

        def over(values: np.ndarray) -> Estimate:
            return Estimate.of(float(values[0].mean()), (values[1:] * shares).sum(axis=1))

        gains = self.taus - other.taus
        return Effect(over(self.taus), over(self.places), over(gains), float((gains[0] > 0).mean()))

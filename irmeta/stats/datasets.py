"""Conclusions over several datasets: means of means, orders, tests over datasets, their overlap.

A dataset is a track: values of one measure by query and system. Two kinds of uncertainty differ:
that of the macro mean on these datasets, whose queries are resampled within each, and that of the
mean on datasets like these, of which the ones at hand are a sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np
from scipy.special import chdtrc

from irmeta.errors import UsageError, check_choice, first_few
from irmeta.phrases import count
from irmeta.policies import Missing
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.stats.hsd import studentized_range_sf
from irmeta.stats.means import mean_intervals, resampled_means
from irmeta.stats.orders import kendall_tau_b, mean_ranks, rank_rows, round_means

LEAST_DATASETS = 5
"""Fewest datasets of an interval for datasets like these."""
MANY = 1e8
"""Degrees of freedom of Nemenyi's test, whose variance is known: p differs by less than 1e-7."""
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Datasets:
    """Values of the same systems on several datasets, by one measure.

    Attributes
    ----------
    tracks
        Datasets, in their order.
    systems
        Systems with a mean on every dataset.
    values
        float64 [query, system] of each dataset; NaN: undefined.
    left_out
        Systems that lack a dataset, with the datasets that they lack.
    queries
        Names of the queries of each dataset.
    """

    measure: str
    direction: int
    tracks: tuple[str, ...]
    systems: tuple[str, ...]
    values: tuple[np.ndarray, ...]
    left_out: dict[str, list[str]]
    queries: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def of(cls, matrices: Sequence[Matrix], missing: Missing) -> Datasets:
        """Join matrices of one measure; `missing` says what a system without a dataset means.

        Raises
        ------
        UsageError
            For fewer than two datasets, two of one name, no shared system, or a system that lacks
            a dataset (``error``; ``zero`` where less is better).
        """
        check_choice("missing", missing, get_args(Missing))
        first = matrices[0]
        datasets = tuple(matrix.track for matrix in matrices)
        if len(datasets) < 2:
            listed = f": {first.measure} has values on {first.track or 'one dataset'} alone"
            raise UsageError(f"statements over tracks need two tracks or more{listed}.")
        if len(set(datasets)) < len(datasets):
            again = next(name for name in datasets if datasets.count(name) > 1)
            raise UsageError(f"{first.measure} has several values on {again}: name one qrels set.")
        every = sorted({system for matrix in matrices for system in matrix.systems})
        means = [dict(zip(m.systems, m.means.tolist(), strict=True)) for m in matrices]
        lacks = {
            system: [
                n
                for n, of in zip(datasets, means, strict=True)
                if math.isnan(of.get(system, math.nan))
            ]
            for system in every
        }
        left_out = {system: tracks for system, tracks in lacks.items() if tracks}
        _check_missing(missing, left_out, first, len(datasets))
        systems = every if missing == "zero" else [s for s in every if s not in left_out]
        if not systems:
            raise UsageError(
                "no system is on all tracks: name the tracks, or use `missing='zero'`."
            )
        values = tuple(_columns(matrix, systems) for matrix in matrices)
        queries = tuple(matrix.queries for matrix in matrices)
        joint = (first.measure, first.direction, datasets, tuple(systems), values)
        return cls(*joint, left_out, queries)

    @cached_property
    def means(self) -> np.ndarray:
        """Means of each dataset: float64 [dataset, system]."""
        return np.stack([mean_over_queries(values) for values in self.values])

    @cached_property
    def macro(self) -> np.ndarray:
        """Mean of the means: float64 [system]."""
        return mean_over_queries(self.means)

    @property
    def only_means(self) -> bool:
        """Whether a dataset has a single value for each system, so that no query can be drawn."""
        return any(len(values) < 2 for values in self.values)

    def as_matrix(self) -> Matrix:
        """Return the means as a matrix whose queries are the datasets."""
        direction: Any = self.direction
        return Matrix(self.means, self.tracks, self.systems, self.measure, direction=direction)

    def drawn(self, resamples: int, rng: int | np.random.Generator) -> np.ndarray:
        """Return macro means of queries drawn within each dataset: float64 [resample, system]."""
        generator = np.random.default_rng(rng)
        total = np.zeros((resamples, len(self.systems)))
        for values in self.values:
            known = ~np.isnan(values)
            filled = np.where(known, values, 0.0)
            total += np.concatenate(list(resampled_means(filled, known, resamples, generator)))
        return total / len(self.values)


def _check_missing(
    missing: Missing, left_out: dict[str, list[str]], first: Matrix, number: int
) -> None:
    """Raise `UsageError` where a system may not lack a dataset."""
    if not left_out or missing == "common":
        return
    if missing == "error":
        named = [f"{system} ({len(tracks)} of {number})" for system, tracks in left_out.items()]
        listed = first_few(named, "see the tracks")
        raise UsageError(
            f"{count(len(left_out), 'system')} lack a track: {listed}: use `missing='common'` to "
            "leave them out, or 'zero'."
        )
    if first.direction < 0:
        raise UsageError(
            f"{first.measure}: 0 is the best value, as less is better: use `missing='common'`."
        )


def _columns(matrix: Matrix, systems: Sequence[str]) -> np.ndarray:
    """Return the values of systems [query, system]; 0 for one without a mean."""
    places = {system: i for i, system in enumerate(matrix.systems)}
    out = np.zeros((len(matrix.queries), len(systems)))
    for column, system in enumerate(systems):
        if system in places and not np.isnan(matrix.values[:, places[system]]).all():
            out[:, column] = matrix.values[:, places[system]]
    return out


def system_rows(
    data: Datasets, confidence: float, resamples: int, rng: int | np.random.Generator
) -> Iterator[Row]:
    """Yield the rows of the table `over_tracks`, best macro mean first.

    Intervals of the macro mean: percentiles of `Datasets.drawn`, and Student's t of the means of
    datasets, from `LEAST_DATASETS`.
    """
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high, t_low, t_high = np.full((4, len(data.systems)), np.nan)
    if not data.only_means:
        low, high = np.quantile(data.drawn(resamples, rng), tails, axis=0)
    if len(data.tracks) >= LEAST_DATASETS:
        t_low, t_high = mean_intervals(data.means, "t", confidence=confidence)
    oriented = data.means * data.direction
    ranks = mean_ranks(oriented).mean(axis=0)
    place = rank_rows(round_means(data.macro * data.direction)[None])[0]
    borda = len(data.tracks) * (len(data.systems) - ranks)
    wins = win_rates(data)
    for i in np.lexsort((np.array(data.systems), place)).tolist():
        numbers = (data.macro, low, high, t_low, t_high, ranks, borda, wins)
        yield (int(place[i]), data.systems[i], *(float(of[i]) for of in numbers), len(data.tracks))


def win_rates(data: Datasets) -> np.ndarray:
    """Return the share of other systems that each beats on a query, a tie a half: float64 [system].

    Mean over queries, then over datasets; NaN for a single system.
    """
    if len(data.systems) < 2:
        return np.full(len(data.systems), np.nan)
    by_dataset = []
    for values in data.values:
        ranks = mean_ranks(np.where(np.isnan(values), -np.inf, values * data.direction))
        by_dataset.append((len(data.systems) - ranks).mean(axis=0) / (len(data.systems) - 1))
    return np.mean(by_dataset, axis=0)


def order_rows(data: Datasets) -> Iterator[Row]:
    """Yield tau-b of the orders of systems by macro mean, mean rank and win rate: pairs of them."""
    scores = {
        "macro mean": round_means(data.macro * data.direction),
        "mean rank": -round_means(mean_ranks(data.means * data.direction).mean(axis=0)),
        "win rate": round_means(win_rates(data)),
    }
    named = list(scores.items())
    for i, (rule, x) in enumerate(named):
        for second, y in named[i + 1 :]:
            yield rule, second, _tau(x, y)


def _tau(x: np.ndarray, y: np.ndarray) -> float:
    """Return tau-b of two orders; NaN where one ties all systems."""
    return float(kendall_tau_b(x[None], y[None])[0, 0])


def dataset_rows(data: Datasets) -> Iterator[Row]:
    """Yield for each dataset its size, and what the macro mean says without it."""
    every_track = round_means(data.macro * data.direction)
    for place, name in enumerate(data.tracks):
        rest_of = np.delete(data.means, place, axis=0)
        without = round_means(mean_over_queries(rest_of) * data.direction)
        alone = round_means(data.means[place] * data.direction)
        best = [s for s, v in zip(data.systems, without, strict=True) if v == without.max()]
        moved = np.abs(rank_rows(every_track[None])[0] - rank_rows(without[None])[0]).max()
        tau_without, tau_alone = _tau(every_track, without), _tau(without, alone)
        yield name, len(data.values[place]), tau_without, int(moved), best[0], tau_alone


def overlap_rows(data: Datasets) -> Iterator[Row]:
    """Yield for each pair of datasets how alike they order the systems: tau-b and Pearson's r."""
    correlations = _pearson(data.means)
    for i, dataset in enumerate(data.tracks):
        for j in range(i + 1, len(data.tracks)):
            tau = _tau(round_means(data.means[i]), round_means(data.means[j]))
            yield dataset, data.tracks[j], tau, float(correlations[i, j])


def _pearson(means: np.ndarray) -> np.ndarray:
    """Return Pearson's r of the rows; NaN for a row without spread, or fewer than two systems."""
    centred = means - means.mean(axis=1, keepdims=True)
    norm = np.sqrt((centred**2).sum(axis=1))
    scale = np.outer(norm, norm)
    return np.divide(centred @ centred.T, scale, out=np.full(scale.shape, np.nan), where=scale > 0)


def effective_number(data: Datasets) -> float:
    """Return how many uncorrelated datasets vary as these do: D^2 / sum of squared correlations.

    From 1 (all order the systems alike) to the number of datasets D. NaN where a dataset ties all
    systems. This is the participation ratio of the eigenvalues of the correlation matrix.
    """
    return len(data.tracks) ** 2 / float((_pearson(data.means) ** 2).sum())


def friedman(data: Datasets) -> tuple[float, float]:
    """Return Friedman's statistic with its correction for ties, and p, by chi-squared.

    NaN for fewer than three systems, or where every dataset ties all systems.
    """
    datasets, systems = data.means.shape
    if systems < 3:
        return math.nan, math.nan
    ranks = mean_ranks(data.means * data.direction)
    between = ((ranks.mean(axis=0) - (systems + 1) / 2) ** 2).sum()
    within = ((ranks - (systems + 1) / 2) ** 2).sum() / (datasets * (systems - 1))
    if within == 0:
        return math.nan, math.nan
    statistic = datasets * between / within
    return float(statistic), float(chdtrc(systems - 1, statistic))


def nemenyi(data: Datasets) -> np.ndarray:
    """Return p of Nemenyi's test of mean ranks [system, system].

    Whether two systems differ depends on the other systems, whose ranks lie between.
    """
    datasets, systems = data.means.shape
    ranks = mean_ranks(data.means * data.direction).mean(axis=0)
    error = math.sqrt(systems * (systems + 1) / (12 * datasets))
    return studentized_range_sf(np.abs(np.subtract.outer(ranks, ranks)) / error, systems, MANY)


def difference_limits(
    data: Datasets, confidence: float, resamples: int, rng: int | np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return percentile limits of differences of macro means on these datasets [system, system]."""
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    drawn = data.drawn(resamples, rng)
    low, high = np.zeros((2, len(data.systems), len(data.systems)))
    for i in range(len(data.systems)):
        low[i], high[i] = np.quantile(drawn[:, [i]] - drawn, tails, axis=0)
    return low, high

"""Conclusions over several datasets: means of means, orders, tests over datasets, their overlap.

A dataset is a track: values of one measure by query and system. Two kinds of uncertainty differ:
that of the macro mean on these datasets, whose queries are resampled within each, and that of the
mean on datasets like these, of which the ones at hand are a sample. Datasets that are snapshots of
one collection also have changes of means, effects and order over time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, get_args

import numpy as np
from scipy.special import chdtrc, stdtr, stdtrit

from irmeta.equality import TIE
from irmeta.errors import UsageError, check_choice, did_you_mean, first_few
from irmeta.phrases import count
from irmeta.policies import Missing
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.stats.hsd import studentized_range_sf
from irmeta.stats.means import mean_intervals, resampled_means
from irmeta.stats.orders import kendall_tau_b, mean_ranks, rank_rows, round_means, tau_of_means

LEAST_DATASETS = 5
"""Fewest datasets of an interval for datasets like these."""
MANY = 1e8
"""Degrees of freedom of Nemenyi's test, whose variance is known: p differs by less than 1e-7."""
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Datasets:
    """Values of the same systems on several datasets, by one measure.

    `tracks` are the datasets, and `systems` those with a mean on each; `values` are float64 [query,
    system] of each dataset, NaN undefined, and `queries` their names. `left_out` has the systems
    that lack a dataset, with those that they lack.
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

        UsageError: fewer than two datasets, two of one name, no shared system, or a system that
        lacks a dataset (``error``; ``zero`` where less is better).
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


class Change(NamedTuple):
    """Change of a mean: its value, standard error, degrees of freedom and p-value."""

    change: float
    error: float
    freedom: float
    p: float

    def limits(self, confidence: float) -> tuple[float, float]:
        """Return the limits of the interval by Student's t."""
        margin = float(stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        return self.change - margin, self.change + margin


def change_of_mean(before: dict[str, float], after: dict[str, float]) -> Change:
    """Estimate the change of a mean, of values by query, between samples that may share queries.

    The t statistic for partially overlapping samples without equal variances (Derrick et al. 2017,
    doi:10.22237/jmasm/1493597280): with r the correlation over the n shared queries, the variance
    is s1^2 / n1 + s2^2 / n2 - 2 r s1 s2 n / (n1 n2). With no shared query it is Welch's test, with
    all shared the paired t-test. error, freedom and p are NaN for fewer than two queries. Where
    nothing varies, or all queries are shared and change alike, p is 1 without a change, else NaN.
    """
    x, y = (np.array([*of.values()]) for of in (before, after))
    change = float(y.mean() - x.mean()) if len(x) and len(y) else math.nan
    if min(len(x), len(y)) < 2:
        return Change(change, math.nan, math.nan, math.nan)
    shared = [query for query in before if query in after]
    number = len(shared)
    squares = [float(of.var(ddof=1)) / len(of) for of in (x, y)]
    pairs = np.array([[of[query] for query in shared] for of in (before, after)])
    is_spread = number > 1 and bool((np.ptp(pairs, axis=1) > 0).all())
    r = float(np.corrcoef(pairs)[0, 1]) if is_spread else 0.0
    covariance = r * float(x.std(ddof=1) * y.std(ddof=1)) * number / (len(x) * len(y))
    variance = sum(squares) - 2 * covariance
    # A variance of rounding errors is none: values that all change alike correlate by 1 or almost.
    error = math.sqrt(variance) if variance > TIE * sum(squares) else 0.0
    p = 1.0 if abs(change) <= TIE else math.nan
    if sum(squares) == 0:
        return Change(change, 0.0, math.nan, p)
    welch = sum(squares) ** 2 / sum(
        square**2 / (len(of) - 1) for square, of in zip(squares, (x, y), strict=True)
    )
    alone = len(x) + len(y) - 2 * number
    freedom = number - 1 + (welch - number + 1) * alone / (alone + 2 * number)
    if error > 0:
        p = float(2 * stdtr(freedom, -abs(change / error)))
    return Change(change, error, freedom, p)


def change_rows(
    data: Datasets, pivot: str | None, confidence: float, resamples: int, rng: int
) -> Iterator[Row]:
    """Yield the rows of the table `changes`: each snapshot against the one before.

    With a pivot, also the effect ratio of each system's improvement over it, and the fall of the
    relative improvement: see `irmeta.stats.effect_ratio`; limits are percentiles of resampled
    queries, drawn together where both snapshots have the same queries.
    """
    if pivot is not None and pivot not in data.systems:
        raise UsageError(f"no system {pivot!r} to pivot on. {did_you_mean(pivot, data.systems)}")
    for place in range(1, len(data.tracks)):
        effects = _effects(data, place, pivot, (confidence, resamples, rng))
        for column, system in enumerate(data.systems):
            before, after = (
                {q: value for q, value in by_query if not math.isnan(value)}
                for by_query in (
                    zip(data.queries[of], data.values[of][:, column].tolist(), strict=True)
                    for of in (place - 1, place)
                )
            )
            change = change_of_mean(before, after)
            yield (
                *(data.tracks[place], data.tracks[place - 1], system, change.change),
                *change.limits(confidence),
                *(change.p, len(before), len(after), len(before.keys() & after.keys())),
                *(None if of is None or system == pivot else float(of[column]) for of in effects),
            )


def _effects(
    data: Datasets, place: int, pivot: str | None, drawing: tuple[float, int, int]
) -> tuple[np.ndarray | None, ...]:
    """Return effect ratio, its limits, and the fall of relative improvement: each [system]."""
    if pivot is None:
        return None, None, None, None
    (confidence, resamples, rng), base = drawing, data.systems.index(pivot)
    before, after = data.means[place - 1], data.means[place]
    drawn: list[np.ndarray] = []
    for number, of in enumerate((place - 1, place)):
        same = data.queries[place] == data.queries[place - 1]
        known = ~np.isnan(data.values[of])
        filled = np.where(known, data.values[of], 0.0)
        generator = np.random.default_rng([rng, 0 if same else number])
        drawn.append(np.concatenate(list(resampled_means(filled, known, resamples, generator))))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (after - after[base]) / (before - before[base])
        fall = before / before[base] - after / after[base]
        old, new = (of - of[:, [base]] for of in drawn)
        ratios = new / old
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    is_finite = np.isfinite(ratios).all(axis=0)
    low, high = np.full((2, len(data.systems)), np.nan)
    if is_finite.any():
        low[is_finite], high[is_finite] = np.quantile(ratios[:, is_finite], tails, axis=0)
    return ratio, low, high, fall


def drift_rows(data: Datasets, resamples: int, rng: int) -> Iterator[Row]:
    """Yield the rows of the table `drift`: tau-b of the orders of successive snapshots.

    Under the hypothesis that both snapshots are samples of the same queries, queries may change
    places between them: p is the share of random exchanges, sizes kept and the sample among them,
    with at most this tau. Only queries without NaN count; a query that both have is exchanged with
    itself. NaN where a snapshot has no such query, or ties all systems.
    """
    for place in range(1, len(data.tracks)):
        before, after = (
            {
                query: row
                for query, row in zip(data.queries[of], data.values[of], strict=True)
                if not np.isnan(row).any()
            }
            for of in (place - 1, place)
        )
        if not (before and after):
            yield data.tracks[place], data.tracks[place - 1], *(math.nan,) * 4
            continue
        means = (np.array([*of.values()]).mean(axis=0)[None] for of in (before, after))
        tau = tau_of_means(*means)[0]
        generator = np.random.default_rng([rng, place])
        drawn = tau_of_means(*_exchanged(before, after, resamples, generator))
        drawn = drawn[~np.isnan(drawn)]
        p = (1 + int((drawn <= tau + TIE).sum())) / (1 + len(drawn))
        low, middle = np.quantile(drawn, [0.05, 0.5]) if len(drawn) else (math.nan, math.nan)
        p = math.nan if math.isnan(tau) else p
        yield data.tracks[place], data.tracks[place - 1], float(tau), float(middle), float(low), p


def _exchanged(
    before: dict[str, np.ndarray],
    after: dict[str, np.ndarray],
    resamples: int,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Return means of snapshots whose queries were exchanged at random: each [draw, system]."""
    shared = [query for query in before if query in after]
    alone = [[row for q, row in of.items() if q not in shared] for of in (before, after)]
    systems = len(next(iter(before.values())))
    pool = np.array([*alone[0], *alone[1]]).reshape(-1, systems)
    order = generator.permuted(np.tile(np.arange(len(pool)), (resamples, 1)), axis=1)
    is_first = np.zeros(order.shape)
    np.put_along_axis(is_first, order[:, : len(alone[0])], 1.0, axis=1)
    x, y = (
        np.array([of[query] for query in shared]).reshape(-1, systems) for of in (before, after)
    )
    swap = generator.integers(0, 2, (resamples, len(shared))).astype(np.float64)
    sums = [is_first @ pool, (1 - is_first) @ pool]
    sums[0] += (1 - swap) @ x + swap @ y
    sums[1] += swap @ x + (1 - swap) @ y
    return sums[0] / len(before), sums[1] / len(after)

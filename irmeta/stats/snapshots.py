"""Tracks that are snapshots of one collection: changes of means, effects and order over time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from irmeta.equality import TIE
from irmeta.errors import UsageError, did_you_mean
from irmeta.stats.datasets import Datasets
from irmeta.stats.means import resampled_means
from irmeta.stats.orders import kendall_tau_b, round_means

Row = tuple[Any, ...]


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
    """Estimate the change of a mean between samples of queries that may share some.

    The t statistic for partially overlapping samples without equal variances [1]_: with r the
    correlation over the n shared queries, the variance is s1^2 / n1 + s2^2 / n2 - 2 r s1 s2 n /
    (n1 n2). With no shared query it is Welch's test, with all shared the paired t-test.

    Parameters
    ----------
    before, after
        Values by query, without NaN.

    Returns
    -------
    Change
        error, freedom and p are NaN for fewer than two queries. Where nothing varies, or all
        queries are shared and change alike, p is 1 without a change, else NaN.

    References
    ----------
    .. [1] Derrick, B. et al. (2017). Test statistics for the comparison of means for two samples
       that include both paired and independent observations. doi:10.22237/jmasm/1493597280
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
        pair = [
            dict(zip(data.queries[of], data.values[of], strict=True)) for of in (place - 1, place)
        ]
        pair = [{q: row for q, row in of.items() if not np.isnan(row).any()} for of in pair]
        if not all(pair):
            yield data.tracks[place], data.tracks[place - 1], *(math.nan,) * 4
            continue
        tau = _tau(*(np.array([*of.values()]).mean(axis=0)[None] for of in pair))[0]
        drawn = _tau(*_exchanged(*pair, resamples, np.random.default_rng([rng, place])))
        drawn = drawn[~np.isnan(drawn)]
        p = (1 + int((drawn <= tau + TIE).sum())) / (1 + len(drawn))
        low, middle = np.quantile(drawn, [0.05, 0.5]) if len(drawn) else (math.nan, math.nan)
        p = math.nan if math.isnan(tau) else p
        yield data.tracks[place], data.tracks[place - 1], float(tau), float(middle), float(low), p


def _tau(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return tau-b of rows of means [draw, system]; NaN where one ties all systems."""
    return kendall_tau_b(round_means(before), round_means(after), True)


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

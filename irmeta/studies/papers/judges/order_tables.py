"""Tables of leaderboards: their correlation, the noise of queries, single queries, the best."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from irmeta.equality import TIE
from irmeta.stats import judged_orders as orders
from irmeta.stats.order_loss import many_query_tau, order_loss, split_taus
from irmeta.stats.orders import kendall_tau_b, round_means
from irmeta.stats.paired import paired_differences
from irmeta.stats.resampling import draw_query_sets
from irmeta.studies.papers.judges.judged_track import JudgedTrack, Sides

Row = dict[str, Any]
DRAWS = 5
"""Resamples of the queries for each resample that is split, which is slow."""
COMPARED = (5, 10, 20)
"""Numbers of best systems of the table `leaderboards`."""


@lru_cache(maxsize=4)
def draws_of(queries: int, resamples: int, seed: int) -> np.ndarray:
    """Return the weights of resampled queries, the same for all measures and judges."""
    return orders.drawn_queries(queries, resamples, np.random.SeedSequence(seed))


@lru_cache(maxsize=4)
def splits_of(queries: int, splits: int, seed: int) -> np.ndarray:
    """Return the random halves of the queries, the same for all measures and judges."""
    return draw_query_sets(queries, queries // 2, 2, splits, np.random.default_rng(seed))


def leaderboards(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `leaderboards`."""
    options, systems = judged.options, judged.scores.systems
    for scores in judged.scores.measures:
        drawn = dict[int, np.ndarray]()
        for sides in (*scores.every.values(), *scores.common.values()):
            queries, key = len(sides.queries), id(sides.reference)
            if not queries:
                continue
            draws = draws_of(queries, options.resamples, options.seed)
            every = orders.whole(queries)
            reference, judge = (orders.means_of(side, every) for side in sides.values)
            if key not in drawn:
                drawn[key] = orders.means_of(sides.values[0], draws)
            resampled = orders.order_correlations(
                drawn[key], orders.means_of(sides.values[1], draws)
            )
            found = orders.order_correlations(reference, judge)
            yield {
                "judge": sides.judge,
                "measure": scores.measure,
                "docs": sides.docs,
                "queries": queries,
                "undefined": sides.undefined,
                **_correlated(found, resampled, queries),
                **_of_many_queries(sides, draws),
                **_places(reference[0], judge[0], systems),
                "mean_reference": float(reference.mean()) * sides.direction,
                "mean_judge": float(judge.mean()) * sides.direction,
            }


def _correlated(
    found: dict[str, np.ndarray], resampled: dict[str, np.ndarray], queries: int
) -> Row:
    """Return the correlations with their intervals, and the bootstrap of tau-b."""
    row: Row = {}
    for name in orders.CORRELATIONS:
        draws = resampled[name] if queries > 1 else np.empty(0)
        interval = orders.around_estimate(float(found[name][0]), draws)
        row |= {name: interval.value, f"{name}_low": interval.low, f"{name}_high": interval.high}
        if name == "tau_b":
            row |= {"sd": interval.sd, "drawn": interval.drawn}
    return row


def _of_many_queries(sides: Sides, draws: np.ndarray) -> Row:
    """Return tau-b of the orders that many queries would give, with its interval."""
    found = many_query_tau(*sides.values, draws[: max(2, len(draws) // DRAWS)])
    return {"tau_many": found.value, "tau_many_low": found.low, "tau_many_high": found.high}


def _places(reference: np.ndarray, judge: np.ndarray, systems: tuple[str, ...]) -> Row:
    """Return what the two orders have in common at the top, and the greatest changes of places."""
    falls = orders.places(judge) - orders.places(reference)
    down, up = (int(np.flatnonzero(falls == one)[-1]) for one in (falls.max(), falls.min()))
    first, second = (np.flatnonzero(means == means.max()) for means in (reference, judge))
    return {
        "best_reference": systems[first[0]],
        "best_judge": systems[second[0]],
        "same_best": bool(np.intersect1d(first, second).size),
        **{
            f"common_{size}": orders.common_best(reference, judge, size)
            if size <= len(systems)
            else None
            for size in COMPARED
        },
        "drop": int(falls[down]),
        "dropped": systems[down] if falls[down] > 0 else None,
        "rise": int(-falls[up]),
        "risen": systems[up] if falls[up] < 0 else None,
    }


def query_noise(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `query_noise`."""
    options = judged.options
    for scores in judged.scores.measures:
        for sides in scores.sides:
            queries = len(sides.queries)
            if queries < 2:
                continue
            halves = orders.half_weights(splits_of(queries, options.splits, options.seed), queries)
            taus = split_taus(*sides.values, halves)
            draws = max(2, options.resamples // DRAWS)
            loss = order_loss(*sides.values, taus, draws, options.seed)
            yield {
                "judge": sides.judge,
                "measure": scores.measure,
                "queries": queries,
                "splits": options.splits,
                **_spread("tau_reference", taus.people),
                **_spread("tau_judge", taus.judge),
                "difference": loss.difference,
                "error": loss.error,
                "difference_low": loss.low,
                "least_loss": loss.least,
                "orders_as": loss.as_people(options.margin),
            }


def _spread(name: str, values: np.ndarray) -> Row:
    """Return the mean and the quantiles .025 and .975; NaN are left out."""
    defined = values[~np.isnan(values)]
    found = [np.nan] * 3
    if len(defined):
        found = [float(defined.mean()), *map(float, np.quantile(defined, (0.025, 0.975)))]
    return dict(zip((name, f"{name}_low", f"{name}_high"), found, strict=True))


def queries(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `queries`."""
    for scores in judged.scores.measures:
        for sides in scores.sides:
            yield from _queries(scores.measure, sides, judged.options.alpha)


def _queries(measure: str, sides: Sides, alpha: float) -> Iterator[Row]:
    """Yield the rows of one judge and measure."""
    own, values = sides.values
    without = _without_each(len(own))
    signs = orders.significant_signs(paired_differences(own), alpha, holm=False)
    better, worse = _better_and_worse(signs, own.shape[1])
    gaps = own[:, better] - own[:, worse]
    by_query = kendall_tau_b(round_means(own), round_means(values), True)
    left = kendall_tau_b(orders.means_of(own, without), orders.means_of(values, without), True)
    turned = (gaps > TIE) & (values[:, better] - values[:, worse] < -TIE)
    difference = (values.mean(axis=1) - own.mean(axis=1)) * sides.direction
    for i, query in enumerate(sides.queries):
        yield {
            "judge": sides.judge,
            "measure": measure,
            "query": query,
            "tau_b": float(by_query[i]),
            "difference": float(difference[i]),
            "conclusions": int((gaps[i] > TIE).sum()),
            "turned": int(turned[i].sum()),
            "tau_without": float(left[i]),
        }


def _better_and_worse(signs: np.ndarray, systems: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the better and the worse system of each significantly different pair."""
    first, second = (side[signs != 0] for side in np.triu_indices(systems, 1))
    is_first = signs[signs != 0] > 0
    return np.where(is_first, first, second), np.where(is_first, second, first)


def _without_each(queries: int) -> np.ndarray:
    """Return the weights of the mean over all queries but one: float64 [query left out, query]."""
    weights = 1.0 - np.eye(queries)
    return weights / max(queries - 1, 1)


def top(judged: JudgedTrack) -> Iterator[Row]:
    """Yield the rows of the table `top`."""
    systems = judged.scores.systems
    for scores in judged.scores.measures:
        for sides in scores.sides:
            every = orders.whole(len(sides.queries))
            own, means = (orders.means_of(side, every)[0] for side in sides.values)
            order = np.lexsort((np.arange(len(means)), -means))
            for size in (size for size in judged.options.sizes if size <= len(systems)):
                best, regret = orders.regret_of_best(own, means, size)
                chosen = np.flatnonzero(orders.shares_of_best(means, size) > 0)
                yield {
                    "judge": sides.judge,
                    "measure": scores.measure,
                    "size": size,
                    "best": best * sides.direction,
                    "regret": regret,
                    "common": orders.common_best(own, means, size),
                    "chosen": ", ".join(systems[i] for i in order[: len(chosen)]),
                }

"""Intervals of the numbers of claims: the tables of a track made again on parts of its queries.

``half``: halves of the queries drawn without replacement. The mean over a half of n queries has the
variance (S^2 / (n/2)) (1 - 1/2) = S^2 / n around the mean of all, which is the variance of the mean
of all queries around that of their population: the spread of halves is the standard error, without
rescaling. Halves are a jackknife that leaves out half (Shao and Wu 1989), which holds for smooth
functions of means and, unlike leaving out few, for functions that are not smooth, such as maxima.
Queries drawn with replacement, as by a bootstrap, would be there twice, and make differences
significant that are not. ``jackknife``: groups of queries are left out in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit

from irmeta.errors import IrmetaError, collected_warnings
from irmeta.parallel import ordered_map
from irmeta.policies import TrackOptions
from irmeta.rankings.track import Track, selected_queries
from irmeta.stats.resampling import draw_query_sets
from irmeta.studies.framework.claims import CannotBeSaid, Claim, Found, Interval, IntervalOf
from irmeta.studies.framework.study import Study
from irmeta.studies.framework.track_view import TrackView

FEWEST_QUERIES = 10
"""Queries below which a track has no interval: halves of fewer say nothing."""
DEFINED = 0.9
"""Share of the draws that must have a number; of fewer, the others are no sample of all."""
LEVEL = 0.95


class Drawing(NamedTuple):
    """How queries are drawn: ``half`` or ``jackknife``, and the number of draws or groups."""

    method: str
    draws: int


class DrawnTables(dict[str, pl.DataFrame]):
    """The tables of a track on some queries; tables over tracks cannot be made of one track."""

    def __init__(self, study: Study, frames: Mapping[str, pl.DataFrame]) -> None:
        super().__init__(frames)
        self._study = study

    def __missing__(self, name: str) -> pl.DataFrame:
        table = self._study.table(name)
        if table.by == "all" or table.apart:
            raise CannotBeSaid(f"table {name} is not made of some queries")
        return self.setdefault(name, table.empty())


def draw_claims(
    study: Study, track: Track, options: TrackOptions, drawing: Drawing, workers: int | None = 1
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of the table `claim_draws` of a track, draw by draw; none of few queries."""
    declared = study.call("claims", options)
    claims = [claim for claim in declared if claim.over != "once" and claim.of_queries]
    queries = sorted(track.under(options.policy).judged_queries)
    if options.selects_queries:
        queries = sorted({*queries}.intersection(selected_queries(options)))
    if len(queries) < FEWEST_QUERIES or not claims:
        return
    seed = [getattr(options, "seed", 0), *track.name.encode()]
    sets = list(query_sets(queries, drawing, np.random.default_rng(seed)))
    numbers = partial(_numbers, study, claims, track, options)
    for draw, (part, of_claims) in enumerate(
        zip(sets, ordered_map(numbers, sets, workers=workers), strict=True)
    ):
        yield [
            {"claim": claim.name, "draw": draw, "method": drawing.method, "number": number,
             "drawn": len(part), "queries": len(queries)}
            for claim, number in zip(claims, of_claims, strict=True)
        ]  # fmt: skip


def query_sets(
    queries: Sequence[str], drawing: Drawing, rng: np.random.Generator
) -> Iterator[tuple[str, ...]]:
    """Yield halves of the queries, or the queries without one group of them."""
    if drawing.method == "half":
        halves = draw_query_sets(len(queries), len(queries) // 2, 1, drawing.draws, rng)
        for (half,) in halves:
            yield tuple(queries[int(i)] for i in np.sort(half))
        return
    groups = np.array_split(rng.permutation(len(queries)), min(drawing.draws, len(queries)))
    for group in groups:
        left_out = set(group.tolist())
        yield tuple(query for i, query in enumerate(queries) if i not in left_out)


def _numbers(
    study: Study,
    claims: Sequence[Claim],
    track: Track,
    options: TrackOptions,
    queries: tuple[str, ...],
) -> list[float]:
    """Return the numbers of claims on some queries; NaN where one cannot be said."""
    asked = replace(options, query=queries, query_file=None)
    view, frames = TrackView(track, asked), dict[str, list[pl.DataFrame]]()
    try:
        with collected_warnings():  # those on all queries are enough
            for name, rows in study.call("compute", view, asked):
                table = study.table(name)
                if not table.apart:
                    frames.setdefault(name, []).append(table.frame(rows, track.name))
            studied = study.table("studied_tracks").frame([view.studied()])
    except IrmetaError:  # what the tables of these queries lack
        return [math.nan] * len(claims)
    if not studied["used"][0]:
        return [math.nan] * len(claims)
    joined = {name: pl.concat(parts, how="vertical_relaxed") for name, parts in frames.items()}
    tables = DrawnTables(study, joined | {"studied_tracks": studied})
    return [_number(claim, tables) for claim in claims]


def _number(claim: Claim, tables: DrawnTables) -> float:
    try:
        computed = claim.statistic(tables)
    except CannotBeSaid:
        return math.nan
    return float(computed.number if isinstance(computed, Found) else computed)


def intervals(tables: Mapping[str, pl.DataFrame]) -> IntervalOf:
    """Return the function of the intervals of claims from the table `claim_draws`, if there is any.

    A number has none where fewer than `DEFINED` of the draws have a number.
    """
    drawn = tables.get("claim_draws")
    of_claim = {} if drawn is None else drawn.partition_by("claim", "track", as_dict=True)

    def interval(claim: str, track: str, number: float) -> Interval | None:
        rows = of_claim.get((claim, track))
        return None if rows is None else interval_of(number, rows)

    return interval


def interval_of(number: float, rows: pl.DataFrame) -> Interval | None:
    """Return the interval of a number from its rows of `claim_draws`: t quantiles around it.

    The variance from halves has the errors of a variance over the queries and of one over the
    draws, so that its degrees of freedom are ``1 / (1 / (queries - 1) + 1 / (draws - 1))``.
    """
    defined = rows["number"].drop_nans().to_numpy()
    if len(defined) < max(2.0, DEFINED * rows.height):
        return None
    if (defined == defined[0]).all() and defined[0] != number:
        return None  # equal on all parts, and another of all queries: their spread says nothing
    freedom = float(len(defined) - 1)
    variance = float(np.var(defined, ddof=1))
    if rows["method"][0] == "half":
        drawn, queries = rows.select("drawn", "queries").row(0)
        variance *= drawn / (queries - drawn)
        freedom = 1 / (1 / (queries - 1) + 1 / freedom)
        words = f"{len(defined)} halves of {queries} queries"
    else:
        variance *= freedom**2 / len(defined)
        words = f"jackknife by {len(defined)} groups of queries"
    se = math.sqrt(variance)
    margin = float(stdtrit(freedom, (1 + LEVEL) / 2)) * se
    return Interval(number - margin, number + margin, se, words)

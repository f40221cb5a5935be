"""The tables of one track."""

from __future__ import annotations

import polars as pl

from irmeta.measures.pools import unjudged_docs, unjudged_measures
from irmeta.studies.framework.study import TableRows, declared_rows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.depth.cutoff_tables import (
    Curves,
    guidance,
    least_depths,
    orders,
    pool_budget,
    score_curves,
    table_7,
)
from irmeta.studies.papers.depth.left_out import left_out
from irmeta.studies.papers.depth.options import DepthOptions
from irmeta.studies.papers.depth.pool_facts import collection
from irmeta.studies.papers.depth.studied_pool import StudiedPool
from irmeta.studies.papers.depth.tables import TABLES
from irmeta.studies.papers.depth.tie_effects import ties, under_orders


def compute(track: TrackView, options: DepthOptions) -> TableRows:
    """Yield the tables of one track."""
    if track.is_sampled:
        track.leave_out("the judgments are a sample of the pool, so no pool has a depth")
        return
    pool = StudiedPool.of(track, options)
    _describe(track, pool)
    means, depths = under_orders(track, options)
    yield "collections", [collection(pool, track.systems, depths)]
    yield from declared_rows(TABLES, pool)
    yield from ties(track, options, means)
    rows = list(table_7(pool))
    yield "table_7", rows
    curves = Curves(pool)
    for piece in score_curves(curves):
        yield "score_curves", piece
    yield from orders(curves)
    budget = list(pool_budget(pool))
    yield "pool_budget", budget
    yield "guidance", guidance(rows, pool, least_depths(budget, options.least_tau))
    yield from left_out(track, pool)
    if pool.has_nonrelevant:
        yield from _unjudged(pool)


def _describe(track: TrackView, pool: StudiedPool) -> None:
    """Add notes on what the tables of a track do not say."""
    if not pool.facts.pool_known:
        track.note("the contributing systems are unknown, so all systems count as contributors")
    if not pool.has_nonrelevant:
        track.note(
            "no doc is judged non-relevant, so first unjudged ranks and residuals mean nothing here"
        )
    if (cut := pool.facts.policy["depth"]) is not None:
        track.note(f"lists were cut at {cut} when they were read, so no cutoff is deeper")


def _unjudged(pool: StudiedPool) -> TableRows:
    """Yield the tables `unjudged`, `judged_by_contribution` and `undecided`."""
    k = pool.depths[0]
    rel = pool.options.rel
    made = unjudged_docs(pool.scores(unjudged_measures(k, rel), None), pool.facts, k, rel)
    yield "unjudged", made.unjudged
    yield "undecided", made.undecided
    few = pl.col("judged_at_10") < pool.options.judged_at_least
    yield (
        "judged_by_contribution",
        made.unjudged.group_by("pooled")
        .agg(
            systems=pl.len(),
            judged_at_10=pl.col("judged_at_10").mean(),
            judged_at_k=pl.col("judged_at_k").mean(),
            hardly_judged=few.sum(),
        )
        .sort("pooled"),
    )

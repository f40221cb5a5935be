"""Collections, growth of the pool, and outcomes of pooling: Tables 3 and 4, Figure 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.pool import NOT_POOLED
from irmeta.studies.papers.depth.options import DEEPEST, PLOTTED_DEPTHS
from irmeta.studies.papers.depth.studied_pool import StudiedPool, judged_only

Row = dict[str, Any]


def collection(pool: StudiedPool, systems: pl.DataFrame, by_order: Mapping[str, int | None]) -> Row:
    """Return the row of the table `collections`.

    Parameters
    ----------
    systems
        The table `systems` of the track, skipped runs included.
    by_order
        Comprehensive depth by tie order; an order that the store cannot give is missing.
    """
    facts, contributors = pool.facts, pool.contributors
    depths = np.concatenate([depth[judged] for _, depth, judged, _ in pool.by_row()])
    groups = {facts.groups[i] for i in contributors} - {None} if facts.groups else set()
    missing = facts.pool_known and systems.filter("pooled")["skip_reason"].is_not_null().any()
    at_least = pool.pooled(pool.depths[0])
    counts = np.concatenate([judged_only(v, v.counts(pool.options.rel)) for v in at_least])
    retrieved = depths[depths != NOT_POOLED]
    by_rank = [row for row in judged_by_rank(pool) if row["rank"] <= pool.depths[-1]]
    return {
        "depth": ", ".join(map(str, pool.depths)),
        "depth_source": pool.source,
        "least_judged": min((row["share"] for row in by_rank), default=np.nan),
        "comprehensive_depth": pool.comprehensive,
        "depth_bound": "at least" if not facts.pool_known else "at most" if missing else "exact",
        **{
            f"depth_{order.replace('-', '_')}": by_order.get(order)
            for order in ("trec_eval", "trec_eval10", "score-file", "file")
        },
        "deepest_judged": int(retrieved.max()) if len(retrieved) else None,
        "contributors": len(contributors),
        "groups": len(groups) or None,
        "queries": len(counts),
        "queries_without_relevant": int((counts == 0).sum()),
        "judged": len(depths),
        "relevant": sum(int(relevant.sum()) for *_, relevant in pool.by_row()),
        "judged_unretrieved": int((depths == NOT_POOLED).sum()),
    }


def judged_by_rank(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `judged_by_rank`."""
    for rank, (lists, judged) in enumerate(zip(*pool.judged_by_rank, strict=True), 1):
        if rank <= DEEPEST:
            yield {"rank": rank, "lists": lists, "judged": judged, "share": judged / lists}


def growth_points(pool: StudiedPool) -> list[int]:
    """Return the plotted depths, up to the longest contributing list, with those of the study."""
    deepest = max(pool.longest, 1)
    return sorted({point for point in (*PLOTTED_DEPTHS, *pool.depths) if point <= deepest})


def pool_growth(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `pool_growth` (Figure 1)."""
    points, queries = growth_points(pool), sum(len(view.queries) for view in pool.views)
    new = np.zeros((2, queries, len(points) + 1), np.int64)
    for query, depth, judged, relevant in pool.by_row():
        step = np.searchsorted(points, depth)
        for counted, is_counted in zip(new, (judged, relevant), strict=True):
            np.add.at(counted, (query[is_counted], step[is_counted]), 1)
    asked = len(pool.judged_queries)
    total = new.sum(axis=1)
    complete = pool.longest if pool.comprehensive is None else pool.comprehensive
    for step, point in enumerate(points):
        judged, relevant = new[0, :, step], new[1, :, step]
        has_new = judged > 0
        judged_to, relevant_to = (int(one[: step + 1].sum()) for one in total)
        yield {
            "depth": point,
            "judged": judged_to,
            "relevant": relevant_to,
            "relevant_per_query": relevant_to / asked if asked else np.nan,
            "new_relevant_rate": relevant.sum() / judged.sum() if has_new.any() else np.nan,
            "new_relevant_rate_mean": (
                float((relevant[has_new] / judged[has_new]).mean()) if has_new.any() else np.nan
            ),
            "comprehensive": point <= complete,
        }


def table_4(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `table_4`, one per depth and quantity.

    The paper's NumRelPast is the number of relevant docs "that appear beyond depth d"; but only
    with all other relevant docs of the pool it has the paper's sum with RelInPool, the relevant
    docs per query. NumRelListed counts those that the list holds below d.
    """
    rel = pool.options.rel
    for depth in (*pool.depths, None):
        if pool.has_nonrelevant:
            ranks = pool.scores(["FirstUnjudged"], depth)
            first = ranks.values[0][ranks.included[0].any(axis=1)][:, pool.systems]
            yield _spread(depth, "RankUnj", first)
        if depth is None:
            continue
        top, listed = (_listed(pool, pool.pooled(depth), at) for at in (depth, None))
        relevant = np.concatenate([judged_only(v, v.counts(rel)) for v in pool.pooled(depth)])
        yield _spread(depth, "RelInPool", top)
        yield _spread(depth, "NumRelPast", relevant[:, None] - top)
        yield _spread(depth, "NumRelListed", listed - top)
        every, in_top = (_listed(pool, pool.views, at) for at in (None, depth))
        yield _spread(depth, "AllRelListed", every - in_top)


def _listed(
    pool: StudiedPool, views: Sequence[JudgedRanks], depth: int | None = None
) -> np.ndarray:
    """Count the relevant docs in each list, or in its first `depth` docs: [query, system]."""
    blocks = []
    for view in views:
        rows = view.grades >= pool.options.rel
        ranks = view.ranks[rows][:, pool.systems]
        is_listed = (
            ranks != view.missing if depth is None else ranks <= min(depth, view.missing - 1)
        )
        sums = np.concatenate(
            [np.zeros((1, len(pool.systems)), np.int64), is_listed.cumsum(axis=0)]
        )
        blocks.append(judged_only(view, np.diff(sums[view.offsets_of(rows)], axis=0)))
    return np.concatenate(blocks)


def _spread(depth: int | None, quantity: str, values: np.ndarray) -> Row:
    return {
        "depth": depth,
        "quantity": quantity,
        "mean": float(values.mean()) if values.size else np.nan,
        "sd": float(values.std(ddof=1)) if values.size > 1 else np.nan,
        "sd_population": float(values.std()) if values.size else np.nan,
    }

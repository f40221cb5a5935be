"""Orders and scores by other judgments: without a group, and by another qrels set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.rankings.derive.changes import changed, keep_gained, take_rows, take_systems
from irmeta.rankings.derive.fewer_judgments import pool_cut
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.pool import POOL_ARRAYS
from irmeta.results.scores import Scores
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.options import MARKED, MEASURES
from irmeta.studies.papers.innovation.rare_track import RareTrack, parts_of, ranks, tau_b

Row = dict[str, Any]
ALPHAS = (0.0, 1.0)


def left_out_groups(track: RareTrack) -> dict[str, list[int]]:
    """Return the systems of each group with a contributor, unless the group is the whole pool."""
    contributors = set(track.facts.contributors)
    return {
        name: systems
        for name, systems in track.groups.items()
        if 0 < len(contributors.intersection(systems)) < len(contributors)
    }


def pool_bias(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `pool_bias`."""
    facts, options = track.facts, track.options
    names = [options.name(measure, alpha) for measure in MEASURES for alpha in ALPHAS]
    before = track.means(ALPHAS).reshape(len(names), -1)
    ranks_before, docs_before = ranks(before), _docs(track.views, options.rel)
    gained = [keep_gained(view) for view in track.views]
    for group, systems in left_out_groups(track).items():
        pools = [view.with_pool(None, _contributing(track, systems)) for view in gained]
        after = _means(track, pools, systems)
        judged, docs = _judged(track, systems)
        ranks_after = ranks(after)
        lost = docs_before - docs
        for row, name in enumerate(names):
            for place, system in enumerate(systems):
                yield {
                    "left_out": group,
                    "system": facts.systems[system],
                    "measure": name,
                    "pooled": facts.pooled[system] if facts.pool_known else None,
                    "value_before": before[row, system],
                    "value_after": after[row, system],
                    "rank_before": ranks_before[row, system],
                    "rank_after": ranks_after[row, system],
                    "judged": judged[place],
                    "judged_lost": lost[0],
                    "relevant_lost": lost[1],
                }


def _contributing(track: RareTrack, systems: Sequence[int]) -> list[str]:
    """Return the names of those of the systems that contributed to the pool."""
    contributing = set(track.facts.contributors).intersection(systems)
    return [track.facts.systems[system] for system in sorted(contributing)]


def _means(track: RareTrack, pools: Sequence[JudgedRanks], systems: Sequence[int]) -> np.ndarray:
    """Compute the means of all systems, where S and S_d count none of `systems`."""
    parts, options = parts_of(pools, track.options), track.options
    members = np.ones((1, len(track.facts.systems)), bool)
    members[0, systems] = False
    rare = parts.rare_sums(members, options.rarity, options.counted, all_scored=True)[:, 0]
    return np.stack([p + a * r for p, r in zip(parts.plain, rare, strict=True) for a in ALPHAS])


def _judged(track: RareTrack, systems: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Leave systems out of the pool; return their mean judged share, and docs as `_docs`."""
    options, blocks, docs = track.options, list[Scores](), np.zeros(2, np.int64)
    specs = parse_measures([f"Judged@{options.k}"])
    for view in track.views:
        cut = pool_cut(view, None, _contributing(track, systems))
        assert cut is not None
        own = take_systems(changed(view, **dict.fromkeys(POOL_ARRAYS)), list(systems))
        own = take_rows(own, np.flatnonzero(cut.is_kept))
        blocks.append(evaluate_block(own, specs, options.policy))
        is_counted = view.is_judged, view.grades >= options.rel
        docs += [int((one & cut.is_kept).sum()) for one in is_counted]
    return Scores.concat(blocks).mean_values()[0], docs


def _docs(views: Sequence[JudgedRanks], rel: int) -> np.ndarray:
    """Count the judged and the relevant docs: int64 [2]."""
    return np.sum([(view.is_judged.sum(), view.counts(rel).sum()) for view in views], axis=0)


MOST_FEW = 2
"""The greatest S_d of docs that few systems retrieve."""


def other_labels(track: TrackView, rare: RareTrack) -> TableRows:
    """Yield the tables `label_sets` and `label_confirmations`."""
    own = track.facts.qrels
    for qrels in (one["name"] for one in track.record["qrels"]):
        if qrels == own:
            continue
        views = list(track.blocks(qrels=qrels))
        other = replace(rare, views=views, parts=parts_of(views, rare.options))
        yield "label_sets", _orders(rare, other, qrels)
        yield "label_confirmations", _confirmations(rare, other, own, qrels)
        yield "label_confirmations", _confirmations(other, rare, qrels, own)


def _orders(one: RareTrack, other: RareTrack, qrels: str) -> Iterator[Row]:
    """Yield the rows of the table `label_sets` of one other set, over the queries of both."""
    common = _averaged(one) & _averaged(other)
    one, other = _only_queries(one, common), _only_queries(other, common)
    pairs = zip(one.options.families(), one.means(MARKED), other.means(MARKED), strict=True)
    for measure, ours, theirs in pairs:
        for alpha, a, b in zip(MARKED, ours, theirs, strict=True):
            yield {
                "qrels": qrels,
                "measure": measure,
                "alpha": alpha,
                "queries": len(common),
                "tau_b": tau_b(a, b[None])[0] if common else np.nan,
            }


def _averaged(rare: RareTrack) -> set[str]:
    """Return the queries that the policy of the options averages."""
    least = 1 if rare.options.policy.queries == "relevant" else 0
    return {
        query
        for view in rare.views
        for query, relevant in zip(view.queries, view.counts(rare.options.rel), strict=True)
        if relevant >= least
    }


def _only_queries(rare: RareTrack, queries: set[str]) -> RareTrack:
    """Return the track with only some queries, in the blocks that have any of them."""
    blocks = [view for view in rare.views if queries.intersection(view.queries)]
    views = [view.only_queries(queries) for view in blocks or rare.views[:1]]
    return replace(rare, views=views, parts=parts_of(views, rare.options))


def _confirmations(one: RareTrack, other: RareTrack, name: str, judged_in: str) -> Iterator[Row]:
    """Yield the rows of the table `label_confirmations` for the relevant docs of `one`."""
    judged = _judged_docs(other.views, one.options.rel)
    docs = one.docs.join(judged, on=["query", "doc"], how="left")
    held, counted = pl.col("retrieved_by"), pl.col("counted")
    buckets = {"none": held == 0, "few": held.is_between(1, MOST_FEW), "many": 2 * held > counted}
    for bucket, is_in in buckets.items():
        of_bucket = docs.filter(is_in)["is_relevant"]
        confirmed = int(of_bucket.sum())
        yield {
            "relevant_in": name,
            "judged_in": judged_in,
            "retrieved_by": bucket,
            "docs": len(of_bucket),
            "confirmed": confirmed,
            "unjudged": of_bucket.null_count(),
            "share": confirmed / len(of_bucket) if len(of_bucket) else np.nan,
        }


def _judged_docs(views: Sequence[JudgedRanks], rel: int) -> pl.DataFrame:
    """Return the judged docs: query, doc, is_relevant."""
    blocks = list[pl.DataFrame]()
    for view in views:
        rows = np.flatnonzero(view.is_judged)
        query = pl.Series(view.queries, dtype=pl.String).gather(view.query_of(rows))
        relevant = view.grades[rows] >= rel
        blocks.append(
            pl.DataFrame({"query": query, "doc": view.docs.gather(rows), "is_relevant": relevant})
        )
    return pl.concat(blocks)

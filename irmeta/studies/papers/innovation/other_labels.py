"""Orders of systems and rare docs under the other qrels sets of a track."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.rankings.judged import JudgedRanks
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.innovation.options import MARKED
from irmeta.studies.papers.innovation.rare_track import RareTrack, parts_of, tau_b

Row = dict[str, Any]
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
    one, other = _only(one, common), _only(other, common)
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


def _only(rare: RareTrack, queries: set[str]) -> RareTrack:
    """Return the track with only some queries, in the blocks that have any of them."""
    blocks = [view for view in rare.views if queries.intersection(view.queries)]
    views = [view.only_queries(queries) for view in blocks or rare.views[:1]]
    return replace(rare, views=views, parts=parts_of(views, rare.options))


def _confirmations(one: RareTrack, other: RareTrack, name: str, judged_in: str) -> Iterator[Row]:
    """Yield the rows of the table `label_confirmations` for the relevant docs of `one`."""
    judged = _judged(other.views, one.options.rel)
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


def _judged(views: Sequence[JudgedRanks], rel: int) -> pl.DataFrame:
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

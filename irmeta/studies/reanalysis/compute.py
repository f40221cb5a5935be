"""The tables of one track, from a single pass over its blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.measures.evaluate import evaluate_block, included
from irmeta.measures.names import Spec, parse_measures
from irmeta.measures.search_length import lengths_by_doc
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.per_doc import rarity_frame, search_length_table
from irmeta.results.scores import Scores
from irmeta.stats.correlation import measure_agreement
from irmeta.stats.orders import round_means
from irmeta.stats.rank_confidence import rank_sets
from irmeta.stats.search_lengths import length_buckets, length_frame
from irmeta.store.scan import track_notes
from irmeta.studies.framework.study import TableRows
from irmeta.studies.framework.track_view import Missed, TrackView
from irmeta.studies.reanalysis.study import OverviewOptions


class Block(NamedTuple):
    """Results of one block: scores, and counts to add."""

    scores: Scores
    histogram: np.ndarray  # search lengths by bucket, see `length_buckets`
    rarity: np.ndarray  # relevant docs by the number of systems that retrieve them
    counts: Mapping[str, int]


def compute(track: TrackView, options: OverviewOptions) -> TableRows:
    """Yield the tables of one track; tables by doc or query block by block."""
    # On a track of decimal grades without a stated `rel`, binary measures are left out.
    measures = [replace(spec, preset=True) for spec in parse_measures(options.measures)]
    specs, blocks = track.named_in_set(measures), list[Block]()
    for block, lengths, rarity in track.map_blocks(partial(_of_block, options, specs), specs):
        blocks.append(block)
        yield "search_lengths", lengths
        yield "rarity", rarity
    scores = track.scored = Scores.concat([block.scores for block in blocks])
    docs = np.sum([block.histogram for block in blocks], axis=0)
    rare = np.sum([block.rarity for block in blocks], axis=0)
    facts = _facts(track, options, [block.counts for block in blocks])
    best = best_systems(scores)
    yield "scores", scores.per_query()
    yield "means", scores.means()
    yield "best", best
    yield "best_systems", _summary(best, scores, facts, docs)
    yield "agreement", measure_agreement(scores)
    yield "search_length_histogram", length_frame(track.name, scores.systems, docs)
    yield "rarity_histogram", pl.DataFrame({"retrieved_by": np.arange(len(rare)), "docs": rare})
    yield "tracks", [facts]
    yield "systems", track.systems
    skipped = track.systems.drop_nulls("skip_reason")
    yield "skipped_runs", skipped.select("track", "file", reason="skip_reason")


def _of_block(
    options: OverviewOptions, specs: Sequence[Spec], view: JudgedRanks
) -> tuple[Block, pa.Table, pl.DataFrame]:
    """Return the results of one block, and its rows of search_lengths and rarity."""
    lengths = lengths_by_doc(view, view.facts.rel, options.unretrieved)
    retrieved = view.ranks[view.relevant_rows(view.facts.rel)] != view.missing
    rarity = rarity_frame(view, options.rarity_depth, view.facts.rel)
    block = Block(
        evaluate_block(view, specs, options.policy),
        length_buckets(lengths, retrieved),
        np.bincount(rarity["retrieved_by"], minlength=len(view.systems) + 1),
        _counts(view),
    )
    averaged = included(view, view.facts.rel, options.policy)
    return block, search_length_table(view, view.facts.rel, lengths, averaged), rarity


def best_systems(scores: Scores) -> pl.DataFrame:
    """Return all systems of a track by each measure, best first, with their rank sets.

    Equal values share a rank; means that differ only by rounding errors of summation are equal: see
    `round_means`.
    """
    sets = (
        rank_sets(scores.matrix(name)).systems.with_columns(measure=pl.lit(name))
        for name in scores.measures
    )
    means = np.stack([round_means(values) for values in scores.mean_values()])
    order = np.tile(np.arange(len(scores.measures)), len(scores.systems))
    signed = pl.col("rounded") * pl.col("direction")
    return (
        scores.means()
        .with_columns(
            pl.col("measure")
            .replace_strict(scores.directions, return_dtype=pl.Int32)
            .alias("direction"),
            rounded=means.T.ravel(),
            order=order,
        )
        .filter(pl.col("value").is_not_nan())
        .with_columns(rank=signed.rank("min", descending=True).over("measure").cast(pl.Int32))
        .join(pl.concat(sets).drop("rank", "mean"), on=["measure", "system"], how="left")
        .sort("order", "rank", "system")
        .select(
            *("track", "measure", "direction", "rank", "rank_low", "rank_high", "tier"),
            *("system", "value"),
        )
    )


def _summary(
    best: pl.DataFrame, scores: Scores, facts: Mapping[str, Any], docs: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Yield the best and second system, and the median and worst value, by each measure."""
    shared = {
        n: facts[n] for n in ("track", "systems", "skipped_runs", "queries", "relevant", "rows")
    }
    missed = Missed(scores.systems, docs[:, -1] / np.maximum(docs.sum(axis=1), 1))
    for (measure,), ranking in best.group_by("measure", maintain_order=True):
        first = ranking.row(0, named=True)
        second = ranking.row(1, named=True) if ranking.height > 1 else {}
        is_length = measure in scores.lists_without_nonrelevant
        yield {
            **shared,
            **{name: first[name] for name in ("measure", "direction", "system", "value")},
            "second": second.get("system"),
            "second_value": second.get("value"),
            "median": ranking["value"].median(),
            "worst": ranking["value"][-1],
            "missed": missed[first["system"]] if is_length else None,
            "short": is_length and missed.is_short(first["system"]),
            "ties": ranking.filter(pl.col("rank") == 1).height - 1,
            "could_be_first": int((ranking["rank_low"] == 1).sum()),
        }


def _counts(view: JudgedRanks) -> dict[str, int]:
    relevant = view.counts(view.facts.rel)
    relevant = relevant if view.in_qrels is None else relevant[view.in_qrels]
    return {
        "queries": len(relevant),
        "queries_without_relevant": int((relevant == 0).sum()),
        "judged": len(view.grades),
        "relevant": int(relevant.sum()),
    }


def _facts(
    track: TrackView, options: OverviewOptions, counts: Sequence[Mapping[str, int]]
) -> dict[str, Any]:
    facts, record = track.facts, track.record
    return {
        "track": track.name,
        "systems": len(facts.systems),
        "skipped_runs": record["skipped_runs"],
        "rows": record["rows"],
        "deepest_rank": facts.deepest_rank,
        "qrels": facts.qrels,
        "tie_order": options.tie_order or facts.policy["tie_order"],
        **{name: sum(block[name] for block in counts) for name in counts[0]},
        "highest_grade": facts.highest_grade,
        "notes": track_notes(record),
    }

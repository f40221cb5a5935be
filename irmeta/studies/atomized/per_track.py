"""One track's part of the study: its tables, and the figures of it alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from irmeta.results.scores import Scores
from irmeta.stats.buckets import difference_buckets, length_buckets, length_frame
from irmeta.stats.correlation import correlate
from irmeta.stats.orders import settled
from irmeta.store.scan import StoreReader, qrels_notes, read_table, track_facts
from irmeta.studies.atomized.chain import CHAINS, cumulative, frames, steps
from irmeta.studies.atomized.fraction import effective_fractions
from irmeta.studies.atomized.gather import Gathered, gather
from irmeta.studies.atomized.groups import (
    best_of,
    compared,
    difference_intervals,
    in_order,
    median_of,
    sides,
)
from irmeta.studies.atomized.settings import PERSISTENCE, Settings, provenance
from irmeta.studies.base import Folder
from irmeta.studies.publish import empty, write_figure, write_parts

PARTS = (
    "studied_tracks",
    "means",
    "headroom",
    "best_by_choice",
    "table_1",
    "asl_differences",
    "reordering",
    "moves",
    "search_length_histogram",
    "length_differences",
    "effective_fraction",
    "depth_sensitivity",
)
NO_RELEVANT = "no query has a relevant doc"


def per_track(
    store: StoreReader, track: str, settings: Mapping[str, Any], folder: Folder
) -> Sequence[Path]:
    """Analyse one track in a single pass over its blocks, and write its parts and figures."""
    from irmeta.studies.atomized.figures import of_track  # figures are slow to import

    chosen = Settings.from_record(settings)
    found = gather(store, track, chosen)
    tables = {table: empty(table) for table in PARTS}
    tables["studied_tracks"] = _track_frame(store, found, chosen)
    tables["means"] = _means(found, chosen)
    if found.has_lengths:
        systems = read_table(store, "systems", track)
        tables |= _compared_systems(found, chosen, systems)
        tables |= _reordered(found, chosen)
        tables |= _doc_by_doc(found, chosen)
    files = write_parts(folder, track, tables, provenance(store, chosen, track))
    for one in of_track(tables, track, chosen):
        files += write_figure(folder, one.name, one.draw(), track)
    return files


def _track_frame(store: StoreReader, found: Gathered, settings: Settings) -> pl.DataFrame:
    scores = found.scores
    facts = track_facts(store, scores.track, settings.policy.qrels)
    left_out = None
    if not found.relevant.any():
        left_out = NO_RELEVANT
    elif not found.has_lengths:
        without, lists = found.without_irrelevant
        left_out = (
            f"{without:,} of {lists:,} lists hold no doc that is not relevant, so search lengths "
            "and Bpref mean nothing here"
        )
    elif len(scores.systems) < settings.min_runs:
        runs = "1 system" if len(scores.systems) == 1 else f"{len(scores.systems)} systems"
        left_out = f"{runs}, and at least {settings.min_runs} are asked for"
    row = {
        "track": scores.track,
        "systems": len(scores.systems),
        "queries": int((found.relevant > 0).sum()),
        "relevant": int(found.relevant.sum()),
        "deepest_rank": facts.deepest_rank,
        "highest_grade": facts.highest_grade,
        "used": left_out is None,
        "left_out": left_out,
        "notes": "; ".join(_notes(store, found, settings)) or None,
    }
    return pl.DataFrame([row], schema=dict(empty("studied_tracks").schema))


def _notes(store: StoreReader, found: Gathered, settings: Settings) -> Iterator[str]:
    if notes := qrels_notes(store.read_record(found.scores.track)):
        yield notes
    empty_queries = int((found.relevant == 0).sum())
    if empty_queries and settings.policy.queries != "relevant":
        queries = (
            "1 judged query has" if empty_queries == 1 else f"{empty_queries} judged queries have"
        )
        yield f"{queries} no relevant doc: P@20 and AP count 0 there, search lengths leave them out"
    if found.has_lengths and found.nonrelevant_judged == 0:
        yield "no doc is judged non-relevant, so Bpref means nothing here"
    if found.has_lengths and not found.retrieved.any():
        yield "no system retrieves a relevant doc"
    if found.has_lengths and len(found.scores.systems) == 1:
        yield "one system, so none to compare it with"
    without = found.without_irrelevant[0]
    if found.has_lengths and without and settings.unretrieved == "irrel":
        lists = "1 list holds" if without == 1 else f"{without:,} lists hold"
        yield (
            f"{lists} no non-relevant doc: Eq. 3 gives the relevant docs that "
            "they miss a length of 0"
        )


def _means(found: Gathered, settings: Settings) -> pl.DataFrame:
    means = found.scores.means()
    if not found.has_lengths:
        asl = list(found.scores.no_irrelevant)
        means = means.filter(~pl.col("measure").is_in([*asl, settings.bpref]))
    elif found.nonrelevant_judged == 0:
        means = means.filter(pl.col("measure") != settings.bpref)
    return means


def _compared_systems(
    found: Gathered, settings: Settings, systems: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """The tables in which systems are compared by their means."""
    scores = found.scores
    pairs: list[tuple[str, str, str, str]] = []
    for measure in (settings.asl(), settings.asl(1), settings.asl(10)):
        order = in_order(scores, settings.best_by or measure)
        places = {"median": (len(order) - 1) // 2, "second": 1}
        pairs += [
            (measure, f"best - {said}", order[0], order[place])
            for said, place in places.items()
            if 0 < place < len(order)
        ]
        pair = sides(scores, settings, systems, measure)
        if pair is not None and pair[0] != pair[1]:
            pairs.append((measure, "contender - baseline", pair[1], pair[0]))
    return {
        "headroom": _headroom(scores, settings),
        "best_by_choice": _best_by_choice(found, settings),
        "table_1": compared(scores, settings, systems, settings.headroom),
        "asl_differences": difference_intervals(scores, settings, pairs),
        "depth_sensitivity": _depth_sensitivity(found, settings),
    }


def _headroom(scores: Scores, settings: Settings) -> pl.DataFrame:
    means = scores.mean_values()
    rows = []
    for measure in settings.headroom:
        by = settings.best_by or measure
        best, median = best_of(scores, by), median_of(scores, by)
        if best is None or median is None:
            continue
        own = dict(zip(scores.systems, means[scores.measures.index(measure)], strict=True))
        rows.append(
            {
                "track": scores.track,
                "measure": measure,
                "system": best,
                "value": float(own[best]),
                "median": float(own[median]),
                "chosen_by": by,
            }
        )
    return pl.DataFrame(rows, schema=dict(empty("headroom").schema))


def _best_by_choice(found: Gathered, settings: Settings) -> pl.DataFrame:
    """Who is best by ASL under each choice for docs that are not retrieved, and by the others."""
    scores = found.scores
    missed = 1.0 - found.retrieved.mean(axis=0)
    means = scores.mean_values()
    rows = []
    for measure in settings.compared_choices:
        if (best := best_of(scores, measure)) is None:
            continue
        system = scores.systems.index(best)
        rows.append(
            {
                "track": scores.track,
                "measure": measure,
                "system": best,
                "value": float(means[scores.measures.index(measure), system]),
                "missed": float(missed[system]),
                "median_missed": float(np.median(missed)),
                "rows": float(found.listed[system] / len(scores.queries)),
            }
        )
    return pl.DataFrame(rows, schema=dict(empty("best_by_choice").schema))


def _depth_sensitivity(found: Gathered, settings: Settings) -> pl.DataFrame:
    whole, cut = found.scores, found.cut
    rows = []
    for measure in settings.shallow:
        best, best_cut = best_of(whole, measure), best_of(cut, measure)
        if best is None or best_cut is None:
            continue
        means = [s.mean_values()[s.measures.index(measure)] for s in (whole, cut)]
        signed = np.stack([settled(own * whole.directions[measure]) for own in means])
        rows.append(
            {
                "track": whole.track,
                "measure": measure,
                "depth": settings.depth,
                "best": best,
                "value": float(means[0][whole.systems.index(best)]),
                "best_cut": best_cut,
                "value_cut": float(means[1][cut.systems.index(best_cut)]),
                "tau": float(correlate(signed, "tau-b").values[0, 1]),
            }
        )
    return pl.DataFrame(rows, schema=dict(empty("depth_sensitivity").schema))


def _reordered(found: Gathered, settings: Settings) -> dict[str, pl.DataFrame]:
    """The tables `reordering` and `moves`, all chains."""
    scores = found.scores
    of_chain = {f"RBP(p={PERSISTENCE})": settings.rbp, "AP": settings.ap}
    summaries, moves = [], []
    for chain in CHAINS:
        old = scores.matrix(of_chain.get(chain.name, chain.name))
        done = list(steps(chain, old, found.chains[chain.name], settings))
        for frame, kept in zip(frames(chain.name, done), (summaries, moves), strict=True):
            kept.append(frame)
    for name, old, first in (("P@20", settings.p20, 10), ("RR", settings.rr, 1)):
        new = scores.matrix(settings.asl(first, "floor"))
        done = list(cumulative(scores.matrix(old), new, settings))
        for frame, kept in zip(frames(name, done), (summaries, moves), strict=True):
            kept.append(frame)
    return {"reordering": pl.concat(summaries), "moves": pl.concat(moves)}


def _doc_by_doc(found: Gathered, settings: Settings) -> dict[str, pl.DataFrame]:
    """The tables that look at each relevant doc."""
    scores = found.scores
    counts = length_buckets(found.lengths.astype(np.float64), found.retrieved)
    tables = {
        "search_length_histogram": length_frame(scores.track, scores.systems, counts),
        "effective_fraction": effective_fractions(found),
    }
    best, median = best_of(scores, settings.asl()), median_of(scores, settings.asl())
    if best is not None and median is not None and best != median:
        a, b = (found.lengths[:, scores.systems.index(s)] for s in (best, median))
        tables["length_differences"] = difference_buckets((a - b).astype(np.float64)).select(
            pl.lit(scores.track).alias("track"),
            pl.lit(best).alias("best"),
            pl.lit(median).alias("median"),
            pl.all(),
        )
    return tables

"""The zeroth study: every track's scores, search lengths and rarity, and who is best by what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import check_choice, check_whole
from irmeta.measures.evaluate import evaluate_block, how_made, needs_of
from irmeta.measures.names import canonical, parse_measures
from irmeta.measures.search_length import UNRETRIEVED, lengths_by_doc
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from irmeta.rankings.pool import retrieved_by
from irmeta.results.per_doc import rarity_frame, search_length_table
from irmeta.results.scores import Scores
from irmeta.results.tables import write_parquet
from irmeta.stats.buckets import length_buckets, length_frame
from irmeta.stats.correlation import measure_agreement
from irmeta.stats.orders import settled
from irmeta.store.scan import StoreReader, qrels_notes, read_table, track_facts
from irmeta.studies.base import Folder, Study
from irmeta.studies.publish import join_parts, write_parts

REL = 1


@dataclass(frozen=True)
class Settings:
    """What the overview computes.

    Attributes
    ----------
    measures
        Canonical names.
    rarity_depth
        A system retrieves a doc if it has it up to this rank.
    unretrieved
        The search length of a relevant doc that is not retrieved, as in ``ASL(unretrieved=...)``.
    """

    measures: tuple[str, ...] = tuple(canonical("default"))
    rarity_depth: int = 100
    unretrieved: str = "irrel"
    policy: EvalPolicy = field(default_factory=EvalPolicy)

    def __post_init__(self) -> None:
        depth = check_whole("rarity_depth", self.rarity_depth)
        object.__setattr__(self, "rarity_depth", depth)
        check_choice("unretrieved", self.unretrieved, UNRETRIEVED)

    def record(self) -> dict[str, Any]:
        """As plain JSON values; with the revision of each measure, since numbers change with it."""
        specs = parse_measures(self.measures)
        return asdict(self) | {"revisions": {s.name: s.measure.revision for s in specs}}

    def check(self, systems: pl.DataFrame) -> None:
        """Any systems will do."""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Settings:
        """The settings that `record` wrote down."""
        policy = EvalPolicy.from_record(record["policy"])
        return cls(tuple(record["measures"]), record["rarity_depth"], record["unretrieved"], policy)


def provenance(store: StoreReader, settings: Settings, *tracks: str) -> dict[str, Any]:
    """What results of these tracks were computed from and how."""
    return {
        "study": OVERVIEW.name,
        "revision": OVERVIEW.revision,
        "rarity_depth": settings.rarity_depth,
        "unretrieved": settings.unretrieved,
        **how_made(store, parse_measures(settings.measures), settings.policy, tracks),
    }


def per_track(
    store: StoreReader, track: str, settings: Mapping[str, Any], folder: Folder
) -> Sequence[Path]:
    """Analyse one track in a single pass over its blocks, and write its files and figures."""
    from irmeta.studies.overview_page import draw_track  # figures are slow to import

    chosen = Settings.from_record(settings)
    record = provenance(store, chosen, track)
    specs = parse_measures(chosen.measures)
    scored: list[Scores] = []
    rarities: list[pl.DataFrame] = []
    histogram: list[np.ndarray] = []
    facts: list[dict[str, int]] = []

    def search_lengths() -> Iterator[pa.Table]:
        for view in judged_ranks(store, track, chosen.policy, needs=needs_of(specs)):
            lengths = lengths_by_doc(view, REL, chosen.unretrieved)
            scored.append(evaluate_block(view, specs, chosen.policy))
            found = retrieved_by(view, chosen.rarity_depth, REL)
            rarities.append(rarity_frame(view, REL, found))
            retrieved = view.ranks[view.relevant_rows(REL)] != view.missing
            histogram.append(length_buckets(lengths, retrieved))
            facts.append(_query_facts(view))
            yield search_length_table(view, REL, lengths)

    files = {t: folder.of_track(t, track) for t in LARGE}
    write_parquet(search_lengths(), files["search_lengths"], "search_lengths", record)
    scores = Scores.concat(scored)
    write_parquet(scores.per_query(), files["scores"], "scores", record)
    write_parquet(rarities, files["rarity"], "rarity", record)
    parts = {
        "means": scores.means(),
        "best": best_systems(scores),
        "agreement": measure_agreement(scores).with_columns(track=pl.lit(track)),
        "search_length_histogram": length_frame(track, scores.systems, np.sum(histogram, axis=0)),
        "tracks": _track_frame(store, track, chosen, facts),
        "systems": read_table(store, "systems", track),
    }
    written = [*files.values(), *write_parts(folder, track, parts, record)]
    return [*written, *draw_track(folder, track, parts, chosen.rarity_depth)]


def best_systems(scores: Scores) -> pl.DataFrame:
    """All systems of a track by each measure, best first; equal values share a place.

    Means that differ by the order of summing alone are equal: see `irmeta.stats.orders.settled`.
    """
    direction = pl.DataFrame(
        {
            "measure": list(scores.measures),
            "direction": [scores.directions[m] for m in scores.measures],
            "order": range(len(scores.measures)),
        },
        schema_overrides={"direction": pl.Int32},
    )
    means = np.stack([settled(own) for own in scores.mean_values()])
    signed = pl.col("settled") * pl.col("direction")
    return (
        scores.means()
        .with_columns(settled=means.T.ravel())
        .join(direction, on="measure", how="left", maintain_order="left")
        .filter(pl.col("value").is_not_nan())
        .with_columns(place=signed.rank("min", descending=True).over("measure").cast(pl.Int32))
        .sort("order", "place", "system")
        .select("track", "measure", "direction", "place", "system", "value")
    )


def _query_facts(view: JudgedRanks) -> dict[str, int]:
    relevant = view.counts(REL)
    return {
        "queries": len(view.queries),
        "queries_without_relevant": int((relevant == 0).sum()),
        "judged": len(view.grades),
        "relevant": int(relevant.sum()),
    }


def _track_frame(
    store: StoreReader, track: str, settings: Settings, facts: list[dict[str, int]]
) -> pl.DataFrame:
    known, record = track_facts(store, track, settings.policy.qrels), store.read_record(track)
    return pl.DataFrame(
        {
            "track": track,
            "systems": len(known.systems),
            "set_aside": record["set_aside"],
            "rows": record["rows"],
            "deepest_rank": known.deepest_rank,
            "qrels": known.qrels,
            "tie_order": settings.policy.tie_order or known.policy["tie_order"],
            **{name: sum(f[name] for f in facts) for name in facts[0]},
            "highest_grade": known.highest_grade,
            "notes": qrels_notes(record),
        }
    )


def combine(
    store: StoreReader, tracks: Sequence[str], settings: Mapping[str, Any], folder: Folder
) -> None:
    """Join the small tables of all tracks and write the page."""
    from irmeta.studies.overview_page import write_page

    record = provenance(store, Settings.from_record(settings), *tracks)
    tables = join_parts(folder, COMBINED, tracks, record)
    write_page(folder, tables, record)


COMBINED = ("tracks", "systems", "means", "best", "agreement", "search_length_histogram")
LARGE = ("search_lengths", "scores", "rarity")
OVERVIEW = Study("overview", 4, Settings, per_track, combine, tables=LARGE)

"""`Verification`: published values beside those that a store gives."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from irmeta.errors import UsageError, first_few
from irmeta.locations import local
from irmeta.measures.evaluate import how_made
from irmeta.measures.names import parse_measures
from irmeta.parallel import ordered_map
from irmeta.phrases import count
from irmeta.policies import EvalPolicy
from irmeta.rankings.track_facts import track_facts
from irmeta.store.scan import StoreReader, Tracks, tracks_of
from irmeta.summaries import Summarized, Summary
from irmeta.verification.published_values import (
    CatalogTrack,
    add_meanings,
    catalog_tracks,
    catalog_values,
    match_names,
    published_rows,
    read_published,
)
from irmeta.verification.track_verifier import DIFFER, NOT_OURS, REPRODUCED, TrackVerifier

_UNMATCHED = {"track": pl.String, "system": pl.String, "absent_from": pl.String}


@dataclass(frozen=True, repr=False)
class Verification(Summarized):
    """Published values beside recomputed ones.

    Attributes
    ----------
    values : DataFrame
        track, system, query (null: a mean), evaluator, measure (as published), printed (its text),
        canonical (the measure of irmeta), qrels (the set that the evaluator's name says; null: that
        of the policy), published, digits (decimals), value, difference, verdict (``reproduced``,
        ``differ`` or ``not ours``) and reason: what else reproduces a value that differs, or why a
        value is not ours.
    tracks : DataFrame
        One row per track: track, catalog (its id in the catalogue; null: it is not there, or the
        values come from a table), published (values of systems in the store), reproduced, differ,
        explained (of `differ`: reproduced by another reading), not_ours, unmatched (published
        systems that the store does not have).
    unmatched : DataFrame
        track, system, absent_from: ``store`` for published systems that the store does not have,
        ``published`` for systems without a published value in tracks that have some.
    provenance : dict
        Versions, policies, fingerprints of the tracks, and where the published values come from.
    """

    values: pl.DataFrame
    tracks: pl.DataFrame
    unmatched: pl.DataFrame
    provenance: dict[str, Any]

    @property
    def agrees(self) -> bool:
        """Whether no value differs."""
        return not (self.values["verdict"] == DIFFER).any()

    @property
    def reasons(self) -> pl.DataFrame:
        """Number of values by track, verdict, evaluator, measure, canonical and reason.

        Values that were reproduced without a remark are left out; a value that differs without a
        known reason has none.
        """
        keys = ("track", "verdict", "evaluator", "measure", "canonical", "reason")
        plain = (pl.col("verdict") == REPRODUCED) & pl.col("reason").is_null()
        rows = self.values.filter(~plain).group_by(keys, maintain_order=True)
        return rows.agg(pl.len().alias("values"))

    def _summary(self) -> Summary:
        total = self.tracks.select(pl.exclude("track", "catalog").sum()).row(0, named=True)
        facts = [
            f"{count(total['published'], 'published value')} of "
            f"{count(self.tracks.height, 'track')}",
            f"{total['reproduced']:,} reproduced",
            f"{total['differ']:,} differ ({total['explained']:,} explained)",
            f"{total['not_ours']:,} not ours",
        ]
        return Summary("", facts, lambda: self.tracks)


def verify_tracks(
    store: StoreReader,
    published: str | Path | pl.DataFrame | None,
    track: Tracks,
    catalog: Mapping[str, str],
    policy: EvalPolicy,
    workers: int | None = None,
) -> Verification:
    """Verify published values of a store's tracks; see `irmeta.verify`."""
    tracks, known = tracks_of(store, track), store.tracks()
    systems = {name: track_facts(store, name).systems for name in tracks}
    found = dict[str, CatalogTrack]()
    source = {"name": "catalogue"}
    if published is None:
        found = catalog_tracks(systems, catalog)
        rows = catalog_values(found)
    elif catalog:
        raise UsageError("`catalog=` is for the values of the catalogue, without `published=`.")
    elif isinstance(published, pl.DataFrame):
        source = {"name": "frame"}
        rows = published_rows(published.drop("line", strict=False), "published", tracks, known)
    else:
        path = local(published)
        rows = published_rows(read_published(path), str(path), tracks, known)
        source = {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    inside = workers if len(tracks) == 1 else 1
    jobs = [
        _Track(TrackVerifier(store, name, policy, inside), found.get(name), rows.filter(track=name))
        for name in tracks
    ]
    verified = list(ordered_map(_verify, jobs, workers=workers))
    values = pl.concat([one.values for one in verified])
    if values.is_empty():
        raise UsageError(_nothing(rows, systems))
    measures = values["canonical"].drop_nulls().unique().sort().to_list() or ["AP"]
    made = how_made(store, parse_measures(measures), policy, tracks)
    return Verification(
        values,
        pl.concat([one.tracks for one in verified]),
        pl.concat([one.unmatched for one in verified]),
        made | {"published": source},
    )


def _nothing(rows: pl.DataFrame, systems: Mapping[str, Sequence[str]]) -> str:
    """Return the message for tables and tracks without a common system."""
    tracks = first_few(list(systems), "name some of them", ", ")
    if rows.is_empty():
        return (
            f"no published values of {tracks}: name the track of the catalogue by `catalog=`, or a "
            "file by `published=`."
        )
    track, name = rows.select("track", "system").row(0)
    return (
        f"no published system is in the store: the first is {name!r} of {track}, whose systems "
        f"are {first_few(list(systems[track]), 'irmeta info lists them')}."
    )


@dataclass(frozen=True)
class _Track:
    """Track with its published values, a frame of schema `published_values.SCHEMA`."""

    verifier: TrackVerifier
    catalog: CatalogTrack | None
    rows: pl.DataFrame


def _verify(track: _Track) -> Verification:
    """Verify one track, without provenance."""
    store, name = track.verifier.store, track.verifier.track
    systems = track_facts(store, name).systems
    names = match_names(track.rows["system"].unique().sort().to_list(), systems)
    is_here = pl.col("system").is_in(list(names))
    rows = track.rows.filter(is_here).with_columns(pl.col("system").replace(names))
    sets = [one["name"] for one in store.read_record(name)["qrels"]]
    values = track.verifier.verify(add_meanings(rows, track.catalog, sets))
    differs = pl.col("verdict") == DIFFER
    counts = values.select(
        pl.lit(name).alias("track"),
        pl.lit(track.catalog and track.catalog.id, pl.String).alias("catalog"),
        published=pl.len(),
        reproduced=(pl.col("verdict") == REPRODUCED).sum(),
        differ=differs.sum(),
        explained=(differs & pl.col("reason").is_not_null()).sum(),
        not_ours=(pl.col("verdict") == NOT_OURS).sum(),
        unmatched=pl.lit(track.rows.filter(~is_here)["system"].n_unique(), pl.UInt32),
    )
    others = track.rows.filter(~is_here)["system"].unique().sort().to_list()
    have = {*names.values()}
    without = [one for one in systems if one not in have] if names else []
    unmatched = [(one, "store") for one in others] + [(one, "published") for one in without]
    frame = pl.DataFrame([(name, *one) for one in unmatched], _UNMATCHED, orient="row")
    return Verification(values, counts, frame, {})

"""Plan of a study: checks of what it names in a store, and the parts to compute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl

from irmeta._version import __version__
from irmeta.checksums import content_checksum
from irmeta.errors import DataError, IrmetaError, UsageError, did_you_mean, first_few, of_track
from irmeta.files import is_free
from irmeta.locations import AnyLocation, Location, local
from irmeta.measures.names import Spec, parse_measures
from irmeta.options import Options, typed_fields
from irmeta.phrases import count
from irmeta.policies import EvalPolicy, TrackOptions, sets_of_track
from irmeta.rankings.track import Track, with_selected
from irmeta.store.scan import StoreReader, read_table, tracks_of
from irmeta.studies.framework.recorded_files import (
    ALL,
    ALONE,
    PARTS,
    RecordedFiles,
    folder_of,
    recorded_tracks,
)
from irmeta.studies.framework.study import ClaimRunOptions, RunOptions, Study
from irmeta.studies.framework.track_view import SIDE_FACTS, SIDE_ROLES


def check_named(options: Options, store: StoreReader, tracks: Sequence[str]) -> None:
    """Check that a track has each system, query and qrels set that options name.

    Raise UsageError for an unknown name, and if options exclude every track, with the reasons.
    """
    added = tuple(getattr(options, "judge_files", ()))
    known = _Known.of(store, tracks, getattr(options, "qrels", None), added)
    if not known.opened:  # each track fails later, by itself
        return
    for option, _ in typed_fields(type(options)):
        value = getattr(options, option.name)
        if option.metadata["names"] and value is not None:
            values = [value] if isinstance(value, str) else value
            for name in values:
                CHECKS[option.metadata["names"]](known, option.name, name)
    if isinstance(options, TrackOptions):
        options.check_sets(
            {
                name: [
                    qrels["name"]
                    for qrels in track.stored.record["qrels"]
                    if not qrels["subtopics"]
                ]
                for name, track in known.opened.items()
            }
        )
        _check_included(known, options)


@dataclass(frozen=True)
class _Known:
    """The names of the readable tracks."""

    opened: dict[str, Track]  # the tracks by name
    systems: pl.DataFrame
    # the qrels set of the study, or sets by track; None for the first set of each track
    qrels: str | Sequence[str] | None
    added: tuple[str, ...]  # qrels sets in files that the options name

    @classmethod
    def of(
        cls,
        store: StoreReader,
        tracks: Sequence[str],
        qrels: str | Sequence[str] | None,
        added: tuple[str, ...],
    ) -> _Known:
        opened, frames = {}, []
        for name in tracks:
            try:
                track = Track.of(store, name)
                frames.append(track.systems_table.filter(pl.col("skip_reason").is_null()))
            except DataError:
                continue
            opened[name] = track
        return cls(opened, pl.concat(frames) if frames else pl.DataFrame(), qrels, added)

    def chosen_set(self, track: str) -> dict[str, Any] | None:
        """Return the record of the qrels set of the study; None if the track lacks it."""
        sets = self.opened[track].stored.record["qrels"]
        given = (self.qrels,) if isinstance(self.qrels, str) else self.qrels
        chosen = sets_of_track(given, track, [qrels["name"] for qrels in sets])
        named = [qrels for qrels in sets if chosen in (None, qrels["name"])]
        return named[0] if named else None

    @cached_property
    def queries(self) -> set[str]:
        """The queries that the qrels sets of the study judge."""
        judged = set[str]()
        for track, opened in self.opened.items():
            if (chosen := self.chosen_set(track)) is not None:
                is_chosen = pl.col("set") == chosen["name"]
                judged.update(read_table(opened.stored, "qrels", is_chosen)["query"].unique())
        return judged

    def check_query(self, option: str, name: str) -> None:
        if name not in self.queries:
            hint = did_you_mean(name, self.queries)
            raise UsageError(f"{option} = {name!r}: no such query. {hint}")

    def check_set(self, option: str, name: str, added: Collection[str] = ()) -> None:
        sets = {name for track in self.opened.values() for name in track.set_names}
        sets.update(added)
        track, equals, of_track = name.partition("=")
        if name not in sets and equals and track in self.opened:
            name, sets = of_track, {*self.opened[track].set_names}
        if name not in sets:
            hint = did_you_mean(name, sets)
            raise UsageError(f"{option} = {name!r}: no such qrels set. {hint}")

    def check_judge(self, option: str, name: str) -> None:
        if "=" not in name:  # NAME=FILE is a judge in a file
            self.check_set(option, name)

    def check_graded(self, option: str, name: str) -> None:
        judge, equals, _ = name.rpartition("=")
        if equals:  # a grade alone is that of all sets
            self.check_set(option, judge, self.added)

    def check_system(
        self, option: str, name: str, facts: Collection[str] = (), roles: Collection[str] = ()
    ) -> None:
        """Check a system, or one of `roles`, or ``FACT=VALUE`` of the facts of systems."""
        systems = self.systems["system"].drop_nulls().unique().to_list()
        column, is_group, value = name.partition("=")
        if name in roles or name in systems:
            return
        if not (is_group and facts):
            hint = did_you_mean(name, [*systems, *roles])
            raise UsageError(f"{option} = {name!r}: no such system. {hint}")
        if column not in facts:
            hint = did_you_mean(column, facts)
            raise UsageError(f"{option} = {name!r}: systems have no fact {column!r}. {hint}")
        values = self.systems[column].drop_nulls().cast(pl.String).unique().to_list()
        if value not in values:
            none = f"No track has the {column} of systems."
            hint = did_you_mean(value, values) if values else none
            raise UsageError(f"{option} = {name!r}: no system has this {column}. {hint}")


CHECKS: dict[str, Callable[[_Known, str, str], None]] = {
    "system": _Known.check_system,
    "systems": partial(_Known.check_system, facts=("group", "type")),
    "side": partial(_Known.check_system, facts=SIDE_FACTS, roles=SIDE_ROLES),
    "query": _Known.check_query,
    "qrels": _Known.check_set,
    "judge": _Known.check_judge,
    "graded": _Known.check_graded,
}
"""Checks by what an option names: ``system``; ``systems``, also by group or type; ``side`` of a
comparison, see `irmeta.studies.framework.track_view.systems_of`; ``query``; ``qrels``, a qrels set;
``judge``, a set or ``NAME=FILE``; ``graded``, ``NAME=GRADE`` of such a judge."""


def _check_included(known: _Known, options: TrackOptions) -> None:
    """Check that the options which the user has changed do not exclude every track."""
    changed = {f.name for f in fields(options) if getattr(options, f.name) != f.default}
    reasons = [_reason(known, options, changed, track) for track in known.opened]
    excluded = [reason for reason in reasons if reason is not None]
    if len(excluded) == len(reasons):
        listed = first_few(excluded, "choose lower values", "; ")
        raise UsageError(f"the options exclude every track: {listed}.")


def _reason(
    known: _Known, options: TrackOptions, changed: Collection[str], track: str
) -> str | None:
    """Return why options exclude a track from the results, or None."""
    systems, least = len(known.opened[track].systems), options.min_systems
    if systems < least and ("min_systems" in changed or not options.computes_few):
        return f"{track} has {count(systems, 'system')}, fewer than min_systems = {least}"
    chosen, rel = known.chosen_set(track), getattr(options, "rel", 1)
    is_own = isinstance(rel, int | float)  # otherwise grades of qrels sets
    if "rel" in changed and is_own and chosen is not None and chosen["highest"] < rel:
        return f"{track} has the highest grade {chosen['highest']}, below rel = {rel}"
    return None


@dataclass(frozen=True)
class Part:
    """Part of a study: a track, or the part that reads no store."""

    track: str | None  # None: the part that reads no store
    key: str = ""  # hash of the inputs of its results
    is_done: bool = False  # whether results made from the same inputs exist
    # whether their figures are there and have titles, or lack them, as requested
    is_drawn: bool = True
    version: str = ""  # the track's fingerprint
    problem: str | None = None  # why the track cannot be read; None for a readable track

    @property
    def folder(self) -> str:
        """The part's folder of records."""
        return ALONE if self.track is None else folder_of(self.track)


def check_folder(root: AnyLocation, study: str, force: bool) -> None:
    """Check that a folder has no foreign files, unless `force`, and no results of another study."""
    root = local(root)
    if root.exists() and not root.is_dir():
        raise UsageError(f"{root} is a file: name a folder for the results.")
    if force or not root.exists():
        return
    if not (root / PARTS).is_dir() and not is_free(root):
        raise UsageError(f"{root} holds other files: name a new folder, or use `force=True`.")
    present = study_in(root)
    if present is not None and present != study:
        fix = "name a new folder, or use `force=True`."
        raise UsageError(f"{root} holds the results of {present}: {fix}")


def study_in(root: Location) -> str | None:
    """Return the name of the study whose results a folder holds; None if unknown."""
    return RecordedFiles(root, ALL).facts.get("study")


def plan(
    study: Study, store: StoreReader | None, root: Path, options: Options, run_options: RunOptions
) -> list[Part]:
    """Return the parts of a complete folder, in the order of the tracks.

    Results of tracks that were not requested are kept and updated, unless `run_options.only`; raise
    UsageError if they were made with other options.
    """
    parts = (
        [] if study.inputs == "tracks" else [_part(study, store, root, options, None, run_options)]
    )
    if store is None:
        in_files = study.call("file_tracks", options) or ()
        return parts + [_part(study, store, root, options, name, run_options) for name in in_files]
    tracks = _asked(store, options, run_options)
    if run_options.track is not None and not run_options.only:
        tracks = sorted({*tracks, *_kept(store, root, options, tracks)})
    return parts + [_part(study, store, root, options, track, run_options) for track in tracks]


def check_store(
    study: Study, store: StoreReader | None, options: Options, run_options: RunOptions
) -> None:
    """Check that a store has what is requested, before anything is written.

    Raise UsageError also if options exclude every track, or this machine cannot answer them.
    """
    options.check_run()
    if store is None:
        if study.needs_store:
            raise UsageError(f"study {study.name} needs a store.")
        if study.file_tracks is not None and (run_options.track or run_options.only):
            raise UsageError("`track=` and `only=` select tracks of a store; there is none.")
        study.call("file_tracks", options)
        return
    check_named(options, store, _asked(store, options, run_options))


def _asked(store: StoreReader, options: Options, run_options: RunOptions) -> list[str]:
    """Return the requested tracks that have a selected system and query.

    Without a selection, a track with a damaged record fails later, by itself.
    """
    if run_options.track and set(run_options.track) <= set(store.tracks()):
        tracks = sorted(set(run_options.track))
    else:
        tracks = tracks_of(store, run_options.track)
    policy = options.policy if isinstance(options, TrackOptions) else EvalPolicy()
    if policy == policy.everything:
        return tracks
    return [track.name for track in with_selected((Track.of(store, t) for t in tracks), policy)]


def _kept(store: StoreReader, root: Path, options: Options, asked: Sequence[str]) -> list[str]:
    in_store = set(store.tracks())
    remaining = [
        track for track in recorded_tracks(root) if track in in_store and track not in asked
    ]
    recorded, now = RecordedFiles(root, ALL).facts.get("options"), options.record()
    recorded = now if recorded is None else recorded
    alone = [f for f in fields(options) if not f.metadata["joins"]]
    changed = [
        name
        for name in (f.metadata["recorded"] or f.name for f in alone)
        if recorded.get(name) != now.get(name)  # a record names only options with effect
    ]
    if remaining and changed:
        raise UsageError(
            f"{root} holds results of {len(remaining)} other tracks, made with other options "
            f"({', '.join(changed)}): name a new folder, or use `only=True` to remove them."
        )
    return remaining


def scored_specs(study: Study, store: StoreReader | None, options: Options) -> list[Spec]:
    """Return the measures whose revision changes the results; files hold their values."""
    is_scored = options.scored() and (store is not None or study.file_tracks is None)
    return parse_measures(options.scored()) if is_scored else []


def _part(
    study: Study,
    store: StoreReader | None,
    root: Path,
    options: Options,
    track: str | None,
    run_options: RunOptions,
) -> Part:
    version = ""
    if store is not None and track is not None:
        try:
            version = store.track(track).fingerprint()
        except IrmetaError as error:
            return Part(track, problem=str(of_track(track, error)))
    if track is not None:
        options = options.of_tracks()
    made_from = {
        "irmeta": __version__,
        "study": [study.name, study.revision],
        "tables": study.schema("all" if track is None else "track"),
        "track": version,
        "options": options.record(),
        "measures": {
            spec.name: spec.measure.revision for spec in scored_specs(study, store, options)
        },
        "files": file_checksums(options),
    }
    if isinstance(run_options, ClaimRunOptions) and run_options.interval != "none":
        drawn = [claim.name for claim in study.call("claims", options)]
        made_from["drawn"] = [run_options.interval, run_options.interval_draws, drawn]
    key = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()
    part = Part(track, key, version=version)
    files = RecordedFiles(root, part.folder)
    drawn = {name: files.facts.get(name) for name in run_options.drawn}
    is_drawn = track is None or drawn == run_options.drawn
    return Part(track, key, files.is_done(key), is_drawn, version)


def file_checksums(options: Options) -> dict[str, str]:
    """Return the checksums of the files that options name, by option."""
    checksums = dict[str, str]()
    for name, path in options.files.items():
        try:
            checksums[name] = content_checksum(Path(path))
        except OSError as error:
            raise UsageError(f"{name} = {path!r} cannot be read: {error.strerror}.") from error
    return checksums

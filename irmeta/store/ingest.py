"""Ingest TREC text into a store: tracks in parallel, each written completely or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from irmeta.checksums import add_checksum, load_json, to_json
from irmeta.clusters import appears, worker_memory
from irmeta.errors import DataError, IrmetaError, of_track
from irmeta.files import (
    check_case,
    folder_name,
    naming,
    only_writer,
    remove_temporaries,
    write_bytes,
)
from irmeta.locations import AnyLocation, local
from irmeta.parallel import (
    check_open_files,
    check_stopped,
    ordered_map,
    thread_count,
    usable_memory,
)
from irmeta.policies import ReadPolicy
from irmeta.store.layout import KINDS, Layout, file_checksums, has_same_footers
from irmeta.store.long_table import write_docs_and_runs
from irmeta.store.read_track import Count, config_record, read_track
from irmeta.store.scan import Tracks
from irmeta.store.small_tables import write_described, write_qrels, write_samples, write_systems
from irmeta.trec.collection import chosen, read_collection
from irmeta.trec.readers.files import refuse_without_tables
from irmeta.trec.room import START, Limits
from irmeta.trec.source import AnyTrack, BrokenTrack, TrackSource
from irmeta.trec.streams import stored_sha256

Seen = dict[str, list[object]]
"""Maps each source file to its size, modification time and SHA-256."""


class Inputs:
    """Check whether a track's source files match its record; for `rehash`, and those in the store.

    Sizes and times of files, cached in `.cache.json`, serve only to skip hashing: a changed file of
    the same size and modification time counts as unchanged.
    """

    def __init__(self, source: TrackSource, layout: Layout, *, rehash: bool = False) -> None:
        self.source: TrackSource = source
        self.layout: Layout = layout
        self.rehash: bool = rehash
        facts = [source.facts.file] if source.facts else []
        qrels = [file for one in source.qrels for file in one.paths]
        others = (source.pool_depth_by_query, source.queries, source.systems, source.judges)
        beside = [*source.metadata, *(file for file in others if file is not None)]
        self.files: list[str] = sorted({*source.runs, *qrels, *facts, *beside})
        # Read before any file, so that a file changed later is read again next time.
        self.stamps: dict[str, tuple[int, int] | None] = {
            file: self._stamp(file) for file in self.files
        }

    def unchanged(self) -> Mapping[str, Any] | None:
        """Return the track's record if it is up to date, else None."""
        try:
            record = self.layout.track(self.source.name).record
        except IrmetaError:
            return None
        if record.get("config") != config_record(self.source) or not self._is_intact(record):
            return None
        if "yaml" in record["warnings"] and find_spec("yaml"):
            return None
        known = {} if self.rehash else read_cache(self.layout).get(self.source.name, {})
        for file in self.files:
            stamp = self.stamps[file]
            sha256 = record["inputs"].get(file)
            if stamp is not None and sha256 and known.get(file) == [*stamp, sha256]:
                continue
            if stored_sha256(self.source.input_file(file)) != sha256:
                return None
        return record if set(self.files) == set(record["inputs"]) else None

    def _is_intact(self, record: Mapping[str, Any]) -> bool:
        """Check whether the track's files in the store are unchanged."""
        folders = {kind: local(self.layout.folder(kind, self.source.name)) for kind in KINDS}
        if self.rehash:
            return file_checksums(folders) == record["files"]
        return has_same_footers(folders, record["files"])

    def seen(self, record: Mapping[str, Any]) -> Seen:
        """Return the track's entry in the cache."""
        return {
            file: [*stamp, record["inputs"][file]]
            for file, stamp in self.stamps.items()
            if stamp is not None
        }

    def _stamp(self, file: str) -> tuple[int, int] | None:
        try:
            status = os.stat(self.source.root / file)
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns


def read_cache(layout: Layout) -> dict[str, Seen]:
    """Return each track's entry in `.cache.json`."""
    try:
        cache = load_json(layout.cache.read_bytes())
    except (OSError, ValueError):
        return {}
    known = cache.items() if isinstance(cache, dict) else ()
    return {track: seen for track, seen in known if isinstance(seen, dict)}


@dataclass(frozen=True)
class Outcome:
    """Result of one track: ``written``, ``unchanged`` or ``failed`` with its error.

    A track read into memory is ``read``. `seen` is the track's entry in the store's cache.
    """

    source: AnyTrack
    state: str
    error: DataError | None = None
    seen: Seen | None = None

    @property
    def track(self) -> str:
        """The track's name."""
        return self.source.name


def failed(source: AnyTrack, error: IrmetaError) -> Outcome:
    """Return the outcome of a track that could not be read; its error names files as given."""
    problem = of_track(source.name, error)
    if problem.file is not None:
        problem.file = source.as_given(problem.file)
    return Outcome(source, "failed", problem)


def failures(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Return the failed tracks and their errors."""
    return {o.track: str(o.error) for o in outcomes if o.error is not None}


@dataclass(frozen=True)
class Share:
    """Share of a machine, or of a worker of a cluster, for one track that `threads` read.

    `at_once` tracks are read in `processes` of this machine within `memory` bytes; None: a quarter
    of its memory. A worker of Dask knows its own.
    """

    threads: int
    memory: int | None
    at_once: int
    processes: int

    def limits(self) -> Limits:
        """Return the limits of a track that is read here."""
        worker = worker_memory()
        available, at_once = worker or (usable_memory(), self.at_once)
        processes = 1 if worker else self.processes
        default = max(available // 4, min(available, 2 * processes * START))
        total = default if self.memory is None else self.memory
        return Limits.strict(self.threads, total, at_once, processes)


def ingest_track(
    layout: Layout,
    share: Share,
    read: Callable[[str], None] | None,
    rehash: bool,
    source: AnyTrack,
) -> Outcome:
    """Bring one track of the store up to date with its source files; `read` is called after a run.

    The track is written to a staging folder and moved into the store, its record last: readers get
    the old track, an error while files are moved, or the new track.
    """
    if isinstance(source, BrokenTrack):
        return failed(source, source.error)
    try:
        inputs = Inputs(source, layout, rehash=rehash)
        # Two workers may read one track, if a cluster takes the first for dead.
        stage = layout.staging / folder_name(source.name) / secrets.token_hex(4)
    except IrmetaError as error:  # the track's name is too long for a folder
        return failed(source, error)
    try:
        if (record := inputs.unchanged()) is not None:
            return Outcome(source, "unchanged", seen=inputs.seen(record))
        stage.mkdir(parents=True)
        with naming(stage):
            record = _build(source, stage, share.limits(), read)
        _put_in_place(source.name, layout, stage, record)
    except IrmetaError as error:
        return failed(source, error)
    except OSError as error:
        fix = "Is there free space, and is the folder writable?"
        problem = f"cannot be written to the store ({error})"
        return Outcome(source, "failed", DataError(problem, track=source.name, fix=fix))
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return Outcome(source, "written", seen=inputs.seen(record))


def ingest_collection(
    folder: AnyLocation,
    layout: Layout,
    policy: ReadPolicy,
    *,
    tracks: Tracks = None,
    rehash: bool = False,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
) -> list[Outcome]:
    """Bring a store up to date with the tracks of a collection; see `irmeta.ingest` for options.

    A failed track does not stop the others; its outcome has the error. Raises `UsageError` if two
    tracks differ only in case, the folder is not a store with this policy, or no file has columns
    that the policy names.
    """
    check_open_files()
    root = local(layout.root)
    collection = read_collection(folder, policy)
    sources = chosen(collection, tracks, str(folder))
    if policy.columns:
        refuse_without_tables(sources)
    check_case([*layout.tracks(), *(source.name for source in sources)])
    layout.create(policy)
    threads = getattr(executor, "_max_workers", None) or thread_count(workers)
    at_once = max(1, min(threads, len(sources)))
    share = Share(threads // at_once, memory, at_once, processes=1)
    if executor is not None:
        share = replace(share, threads=1, processes=at_once)
    sent, target = sources, layout
    if executor is not None:  # its workers may run in another folder
        sent, target = _absolute(sources), Layout(root.absolute())
    outcomes = []
    with only_writer(root):
        shutil.rmtree(layout.staging, ignore_errors=True)  # of an interrupted process
        remove_temporaries(root, root / "tracks")
        count = Count(sources)
        do = partial(ingest_track, target, share, None if executor else count.add, rehash)
        results = ordered_map(
            do,
            sent,
            workers=workers if executor else at_once,
            executor=executor,
            lost=failed,
        )
        cache = read_cache(layout)
        try:
            pairs = zip(sources, results, strict=True)
            if at_once > 1 and executor is None:
                alone = replace(share, threads=threads, at_once=1)
                pairs = _again(partial(ingest_track, layout, alone, None, rehash), pairs)
            for source, result in pairs:
                outcome = _received(replace(result, source=source), layout)
                outcomes.append(outcome)
                count.finish(source)
                if outcome.seen is not None and outcome.seen != cache.get(outcome.track):
                    cache[outcome.track] = outcome.seen
                    write_bytes(layout.cache, to_json(cache))
        finally:
            shutil.rmtree(layout.staging, ignore_errors=True)
        excluded = {source.name for source in collection} - {source.name for source in sources}
        before = {track: why for track, why in layout.failures().items() if track in excluded}
        layout.write_failures(before | failures(outcomes))
    return sorted(outcomes, key=lambda outcome: sources.index(outcome.source))


def _again(
    do: Callable[[AnyTrack], Outcome], pairs: Iterable[tuple[AnyTrack, Outcome]]
) -> Iterator[tuple[AnyTrack, Outcome]]:
    """Read tracks again, one after another, that were refused for the others' share of memory."""
    refused: list[AnyTrack] = []
    for source, outcome in pairs:
        if outcome.error is not None and outcome.error.exceeds_memory:
            refused.append(source)
        else:
            yield source, outcome
    for source in refused:
        yield source, do(source)


def _absolute(sources: Iterable[AnyTrack]) -> list[AnyTrack]:
    """Return tracks with absolute paths."""

    def absolute(source: TrackSource) -> TrackSource:
        policy = source.policy
        if policy.drop_docs is not None:
            policy = replace(policy, drop_docs=os.path.abspath(policy.drop_docs))
        return replace(source, root=source.root.absolute(), policy=policy)

    return [s if isinstance(s, BrokenTrack) else absolute(s) for s in sources]


def _received(outcome: Outcome, layout: Layout) -> Outcome:
    """Return the outcome of a track; a failure if its files are missing here."""
    if outcome.state != "written" or appears(layout.record(outcome.track).is_file):
        return outcome
    fix = "Do the workers of the executor share this folder?"
    error = DataError(
        f"files written by a worker are missing from {layout}", track=outcome.track, fix=fix
    )
    return Outcome(outcome.source, "failed", error)


def _build(
    source: TrackSource, stage: Path, limits: Limits, count: Callable[[str], None] | None
) -> dict[str, Any]:
    """Read, order and stage one track; return its record."""
    read = read_track(source, limits, stage, count)
    names, groups = read.groups()
    write_qrels(stage / "qrels", source.name, read.pool)
    write_samples(stage / "samples", source.name, read.pool)
    write_described(stage, read)
    noticed = write_docs_and_runs(stage, names, groups, read.workers)
    write_systems(stage / "systems", read, noticed)
    files = file_checksums({kind: stage / kind for kind in KINDS})
    return read.record(noticed) | {"files": files}


def _put_in_place(track: str, layout: Layout, stage: Path, record: dict[str, Any]) -> None:
    check_stopped()  # the staging folder may be about to be removed
    layout.mark_replaced(track)
    for kind in KINDS:
        folder = local(layout.folder(kind, track))
        shutil.rmtree(folder, ignore_errors=True)
        if (stage / kind).is_dir():
            folder.parent.mkdir(parents=True, exist_ok=True)
            os.replace(stage / kind, folder)
    check_stopped()
    write_bytes(layout.record(track), add_checksum(to_json(record)))

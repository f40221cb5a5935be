"""TREC text to the store: tracks at once, each put in place whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl

from irmeta.errors import DataError, IrmetaError
from irmeta.parallel import ordered_map, usable_cores, usable_memory
from irmeta.policies import ReadPolicy
from irmeta.store.assemble import TrackRows, keep_apart
from irmeta.store.facts import read_facts
from irmeta.store.groups import write_docs_and_runs
from irmeta.store.judgments import judgments
from irmeta.store.layout import FOLDERS, Layout, folder_name, to_json, write_atomic
from irmeta.store.lock import only_writer
from irmeta.store.readers import Readers
from irmeta.store.reading import Run, SetAside, read_run
from irmeta.store.record import Inputs, Seen, read_cache, sizes, track_record
from irmeta.store.spill import InMemory
from irmeta.store.tables import write_qrels, write_systems
from irmeta.trec.collection import QrelsSource, TrackSource, read_collection
from irmeta.trec.qrels import QrelsText, parse_qrels
from irmeta.trec.text import file_sha256, read_text

Progress = Callable[[str, int, int], None]
"""Called with a track, how many files of the collection are read, and how many it has."""

MOST_ROWS = 1 << 25  # of one track in memory; what is more waits in a temporary file


@dataclass(frozen=True)
class Outcome:
    """What happened to one track: ``written``, ``unchanged`` or ``failed`` with its error.

    `seen` is what the store remembers of the files of a track that was written.
    """

    track: str
    state: str
    error: DataError | None = None
    seen: Seen | None = None


@dataclass(frozen=True)
class Limits:
    """What one track may take: threads, and bytes of memory for its names and rows."""

    workers: int
    memory: int


def ingest_track(
    layout: Layout, limits: Limits, read: Callable[[str], None] | None, source: TrackSource
) -> Outcome:
    """Bring one track of the store up to date with its source files.

    Unchanged input is not read again. The track is written to a staging folder and put in place
    with its record last, so that a reader sees the old track, no track, or the new one. `read` is
    called with the track after each of its runs.
    """
    inputs = Inputs(source, layout)
    stage = layout.staging / folder_name(source.name)
    try:
        if inputs.unchanged():
            return Outcome(source.name, "unchanged")
        shutil.rmtree(stage, ignore_errors=True)
        stage.mkdir(parents=True)
        record = _build(source, stage, limits, read)
        _put_in_place(source.name, layout, stage, record)
    except DataError as error:
        error.track = source.name
        return Outcome(source.name, "failed", error)
    except IrmetaError as error:
        return Outcome(source.name, "failed", DataError(str(error), track=source.name))
    except OSError as error:
        fix = "Is there room, and is the folder yours to write?"
        problem = f"cannot be put into the store ({error})"
        return Outcome(source.name, "failed", DataError(problem, track=source.name, fix=fix))
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return Outcome(source.name, "written", seen=inputs.seen(record))


def ingest_collection(
    folder: str | Path,
    layout: Layout,
    policy: ReadPolicy,
    *,
    workers: int | None = None,
    memory: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Bring a store up to date with all tracks of a collection.

    A track that fails does not stop the others; its outcome says why. Tracks of the store that the
    collection does not name are left alone.

    Parameters
    ----------
    workers
        Threads, default the usable cores: over tracks, and over the runs of a track where tracks
        are fewer. The store does not depend on it.
    memory
        Bytes for names and rows of all tracks that are read at once, default a quarter of what the
        machine has. Rows beyond it, or beyond `MOST_ROWS` of a track, wait in a temporary file; the
        names of a track, each doc once, must be held whatever they take.
    executor
        Whatever reads tracks in place of own threads: processes, or a cluster that sees the same
        folders; each track is then read by one thread.
    """
    sources = read_collection(folder, policy)
    layout.create(policy)
    workers = workers or usable_cores()
    at_once = max(1, min(workers, len(sources)))
    share = (usable_memory() // 4 if memory is None else memory) // at_once
    limits = Limits(1 if executor else workers // at_once, share)
    outcomes = []
    with only_writer(layout.root):
        shutil.rmtree(layout.staging, ignore_errors=True)  # of a process that was stopped
        count = _Count(sources, progress)
        do = partial(ingest_track, layout, limits, None if executor else count.add)
        found = ordered_map(do, sources, workers=at_once, executor=executor, stop=count.stop)
        cache = read_cache(layout)
        try:
            for source, outcome in zip(sources, found, strict=True):
                outcomes.append(outcome)
                count.finish(source)
                if outcome.seen is not None:
                    cache[outcome.track] = outcome.seen
                    write_atomic(layout.cache, to_json(cache))
        finally:
            shutil.rmtree(layout.staging, ignore_errors=True)
    return outcomes


class _Count:
    """Counts the files that are read, for all threads together, and ends these when asked."""

    def __init__(self, sources: list[TrackSource], progress: Progress | None) -> None:
        self._report = progress or (lambda track, done, files: None)
        self._files = sum(len(source.runs) for source in sources)
        self._done = {source.name: 0 for source in sources}
        self._lock, self._stopped = Lock(), False

    def stop(self) -> None:
        """Let every thread end after the file that it is reading."""
        self._stopped = True

    def add(self, track: str) -> None:
        if self._stopped:
            raise KeyboardInterrupt
        with self._lock:
            self._done[track] += 1
            self._report(track, sum(self._done.values()), self._files)

    def finish(self, source: TrackSource) -> None:
        """All of a track's files, those that were not read among them."""
        with self._lock:
            if self._done[source.name] < len(source.runs):
                self._done[source.name] = len(source.runs)
                self._report(source.name, sum(self._done.values()), self._files)


def _build(
    source: TrackSource, stage: Path, limits: Limits, read: Callable[[str], None] | None
) -> dict[str, Any]:
    """Read, order and stage one track; returns its record."""
    sets, inputs = _read_qrels(source)
    facts = read_facts(source)
    if source.facts is not None:
        inputs[source.facts.file] = file_sha256(source.root / source.facts.file)
    judged = pl.concat([parsed.frame.select("query", "doc") for _, parsed in sets])
    readers = Readers(judged["query"], judged["doc"])
    runs, aside = keep_apart(_read_runs(source, stage, readers, limits, read), readers.judged)
    if not runs:
        first = f" The first: {aside[0].reason}" if aside else ""
        raise DataError(f"none of its {len(source.runs)} runs can be used.{first}")
    names = readers.names()
    pool = judgments(sets, readers.first, names)
    rows = TrackRows(runs, names, source.policy)
    write_qrels(stage / "qrels", source.name, pool)
    tied = write_docs_and_runs(stage, source.name, rows, pool, names, limits.workers)
    write_systems(stage / "systems", source.name, rows, tied, aside, pool, facts)
    inputs |= {run.file: run.sha256 for run in runs} | {a.file: a.sha256 for a in aside}
    record = track_record(source, sets, rows, aside, pool, inputs)
    return record | {"files": sizes({kind: stage / kind for kind in FOLDERS})}


def _read_qrels(
    source: TrackSource,
) -> tuple[list[tuple[QrelsSource, QrelsText]], dict[str, str | None]]:
    sets, inputs = [], {}
    for given in source.qrels:
        text = read_text(source.root / given.file, given.file)
        inputs[given.file] = text.sha256
        sets.append((given, parse_qrels(text, given.format, subtopics=given.subtopics)))
    return sets, inputs


def _read_runs(
    source: TrackSource,
    stage: Path,
    readers: Readers,
    limits: Limits,
    count: Callable[[str], None] | None,
) -> list[Run | SetAside]:
    """Read all runs; where their rows are too many, leave them in a file of the stage."""

    def read(file: str) -> Run | SetAside:
        with readers.lend() as reader:
            return read_run(source, file, reader)

    found: list[Run | SetAside] = []
    rows = held = 0
    for run in ordered_map(read, source.runs, workers=limits.workers):
        found.append(run)
        if isinstance(run, Run):
            rows, held = rows + run.rows, held + run.columns.held
        if rows > MOST_ROWS or held + readers.held > limits.memory:
            found = [_spilled(one, stage / f"rows-{i}") for i, one in enumerate(found)]
            rows = held = 0
        if count is not None:
            count(source.name)
    return found


def _spilled(run: Run | SetAside, path: Path) -> Run | SetAside:
    if isinstance(run, Run) and isinstance(run.columns, InMemory):
        return replace(run, columns=run.columns.spill(path))
    return run


def _put_in_place(track: str, layout: Layout, stage: Path, record: dict[str, Any]) -> None:
    layout.record(track).unlink(missing_ok=True)
    for kind in FOLDERS:
        folder = layout.folder(kind, track)
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        os.replace(stage / kind, folder)
    write_atomic(layout.record(track), to_json(record))

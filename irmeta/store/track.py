"""All files of one track to rows and judgments: names numbered, nothing in its place yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl

from irmeta.errors import DataError
from irmeta.parallel import ordered_map
from irmeta.store.assemble import TrackRows, keep_apart
from irmeta.store.facts import Facts, read_facts
from irmeta.store.groups import Groups
from irmeta.store.judgments import Judgments, judgments
from irmeta.store.long_table import Names
from irmeta.store.readers import Readers, TrackNames
from irmeta.store.reading import Run, SetAside, read_run
from irmeta.store.record import track_record
from irmeta.store.spill import InMemory
from irmeta.trec.qrels import QrelsText, parse_qrels
from irmeta.trec.source import QrelsSource, TrackSource
from irmeta.trec.text import file_sha256, read_text

Progress = Callable[[str, int, int], None]
"""Called with a track, how many files of the collection are read, and how many it has."""

MOST_ROWS = 1 << 25  # of one track in memory; what is more waits in a temporary file


@dataclass(frozen=True)
class Limits:
    """What one track may take: threads, and bytes of memory for its names and rows."""

    workers: int
    memory: int


@dataclass(frozen=True)
class ReadTrack:
    """A track as it was read.

    Attributes
    ----------
    aside
        The runs that are not in it.
    inputs
        The SHA-256 of each source file; None: it could not be read.
    """

    source: TrackSource
    sets: list[tuple[QrelsSource, QrelsText]]
    facts: dict[str, Facts]
    rows: TrackRows
    aside: list[SetAside]
    names: TrackNames
    pool: Judgments
    inputs: dict[str, str | None]

    def record(self) -> dict[str, Any]:
        """The track's record, but for the sizes of its files in a store."""
        return track_record(self.source, self.sets, self.rows, self.aside, self.pool, self.inputs)

    def groups(self) -> tuple[Names, Groups]:
        """Its lists, a group of queries at a time, and what the numbers in them stand for."""
        systems = pl.Series([run.system for run in self.rows.runs], dtype=pl.String)
        names = Names(self.source.name, systems, self.names.queries, self.names.docs)
        return names, Groups(self.rows, self.pool, self.names)


def read_track(
    source: TrackSource,
    limits: Limits,
    spill: Path | None,
    count: Callable[[str], None] | None = None,
) -> ReadTrack:
    """Read a track's qrels, facts and runs.

    Parameters
    ----------
    spill
        The folder where rows wait that are beyond the limits.
    count
        Called with the track after each of its runs.

    Raises
    ------
    DataError
        Qrels or facts that cannot be read, no run that can be used, or more rows than the limits
        allow and no folder to put them.
    """
    sets, inputs = _read_qrels(source)
    facts = read_facts(source)
    if source.facts is not None:
        inputs[source.facts.file] = file_sha256(source.root / source.facts.file)
    judged = pl.concat([parsed.frame.select("query", "doc") for _, parsed in sets])
    readers = Readers(judged["query"], judged["doc"])
    read = _read_runs(source, spill, readers, limits, count)
    runs, aside = keep_apart(read, readers.judged, source.rename)
    if not runs:
        first = f" The first: {aside[0].reason}" if aside else ""
        raise DataError(f"none of its {len(source.runs)} runs can be used.{first}")
    names = readers.names()
    pool = judgments(sets, readers.first, names)
    inputs |= {run.file: run.sha256 for run in runs} | {a.file: a.sha256 for a in aside}
    rows = TrackRows(runs, names, source.policy)
    return ReadTrack(source, sets, facts, rows, aside, names, pool, inputs)


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
    spill: Path | None,
    readers: Readers,
    limits: Limits,
    count: Callable[[str], None] | None,
) -> list[Run | SetAside]:
    """Read all runs; where their rows are too many, leave those of each in a file."""

    def read(file: str) -> Run | SetAside:
        with readers.lend() as reader:
            return read_run(source, file, reader)

    found: list[Run | SetAside] = []
    rows = held = 0
    # Some ahead, for files differ in size; they come on top of the memory that is counted.
    for run in ordered_map(read, source.runs, workers=limits.workers, ahead=limits.workers):
        found.append(run)
        if isinstance(run, Run):
            rows, held = rows + run.rows, held + run.columns.held
        if spill is None and held + readers.held > limits.memory:
            fix = "Allow more, or read it into a folder: irmeta ingest needs less."
            raise DataError("its rows and names take more than the memory left for them", fix=fix)
        if spill is not None and (rows > MOST_ROWS or held + readers.held > limits.memory):
            found = [_spilled(one, spill / f"rows-{i}") for i, one in enumerate(found)]
            rows = held = 0
        if count is not None:
            count(source.name)
    return found


def _spilled(run: Run | SetAside, path: Path) -> Run | SetAside:
    if isinstance(run, Run) and isinstance(run.columns, InMemory):
        return replace(run, columns=run.columns.spill(path))
    return run


class Count:
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

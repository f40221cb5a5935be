"""Reading of all files of one track to rows and judgments with numbered names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl

from irmeta.errors import DataError
from irmeta.inputs.files import read_qrels
from irmeta.parallel import check_stopped, ordered_map
from irmeta.policies import NAMES
from irmeta.store.assemble import TrackRows
from irmeta.store.facts import Facts, read_facts
from irmeta.store.groups import Groups
from irmeta.store.judgments import Judgments, judgments
from irmeta.store.long_table import Names, Noticed
from irmeta.store.pool_depth_file import read_pool_depths
from irmeta.store.read_run import Run, SkippedRun, read_run
from irmeta.store.readers import Readers, TrackNames
from irmeta.store.record import track_record
from irmeta.store.spill import InMemory
from irmeta.store.subtopics_file import read_subtopics
from irmeta.store.track_systems import Named, name_systems
from irmeta.trec.archives import archive_kind, members
from irmeta.trec.qrels import QrelsText
from irmeta.trec.shapes import qrels_problem
from irmeta.trec.source import AnyTrack, QrelsSource, TrackSource
from irmeta.trec.streams import InputFile, file_sha256, stored_sha256
from irmeta.trec.system_names import pattern_name

Progress = Callable[[str, int, int], None]
"""Function of a track, the number of files read so far, and of all files."""

MOST_ROWS = 1 << 25  # rows of a track in memory; further rows go to a temporary file


@dataclass(frozen=True)
class Limits:
    """Limits for one track: threads, and bytes of memory for its names and rows."""

    workers: int
    memory: int


@dataclass(frozen=True)
class ReadTrack:
    """Content of the files of a track.

    Attributes
    ----------
    named
        Systems and skipped runs of the track.
    left_out
        A message that names the qrels sets that cannot be read and are left out, or None.
    inputs
        The SHA-256 of each source file; None for a file that could not be read.
    described
        The subtopics of subtopics files: set, query, subtopic, weight, type.
    pool_depths
        The depth of the pool of each query in the file of depths.
    """

    source: TrackSource
    sets: list[tuple[QrelsSource, QrelsText]]
    facts: dict[str, Facts]
    rows: TrackRows
    named: Named
    names: TrackNames
    pool: Judgments
    described: pl.DataFrame
    pool_depths: dict[str, int]
    left_out: str | None
    inputs: dict[str, str | None]

    @property
    def skipped(self) -> list[SkippedRun]:
        """Return the runs that are not in the track."""
        return self.named.skipped

    def record(self, noticed: Noticed) -> dict[str, Any]:
        """Return the track's record without the checksums of its files in a store."""
        return track_record(
            self.source,
            self.sets,
            self.rows,
            self.named,
            self.pool,
            self.described,
            self.pool_depths,
            self.left_out,
            self.inputs,
            noticed,
        )

    def groups(self) -> tuple[Names, Groups]:
        """Return the names of the track and its lists, one group of queries at a time."""
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
        Folder for rows beyond the limits.
    count
        Counter of runs read.

    Raises
    ------
    DataError
        If all qrels sets, or facts or depths cannot be read, no run can be used, or the rows exceed
        the limits without a folder for them.
    """
    _check_pattern(source)

    def read(readers: Readers) -> tuple[list[Run | SkippedRun], dict[str, str | None]]:
        return _read_runs(source, spill, readers, limits, count)

    sets, unreadable = _read_qrels(source)
    if not sets:
        raise next(iter(unreadable.values()))
    return read_with(source, sets, read, unreadable)


def read_with(
    source: TrackSource,
    sets: list[tuple[QrelsSource, QrelsText]],
    read_runs: Callable[[Readers], tuple[list[Run | SkippedRun], dict[str, str | None]]],
    unreadable: Mapping[QrelsSource, DataError] | None = None,
) -> ReadTrack:
    """Read the facts and the runs of a track with the given qrels sets.

    `read_runs` returns all runs, and the SHA-256 of each of their files. `unreadable` has the
    errors of the sets that are left out.

    Raises
    ------
    DataError
        As `read_track`.
    """
    inputs: dict[str, str | None] = {given.file: parsed.sha256 for given, parsed in sets}
    facts, described = read_facts(source), read_subtopics(source, sets)
    judged = pl.concat([parsed.frame.select("query", "doc") for _, parsed in sets])
    depths = read_pool_depths(source, judged["query"].unique().to_list())
    others = [source.facts.file if source.facts else None, source.pool_depth_by_query]
    for file in (*others, *(given.subtopics_file for given in source.qrels)):
        if file is not None:
            inputs[file] = file_sha256(source.root / file)
    for given in unreadable or ():
        inputs.setdefault(given.file, stored_sha256(source.input_file(given.file)))
    left_out = _left_out(source, sets, unreadable) if unreadable else None
    readers = Readers(judged["query"], judged["doc"])
    read, hashes = read_runs(readers)
    named = name_systems(read, readers.judged, source)
    if not named.runs:
        first = named.skipped[0]
        example = f" The first: {source.located(first.file, first.reason)}"
        raise DataError(f"none of its {len(read)} runs can be used.{example}")
    names = readers.names()
    pool = judgments(sets, readers.first, names)
    rows = TrackRows(named.runs, names, source.policy)
    inputs |= hashes
    return ReadTrack(
        source, sets, facts, rows, named, names, pool, described, depths, left_out, inputs
    )


def _check_pattern(source: TrackSource) -> None:
    """Reject a pattern that takes too long, before any run is read."""
    if source.policy.names not in NAMES:
        for file in source.runs:
            pattern_name(source.policy.names, file)


def _read_qrels(
    source: TrackSource,
) -> tuple[list[tuple[QrelsSource, QrelsText]], dict[QrelsSource, DataError]]:
    """Return the qrels sets that can be read, and the errors of the others."""
    sets: list[tuple[QrelsSource, QrelsText]] = []
    unreadable: dict[QrelsSource, DataError] = {}
    for given in source.qrels:
        file = source.input_file(given.file)
        try:
            parsed = read_qrels(file, given.format, subtopics=given.subtopics)
        except DataError as error:
            problem = qrels_problem(source, file) or error
            if not source.may_quote(given.file):
                problem.conceal()
            unreadable[given] = problem
        else:
            sets.append((given, parsed))
    return sets, unreadable


def _left_out(
    source: TrackSource,
    sets: Sequence[tuple[QrelsSource, QrelsText]],
    unreadable: Mapping[QrelsSource, DataError],
) -> str:
    """Return the message that names the qrels sets that cannot be read."""
    reasons = [f"qrels set {one.name!r} is left out: {error}" for one, error in unreadable.items()]
    if source.qrels[0] in unreadable:
        reasons.append(f"the primary qrels set is now {sets[0][0].name!r}")
    return "; ".join(reasons)


@dataclass(frozen=True)
class _Archive:
    """A run file that is an archive of runs."""

    file: InputFile
    kind: str


def _read_runs(
    source: TrackSource,
    spill: Path | None,
    readers: Readers,
    limits: Limits,
    count: Callable[[str], None] | None,
) -> tuple[list[Run | SkippedRun], dict[str, str | None]]:
    """Read all runs; beyond the limits, move the rows of each to a file.

    Returns
    -------
    runs
        In the order of the files; runs of an archive in the archive's order.
    hashes
        The SHA-256 of each run file and archive.
    """

    def read(name: str) -> Run | SkippedRun | _Archive:
        file = source.input_file(name)
        with readers.borrow() as reader:
            run = read_run(source, file, reader)
        kind = archive_kind(file) if isinstance(run, SkippedRun) else None
        return run if kind is None else _Archive(file, kind)

    runs: list[Run | SkippedRun] = []
    hashes: dict[str, str | None] = {}
    rows = held = 0
    # Some files are read ahead, because sizes differ; `held` does not count them.
    for name, item in zip(
        source.runs,
        ordered_map(read, source.runs, workers=limits.workers, ahead=limits.workers),
        strict=True,
    ):
        for run in _unpacked(source, item, readers):
            runs.append(run)
            if isinstance(run, Run):
                rows, held = rows + run.rows, held + run.columns.held
            if spill is None and held + readers.held > limits.memory:
                fix = "Raise the limit, or use irmeta ingest, which needs less memory."
                problem = "its rows and names exceed the memory limit"
                raise DataError(problem, fix=fix)
            if spill is not None and (rows > MOST_ROWS or held + readers.held > limits.memory):
                runs = [_spilled(run, spill / f"rows-{i}") for i, run in enumerate(runs)]
                rows = held = 0
        hashes[name] = stored_sha256(item.file) if isinstance(item, _Archive) else item.sha256
        if count is not None:
            count(source.name)
    return runs, hashes


def _unpacked(
    source: TrackSource, item: Run | SkippedRun | _Archive, readers: Readers
) -> Iterator[Run | SkippedRun]:
    """Yield a run, or each run of an archive."""
    if not isinstance(item, _Archive):
        yield item
        return
    for member in members(item.file, item.kind):
        if isinstance(member, DataError):
            yield SkippedRun(member.file or item.file.name, None, None, str(member))
            continue
        with readers.borrow() as reader:
            run = read_run(source, member, reader)
        if isinstance(run, SkippedRun) and archive_kind(member) is not None:
            problem, fix = "an archive in an archive", "Unpack the outer one."
            reason = str(DataError(problem, file=member.name, fix=fix))
            run = replace(run, reason=reason)
        yield run


def _spilled(run: Run | SkippedRun, path: Path) -> Run | SkippedRun:
    if isinstance(run, Run) and isinstance(run.columns, InMemory):
        return replace(run, columns=run.columns.spill(path))
    return run


class Count:
    """Counter of files read by all threads."""

    def __init__(self, sources: Sequence[AnyTrack], progress: Progress | None) -> None:
        self._report: Progress = progress or (lambda track, done, files: None)
        self._files = sum(len(source.runs) for source in sources)
        self._done = {source.name: 0 for source in sources}
        self._lock = Lock()

    def add(self, track: str) -> None:
        """Count one file of a track as read and report the progress."""
        check_stopped()
        with self._lock:
            self._done[track] += 1
            self._report(track, sum(self._done.values()), self._files)

    def finish(self, source: AnyTrack) -> None:
        """Count all files of a track as read, including unread files."""
        with self._lock:
            if self._done[source.name] < len(source.runs):
                self._done[source.name] = len(source.runs)
                self._report(source.name, sum(self._done.values()), self._files)

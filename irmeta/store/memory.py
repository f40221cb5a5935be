"""A store in memory: the tracks of a collection, read into arrays.

Text to AP and nDCG of trec-covid-r1 took 0.8 s on one core this way, and 1.4 s by a store on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import DataError, IrmetaError, UsageError, did_you_mean, of_track
from irmeta.parallel import (
    check_not_forked,
    ordered_map,
    release_freed,
    thread_count,
    usable_memory,
)
from irmeta.policies import ReadPolicy
from irmeta.store.ingest import Outcome, failed, failures
from irmeta.store.layout import fingerprint, manifest
from irmeta.store.long_table import Group, Names, Noticed, doc_columns, run_columns
from irmeta.store.ranked_track import Evaluation, RankedGroup, RankedTrack, read_ranked
from irmeta.store.read_run import Run, SkippedRun, read_run, run_of_columns
from irmeta.store.read_track import (
    Count,
    ReadTrack,
    prepared,
    read_track,
    read_with,
)
from irmeta.store.readers import Readers
from irmeta.store.scan import StoredLists, code_names
from irmeta.store.small_tables import small_frames, table_frame
from irmeta.trec.qrels import QrelsText, grade_column, once_each
from irmeta.trec.readers.columns import QrelsColumns, RunColumns
from irmeta.trec.readers.files import qrels_text, read_qrels
from irmeta.trec.readers.given import GivenQrels, GivenRun
from irmeta.trec.room import Limits
from irmeta.trec.source import AnyTrack, BrokenTrack, QrelsSource, TrackSource
from irmeta.trec.streams import InputFile

# A row takes 20 bytes during reading and 26 in the store, temporarily both
READ_SHARE = 0.4


@dataclass(frozen=True)
class HeldTrack:
    """One track in memory; `frames` are its qrels, systems and subtopics tables."""

    record: dict[str, Any]
    names: Names
    groups: tuple[Group, ...]
    frames: Mapping[str, pl.DataFrame]

    @property
    def held(self) -> int:
        """Return the memory of the track in bytes."""
        frames = [self.names.docs, self.names.queries, *self.frames.values()]
        return int(sum(frame.estimated_size() for frame in frames)) + sum(
            _held(group) for group in self.groups
        )

    def row_groups(self) -> list[HeldGroup]:
        """Return the groups that have rows."""
        return [HeldGroup(self, group) for group in self.groups if group.lists is not None]

    def table(self, kind: str, where: pl.Expr | None) -> pl.LazyFrame:
        """Return a table, or the rows where `where` is true; build runs and docs by group."""
        if kind in self.frames:
            frame = self.frames[kind].lazy()
            return frame if where is None else frame.filter(where)
        groups = self._runs() if kind == "runs" else self._docs()
        parts = (table_frame(kind, [columns]) for columns in groups)
        filtered = list(parts if where is None else (part.filter(where) for part in parts))
        return pl.concat(filtered or [table_frame(kind, [])]).lazy()

    def _runs(self) -> Iterator[dict[str, pa.Array]]:
        for group in self.groups:
            if group.lists is not None:
                docs = np.unique(group.lists.columns["doc"], return_inverse=True)
                yield run_columns(self.names, group, docs[0], docs[1].astype(np.int32))

    def _docs(self) -> Iterator[dict[str, pa.Array]]:
        for group in self.groups:
            yield doc_columns(self.names, group.queries, group.lengths, group.docs)


@dataclass(frozen=True)
class HeldGroup:
    """Some queries of a track: a `RowGroup`."""

    track: HeldTrack
    group: Group

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.group.numbers)

    @property
    def last_query(self) -> str:
        """Name of the last query."""
        assert self.group.lists is not None
        return self.track.names.queries[int(self.group.lists.query[-1])]

    def lists(self, columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]) -> StoredLists:
        """Return the group's lists, see `StoredTrack.lists`."""
        lists, names = self.group.lists, self.track.names
        assert lists is not None
        arrays = lists.columns | {"doc_id": self.group.numbers}
        return StoredLists(
            code_names(lists.query, names.queries, codes["query"]),
            code_names(lists.system, names.systems, codes["system"]),
            lists.starts,
            {name: arrays[name] for name in columns},
        )


class MemoryStore:
    """A `StoreReader` of tracks in memory, called `name` in messages; `failures` by track."""

    # Arrays of small blocks take the memory of the block before: AP and nDCG of trec-covid-r1 took
    # 0.05 s the first time, and 0.08 s in blocks of the size for folders.
    block_rows = 1 << 19
    is_shared = False

    def __init__(
        self,
        name: str,
        policy: ReadPolicy,
        tracks: Mapping[str, HeldTrack | RankedTrack],
        failures: Mapping[str, str] | None = None,
    ) -> None:
        self._name, self._policy, self._tracks = name, policy, dict(sorted(tracks.items()))
        self._failures = dict(failures or {})

    def __str__(self) -> str:
        return self._name

    def read_policy(self) -> ReadPolicy:
        """Return the policy under which the runs were read."""
        return self._policy

    def tracks(self) -> list[str]:
        """Return the names of the tracks, sorted."""
        return list(self._tracks)

    def describes_queries(self) -> bool:
        """Check whether a track has a table of queries."""
        return any(held.frames["queries"].height for held in self._tracks.values())

    def failures(self) -> dict[str, str]:
        """Return the tracks that could not be read, and the reasons."""
        return dict(self._failures)

    def track(self, name: str) -> MemoryTrack:
        """Return a track; raise `UsageError` for an unknown track."""
        check_not_forked()
        held = self._held(name)
        return MemoryTrack(self, name, held.record, held)

    def fingerprint(self) -> str:
        """Return the fingerprint that a store in a folder would have for the same input."""
        return fingerprint(manifest(self._policy), (held.record for held in self._tracks.values()))

    def only(self, track: str) -> MemoryStore:
        """Return a store of one track."""
        return MemoryStore(self._name, self._policy, {track: self._held(track)})

    def _held(self, track: str) -> HeldTrack | RankedTrack:
        if track not in self._tracks:
            hint = did_you_mean(track, self._tracks)
            raise UsageError(f"{self} has no track {track!r}. {hint}")
        return self._tracks[track]


@dataclass(frozen=True, eq=False)
class MemoryTrack:
    """A track of a store in memory: a `StoredTrack`."""

    store: MemoryStore
    name: str
    record: Mapping[str, Any]
    held: HeldTrack | RankedTrack
    is_shared = False

    def is_current(self) -> bool:
        """Return True: a track in memory is never replaced."""
        return True

    def fingerprint(self) -> str:
        """Return the fingerprint that a track in a folder would have for the same input."""
        return fingerprint(manifest(self.store.read_policy()), [self.record])

    def table(self, kind: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return a table, or the rows where `where` is true."""
        return self.held.table(kind, where)

    def read(self, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame."""
        return self.held.table(kind, where).collect()

    def groups(self) -> Sequence[HeldGroup | RankedGroup]:
        """Return the groups that have rows."""
        return self.held.row_groups()

    def lists(
        self,
        groups: Sequence[HeldGroup | RankedGroup],
        columns: Sequence[str],
        codes: Mapping[str, Mapping[str, int]],
    ) -> StoredLists:
        """Return the lists of groups, see `StoredTrack`."""
        parts = [group.lists(columns, codes) for group in groups]
        ends = np.cumsum([part.rows for part in parts])
        starts = [p.starts[:-1] + end - p.rows for p, end in zip(parts, ends, strict=True)]
        return StoredLists(
            np.concatenate([part.query for part in parts]),
            np.concatenate([part.system for part in parts]),
            np.append(np.concatenate(starts), ends[-1]),
            {name: np.concatenate([part.columns[name] for part in parts]) for name in columns},
        )


def read_into_memory(
    name: str,
    sources: Sequence[AnyTrack],
    policy: ReadPolicy,
    *,
    workers: int | None = None,
    memory: int | None = None,
    evaluation: Evaluation | None = None,
) -> tuple[MemoryStore, list[Outcome]]:
    """Read tracks into memory, one after another; return the store and an outcome per track.

    `memory` is a limit in bytes, by default half of the usable memory: a row takes about 50, and a
    doc's name is held once per track. Tracks only for an `evaluation` that reads no unjudged docs
    have no tables runs and docs, and take a tenth.
    """
    left = usable_memory() // 2 if memory is None else memory
    workers, count = thread_count(workers), Count(sources)
    held: dict[str, HeldTrack | RankedTrack] = {}
    outcomes = []
    for source in sources:
        try:
            if isinstance(source, BrokenTrack):
                raise source.error
            limits = Limits(workers, int(left * READ_SHARE), largest=left)
            columns = None if evaluation is None else evaluation.columns(source.policy)
            if columns is None:
                held[source.name] = hold(read_track(source, limits, None, count.add), workers)
            else:
                held[source.name] = read_ranked(source, columns, limits, count.add)
                release_freed()  # of judgments and names, before values are computed
            left -= held[source.name].held
            outcomes.append(Outcome(source, "read"))
        except IrmetaError as error:
            outcomes.append(failed(source, error))
        count.finish(source)
    return MemoryStore(name, policy, held, failures(outcomes)), outcomes


def hold(read: ReadTrack, workers: int) -> HeldTrack:
    """Sort the lists of a track that has been read, and build its tables."""
    names, groups = read.groups()
    read_groups = tuple(ordered_map(groups.group, groups.portions(), workers=workers))
    noticed = Noticed.none(len(names.systems))
    for group in read_groups:
        noticed.add(Noticed.of(group, names))
    frames = small_frames(read, noticed)
    return HeldTrack(read.record(noticed), names, read_groups, frames)


def _held(group: Group) -> int:
    arrays = [group.queries, group.lengths, group.docs, group.numbers, group.grades]
    if (lists := group.lists) is not None:
        arrays += [lists.query, lists.system, lists.starts, lists.tied, *lists.columns.values()]
    return sum(values.nbytes for values in arrays)


def read_data(
    track: str,
    qrels: Sequence[GivenQrels],
    runs: Sequence[GivenRun],
    policy: ReadPolicy,
    *,
    rel: float | Mapping[str, float] | None = None,
    workers: int | None = None,
) -> tuple[MemoryStore, Outcome]:
    """Read one track into memory; for `qrels` and `runs` see irmeta.trec.readers.given.

    `rel`: the least relevant grade of every qrels set, or of some by name. Raises `DataError` if
    the qrels, a run in memory or all files are unreadable.
    """
    check_not_forked()
    workers, policy = thread_count(workers), replace(policy, names="tag")
    rels = _rels(rel, [one.name for one in qrels])
    sets = [_judged(one, policy, rels.get(one.name)) for one in qrels]
    files = tuple(run.place for run in runs)
    source = TrackSource(
        track,
        Path(),
        files,
        tuple(given for given, _ in sets),
        policy=policy,
        given={file: file for file in (*files, *(given.file for given, _ in sets))},
    )

    ruled = prepared(source)
    if (rules := ruled.doc_rules) is not None:
        sets = [(given, rules.without_dropped(parsed, given.file)) for given, parsed in sets]

    def read_runs(readers: Readers) -> tuple[list[Run | SkippedRun], dict[str, str | None]]:
        read = partial(_read_run, ruled, readers)
        found = list(ordered_map(read, runs, workers=workers))
        return found, {run.file: run.sha256 for run in found}

    try:
        held = hold(read_with(ruled, sets, read_runs), workers)
    except DataError as error:  # what names no run or qrels is about the track
        raise (of_track(track, error) if error.file is None else error) from None
    return MemoryStore(track, policy, {track: held}), Outcome(source, "read")


def _judged(
    given: GivenQrels, policy: ReadPolicy, rel: float | None
) -> tuple[QrelsSource, QrelsText]:
    """Return one qrels set, with the rows of all its parts."""
    in_memory = [part for part in given.parts if isinstance(part, QrelsColumns)]
    subtopics = policy.subtopics or any(part.is_subtopic for part in in_memory)
    digits, comments = policy.grade_digits, policy.comments
    read = [
        read_qrels(part, subtopics=subtopics, grade_digits=digits, comments=comments)
        if isinstance(part, InputFile)
        else qrels_text(part, subtopics, part.sha256(), grade_digits=digits)
        for part in given.parts
    ]
    subtopics = any(text.has_subtopics for text in read)
    first = given.parts[0]
    place = first.name if isinstance(first, InputFile) else first.place
    place = place if len(read) == 1 else f"qrels {given.name!r}"
    if len(read) > 1:
        frame = pl.concat([text.frame for text in read], how="vertical_relaxed")
        frame = frame.with_columns(grade_column(frame["grade"], place, digits))
        frame = frame.drop("line").with_row_index("line")
        frame, notes = once_each(frame, place, subtopics, "row")
        sha256 = " ".join(text.sha256 for text in read)
        read = [QrelsText(frame, sha256, (*(n for text in read for n in text.notes), *notes))]
    stated: Any = {} if rel is None else {"rel": rel}
    return QrelsSource(given.name, place, subtopics=subtopics, **stated), read[0]


def _rels(rel: float | Mapping[str, float] | None, names: list[str]) -> dict[str, float]:
    """Return the stated least relevant grades by qrels set."""
    if rel is None or not isinstance(rel, Mapping):
        return {} if rel is None else dict.fromkeys(names, rel)
    for name in rel:
        if name not in names:
            raise UsageError(f"rel: no qrels set {name!r}. {did_you_mean(name, names)}")
    return dict(rel)


def _read_run(source: TrackSource, readers: Readers, given: GivenRun) -> Run | SkippedRun:
    content = given.load()
    with readers.borrow() as reader:
        if isinstance(content, RunColumns):
            return run_of_columns(content, given.name, source, reader)
        run = read_run(source, content, reader)
    return run if given.name is None else replace(run, tag=given.name)

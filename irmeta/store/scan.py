"""Reading of a store in a folder or in memory: frames for users, blocks of queries for kernels."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.locations import RemotePath, location
from irmeta.parallel import check_not_forked
from irmeta.policies import ReadPolicy
from irmeta.schema.arrow import DAMAGED

AGAIN = "Ingest the track again: `irmeta ingest --rehash`, or `irmeta.ingest(rehash=True)`."
"""The fix for a damaged track of a store."""
COPY_AGAIN = "Copy the track again from the local store, its record in tracks/ last."
"""The fix for a damaged track of a store on object storage."""

Tracks = str | Iterable[str] | None
"""The name of one track, names of several, or None for all."""


class RowGroup(Protocol):
    """Complete queries of the long table, up to `last_query`."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def last_query(self) -> str:
        """Name of the last query."""
        ...


@dataclass(frozen=True)
class StoredLists:
    """Ranked lists as arrays for kernels, by query, then system; the rows of each from `starts` on.

    `columns` are by row: doc_id, score, position, rank_given, and doc as numbers that sort like the
    docs' bytes within a query. Null is the smallest int32.
    """

    query: np.ndarray
    system: np.ndarray
    starts: np.ndarray
    columns: Mapping[str, np.ndarray]

    @property
    def rows(self) -> int:
        """Return the number of rows of all lists."""
        return int(self.starts[-1])

    def by_row(self, values: np.ndarray) -> np.ndarray:
        """Repeat a value of each list for each of its rows."""
        return np.repeat(values, np.diff(self.starts))

    def only(self, is_kept: np.ndarray) -> StoredLists:
        """Return the lists where a bool array is true."""
        rows = self.by_row(is_kept)
        return StoredLists(
            self.query[is_kept],
            self.system[is_kept],
            np.concatenate([[0], np.cumsum(np.diff(self.starts)[is_kept])]),
            {name: values[rows] for name, values in self.columns.items()},
        )


def code_names(indices: np.ndarray, names: pl.Series, codes: Mapping[str, int]) -> np.ndarray:
    """Return the int32 codes of names that are given by their indices; -1 without a code."""
    used, inverse = np.unique(indices, return_inverse=True)
    chosen = names.gather(used).to_list()
    return np.array([codes.get(name, -1) for name in chosen], np.int32)[inverse]


class StoreReader(Protocol):
    """Interface to read a store: a folder's `Layout`, or a `MemoryStore`.

    `str` gives the store's name in messages.
    """

    @property
    def block_rows(self) -> int:
        """Return the preferred number of rows of a long table to read at a time."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether other processes can read the store by its path."""
        ...

    def read_policy(self) -> ReadPolicy:
        """Return the policy under which the runs were read."""
        ...

    def tracks(self) -> list[str]:
        """Return the names of the complete tracks, sorted."""
        ...

    def describes_queries(self) -> bool:
        """Check whether a track has a table of queries, without reading a record."""
        ...

    def failures(self) -> dict[str, str]:
        """Return the tracks that the last ingest could not read, and the reasons."""
        ...

    def track(self, name: str) -> StoredTrack:
        """Read the record of a track; raise `UsageError` if the store has no such track."""
        ...

    def fingerprint(self) -> str:
        """Return a hash of the input and policy of all tracks."""
        ...

    def only(self, track: str) -> StoreReader:
        """Return the smallest store that another process needs to read one track."""
        ...


class StoredTrack(Protocol):
    """Interface to read one track of a store, whose record was read once."""

    @property
    def store(self) -> StoreReader:
        """The store that holds the track."""
        ...

    @property
    def name(self) -> str:
        """Name of the track."""
        ...

    @property
    def record(self) -> Mapping[str, Any]:
        """The track's record, which is not to be changed."""
        ...

    @property
    def is_shared(self) -> bool:
        """Whether other processes can read the track by the path of its store."""
        ...

    def is_current(self) -> bool:
        """Check that the track was not replaced since its record was read."""
        ...

    def fingerprint(self) -> str:
        """Return a hash of the input and policy of the track."""
        ...

    def table(self, kind: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return a table of irmeta.schema, or the rows where `where` is true."""
        ...

    def read(self, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame, with checksums verified."""
        ...

    def groups(self) -> Sequence[RowGroup]:
        """Return the groups of the long table that have rows, in query order."""
        ...

    def lists(
        self, groups: Sequence[Any], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
    ) -> StoredLists:
        """Return the lists of adjacent groups, query and system by their `codes` (-1: none)."""
        ...


@contextmanager
def undisturbed(*tracks: StoredTrack) -> Generator[None]:
    """Read several files of tracks as one consistent snapshot, the records read before included.

    Raises `DataError` at the end of the body if an ingest replaced a track meanwhile.
    """
    try:
        yield
    except Exception as error:
        _refuse_replaced(tracks, error)
        raise
    _refuse_replaced(tracks)


def _refuse_replaced(tracks: Iterable[StoredTrack], error: Exception | None = None) -> None:
    for track in tracks:
        if not track.is_current():
            raise replaced(track.name) from error


def replaced(track: str) -> DataError:
    """Return the error of a track that an ingest replaced during reading."""
    fix = "An ingest replaced it: run the command again."
    return DataError("was replaced while it was read", track=track, fix=fix)


@contextmanager
def _readable(track: StoredTrack) -> Generator[None]:
    """Convert errors of damaged files of a track to a `DataError`."""
    try:
        yield
    except DAMAGED as error:
        problem = f"its files in the store cannot be read ({str(error).strip()})"
        raise DataError(problem, track=track.name, fix=fix_of(track.store)) from error


def fix_of(store: StoreReader) -> str:
    """Return the fix for a damaged track."""
    return COPY_AGAIN if isinstance(location(str(store)), RemotePath) else AGAIN


def tracks_of(store: StoreReader, track: Tracks) -> list[str]:
    """Return the names of the requested tracks, sorted; raise `UsageError` if there are none."""
    if track is None:
        names = store.tracks()
        if not names:
            raise UsageError(f"{store} holds no complete track.")
        return names
    return [stored.name for stored in each_track(store, track)]


def each_track(store: StoreReader, track: Tracks) -> Iterator[StoredTrack]:
    """Yield the requested tracks, sorted; of all tracks one record is read at a time."""
    if track is None:
        return map(store.track, tracks_of(store, None))
    names = [track] if isinstance(track, str) else sorted(set(track))
    if not names:
        raise UsageError("no track was given: omit `track` for all tracks.")
    return iter([*map(store.track, names)])


def only_track(store: StoreReader, track: str | None) -> StoredTrack:
    """Return a track; None stands for the only track of the store."""
    if track is not None:
        return store.track(track)
    names = tracks_of(store, None)
    if len(names) > 1:
        raise UsageError(f"specify a track: {', '.join(names)}.")
    return store.track(names[0])


def lazy(store: StoreReader, kind: str, track: Tracks = None) -> pl.LazyFrame:
    """Scan one of the store's tables (runs, qrels, docs, systems) of some or all tracks.

    Only complete tracks are read. Grades are float64 if those of any of the tracks are.
    """
    frames, has_decimals = list[pl.LazyFrame](), False
    for stored in each_track(store, track):
        frames.append(stored.table(kind))
        sets = stored.record["qrels"]
        has_decimals |= any("levels" in one for one in (sets[:1] if kind == "runs" else sets))
    if kind in ("runs", "qrels") and has_decimals:
        frames = [frame.with_columns(pl.col("grade").cast(pl.Float64)) for frame in frames]
    return pl.concat(frames)


def read_table(track: StoredTrack, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
    """Read and check a table of one track, like `lazy`."""
    check_not_forked()
    with _readable(track):
        return track.read(kind, where)


def track_notes(record: Mapping[str, Any]) -> str | None:
    """Return the warnings in a track's record, or None."""
    notes = list(record.get("warnings", {}).values())
    notes += [f"qrels {q['name']}: {note}" for q in record["qrels"] for note in q["notes"]]
    return "; ".join(notes) or None


@dataclass(frozen=True)
class RowBlock:
    """Complete queries of the long table, read on request; for their range see `row_blocks`."""

    track: StoredTrack
    groups: Sequence[RowGroup]
    codes: Mapping[str, Mapping[str, int]]
    first_query: int
    last_query: int

    def lists(self, columns: Sequence[str]) -> StoredLists:
        """Return the lists; query and system index the names given to `row_blocks`, or are -1."""
        with _readable(self.track):
            return self.track.lists(self.groups, columns, self.codes)


def row_blocks(
    track: StoredTrack,
    queries: Sequence[str],
    systems: Sequence[str],
    max_rows: int | None = None,
) -> Iterator[RowBlock]:
    """Yield the long table of one track in blocks of complete queries, at least one group each.

    A block has at most `max_rows` rows, or as many as the store prefers. The blocks cover all of
    the sorted `queries`, those without a row included.
    """
    with _readable(track):
        groups = track.groups()
    limit = max_rows or track.store.block_rows
    codes = {
        "query": {name: i for i, name in enumerate(queries)},
        "system": {name: i for i, name in enumerate(systems)},
    }
    first = start = 0
    while start < len(groups):
        stop, rows = start + 1, groups[start].rows
        while stop < len(groups) and rows + groups[stop].rows <= limit:
            rows += groups[stop].rows
            stop += 1
        last = len(queries)
        if stop < len(groups):
            final = groups[stop - 1].last_query.encode()
            last = next((i for i in range(first, last) if queries[i].encode() > final), last)
        yield RowBlock(track, groups[start:stop], codes, first, last)
        first, start = last, stop

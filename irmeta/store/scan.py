"""Reading a store, wherever it lies: frames for people, blocks of whole queries for kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.policies import ReadPolicy
from irmeta.schema.arrow import DAMAGED

AGAIN = "Ingest the track again with --rehash (in Python rehash=True)."
"""What to do about a track of a store that is damaged."""

Tracks = str | Iterable[str] | None
"""One track by name, several, or None: all."""


class RowGroup(Protocol):
    """Whole queries of the long table that are read together, up to `last_query`."""

    @property
    def rows(self) -> int: ...

    @property
    def last_query(self) -> str: ...


@dataclass(frozen=True)
class StoredLists:
    """Ranked lists as arrays for kernels, by query, then system.

    Attributes
    ----------
    query, system
        int32 [lists].
    starts
        int64 [lists + 1]: where the rows of each list begin, which are in the store's order.
    columns
        Columns of the long table, by row: doc_id, doc as numbers that sort as the docs' bytes do
        within a query, score, position, rank_given; null is the least int32.
    """

    query: np.ndarray
    system: np.ndarray
    starts: np.ndarray
    columns: Mapping[str, np.ndarray]

    @property
    def rows(self) -> int:
        """How many rows they have together."""
        return int(self.starts[-1])

    def by_row(self, values: np.ndarray) -> np.ndarray:
        """A value of each list, for each of its rows."""
        return np.repeat(values, np.diff(self.starts))

    def only(self, kept: np.ndarray) -> StoredLists:
        """The lists that a bool array keeps."""
        rows = self.by_row(kept)
        return StoredLists(
            self.query[kept],
            self.system[kept],
            np.concatenate([[0], np.cumsum(np.diff(self.starts)[kept])]),
            {name: values[rows] for name, values in self.columns.items()},
        )


class StoreReader(Protocol):
    """What a store is to whoever reads it: a folder's `Layout`, or a `MemoryStore`.

    As a string it is what messages call it.
    """

    @property
    def block_rows(self) -> int:
        """How many rows of a long table are best read at a time."""
        ...

    def read_policy(self) -> ReadPolicy:
        """How its runs were read."""
        ...

    def tracks(self) -> list[str]:
        """The names of the tracks that are complete, sorted."""
        ...

    def failures(self) -> dict[str, str]:
        """The tracks that the last ingest could not read, and why."""
        ...

    def read_record(self, track: str) -> dict[str, Any]:
        """A track's record; `UsageError` if there is no such track."""
        ...

    def fingerprint(self, track: str | None = None) -> str:
        """A hash of what a track, or the whole store, was made from and how."""
        ...

    def version(self, track: str) -> bytes:
        """What tells a track from another that is put in its place; empty where there is none."""
        ...

    def only(self, track: str) -> StoreReader:
        """What another process must be sent to read one track."""
        ...

    def table(self, kind: str, track: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """runs, qrels, docs or systems of one track, as irmeta.schema says; or some rows."""
        ...

    def read(self, kind: str, track: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """As `table`, read at once, and checked where there is something to check it by."""
        ...

    def groups(self, track: str) -> Sequence[RowGroup]:
        """The groups of a track that have rows, in query order."""
        ...

    def lists(
        self, groups: Sequence[Any], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
    ) -> StoredLists:
        """The lists of neighbouring groups, query and system by their `codes` (-1: none)."""
        ...


@contextmanager
def undisturbed(store: StoreReader, *tracks: str) -> Iterator[None]:
    """Where tracks are read file by file, or in several steps: all must be of one ingest.

    Raises
    ------
    DataError
        If an ingest has put other files in their place meanwhile, whatever else went wrong.
    """
    before = {track: store.version(track) for track in tracks}
    try:
        yield
    except Exception as error:
        _refuse_replaced(store, before, error)
        raise
    _refuse_replaced(store, before)


def _refuse_replaced(
    store: StoreReader, before: Mapping[str, bytes], error: Exception | None = None
) -> None:
    for track, version in before.items():
        if store.version(track) != version:
            fix = "An ingest put another in its place: run this again."
            problem = "was replaced while it was read"
            raise DataError(problem, track=track, fix=fix) from error


@contextmanager
def _readable(track: str) -> Iterator[None]:
    """For what opens a track's files: those that are damaged are a `DataError`."""
    try:
        yield
    except DAMAGED as error:
        problem = f"its files in the store cannot be read ({str(error).strip()})"
        raise DataError(problem, track=track, fix=AGAIN) from error


def tracks_of(store: StoreReader, track: Tracks) -> list[str]:
    """The names of the tracks that are asked for, sorted.

    Raises
    ------
    UsageError
        If one is not there, or none is.
    """
    if track is None:
        names = store.tracks()
        if not names:
            raise UsageError(f"{store} holds no complete track.")
        return names
    asked = [track] if isinstance(track, str) else sorted(set(track))
    if not asked:
        raise UsageError("no track was named: leave `track` out for all of them.")
    return [store.read_record(name)["track"] for name in asked]


def lazy(
    store: StoreReader, kind: str, track: Tracks = None, where: pl.Expr | None = None
) -> pl.LazyFrame:
    """One of the store's tables (runs, qrels, docs, systems), of some tracks or of all.

    Only complete tracks are read; of them all rows, or those where `where` is true.
    """
    return pl.concat([store.table(kind, name, where) for name in tracks_of(store, track)])


def read_table(
    store: StoreReader, kind: str, track: str, where: pl.Expr | None = None
) -> pl.DataFrame:
    """As `lazy`, of one track, read and checked.

    Raises
    ------
    DataError
        If it is damaged.
    """
    with _readable(track):
        return store.read(kind, track, where)


def track_notes(record: Mapping[str, Any]) -> str | None:
    """Return what reading noticed of a track, from its record; None: nothing."""
    notes = list(record.get("warnings", {}).values())
    notes += [f"qrels {q['name']}: {note}" for q in record["qrels"] for note in q["notes"]]
    return "; ".join(notes) or None


@dataclass(frozen=True)
class RowBlock:
    """Whole queries of the long table, which are read when they are asked for.

    Attributes
    ----------
    first_query, last_query
        It has the lists of ``queries[first_query:last_query]`` of those given to `row_blocks`.
    """

    store: StoreReader
    track: str
    groups: Sequence[RowGroup]
    codes: Mapping[str, Mapping[str, int]]
    first_query: int
    last_query: int

    def lists(self, columns: Sequence[str]) -> StoredLists:
        """Its lists: query and system by their places among those given to `row_blocks`, or -1."""
        with _readable(self.track):
            return self.store.lists(self.groups, columns, self.codes)


def row_blocks(
    store: StoreReader,
    track: str,
    queries: Sequence[str],
    systems: Sequence[str],
    max_rows: int | None = None,
) -> Iterator[RowBlock]:
    """The long table of one track, a block of whole queries at a time.

    A block has at most `max_rows` rows, or as many as the store prefers, and at least one group.
    The blocks share out all of `queries` (which must be sorted), those without a row included.
    """
    with _readable(track):
        groups = store.groups(track)
    most = max_rows or store.block_rows
    codes = {
        "query": {name: i for i, name in enumerate(queries)},
        "system": {name: i for i, name in enumerate(systems)},
    }
    first = at = 0
    while at < len(groups):
        stop, rows = at + 1, groups[at].rows
        while stop < len(groups) and rows + groups[stop].rows <= most:
            rows += groups[stop].rows
            stop += 1
        last = len(queries)
        if stop < len(groups):
            limit = groups[stop - 1].last_query.encode()
            last = next((i for i in range(first, last) if queries[i].encode() > limit), last)
        yield RowBlock(store, track, groups[at:stop], codes, first, last)
        first, at = last, stop

"""A track in memory that is only evaluated: judged docs and ranks, without other docs' names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.kernels.lists import gather_floats, gather_ints
from irmeta.parallel import ordered_map
from irmeta.policies import ReadPolicy, TieOrder
from irmeta.store.assemble import TrackLists
from irmeta.store.groups import GROUP_ROWS
from irmeta.store.judged_names import JudgedNames
from irmeta.store.long_table import Noticed
from irmeta.store.memory_limit import Limits
from irmeta.store.ranked_run import RankedRun, RankReader, number_queries
from irmeta.store.read_run import SkippedRun
from irmeta.store.read_track import (
    ReadTrack,
    check_pattern,
    complete_track,
    name_runs,
    read_beside,
    read_sets,
    run_or_archive,
    unpacked,
)
from irmeta.store.readers import Readers, TrackNames, judgments
from irmeta.store.scan import StoredLists, code_names
from irmeta.store.small_tables import small_frames
from irmeta.trec.room import OutOfRoomError
from irmeta.trec.source import TrackSource
from irmeta.trec.tie_orders import columns_compared


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation reads of ranked lists.

    Attributes
    ----------
    orders
        Tie orders under which lists are ranked; None is that of reading.
    ties
        Whether it reads which docs are tied under the first of them.
    names_docs
        Whether it must know which lists share an unjudged doc.
    """

    orders: tuple[TieOrder | None, ...] = (None,)
    ties: bool = False
    names_docs: bool = False

    def columns(self, policy: ReadPolicy) -> set[str] | None:
        """Return the columns of rows that it compares; None if it must know unjudged docs."""
        columns = columns_compared(policy.tie_order, self.orders, self.ties)
        return None if self.names_docs or "doc" in columns else columns


@dataclass(frozen=True)
class RankedTrack:
    """One track in memory, without the tables runs and docs.

    Attributes
    ----------
    frames
        The track's qrels, systems, samples and subtopics tables.
    lists
        The lists of all systems; `queries` are their names by index.
    """

    record: dict[str, Any]
    frames: Mapping[str, pl.DataFrame]
    lists: TrackLists[RankedRun]
    queries: pl.Series
    judged: int

    @property
    def held(self) -> int:
        """Return the memory of the track in bytes."""
        frames = sum(frame.estimated_size() for frame in self.frames.values())
        return int(frames) + sum(run.held for run in self.lists.runs)

    def table(self, kind: str, where: pl.Expr | None) -> pl.LazyFrame:
        """Return a table, or the rows where `where` is true."""
        if kind not in self.frames:
            raise UsageError(f"the table {kind!r} is not kept of a track that is only evaluated.")
        frame = self.frames[kind].lazy()
        return frame if where is None else frame.filter(where)

    def row_groups(self) -> list[RankedGroup]:
        """Return the lists of judged queries, in groups of about `GROUP_ROWS` rows."""
        groups: list[RankedGroup] = []
        queries, counts = self.lists.queries, self.lists.rows
        first = rows = 0
        for index, query in enumerate(queries[queries < self.judged].tolist()):
            rows += int(counts[index])
            if rows >= GROUP_ROWS:
                groups.append(RankedGroup(self, first, query + 1, rows))
                first, rows = query + 1, 0
        if rows:
            groups.append(RankedGroup(self, first, self.judged, rows))
        return groups


@dataclass(frozen=True)
class RankedGroup:
    """The lists of some judged queries, from index `first` up to `last`: a `RowGroup`."""

    track: RankedTrack
    first: int
    last: int
    rows: int

    @property
    def last_query(self) -> str:
        """Name of the last query."""
        return self.track.queries[self.last - 1]

    def lists(self, columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]) -> StoredLists:
        """Return the group's lists, see `StoreReader.lists`."""
        held = self.track.lists
        query, rows = held.rows_of(self.first, self.last)
        systems = pl.Series([run.system for run in held.runs])
        return StoredLists(
            code_names(query, self.track.queries, codes["query"]),
            code_names(rows.source, systems, codes["system"]),
            np.append(0, np.cumsum(rows.lengths)),
            {
                name: _gathered([run.lists.columns[name] for run in held.runs], *rows)
                for name in columns
            },
        )


def _gathered(
    arrays: Sequence[np.ndarray], source: np.ndarray, starts: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """Return the rows of lists, see irmeta.kernels.lists; the arrays are contiguous."""
    addresses = np.array([array.ctypes.data for array in arrays], np.int64)
    rows = np.empty(lengths.sum(), arrays[0].dtype)
    gather = gather_floats if rows.dtype == np.float64 else gather_ints
    gather(addresses, source, starts, lengths, rows)
    return rows


def read_ranked(
    source: TrackSource,
    columns: Collection[str],
    limits: Limits,
    count: Callable[[str], None],
) -> RankedTrack:
    """Read a track for evaluation; `columns` are those of rows to keep beside doc_id.

    Raises
    ------
    DataError
        See `read_track`.
    """
    check_pattern(source)
    sets, unreadable = read_sets(source, limits)
    beside = read_beside(source, sets, unreadable)
    judged = pl.concat([parsed.frame.select("query", "doc") for _, parsed in sets])
    readers = Readers(judged["query"], judged["doc"])
    names = readers.names()
    pool = judgments(sets, readers, names)
    reader = RankReader(source, JudgedNames.of(pool, names), columns)
    read, hashes = _read_runs(reader, limits, count)
    read, queries = number_queries(read, names.queries.to_list())
    named = name_runs(source, read, len(names.queries))
    lists = TrackLists(named.runs, [run.queries for run in named.runs], source.policy)
    names = TrackNames(pl.Series(queries, dtype=pl.String), names.docs, {}, {})
    track = complete_track(beside, hashes, rows=lists, named=named, names=names, pool=pool)
    return _held(track, lists, readers.judged)


def _held(read: ReadTrack, lists: TrackLists[RankedRun], judged: int) -> RankedTrack:
    found = [run.lists for run in lists.runs]
    noticed = Noticed(
        tied=np.array([one.tied for one in found], np.int64),
        rounded=np.array([one.rounded for one in found], np.int64),
        selves=np.array([one.selves for one in found], np.int64),
        judged=np.array([one.judged for one in found], np.int64),
        hashes=np.array([one.hashed for one in found], np.uint64),
    )
    frames = small_frames(read, noticed)
    return RankedTrack(read.record(noticed), frames, lists, read.names.queries, judged)


def _read_runs(
    reader: RankReader, limits: Limits, count: Callable[[str], None]
) -> tuple[list[RankedRun | SkippedRun], dict[str, str | None]]:
    """Read all runs; return them, and the SHA-256 of each run file and archive.

    Threads share the files, or the lists of a file if there are fewer files. A file that does not
    fit into a thread's share of the memory is read by one thread, and so are those after it.
    """
    source, files = reader.source, reader.source.runs
    runs: list[list[RankedRun | SkippedRun]] = []
    hashes: dict[str, str | None] = {}
    threads, held = min(limits.workers, len(files)), 0
    while len(hashes) < len(files):
        share = limits.for_file // threads
        alone = replace(reader, room=lambda share=share: share)
        try:
            for name, found, sha256 in _each(alone, files[len(hashes) :], limits, threads):
                runs.append(found)
                hashes[name] = sha256
                held += sum(run.held for run in found if isinstance(run, RankedRun))
                if held > limits.memory:
                    fix = "Raise the limit, or use irmeta ingest, which needs less memory."
                    raise DataError("its rows exceed the memory limit", fix=fix)
                count(source.name)
        except OutOfRoomError as error:
            if threads == 1:
                raise limits.of_file(error, 0) from None
            threads = 1
    return [run for one in runs for run in one], hashes


def _each(
    reader: RankReader, files: Sequence[str], limits: Limits, threads: int
) -> Iterator[tuple[str, list[RankedRun | SkippedRun], str | None]]:
    """Yield each file, its runs, and its SHA-256."""

    def read(file: Any) -> RankedRun | SkippedRun:
        return reader.read(file, limits.workers // threads)

    def item(name: str) -> Any:
        return run_or_archive(reader.source.input_file(name), read)

    with closing(ordered_map(item, files, workers=threads, ahead=threads)) as items:
        for name, one in zip(files, items, strict=True):
            yield name, list(unpacked(one, read)), one.sha256

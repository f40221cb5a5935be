"""A track in memory that is only evaluated: judged docs and ranks, without other docs' names.

Docs are numbered by name for one chunk of lists at a time, so that the table of names stays in the
cache of a core, and are then known by their numbers among the judged docs of the query.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError, printable
from irmeta.kernels.lists import gather_floats, gather_ints, score_states
from irmeta.parallel import ObjectPool, ordered_map, release_freed
from irmeta.policies import ReadPolicy, TieOrder
from irmeta.store.assemble import TrackLists, cut_lists, name_runs
from irmeta.store.long_table import GROUP_ROWS, Noticed
from irmeta.store.read_run import (
    RunFacts,
    SkippedRun,
    contradicting,
    contradiction_notes,
    read_run,
)
from irmeta.store.read_track import (
    complete_track,
    prepared,
    read_beside,
    read_sets,
    run_or_archive,
    unpacked,
)
from irmeta.store.readers import (
    JudgedNames,
    Readers,
    TrackNames,
    judgments,
    list_summaries,
)
from irmeta.store.scan import StoredLists, code_names
from irmeta.store.small_tables import small_frames
from irmeta.trec.numbered_names import Names
from irmeta.trec.readers.forms import read_metadata
from irmeta.trec.room import Limits, OutOfRoomError, Room, half_of_memory
from irmeta.trec.runs import RowReader, list_chunks, may_be_shifted, reading_notes, width_of
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import first_fields
from irmeta.trec.tie_orders import columns_compared, order_lists_by_name, row_without_rank


@dataclass(frozen=True)
class RankedLists:
    """Ranked lists of one run; rows are in the order of the policy, up to its depth.

    `queries` (names) and `lengths` are by list; `columns` by row: doc_id, and what evaluation
    compares. For the counts see `Noticed`; `hashed` is their sum over lists.
    """

    queries: list[str]
    lengths: np.ndarray
    columns: dict[str, np.ndarray]
    tied: int
    rounded: int
    judged: int
    selves: int
    hashed: int


@dataclass(frozen=True, kw_only=True)
class RankedRun(RunFacts):
    """The ranked lists of a run file, which begin at `starts`; the track numbers `queries`."""

    lists: RankedLists

    @property
    def held(self) -> int:
        """Return the bytes of memory that the rows take."""
        return sum(values.nbytes for values in self.lists.columns.values())


@dataclass(frozen=True)
class _Chunk:
    """The lists of a chunk of text, and what was noticed."""

    lists: RankedLists
    tags: Sequence[str]
    noticed: Counter[str]


@dataclass(frozen=True)
class RankReader:
    """Reader of the runs of a track to ranked lists: doc_id and `columns` of each row."""

    source: TrackSource
    judged: JudgedNames
    columns: Collection[str]
    room: Room = half_of_memory
    _readers: ObjectPool[RowReader] = field(default_factory=lambda: ObjectPool(RowReader))

    def read(self, file: InputFile, workers: int = 1) -> RankedRun | SkippedRun:
        """Read one run file; a run that cannot be read becomes a `SkippedRun`."""
        return self._in_chunks(file, workers) or self._whole(file)

    def _whole(self, file: InputFile) -> RankedRun | SkippedRun:
        """Read any run file, with numbers for all of its docs."""
        reader = RowReader()
        reader.room = self.room
        run = read_run(self.source, file, reader)
        if isinstance(run, SkippedRun):
            return run
        names = reader.queries.texts()
        queries = [names[number] for number in run.queries.tolist()]
        columns = run.columns.rows(0, run.rows)
        lists = self._ranked(queries, run.starts, run.states, columns, reader.docs)
        counts = run.malformed, run.duplicates, run.contradicting
        found = _run(file, run.sha256, run.tag, run.notes, lists, *counts)
        return replace(found, empty=run.empty, metadata=run.metadata)

    def _in_chunks(self, file: InputFile, workers: int) -> RankedRun | None:
        """Read a run in TREC form whose queries are adjacent and whose lists have no duplicates.

        None for any other file, which `_whole` reads or reports.
        """
        policy = self.source.policy
        is_plain = policy.run_format in ("auto", "trec") and not policy.drop_self
        is_plain = is_plain and self.source.doc_rules is None
        if not is_plain or printable(file.name) != file.name:
            return None
        chunks: list[_Chunk] = []
        seen = set[str]()
        try:
            with open_stream(file) as stream:
                texts = list_chunks(stream)
                first = next(texts, b"")
                if not (width := width_of(first_fields(first))):
                    return None
                read = partial(self._chunk, width)
                with closing(ordered_map(read, chain([first], texts), workers=workers)) as found:
                    for chunk in found:
                        if chunk is None or not seen.isdisjoint(chunk.lists.queries):
                            return None
                        chunks.append(chunk)
                        seen.update(chunk.lists.queries)
                sha256 = stream.sha256()
        except DataError:
            return None
        tags = list(dict.fromkeys(tag for chunk in chunks for tag in chunk.tags))
        noticed = sum((chunk.noticed for chunk in chunks), Counter[str]())
        is_auto = policy.run_format == "auto"
        if is_auto and b"\t" in first and may_be_shifted(tags, noticed["ranks"]):
            return None
        notes = reading_notes(tags, noticed["commas"], noticed["ranks"])
        notes += contradiction_notes(noticed["contradicting"])
        lists = _joined([chunk.lists for chunk in chunks])
        tag, counts = tags[0] if tags else None, (0, 0, noticed["contradicting"])
        run = _run(file, sha256, tag, notes, lists, *counts)
        return replace(run, metadata=read_metadata(file)) if first.startswith(b"#") else run

    def _chunk(self, width: int, text: bytes) -> _Chunk | None:
        with self._readers.borrow() as reader:
            reader.queries.restart()
            reader.docs.restart()
            rows = reader.read(io.BytesIO(text), width)
            if rows is None or rows.repeats or len(reader.queries) < len(rows.queries):
                return None
            if rows.comments and self.source.policy.comments == "none":
                return None
            position = np.arange(1, len(rows.doc) + 1, dtype=np.int32)
            columns = {"doc": rows.doc, "score": rows.score, "rank_given": rows.rank}
            columns["position"] = position
            if row_without_rank(self.source.policy.tie_order, columns) is not None:
                return None
            queries = reader.queries.texts()  # each list has a query of its own
            states = np.empty(len(queries), np.uint8)
            score_states(rows.starts, rows.score, states)
            noticed = Counter(
                commas=rows.commas,
                ranks=rows.odd_ranks,
                contradicting=contradicting(rows.starts, states, rows.score, rows.rank),
            )
            lists = self._ranked(queries, rows.starts, states, columns, reader.docs)
            return _Chunk(lists, rows.tags, noticed)

    def _ranked(
        self,
        queries: list[str],
        starts: np.ndarray,
        states: np.ndarray,
        columns: dict[str, np.ndarray],
        docs: Names,
    ) -> RankedLists:
        """Sort lists from file order and number their docs; `docs` has the names of all."""
        policy = self.source.policy
        indices = np.array([self.judged.queries.get(query, -1) for query in queries], np.int64)
        columns = {**columns, "doc_id": self.judged.number(indices, starts, columns["doc"], docs)}
        states = order_lists_by_name(policy.tie_order, starts, states, columns, docs)
        lists, lengths = np.arange(len(queries), dtype=np.int32), np.diff(starts)
        found = cut_lists(policy, lists, lists, lengths, states, columns)
        ids, firsts, primary = found.columns["doc_id"], self.judged.firsts, self.judged.primary
        judged, hashes = list_summaries(indices, indices, found.starts, ids, firsts, primary)
        first_docs = found.columns["doc"][found.starts[:-1]]
        selves = np.count_nonzero(first_docs == docs.numbers_of_texts(queries))
        kept = {name: found.columns[name] for name in ("doc_id", *self.columns)}
        tied, rounded = int(found.tied.sum()), int(found.rounded.sum())
        lengths = np.diff(found.starts)
        counts = int(judged.sum()), int(selves), int(hashes.sum())
        return RankedLists(queries, lengths, kept, tied, rounded, *counts)


def _joined(parts: list[RankedLists]) -> RankedLists:
    """Return the lists of all parts, whose columns are emptied one after another."""
    columns = {
        name: np.concatenate([part.columns.pop(name) for part in parts])
        for name in list(parts[0].columns)
    }
    return RankedLists(
        [query for part in parts for query in part.queries],
        np.concatenate([part.lengths for part in parts]),
        columns,
        sum(part.tied for part in parts),
        sum(part.rounded for part in parts),
        sum(part.judged for part in parts),
        sum(part.selves for part in parts),
        sum(part.hashed for part in parts) % 2**64,
    )


def _run(
    file: InputFile,
    sha256: str,
    tag: str | None,
    notes: list[str],
    lists: RankedLists,
    malformed: int = 0,
    duplicates: int = 0,
    contradicting: int = 0,
) -> RankedRun:
    starts = np.append(0, np.cumsum(lists.lengths))
    return RankedRun(
        file=file.name,
        sha256=sha256,
        tag=tag,
        queries=np.arange(len(lists.queries), dtype=np.int32),
        starts=starts,
        malformed=malformed,
        duplicates=duplicates,
        contradicting=contradicting,
        notes=notes,
        lists=lists,
    )


def number_queries(
    runs: Sequence[RankedRun | SkippedRun], judged: Sequence[str]
) -> tuple[list[RankedRun | SkippedRun], list[str]]:
    """Return runs with numbered queries, judged queries first, and the names of all queries."""
    numbers = {query: number for number, query in enumerate(judged)}
    numbered: list[RankedRun | SkippedRun] = []
    for run in runs:
        if isinstance(run, RankedRun):
            found = [numbers.setdefault(query, len(numbers)) for query in run.lists.queries]
            run = replace(run, queries=np.array(found, np.int32))
        numbered.append(run)
    return numbered, list(numbers)


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation reads of ranked lists.

    `orders`: tie orders of lists, None for that of reading; `ties`: whether it reads which docs are
    tied under the first; `names_docs`: whether it must know which lists share an unjudged doc.
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

    `frames` are the other tables, `lists` the lists of all systems, `queries` their names by index.
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
        """Return the group's lists, see `StoredTrack.lists`."""
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
    """Read a track for evaluation; `columns` are those of rows to keep beside doc_id."""
    source = prepared(source)
    sets, unreadable = read_sets(source, limits)
    beside = read_beside(source, sets, unreadable)
    judged = pl.concat([parsed.frame.select("query", "doc") for _, parsed in sets])
    readers = Readers(judged["query"], judged["doc"])
    names = readers.names()
    pool = judgments(sets, readers, names)
    reader = RankReader(source, JudgedNames.of(pool, names), columns)
    release_freed()  # numbering a million judgments leaves 60 MB
    read, hashes = _read_runs(reader, limits, count)
    read, queries = number_queries(read, names.queries.to_list())
    named = name_runs(source, read, len(names.queries))
    lists = TrackLists(named.runs, [run.queries for run in named.runs], source.policy)
    names = TrackNames(pl.Series(queries, dtype=pl.String), names.docs, {}, {})
    track = complete_track(beside, hashes, rows=lists, named=named, names=names, pool=pool)
    release_freed()
    found = [run.lists for run in lists.runs]
    noticed = Noticed(
        tied=np.array([one.tied for one in found], np.int64),
        rounded=np.array([one.rounded for one in found], np.int64),
        selves=np.array([one.selves for one in found], np.int64),
        judged=np.array([one.judged for one in found], np.int64),
        hashes=np.array([one.hashed for one in found], np.uint64),
    )
    frames = small_frames(track, noticed)
    return RankedTrack(track.record(noticed), frames, lists, names.queries, readers.judged)


def _read_runs(
    reader: RankReader, limits: Limits, count: Callable[[str], None]
) -> tuple[list[RankedRun | SkippedRun], dict[str, str | None]]:
    """Read all runs; return them, and the SHA-256 of each run file and archive."""
    # Threads share the files, or the lists of a file if there are fewer files. From the first file
    # that does not fit into a thread's share of the memory, one thread reads.
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

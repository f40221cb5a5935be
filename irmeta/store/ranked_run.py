"""Reading of runs that are only evaluated: ranked lists in which only judged docs are known.

Docs are numbered by name for one chunk of lists at a time, so that the table of names stays in the
cache of a core, and are then known by their numbers among the judged docs of the query.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np

from irmeta.errors import DataError, printable
from irmeta.kernels.lists import score_states
from irmeta.parallel import ObjectPool, ordered_map
from irmeta.store.assemble import cut_lists
from irmeta.store.judged_names import JudgedNames
from irmeta.store.read_run import (
    RunFacts,
    SkippedRun,
    contradicting,
    contradiction_notes,
    read_run,
)
from irmeta.trec.list_chunks import list_chunks
from irmeta.trec.list_order import order_lists_by_name
from irmeta.trec.numbered_names import Names
from irmeta.trec.room import Room, half_of_memory
from irmeta.trec.rows import RowReader, may_be_shifted, width_of
from irmeta.trec.runs import reading_notes
from irmeta.trec.source import TrackSource
from irmeta.trec.streams import InputFile, open_stream
from irmeta.trec.text import first_fields
from irmeta.trec.tie_orders import row_without_rank


@dataclass(frozen=True)
class RankedLists:
    """Ranked lists of one run; rows are in the order of the policy, up to its depth.

    Attributes
    ----------
    queries
        The name of the query of each list.
    lengths
        int64, by list.
    columns
        By row: doc_id, and the columns that evaluation compares.
    tied, rounded, judged, selves
        Number of rows that share their score with another row of their list, of those whose score
        as given differs from one that it shares, of rows whose doc is judged, and of lists whose
        first doc has the id of the query.
    hashed
        Hash of the judged docs and their ranks, a sum over lists of uint64.
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
    """The ranked lists of a run file; `queries` are numbered by the track.

    Attributes
    ----------
    lists
        The lists, `starts` being their first rows.
    """

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
    """Reader of the runs of a track to ranked lists.

    Attributes
    ----------
    columns
        The columns of rows to keep beside doc_id.
    room
        The memory left for reading a file.
    """

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
        return replace(found, empty=run.empty)

    def _in_chunks(self, file: InputFile, workers: int) -> RankedRun | None:
        """Read a run in TREC form whose queries are adjacent and whose lists have no duplicates.

        None for any other file, which `_whole` reads or reports.
        """
        policy = self.source.policy
        is_plain = policy.run_format in ("auto", "trec") and not policy.drop_self
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
        return _run(file, sha256, tag, notes, lists, *counts)

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
        judged, hashed = self.judged.summarize(indices, found.starts, found.columns["doc_id"])
        first_docs = found.columns["doc"][found.starts[:-1]]
        selves = np.count_nonzero(first_docs == docs.numbers_of_texts(queries))
        kept = {name: found.columns[name] for name in ("doc_id", *self.columns)}
        tied, rounded = int(found.tied.sum()), int(found.rounded.sum())
        lengths = np.diff(found.starts)
        return RankedLists(queries, lengths, kept, tied, rounded, judged, int(selves), hashed)


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

"""The docs and runs tables of a track, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.kernels.numbering import collect, number
from irmeta.parallel import ordered_map
from irmeta.store.assemble import Lists, TrackRows
from irmeta.store.judgments import Judgments
from irmeta.store.names import TrackNames
from irmeta.store.writing import (
    GROUP_ROWS,
    column,
    constant,
    dictionary,
    nullable,
    part_writer,
    strings,
)
from irmeta.trec.rows import NO_RANK


@dataclass(frozen=True)
class _Track:
    """What all groups of a track are made from."""

    name: str
    systems: pl.Series
    rows: TrackRows
    pool: Judgments
    names: TrackNames
    spaces: _Spaces


@dataclass(frozen=True)
class _Group:
    """A row group of the long table, and the docs of its queries.

    Attributes
    ----------
    columns
        None where no system has a list for any of the queries.
    queries, lengths, docs
        Places of queries, how many docs each has, and the places of these, by number.
    tied
        int64 [systems]: rows that share their score with another of their list.
    """

    columns: dict[str, pa.Array] | None
    queries: np.ndarray
    lengths: np.ndarray
    docs: np.ndarray
    tied: np.ndarray


def write_docs_and_runs(
    stage: Path,
    track: str,
    rows: TrackRows,
    pool: Judgments,
    names: TrackNames,
    workers: int | None,
) -> np.ndarray:
    """Number the docs of each query, judged ones first, and write the docs and runs tables.

    Returns
    -------
    int64: how many rows of each system share their score, as float32, with another of their list.
    """
    systems = pl.Series([run.system for run in rows.runs], dtype=pl.String)
    whole = _Track(track, systems, rows, pool, names, _Spaces(len(names.docs)))
    tied = np.zeros(len(systems), np.int64)
    with (
        part_writer("runs", stage / "runs") as run_writer,
        part_writer("docs", stage / "docs") as doc_writer,
    ):
        docs = _DocGroup(track, names)
        for group in ordered_map(partial(_group, whole), _portions(rows, pool), workers=workers):
            tied += group.tied
            docs.add(group)
            if group.columns is not None:
                run_writer.write(group.columns)
            if docs.rows >= GROUP_ROWS:
                doc_writer.write(docs.take())
        if docs.rows:
            doc_writer.write(docs.take())
    return tied


def _portions(rows: TrackRows, pool: Judgments) -> Iterator[np.ndarray]:
    """The places of all queries, in portions that each fill a row group."""
    queries = np.union1d(pool.queries(), rows.queries)
    counts = np.zeros(len(queries), np.int64)
    counts[np.searchsorted(queries, rows.queries)] = rows.rows
    first = held = 0
    for place, count in enumerate(counts.tolist()):
        held += count
        if held >= GROUP_ROWS:
            yield queries[first : place + 1]
            first, held = place + 1, 0
    if first < len(queries):
        yield queries[first:]


class _Spaces:
    """Working space as long as there are docs, for each thread that asks."""

    def __init__(self, docs: int) -> None:
        self._docs = docs
        self._idle: SimpleQueue[_Space] = SimpleQueue()

    def take(self) -> _Space:
        try:
            return self._idle.get_nowait()
        except Empty:
            return _Space(np.zeros(self._docs, np.int32), np.empty(self._docs, np.int32))

    def give(self, space: _Space) -> None:
        self._idle.put(space)


@dataclass
class _Space:
    """See irmeta.kernels.numbering; `stamp` is the last that was used."""

    seen: np.ndarray
    number_of: np.ndarray
    stamp: int = 0

    def distinct(
        self, docs: np.ndarray, starts: np.ndarray, judged: np.ndarray, judged_starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sorted, for each query, the docs that no one judged; and where those of each end."""
        found, ends = np.empty(len(docs), np.int32), np.empty(len(starts) - 1, np.int64)
        collect(docs, starts, judged, judged_starts, self.seen, self.stamp + 1, found, ends)
        self.stamp += len(ends)
        for start, stop in pairwise([0, *ends.tolist()]):
            found[start:stop].sort()
        return found[: ends[-1]], ends


def _group(track: _Track, queries: np.ndarray) -> _Group:
    bounds = track.pool.bounds(queries)
    judged, primary = track.pool.docs(bounds), track.pool.primary[bounds[0] : bounds[-1]]
    judged_starts = bounds - bounds[0]
    if not np.isin(queries, track.rows.queries).any():
        none = np.zeros(len(track.systems), np.int64)
        return _Group(None, queries, np.diff(judged_starts), judged, none)
    lists = track.rows.lists(int(queries[0]), int(queries[-1]) + 1)
    starts = lists.starts[np.searchsorted(lists.query, np.append(queries, queries[-1] + 1))]
    docs = lists.columns["doc"]
    space = track.spaces.take()
    found, ends = space.distinct(docs, starts, judged, judged_starts)
    doc_ids, grades = np.empty(len(docs), np.int32), np.empty(len(docs), np.int16)
    number(
        docs, starts, judged, judged_starts, primary, found, ends, space.number_of,
        Judgments.NO_GRADE, doc_ids, grades,
    )  # fmt: skip
    columns = _columns(track, lists, doc_ids, grades) | {"doc": _doc_column(track, docs, space)}
    track.spaces.give(space)
    tied = np.bincount(lists.system, lists.tied, len(track.systems)).astype(np.int64)
    lengths = np.diff(judged_starts) + np.diff(ends, prepend=0)
    return _Group(columns, queries, lengths, _merged(judged, judged_starts, found, ends), tied)


def _merged(
    judged: np.ndarray, judged_starts: np.ndarray, found: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """The docs of each query by number: its judged ones, then those found."""
    of_judged, of_found = np.diff(judged_starts), np.diff(ends, prepend=0)
    first = np.cumsum(of_judged + of_found) - of_judged - of_found
    docs = np.empty(len(judged) + len(found), np.int32)
    docs[np.arange(len(judged)) + np.repeat(first - judged_starts[:-1], of_judged)] = judged
    shift = first + of_judged - (ends - of_found)
    docs[np.arange(len(found)) + np.repeat(shift, of_found)] = found
    return docs


def _doc_column(track: _Track, docs: np.ndarray, space: _Space) -> pa.DictionaryArray:
    """The docs as strings, with only those that occur, sorted."""
    none, start = np.empty(0, np.int32), np.zeros(2, np.int64)
    bounds = np.array([0, len(docs)])
    used, ends = space.distinct(docs, bounds, none, start)
    codes, unread = np.empty(len(docs), np.int32), np.empty(len(docs), np.int16)
    number(
        docs, bounds, none, start, np.empty(0, np.int16), used, ends, space.number_of,
        Judgments.NO_GRADE, codes, unread,
    )  # fmt: skip
    return pa.DictionaryArray.from_arrays(column(codes), strings(track.names.docs, used))


def _columns(
    track: _Track, lists: Lists, doc_ids: np.ndarray, grades: np.ndarray
) -> dict[str, pa.Array]:
    """The other columns of the long table."""
    rows = lists.columns
    lengths = np.diff(lists.starts)
    return {
        "track": constant(track.name, len(grades)),
        "query": dictionary(lists.query, track.names.queries, lengths),
        "system": dictionary(lists.system, track.systems, lengths),
        "rank": column(rows["rank"]),
        "grade": column(grades.astype(np.int8), grades != Judgments.NO_GRADE),
        "score": column(rows["score"]),
        "position": column(rows["position"]),
        "rank_given": nullable(rows["rank_given"], NO_RANK),
        "doc_id": column(doc_ids),
    }


class _DocGroup:
    """Gathers whole queries of the docs table until they fill a row group."""

    def __init__(self, track: str, names: TrackNames) -> None:
        self.track, self.names = track, names
        self.rows = 0
        self._held: list[tuple[np.ndarray, ...]] = []

    def add(self, group: _Group) -> None:
        self._held.append((group.queries, group.lengths, group.docs))
        self.rows += len(group.docs)

    def take(self) -> dict[str, pa.Array]:
        """The columns gathered so far as Arrow arrays; gathering begins anew."""
        queries, lengths, docs = map(np.concatenate, zip(*self._held, strict=True))
        first = np.repeat(np.cumsum(lengths) - lengths, lengths)
        group = {
            "track": constant(self.track, self.rows),
            "query": dictionary(queries, self.names.queries, lengths),
            "doc_id": column((np.arange(self.rows) - first).astype(np.int32)),
            "doc": strings(self.names.docs, docs),
        }
        self._held, self.rows = [], 0
        return group

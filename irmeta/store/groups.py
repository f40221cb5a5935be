"""The docs and runs tables of a track, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.kernels.numbering import collect, number
from irmeta.parallel import Lent, ordered_map
from irmeta.store.assemble import Lists, TrackRows
from irmeta.store.judgments import Judgments
from irmeta.store.readers import TrackNames
from irmeta.store.reading import rows_of
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
    spaces: Lent[_Space]


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
    whole = _Track(track, systems, rows, pool, names, Lent(partial(_Space.of, len(names.docs))))
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


@dataclass
class _Space:
    """Working space, see irmeta.kernels.numbering; `stamp` is the last that was used."""

    seen: np.ndarray
    number_of: np.ndarray
    stamp: int = 0

    @classmethod
    def of(cls, docs: int) -> _Space:
        """For a track of so many docs."""
        return cls(np.zeros(docs, np.int32), np.empty(docs, np.int32))

    def numbered(self, docs: np.ndarray, starts: np.ndarray, judged: _Judged) -> _Numbered:
        """The docs of each query by number, judged ones first, and each row's number and grade."""
        found, ends = np.empty(len(docs), np.int32), np.empty(len(starts) - 1, np.int64)
        known = judged.docs, judged.starts
        collect(docs, starts, *known, self.seen, self.stamp + 1, found, ends)
        self.stamp += len(ends)
        for start, stop in pairwise([0, *ends.tolist()]):
            found[start:stop].sort()
        numbers, grades = np.empty(len(docs), np.int32), np.empty(len(docs), np.int16)
        number(
            docs, starts, *known, judged.grades, found, ends, self.number_of, Judgments.NO_GRADE,
            numbers, grades,
        )  # fmt: skip
        return _Numbered(found[: ends[-1]], ends, numbers, grades)


class _Judged(NamedTuple):
    """The judged docs of some queries, where those of each begin, and their primary grades."""

    docs: np.ndarray
    starts: np.ndarray
    grades: np.ndarray


class _Numbered(NamedTuple):
    """The docs that no one judged, where those of each query end, and two values of each row."""

    found: np.ndarray
    ends: np.ndarray
    numbers: np.ndarray
    grades: np.ndarray


def _group(track: _Track, queries: np.ndarray) -> _Group:
    bounds = track.pool.bounds(queries)
    primary = track.pool.primary[bounds[0] : bounds[-1]]
    judged = _Judged(track.pool.docs(bounds), bounds - bounds[0], primary)
    if not np.isin(queries, track.rows.queries).any():
        none = np.zeros(len(track.systems), np.int64)
        return _Group(None, queries, np.diff(judged.starts), judged.docs, none)
    lists = track.rows.lists(int(queries[0]), int(queries[-1]) + 1)
    starts = lists.starts[np.searchsorted(lists.query, np.append(queries, queries[-1] + 1))]
    docs = lists.columns["doc"]
    with track.spaces.lend() as space:
        own = space.numbered(docs, starts, judged)
        doc = _doc_column(track, docs, space)
    columns = _columns(track, lists, own) | {"doc": doc}
    tied = np.bincount(lists.system, lists.tied, len(track.systems)).astype(np.int64)
    lengths = np.diff(judged.starts) + np.diff(own.ends, prepend=0)
    return _Group(columns, queries, lengths, _merged(judged, own), tied)


def _merged(judged: _Judged, own: _Numbered) -> np.ndarray:
    """The docs of each query by number: its judged ones, then those found."""
    of_judged, of_found = np.diff(judged.starts), np.diff(own.ends, prepend=0)
    first = np.cumsum(of_judged + of_found) - of_judged - of_found
    docs = np.empty(len(judged.docs) + len(own.found), np.int32)
    docs[rows_of(first, of_judged)] = judged.docs
    docs[rows_of(first + of_judged, of_found)] = own.found
    return docs


def _doc_column(track: _Track, docs: np.ndarray, space: _Space) -> pa.DictionaryArray:
    """The docs as strings, with only those that occur, sorted."""
    none = _Judged(np.empty(0, np.int32), np.zeros(2, np.int64), np.empty(0, np.int16))
    own = space.numbered(docs, np.array([0, len(docs)]), none)
    names = strings(track.names.docs, own.found)
    return pa.DictionaryArray.from_arrays(column(own.numbers), names)


def _columns(track: _Track, lists: Lists, own: _Numbered) -> dict[str, pa.Array]:
    """All columns of the long table but doc."""
    rows = lists.columns
    lengths = np.diff(lists.starts)
    return {
        "track": constant(track.name, len(own.numbers)),
        "query": dictionary(lists.query, track.names.queries, lengths),
        "system": dictionary(lists.system, track.systems, lengths),
        "rank": column(rows["rank"]),
        "grade": column(own.grades.astype(np.int8), own.grades != Judgments.NO_GRADE),
        "score": column(rows["score"]),
        "position": column(rows["position"]),
        "rank_given": nullable(rows["rank_given"], NO_RANK),
        "doc_id": column(own.numbers),
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

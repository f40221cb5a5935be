"""Write the runs and docs tables of a track to Parquet, one row group per group of queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.kernels.lists import collect, number
from irmeta.parallel import ObjectPool, ordered_map
from irmeta.schema.arrow import column, constant, dictionary, nullable, strings
from irmeta.store.assemble import Lists, TrackRows
from irmeta.store.parquet import part_writer
from irmeta.store.readers import Judgments, TrackNames, list_summaries
from irmeta.trec.runs import NO_RANK
from irmeta.trec.tie_orders import ranks_from, rows_of

GROUP_ROWS = 1 << 17
"""Rows after which a group ends at the next query. A group holds complete queries, because readers,
kernels and workers divide a track by queries.
"""


@dataclass(frozen=True)
class Group:
    """The lists of some queries (None without any), with the number and grade of each row's doc.

    `queries`, `lengths` and `docs` are indices of queries, their numbers of docs and the indices of
    these, judged docs first: a doc's number is its position there. `numbers` and `grades` are int32
    by row; `judged` and `hashes` by list, see `irmeta.kernels.lists.summarize_judged`.
    """

    queries: np.ndarray
    lengths: np.ndarray
    docs: np.ndarray
    lists: Lists | None
    numbers: np.ndarray
    grades: np.ndarray
    judged: np.ndarray
    hashes: np.ndarray


class Groups:
    """All groups of a track, each built on request."""

    def __init__(self, rows: TrackRows, pool: Judgments, names: TrackNames) -> None:
        self._rows, self._pool = rows, pool
        self._spaces = ObjectPool(partial(_Space.of, len(names.docs)))

    def portions(self) -> Iterator[np.ndarray]:
        """Yield the indices of all queries, in portions of one group each."""
        rows = self._rows
        queries = np.union1d(self._pool.queries(), rows.queries)
        counts = np.zeros(len(queries), np.int64)
        counts[np.searchsorted(queries, rows.queries)] = rows.rows
        first = total = 0
        for index, count in enumerate(counts.tolist()):
            total += count
            if total >= GROUP_ROWS:
                yield queries[first : index + 1]
                first, total = index + 1, 0
        if first < len(queries):
            yield queries[first:]

    def group(self, queries: np.ndarray) -> Group:
        """Build the group of one portion."""
        bounds = self._pool.bounds(queries)
        primary = self._pool.primary[bounds[0] : bounds[-1]]
        judged = _Judged(self._pool.docs(bounds), bounds - bounds[0], primary)
        if not np.isin(queries, self._rows.queries).any():
            none = np.empty(0, np.int32)
            counts = none.astype(np.int64), none.astype(np.uint64)
            lengths, grades = np.diff(judged.starts), none
            return Group(queries, lengths, judged.docs, None, none, grades, *counts)
        lists = self._rows.lists(int(queries[0]), int(queries[-1]) + 1)
        starts = lists.starts[np.searchsorted(lists.query, np.append(queries, queries[-1] + 1))]
        with self._spaces.borrow() as space:
            rows = space.number(lists.columns["doc"], starts, judged)
        lengths = np.diff(judged.starts) + np.diff(rows.ends, prepend=0)
        place = np.searchsorted(queries, lists.query)
        query = lists.query.astype(np.int64)
        found = list_summaries(
            query, place, lists.starts, rows.numbers, judged.starts, judged.grades
        )
        docs = _merge(judged, rows)
        return Group(queries, lengths, docs, lists, rows.numbers, rows.grades, *found)

    def distinct(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct docs, sorted, and the index of each doc in them: int32."""
        none = _Judged(np.empty(0, np.int32), np.zeros(2, np.int64), np.empty(0, np.int32))
        with self._spaces.borrow() as space:
            rows = space.number(docs, np.array([0, len(docs)]), none)
        return rows.unjudged, rows.numbers


@dataclass
class _Space:
    """Scratch arrays, see irmeta.kernels.lists; `stamp` is the last one used."""

    seen: np.ndarray
    number_of: np.ndarray
    grade_of: np.ndarray
    stamp: int = 0

    @classmethod
    def of(cls, docs: int) -> _Space:
        """Allocate scratch arrays for a track of `docs` docs."""
        number_of, grade_of = np.empty((2, docs), np.int32)
        return cls(np.zeros(docs, np.int32), number_of, grade_of)

    def number(self, docs: np.ndarray, starts: np.ndarray, judged: _Judged) -> _Numbered:
        """Assign numbers to each query's docs, judged docs first, and to all rows."""
        unjudged, ends = np.empty(len(docs), np.int32), np.empty(len(starts) - 1, np.int64)
        known = judged.docs, judged.starts
        collect(docs, starts, *known, self.seen, self.stamp + 1, unjudged, ends)
        self.stamp += len(ends)
        for start, stop in pairwise([0, *ends.tolist()]):
            unjudged[start:stop].sort()
        numbers, grades = np.empty((2, len(docs)), np.int32)
        number(
            docs, starts, *known, judged.grades, unjudged, ends, self.number_of, self.grade_of,
            Judgments.NO_GRADE, numbers, grades,
        )  # fmt: skip
        return _Numbered(unjudged[: ends[-1]], ends, numbers, grades)


class _Judged(NamedTuple):
    """Judged docs of some queries, the first doc of each query, and primary grades."""

    docs: np.ndarray
    starts: np.ndarray
    grades: np.ndarray


class _Numbered(NamedTuple):
    """Unjudged docs, their end for each query, and the number and grade of each row."""

    unjudged: np.ndarray
    ends: np.ndarray
    numbers: np.ndarray
    grades: np.ndarray


def _merge(judged: _Judged, rows: _Numbered) -> np.ndarray:
    """Return the docs of each query by number: its judged docs, then the unjudged."""
    judged_counts, unjudged_counts = np.diff(judged.starts), np.diff(rows.ends, prepend=0)
    first = np.cumsum(judged_counts + unjudged_counts) - judged_counts - unjudged_counts
    docs = np.empty(len(judged.docs) + len(rows.unjudged), np.int32)
    docs[rows_of(first, judged_counts)] = judged.docs
    docs[rows_of(first + judged_counts, unjudged_counts)] = rows.unjudged
    return docs


class Names(NamedTuple):
    """Names by the numbers of a track's groups; `levels` as in `Judgments`."""

    track: str
    systems: pl.Series
    queries: pl.Series
    docs: pl.Series
    levels: np.ndarray | None = None


class _Ready(NamedTuple):
    """A group with its columns of the long table."""

    columns: dict[str, pa.Array] | None
    docs: tuple[np.ndarray, ...]
    noticed: Noticed


@dataclass
class Noticed:
    """Counts of each system's rows and lists, made while lists are ordered: int64, `hashes` uint64.

    `tied`: rows that share their score, as float32, with another row of their list; `rounded`:
    those whose score as given differs from one that it shares; `selves`: lists whose first doc has
    the id of the query; `judged`: rows judged in the primary qrels; `hashes`: of judged docs and
    ranks.
    """

    tied: np.ndarray
    rounded: np.ndarray
    selves: np.ndarray
    judged: np.ndarray
    hashes: np.ndarray

    @classmethod
    def none(cls, systems: int) -> Noticed:
        """Return counts of 0."""
        tied, rounded, selves, judged = np.zeros((4, systems), np.int64)
        return cls(tied, rounded, selves, judged, np.zeros(systems, np.uint64))

    @classmethod
    def of(cls, group: Group, names: Names) -> Noticed:
        """Return the counts of a group."""
        counts, systems = cls.none(len(names.systems)), len(names.systems)
        if (lists := group.lists) is not None:
            firsts = lists.columns["doc"][lists.starts[:-1]]
            queries = np.unique(lists.query)
            # Names are sorted by their bytes, and all lists have a doc.
            places = names.docs.search_sorted(names.queries.gather(queries)).to_numpy()
            is_self = firsts == places[np.searchsorted(queries, lists.query)]
            rows = np.flatnonzero(is_self)
            same = names.docs.gather(firsts[rows]) == names.queries.gather(lists.query[rows])
            counts.selves = np.bincount(lists.system[rows], same.to_numpy(), systems).astype(int)
            np.add.at(counts.tied, lists.system, lists.tied)
            np.add.at(counts.rounded, lists.system, lists.rounded)
            np.add.at(counts.judged, lists.system, group.judged)
            np.add.at(counts.hashes, lists.system, group.hashes)
        return counts

    def add(self, other: Noticed) -> None:
        """Add the counts of a group."""
        for one in fields(self):
            counts = getattr(self, one.name)
            counts += getattr(other, one.name)


def write_docs_and_runs(stage: Path, names: Names, groups: Groups, workers: int) -> Noticed:
    """Write the docs and runs tables."""
    noticed = Noticed.none(len(names.systems))
    with (
        part_writer("runs", stage / "runs") as run_writer,
        part_writer("docs", stage / "docs") as doc_writer,
    ):
        docs = _DocGroup(names)
        ready = partial(make_row_group, names, groups)
        for group in ordered_map(ready, groups.portions(), workers=workers):
            noticed.add(group.noticed)
            docs.add(group.docs)
            if group.columns is not None:
                run_writer.write(group.columns)
            if docs.rows >= GROUP_ROWS:
                doc_writer.write(docs.take())
        if docs.rows:
            doc_writer.write(docs.take())
    return noticed


def make_row_group(names: Names, groups: Groups, queries: np.ndarray) -> _Ready:
    """Build the columns of a group of queries, with doc ids and grades."""
    group = groups.group(queries)
    columns = None
    if group.lists is not None:
        distinct, doc_of_row = groups.distinct(group.lists.columns["doc"])
        columns = run_columns(names, group, distinct, doc_of_row)
    docs = (group.queries, group.lengths, group.docs)
    return _Ready(columns, docs, Noticed.of(group, names))


def run_columns(
    names: Names, group: Group, docs: np.ndarray, doc_of_row: np.ndarray
) -> dict[str, pa.Array]:
    """Return all columns of the long table for a group with lists.

    `docs` has each of the group's docs once, sorted, and `doc_of_row` indexes it: Parquet stores
    the dictionary in every row group, where names that do not occur would take space.
    """
    assert group.lists is not None
    rows = group.lists.columns
    lengths = np.diff(group.lists.starts)
    is_judged = group.grades != Judgments.NO_GRADE
    if names.levels is None:
        grades = group.grades.astype(np.int8)
    else:
        grades = names.levels[np.where(is_judged, group.grades, 0)]
    return {
        "track": constant(names.track, len(group.numbers)),
        "query": dictionary(group.lists.query, names.queries, lengths),
        "system": dictionary(group.lists.system, names.systems, lengths),
        "rank": column(ranks_from(group.lists.starts)),
        "doc": pa.DictionaryArray.from_arrays(column(doc_of_row), strings(names.docs, docs)),
        "grade": column(grades, is_judged),
        "score": column(rows["score"]),
        "position": column(rows["position"]),
        "rank_given": nullable(rows["rank_given"], NO_RANK),
        "doc_id": column(group.numbers),
    }


def doc_columns(
    names: Names, queries: np.ndarray, lengths: np.ndarray, docs: np.ndarray
) -> dict[str, pa.Array]:
    """Return all columns of the docs table for complete queries; for the arguments see `Group`."""
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return {
        "track": constant(names.track, len(docs)),
        "query": dictionary(queries, names.queries, lengths),
        "doc_id": column((np.arange(len(docs)) - first).astype(np.int32)),
        "doc": strings(names.docs, docs),
    }


class _DocGroup:
    """Collector of complete queries of the docs table, up to a full row group."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self.rows = 0
        self._collected: list[tuple[np.ndarray, ...]] = []

    def add(self, docs: tuple[np.ndarray, ...]) -> None:
        self._collected.append(docs)
        self.rows += len(docs[-1])

    def take(self) -> dict[str, pa.Array]:
        """Return the collected columns and start over."""
        queries, lengths, docs = map(np.concatenate, zip(*self._collected, strict=True))
        self._collected, self.rows = [], 0
        return doc_columns(self._names, queries, lengths, docs)

"""Groups of adjacent queries of a track: their ordered lists and numbered docs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from irmeta.kernels.lists import collect, number
from irmeta.parallel import ObjectPool
from irmeta.store.assemble import Lists, TrackRows
from irmeta.store.judged_names import list_summaries
from irmeta.store.readers import Judgments, TrackNames
from irmeta.trec.ordering import rows_of

GROUP_ROWS = 1 << 17
"""Rows after which a group ends at the next query. A group holds complete queries, because readers,
kernels and workers divide a track by queries.
"""


@dataclass(frozen=True)
class Group:
    """The lists of some queries, with the number and grade of each row's doc.

    Attributes
    ----------
    queries, lengths, docs
        Indices of the queries, the number of docs of each, and the indices of these docs, judged
        docs first. A doc's number is its position among the docs of its query.
    lists
        None if no system has a list for any of the queries.
    numbers, grades
        int32, by row of `lists`: the number of its doc, and its value in
        `Judgments.primary`.
    judged, hashes
        By list, see `irmeta.kernels.lists.summarize_judged`.
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

"""Neighbouring queries of a track: their lists in order, and their docs by number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from irmeta.kernels.numbering import collect, number
from irmeta.parallel import Lent
from irmeta.store.assemble import Lists, TrackRows
from irmeta.store.judgments import Judgments
from irmeta.store.readers import TrackNames
from irmeta.trec.ordering import rows_of

GROUP_ROWS = 1 << 17  # a group ends at the first query boundary after this many rows


@dataclass(frozen=True)
class Group:
    """The lists of some queries, with what each row's doc is to its query.

    Attributes
    ----------
    queries, lengths, docs
        Places of the queries, how many docs each has, and the places of these, by number: judged
        ones first.
    lists
        None where no system has a list for any of the queries.
    numbers, grades
        int32 and int16, by row of `lists`: the number of its doc, and its grade in the primary set,
        or `Judgments.NO_GRADE`.
    """

    queries: np.ndarray
    lengths: np.ndarray
    docs: np.ndarray
    lists: Lists | None
    numbers: np.ndarray
    grades: np.ndarray

    @property
    def judged_rows(self) -> int:
        """How many rows have a doc that the primary set judges."""
        return int(np.count_nonzero(self.grades != Judgments.NO_GRADE))


class Groups:
    """All groups of a track, each made when it is asked for."""

    def __init__(self, rows: TrackRows, pool: Judgments, names: TrackNames) -> None:
        self._rows, self._pool = rows, pool
        self._spaces = Lent(partial(_Space.of, len(names.docs)))

    def portions(self) -> Iterator[np.ndarray]:
        """The places of all queries, in portions that each fill a group."""
        rows = self._rows
        queries = np.union1d(self._pool.queries(), rows.queries)
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

    def group(self, queries: np.ndarray) -> Group:
        """The group of one portion."""
        bounds = self._pool.bounds(queries)
        primary = self._pool.primary[bounds[0] : bounds[-1]]
        judged = _Judged(self._pool.docs(bounds), bounds - bounds[0], primary)
        if not np.isin(queries, self._rows.queries).any():
            none = np.empty(0, np.int32)
            return Group(
                queries, np.diff(judged.starts), judged.docs, None, none, none.astype(np.int16)
            )
        lists = self._rows.lists(int(queries[0]), int(queries[-1]) + 1)
        starts = lists.starts[np.searchsorted(lists.query, np.append(queries, queries[-1] + 1))]
        with self._spaces.lend() as space:
            own = space.numbered(lists.columns["doc"], starts, judged)
        lengths = np.diff(judged.starts) + np.diff(own.ends, prepend=0)
        return Group(queries, lengths, _merged(judged, own), lists, own.numbers, own.grades)

    def distinct(self, docs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Each of some docs once, sorted, and where each is among them: int32."""
        none = _Judged(np.empty(0, np.int32), np.zeros(2, np.int64), np.empty(0, np.int16))
        with self._spaces.lend() as space:
            own = space.numbered(docs, np.array([0, len(docs)]), none)
        return own.found, own.numbers


@dataclass
class _Space:
    """Working space, see irmeta.kernels.numbering; `stamp` is the last that was used."""

    seen: np.ndarray
    number_of: np.ndarray
    grade_of: np.ndarray
    stamp: int = 0

    @classmethod
    def of(cls, docs: int) -> _Space:
        """For a track of so many docs."""
        return cls(np.zeros(docs, np.int32), np.empty(docs, np.int32), np.empty(docs, np.int16))

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
            docs, starts, *known, judged.grades, found, ends, self.number_of, self.grade_of,
            Judgments.NO_GRADE, numbers, grades,
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


def _merged(judged: _Judged, own: _Numbered) -> np.ndarray:
    """The docs of each query by number: its judged ones, then those found."""
    of_judged, of_found = np.diff(judged.starts), np.diff(own.ends, prepend=0)
    first = np.cumsum(of_judged + of_found) - of_judged - of_found
    docs = np.empty(len(judged.docs) + len(own.found), np.int32)
    docs[rows_of(first, of_judged)] = judged.docs
    docs[rows_of(first + of_judged, of_found)] = own.found
    return docs

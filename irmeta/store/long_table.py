"""Write the runs and docs tables of a track to Parquet, one row group per group of queries."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.parallel import ordered_map
from irmeta.schema.arrow import column, constant, dictionary, nullable, strings
from irmeta.store.groups import GROUP_ROWS, Group, Groups
from irmeta.store.readers import Judgments
from irmeta.store.writing import part_writer
from irmeta.trec.ordering import ranks_from
from irmeta.trec.rows import NO_RANK


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
    """Counts of rows and lists, made while lists are ordered.

    Attributes
    ----------
    tied, rounded
        int64: each system's number of rows that share their score, as float32, with another row
        of their list; and of those whose score as given differs from one that it shares.
    selves
        int64: each system's number of lists whose first doc has the id of their query.
    judged
        int64: each system's number of rows of docs judged in the primary qrels.
    hashes
        uint64: hash of each system's judged docs and their ranks.
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

    `docs` holds each of the group's docs once, sorted; `doc_of_row` indexes it by row. Parquet
    stores the dictionary in every row group, so names that do not occur would take space.
    """
    assert group.lists is not None
    rows = group.lists.columns
    lengths = np.diff(group.lists.starts)
    return {
        "track": constant(names.track, len(group.numbers)),
        "query": dictionary(group.lists.query, names.queries, lengths),
        "system": dictionary(group.lists.system, names.systems, lengths),
        "rank": column(ranks_from(group.lists.starts)),
        "doc": pa.DictionaryArray.from_arrays(column(doc_of_row), strings(names.docs, docs)),
        "grade": column(_grades(names, group), group.grades != Judgments.NO_GRADE),
        "score": column(rows["score"]),
        "position": column(rows["position"]),
        "rank_given": nullable(rows["rank_given"], NO_RANK),
        "doc_id": column(group.numbers),
    }


def _grades(names: Names, group: Group) -> np.ndarray:
    """Return the grade of each row in the primary set, any for rows without one."""
    if names.levels is None:
        return group.grades.astype(np.int8)
    return names.levels[np.where(group.grades == Judgments.NO_GRADE, 0, group.grades)]


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

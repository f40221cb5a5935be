"""Readers of one track's runs, with all numbered names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.kernels.interning import number_judged
from irmeta.kernels.lists import summarize_judged
from irmeta.parallel import ObjectPool, release_freed
from irmeta.trec.numbered_names import SLACK, Names, in_order
from irmeta.trec.qrels import QrelsText
from irmeta.trec.readers.columns import bounds_and_bytes, large_strings
from irmeta.trec.runs import RowReader
from irmeta.trec.source import QrelsSource


class Readers(ObjectPool[RowReader]):
    """One reader per thread, until `unite`; all number the judged queries first and equally.

    `first` also numbers the judged docs; `judged_queries` and `judged_docs` are its int32 numbers
    of the queries and docs of the judgments, in order.
    """

    def __init__(self, queries: pl.Series, docs: pl.Series) -> None:
        super().__init__(self._new)
        self._queries = queries.unique().sort()
        self._united: dict[RowReader, np.ndarray] = {}
        self.judged: int = len(self._queries)
        with self.borrow() as reader:
            self.judged_queries: np.ndarray = reader.queries.numbers(queries)
            self.judged_docs: np.ndarray = reader.docs.numbers(docs)
        self.first: RowReader = reader

    def _new(self) -> RowReader:
        reader = RowReader()
        reader.queries.numbers(self._queries)
        return reader

    @property
    def held(self) -> int:
        """Return the memory of the readers in bytes."""
        return sum(reader.held for reader in self.all)

    @property
    def docs(self) -> list[Names]:
        """Return the docs of all readers."""
        return [reader.docs for reader in self.all]

    def unite(self) -> None:
        """Move the docs of all readers to the first, the only one from now on.

        No reader is borrowed. A doc that several readers have numbered is then held once.
        """
        for reader in self.all:
            if reader is not self.first and reader not in self._united:
                self._united[reader] = self.first.docs.absorb(reader.docs)
                reader.docs.clear()
                reader.finish()
        self.keep(self.first)
        release_freed()

    def names(self) -> TrackNames:
        """Return all names and finish the readers, after the last run was read."""
        self.unite()
        self.first.finish()
        queries, query_indices = in_order([reader.queries for reader in self.all])
        docs, (index,) = in_order([self.first.docs])
        doc_indices = {reader: index[numbers] for reader, numbers in self._united.items()}
        self._united.clear()
        return TrackNames(
            queries,
            docs,
            dict(zip(self.all, query_indices, strict=True)),
            {self.first: index} | doc_indices,
        )


@dataclass(frozen=True)
class TrackNames:
    """All queries and docs of a track, sorted by bytes; by reader, int32 indices by number."""

    queries: pl.Series
    docs: pl.Series
    query_indices: dict[RowReader, np.ndarray]
    doc_indices: dict[RowReader, np.ndarray]


@dataclass(frozen=True)
class Judgments:
    """Judged docs of each query over all qrels sets: sorted `pairs` ``query << 32 | doc``.

    `primary` is the int32 grade in the primary set, `NO_GRADE` without one, or an index in
    `levels`, its distinct grades where they are not int8. `frames` (set, query, subtopic, doc,
    grade, doc_id) and `samples` (set, query, doc, doc_id, stratum, method, probability) have one
    frame per set.
    """

    NO_GRADE = 2**31 - 1
    pairs: np.ndarray
    primary: np.ndarray
    frames: tuple[pl.DataFrame, ...]
    samples: tuple[pl.DataFrame, ...] = ()
    levels: np.ndarray | None = None

    def bounds(self, queries: np.ndarray) -> np.ndarray:
        """Return the first pair of each query, and the end of the last query's pairs.

        `queries` are sorted; pairs between bounds belong to them only if they skip no judged query.
        """
        ends = np.append(queries, queries[-1] + 1).astype(np.uint64)
        return np.searchsorted(self.pairs, ends << np.uint64(32))

    def docs(self, bounds: np.ndarray) -> np.ndarray:
        """Return the docs of the pairs between the first and last of `bounds`, as int32."""
        return (self.pairs[bounds[0] : bounds[-1]] & np.uint64(0xFFFFFFFF)).astype(np.int32)

    def queries(self) -> np.ndarray:
        """Return the indices of all queries that any set judges, sorted."""
        return np.unique(self.pairs >> np.uint64(32)).astype(np.int32)


def judgments(
    sets: list[tuple[QrelsSource, QrelsText]], readers: Readers, names: TrackNames
) -> Judgments:
    """Assign numbers to the judged docs of each query, from 0 in byte order, over all sets.

    `readers` have numbered the queries and docs of all sets, one set after another.
    """
    query = names.query_indices[readers.first][readers.judged_queries]
    doc = names.doc_indices[readers.first][readers.judged_docs]
    ends = np.cumsum([parsed.frame.height for _, parsed in sets])
    pair = query.astype(np.uint64) << np.uint64(32) | doc.astype(np.uint64)
    pairs_of = np.split(pair, ends[:-1])
    pairs = np.unique(np.concatenate(pairs_of))
    starts = np.searchsorted(pairs, pairs >> np.uint64(32) << np.uint64(32))
    levels = None
    primary = np.full(len(pairs), Judgments.NO_GRADE, np.int32)
    frames: list[pl.DataFrame] = []
    samples: list[pl.DataFrame] = []
    for index, ((source, parsed), set_pairs) in enumerate(zip(sets, pairs_of, strict=True)):
        rows = np.searchsorted(pairs, set_pairs)
        if index == 0:
            primary[rows] = np.iinfo(np.int8).min
            grades = parsed.frame["grade"].to_numpy()
            if grades.dtype == np.float64:
                levels, grades = np.unique(grades, return_inverse=True)
            np.maximum.at(primary, rows, grades.astype(np.int32))
        judged = parsed.frame.select(
            pl.lit(source.name).alias("set"),
            "query",
            "subtopic",
            "doc",
            "grade",
            doc_id=pl.Series((rows - starts[rows]).astype(np.int32)),
        )
        frames.append(judged.sort("query", "subtopic", "doc"))
        if parsed.sample is not None:
            sample = judged.select("set", "query", "doc", "doc_id").hstack(parsed.sample)
            samples.append(sample.sort("query", "doc"))
    return Judgments(pairs, primary, tuple(frames), tuple(samples), levels)


@dataclass(frozen=True)
class JudgedNames:
    """The names of the docs that `Judgments` judge, in their order, and `primary` of these.

    `firsts` (int64 [queries + 1]) are the first judged docs of `queries`; for `bounds` and
    `content` see irmeta.kernels.interning.
    """

    queries: dict[str, int]
    firsts: np.ndarray
    bounds: np.ndarray
    content: np.ndarray
    primary: np.ndarray

    @classmethod
    def of(cls, pool: Judgments, names: TrackNames) -> JudgedNames:
        """Collect the names; all queries of `names` are judged."""
        indices = np.arange(len(names.queries), dtype=np.int32)
        firsts = pool.bounds(indices)
        docs = names.docs.gather(pool.docs(firsts))
        bounds, text = bounds_and_bytes(large_strings(docs))
        content = np.zeros(int(bounds[-1] - bounds[0]) + SLACK, np.uint8)
        content[: len(content) - SLACK] = text[bounds[0] : bounds[-1]]
        queries = dict(zip(names.queries.to_list(), indices.tolist(), strict=True))
        return cls(queries, firsts, bounds - bounds[0], content, pool.primary)

    def number(
        self, queries: np.ndarray, starts: np.ndarray, docs: np.ndarray, names: Names
    ) -> np.ndarray:
        """Return numbers of the docs of lists, judged docs of the query first: int32 by row.

        Unjudged docs are numbered list by list. `queries` (int64, -1 if not judged) and `starts`
        are by list; `docs` are int32 numbers in `names`.
        """
        numbers = np.empty(len(docs), np.int32)
        seen = np.full(len(names), -1, np.int64)
        table = self.firsts, self.bounds, self.content
        number_judged(docs, starts, queries, *table, names.table, names.content, seen, numbers)
        return numbers


def list_summaries(
    query: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    numbers: np.ndarray,
    firsts: np.ndarray,
    primary: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the counts and hashes of `irmeta.kernels.lists.summarize_judged`, by list."""
    judged, hashes = np.empty(len(query), np.int64), np.empty(len(query), np.uint64)
    summarize_judged(
        query, place, starts, numbers, firsts, primary, Judgments.NO_GRADE, judged, hashes
    )
    return judged, hashes

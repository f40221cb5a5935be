"""Readers of one track's runs, with all numbered names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.parallel import ObjectPool, release_freed
from irmeta.trec.numbered_names import Names, in_order
from irmeta.trec.rows import RowReader


class Readers(ObjectPool[RowReader]):
    """One reader per thread, until `unite`.

    All readers number the judged queries first and equally: their numbers are below `judged`.

    Attributes
    ----------
    first
        The reader that also numbers the judged docs.
    judged_queries, judged_docs
        int32: the numbers that `first` gives to the queries and docs of the judgments, in order.
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
    """All queries and docs of a track, sorted by bytes.

    Attributes
    ----------
    query_indices, doc_indices
        int32, for each reader: index of the name by number.
    """

    queries: pl.Series
    docs: pl.Series
    query_indices: dict[RowReader, np.ndarray]
    doc_indices: dict[RowReader, np.ndarray]

"""Readers of one track's runs, with all numbered names."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.parallel import ObjectPool
from irmeta.trec.numbered_names import in_order
from irmeta.trec.rows import RowReader


class Readers(ObjectPool[RowReader]):
    """One reader per thread.

    All readers number the judged queries first and equally: their numbers are below `judged`.

    Attributes
    ----------
    first
        The reader that also numbers the judged docs.
    """

    def __init__(self, queries: pl.Series, docs: pl.Series) -> None:
        super().__init__(self._new)
        self._queries = queries.unique().sort()
        self.judged: int = len(self._queries)
        with self.borrow() as reader:
            reader.docs.numbers(docs)
        self.first: RowReader = reader

    def _new(self) -> RowReader:
        reader = RowReader()
        reader.queries.numbers(self._queries)
        return reader

    @property
    def held(self) -> int:
        """Return the memory of the readers in bytes."""
        return sum(reader.held for reader in self.all)

    def names(self) -> TrackNames:
        """Return all names and finish the readers, after the last run was read."""
        for reader in self.all:
            reader.finish()
        queries, query_indices = in_order([reader.queries for reader in self.all])
        docs, doc_indices = in_order([reader.docs for reader in self.all])
        return TrackNames(
            queries,
            docs,
            dict(zip(self.all, query_indices, strict=True)),
            dict(zip(self.all, doc_indices, strict=True)),
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

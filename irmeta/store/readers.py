"""Readers of one track's runs, and all names that they have numbered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.parallel import ObjectPool
from irmeta.trec.numbered_names import in_order
from irmeta.trec.rows import RowReader


class Readers(ObjectPool[RowReader]):
    """A reader for each thread.

    All readers number the judged queries first and alike: numbers below `judged` are theirs.

    Attributes
    ----------
    first
        The reader that has also numbered the judged docs.
    """

    def __init__(self, queries: pl.Series, docs: pl.Series) -> None:
        super().__init__(self._new)
        self._queries = queries.unique().sort()
        self.judged = len(self._queries)
        with self.borrow() as self.first:
            self.first.docs.numbers(docs)

    def _new(self) -> RowReader:
        reader = RowReader()
        reader.queries.numbers(self._queries)
        return reader

    @property
    def held(self) -> int:
        """Return the bytes of memory that the readers take."""
        return sum(reader.held for reader in self.all)

    def names(self) -> TrackNames:
        """Return all names and finish the readers, after the last run was read."""
        for reader in self.all:
            reader.finish()
        queries, query_places = in_order([reader.queries for reader in self.all])
        docs, doc_places = in_order([reader.docs for reader in self.all])
        return TrackNames(
            queries,
            docs,
            dict(zip(self.all, query_places, strict=True)),
            dict(zip(self.all, doc_places, strict=True)),
        )


@dataclass(frozen=True)
class TrackNames:
    """All queries and docs of a track, sorted by their bytes and represented by their indices.

    Attributes
    ----------
    query_places, doc_places
        int32, for each reader: the index of the name of each of its numbers.
    """

    queries: pl.Series
    docs: pl.Series
    query_places: dict[RowReader, np.ndarray]
    doc_places: dict[RowReader, np.ndarray]

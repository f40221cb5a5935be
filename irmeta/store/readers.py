"""The names of one track, whoever read them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import numpy as np
import polars as pl

from irmeta.trec.names import in_order
from irmeta.trec.rows import RowReader


class Readers:
    """Readers of one track's runs, one for each thread that asks.

    All number the judged queries first, and alike: a query below `judged` is one.

    Attributes
    ----------
    first
        The one that also knows the judged docs.
    """

    def __init__(self, queries: pl.Series, docs: pl.Series) -> None:
        self._queries = queries.unique().sort()
        self.judged = len(self._queries)
        self._idle: SimpleQueue[RowReader] = SimpleQueue()
        self._all: list[RowReader] = []
        self.first = self._new()
        self.first.docs.numbers(docs)
        self._idle.put(self.first)

    def _new(self) -> RowReader:
        reader = RowReader()
        reader.queries.numbers(self._queries)
        self._all.append(reader)
        return reader

    @contextmanager
    def lend(self) -> Iterator[RowReader]:
        """A reader for this thread alone."""
        try:
            reader = self._idle.get_nowait()
        except Empty:
            reader = self._new()
        try:
            yield reader
        finally:
            self._idle.put(reader)

    @property
    def held(self) -> int:
        """The bytes of memory that they take."""
        return sum(reader.held for reader in self._all)

    def names(self) -> TrackNames:
        """All names, once all is read: the readers are done."""
        for reader in self._all:
            reader.finish()
        queries, query_places = in_order([reader.queries for reader in self._all])
        docs, doc_places = in_order([reader.docs for reader in self._all])
        return TrackNames(
            queries,
            docs,
            dict(zip(self._all, query_places, strict=True)),
            dict(zip(self._all, doc_places, strict=True)),
        )


@dataclass(frozen=True)
class TrackNames:
    """All queries and docs of a track, sorted by their bytes; their places stand for them.

    Attributes
    ----------
    query_places, doc_places
        int32, for each reader: the place of each of its numbers.
    """

    queries: pl.Series
    docs: pl.Series
    query_places: dict[RowReader, np.ndarray]
    doc_places: dict[RowReader, np.ndarray]

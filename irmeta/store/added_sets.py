"""A store with further qrels sets of one track in memory, beside those that it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from irmeta.policies import ReadPolicy
from irmeta.store.scan import RowGroup, StoredLists, StoreReader, read_table
from irmeta.trec.qrels import narrowed


class AddedSets(StoreReader):
    """A `StoreReader` of a store and of further qrels sets of one of its tracks.

    Parameters
    ----------
    store
        The store, which is not changed.
    track
        The track.
    sets
        query, doc, grade (Float64) of each further set by name; each doc of a query once.
    rels
        Least relevant grades by set, which replace those that the collection states.
    """

    def __init__(
        self,
        store: StoreReader,
        track: str,
        sets: Mapping[str, pl.DataFrame],
        rels: Mapping[str, float],
    ) -> None:
        self._store, self._track = store, track
        self._sets, self._rels = dict(sets), dict(rels)

    def __str__(self) -> str:
        return str(self._store)

    @property
    def block_rows(self) -> int:
        """Return the preferred number of rows of a long table to read at a time."""
        return self._store.block_rows

    @property
    def is_shared(self) -> bool:
        """Return False: other processes cannot read sets in memory."""
        return False

    def read_policy(self) -> ReadPolicy:
        """Return the policy under which the runs were read."""
        return self._store.read_policy()

    def tracks(self) -> list[str]:
        """Return the names of the complete tracks, sorted."""
        return self._store.tracks()

    def failures(self) -> dict[str, str]:
        """Return the tracks that the last ingest could not read, and the reasons."""
        return self._store.failures()

    def read_record(self, track: str) -> dict[str, Any]:
        """Return a track's record, with the added sets and relevant grades."""
        record = self._store.read_record(track)
        if track != self._track:
            return record
        config = record["config"]
        added = [{"name": name, "format": "trec"} for name in self._sets]
        settings = [
            one | ({"rel": self._rels[one["name"]]} if one["name"] in self._rels else {})
            for one in [*config["qrels"], *added]
        ]
        sets = [*record["qrels"], *(_record(*one) for one in self._sets.items())]
        return record | {"qrels": sets, "config": config | {"qrels": settings}}

    def fingerprint(self, track: str | None = None) -> str:
        """Return the fingerprint of the store without the added sets."""
        return self._store.fingerprint(track)

    def version(self, track: str) -> bytes:
        """Return bytes that change when the track is replaced; empty without the track."""
        return self._store.version(track)

    def only(self, track: str) -> StoreReader:
        """Return this store."""
        return self

    def table(self, kind: str, track: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return a table of irmeta.schema for one track, or the rows where `where` is true."""
        if not self._adds(kind, track):
            return self._store.table(kind, track, where)
        return self.read(kind, track, where).lazy()

    def read(self, kind: str, track: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame, with checksums verified."""
        if not self._adds(kind, track):
            return self._store.read(kind, track, where)
        frame = self._qrels if kind == "qrels" else self._docs
        return frame if where is None else frame.filter(where)

    def groups(self, track: str) -> Sequence[RowGroup]:
        """Return the groups of a track that have rows, in query order."""
        return self._store.groups(track)

    def lists(
        self, groups: Sequence[Any], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
    ) -> StoredLists:
        """Return the lists of adjacent groups, query and system by their `codes` (-1: none)."""
        return self._store.lists(groups, columns, codes)

    def _adds(self, kind: str, track: str) -> bool:
        return bool(self._sets) and kind in ("qrels", "docs") and track == self._track

    @cached_property
    def _qrels(self) -> pl.DataFrame:
        """The table qrels; grades are float64 if those of any set are."""
        own = read_table(self._store, "qrels", self._track)
        ids = self._docs.select("query", "doc", "doc_id")
        added = [
            rows.join(ids, on=["query", "doc"], how="left", maintain_order="left").select(
                pl.lit(self._track).alias("track"),
                pl.lit(name).alias("set"),
                "query",
                pl.lit(None, pl.String).alias("subtopic"),
                "doc",
                "grade",
                "doc_id",
            )
            for name, rows in self._sets.items()
        ]
        parts = [own.with_columns(pl.col("grade").cast(pl.Float64)), *added]
        return pl.concat(parts, how="vertical_relaxed")

    @cached_property
    def _docs(self) -> pl.DataFrame:
        """The table docs; docs that no list and no other set has follow those of their query."""
        own = read_table(self._store, "docs", self._track)
        named = pl.concat([rows.select("query", "doc") for rows in self._sets.values()]).unique()
        new = named.join(own, on=["query", "doc"], how="anti").sort("query", "doc")
        used = own.group_by("query").agg(first=pl.col("doc_id").max() + 1)
        numbered = new.join(used, on="query", how="left", maintain_order="left").select(
            pl.lit(self._track).alias("track"),
            "query",
            (pl.col("first").fill_null(0) + pl.int_range(pl.len()).over("query"))
            .cast(own.schema["doc_id"])
            .alias("doc_id"),
            "doc",
        )
        return pl.concat([own, numbered.select(own.columns)], how="vertical_relaxed")


def _record(name: str, rows: pl.DataFrame) -> dict[str, Any]:
    """Return the record of an added set, as that of a set that a store holds."""
    grades = narrowed(rows["grade"])
    facts: dict[str, Any] = {
        "name": name,
        "notes": [],
        "judgments": rows.height,
        "queries": rows["query"].n_unique(),
        "subtopics": 0,
        "lowest": grades.min(),
        "highest": grades.max(),
    }
    return (
        facts if grades.dtype == pl.Int8 else facts | {"levels": grades.unique().sort().to_list()}
    )

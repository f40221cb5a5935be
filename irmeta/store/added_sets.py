"""A track with further qrels sets in memory, beside those that its store holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from irmeta.store.scan import RowGroup, StoredLists, StoredTrack, StoreReader, read_table
from irmeta.trec.qrels import narrowed


class AddedSets:
    """A track of a store, with further qrels sets in memory: a `StoredTrack`.

    Parameters
    ----------
    track
        The track, which is not changed.
    sets
        query, doc, grade (Float64) of each further set by name; each doc of a query once.
    rels
        Least relevant grades by set, which replace those that the collection states.
    """

    is_shared = False  # other processes cannot read sets in memory

    def __init__(
        self, track: StoredTrack, sets: Mapping[str, pl.DataFrame], rels: Mapping[str, float]
    ) -> None:
        self._track, self._sets = track, dict(sets)
        self.record: Mapping[str, Any] = _with_sets(track.record, self._sets, rels)

    @property
    def store(self) -> StoreReader:
        """The store that holds the track."""
        return self._track.store

    @property
    def name(self) -> str:
        """Name of the track."""
        return self._track.name

    def is_current(self) -> bool:
        """Check that the track was not replaced since its record was read."""
        return self._track.is_current()

    def fingerprint(self) -> str:
        """Return the fingerprint of the track without the added sets."""
        return self._track.fingerprint()

    def table(self, kind: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return a table of irmeta.schema, or the rows where `where` is true."""
        if not self._adds(kind):
            return self._track.table(kind, where)
        return self.read(kind, where).lazy()

    def read(self, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame, with checksums verified."""
        if not self._adds(kind):
            return self._track.read(kind, where)
        frame = self._qrels if kind == "qrels" else self._docs
        return frame if where is None else frame.filter(where)

    def groups(self) -> Sequence[RowGroup]:
        """Return the groups of the long table that have rows, in query order."""
        return self._track.groups()

    def lists(
        self, groups: Sequence[Any], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
    ) -> StoredLists:
        """Return the lists of adjacent groups, query and system by their `codes` (-1: none)."""
        return self._track.lists(groups, columns, codes)

    def _adds(self, kind: str) -> bool:
        return bool(self._sets) and kind in ("qrels", "docs")

    @cached_property
    def _qrels(self) -> pl.DataFrame:
        """The table qrels; grades are float64 if those of any set are."""
        own = read_table(self._track, "qrels")
        ids = self._docs.select("query", "doc", "doc_id")
        added = [
            rows.join(ids, on=["query", "doc"], how="left", maintain_order="left").select(
                pl.lit(self.name).alias("track"),
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
        own = read_table(self._track, "docs")
        named = pl.concat([rows.select("query", "doc") for rows in self._sets.values()]).unique()
        new = named.join(own, on=["query", "doc"], how="anti").sort("query", "doc")
        used = own.group_by("query").agg(first=pl.col("doc_id").max() + 1)
        numbered = new.join(used, on="query", how="left", maintain_order="left").select(
            pl.lit(self.name).alias("track"),
            "query",
            (pl.col("first").fill_null(0) + pl.int_range(pl.len()).over("query"))
            .cast(own.schema["doc_id"])
            .alias("doc_id"),
            "doc",
        )
        return pl.concat([own, numbered.select(own.columns)], how="vertical_relaxed")


def _with_sets(
    record: Mapping[str, Any], added: Mapping[str, pl.DataFrame], rels: Mapping[str, float]
) -> dict[str, Any]:
    """Return a track's record with the added sets and relevant grades."""
    config = record["config"]
    settings = [
        qrels | ({"rel": rels[qrels["name"]]} if qrels["name"] in rels else {})
        for qrels in [*config["qrels"], *({"name": name, "format": "trec"} for name in added)]
    ]
    sets = [*record["qrels"], *(_record(name, rows) for name, rows in added.items())]
    return {**record, "qrels": sets, "config": config | {"qrels": settings}}


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

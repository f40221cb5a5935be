"""Tracks made from those of a store: with further qrels sets in memory, or some queries alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from irmeta.store.scan import RowGroup, StoredLists, StoredTrack, StoreReader, read_table
from irmeta.trec.qrels import narrowed


class DerivedTrack:
    """A `StoredTrack` that is read from another one, which is not changed."""

    def __init__(self, track: StoredTrack) -> None:
        self._track = track
        self.record: Mapping[str, Any] = track.record

    @property
    def store(self) -> StoreReader:
        """The store that holds the track."""
        return self._track.store

    @property
    def name(self) -> str:
        """Name of the track."""
        return self._track.name

    @property
    def is_shared(self) -> bool:
        """Whether other processes can read the track by the path of its store."""
        return self._track.is_shared

    def is_current(self) -> bool:
        """Check that the track was not replaced since its record was read."""
        return self._track.is_current()

    def fingerprint(self) -> str:
        """Return the fingerprint of the track in the store."""
        return self._track.fingerprint()

    def table(self, kind: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return a table of irmeta.schema, or the rows where `where` is true."""
        return self._track.table(kind, where)

    def read(self, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame, with checksums verified."""
        return self._track.read(kind, where)

    def groups(self) -> Sequence[RowGroup]:
        """Return the groups of the long table that have rows, in query order."""
        return self._track.groups()

    def lists(
        self, groups: Sequence[Any], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
    ) -> StoredLists:
        """Return the lists of adjacent groups, query and system by their `codes` (-1: none)."""
        return self._track.lists(groups, columns, codes)


class SelectedQueries(DerivedTrack):
    """A track of a store as if it had only some queries.

    Its record, and so its highest grade and its deepest rank, are those of all queries.
    """

    def __init__(self, track: StoredTrack, queries: Sequence[str]) -> None:
        super().__init__(track)
        self._queries = sorted(queries, key=str.encode)

    def table(self, kind: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return the rows of the queries; the table systems as it is."""
        return self._track.table(kind, self._where(kind, where))

    def read(self, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame, with checksums verified."""
        return self._track.read(kind, self._where(kind, where))

    def groups(self) -> Sequence[RowGroup]:
        """Return the groups from that of the first query to that of the last; one at least."""
        groups = self._track.groups()
        first, last = (self._queries[end].encode() for end in (0, -1))
        ends = [group.last_query.encode() for group in groups]
        start = min(sum(end < first for end in ends), max(len(groups) - 1, 0))
        return groups[start : 1 + sum(end < last for end in ends)]

    def _where(self, kind: str, where: pl.Expr | None) -> pl.Expr | None:
        if kind == "systems":
            return where
        is_selected = pl.col("query").cast(pl.String).is_in(self._queries)
        return is_selected if where is None else where & is_selected


class AddedSets(DerivedTrack):
    """A track of a store, with further qrels sets in memory.

    Parameters
    ----------
    track
        The track, which is not changed.
    sets
        query, doc, grade (Float64) of each further set by name; each doc of a query once.
    rels
        Least relevant grades by set, which replace those that the collection states.
    """

    def __init__(
        self, track: StoredTrack, sets: Mapping[str, pl.DataFrame], rels: Mapping[str, float]
    ) -> None:
        super().__init__(track)
        self._sets = dict(sets)
        self.record: Mapping[str, Any] = _with_sets(track.record, self._sets, rels)

    @property
    def is_shared(self) -> bool:
        """False, because other processes cannot read sets in memory."""
        return False

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


class OverlaidSets(DerivedTrack):
    """A track of a store with one more qrels set, A+B: each label that of the first set with one.

    Its record has `overlay`: by set, the number of labels that come from it. Other processes that
    read the store lay the sets over one another again.

    Parameters
    ----------
    track
        The track, which is not changed.
    sets
        Names of the sets, in the order of precedence.
    least
        Grades below it are labels only where no set has a higher one.
    rel
        The least relevant grade of all sets; None: the collection states none.
    """

    def __init__(
        self, track: StoredTrack, sets: Sequence[str], least: float, rel: float | None
    ) -> None:
        super().__init__(track)
        rows, name = read_table(track, "qrels"), "+".join(sets)
        place = (
            pl.col("set")
            .cast(pl.String)
            .replace_strict(sets, range(len(sets)), default=None, return_dtype=pl.Int32)
        )
        labels = (
            rows.with_columns(place=place)
            .drop_nulls("place")
            .sort(pl.col("grade") < least, "place", maintain_order=True)
            .unique(["query", "doc"], keep="first", maintain_order=True)
            .sort("query", "doc")
        )
        named = labels.with_columns(pl.lit(name, rows.schema["set"]).alias("set"))
        self._qrels: pl.DataFrame = pl.concat([rows, named.select(rows.columns)])
        grades = labels.with_columns(pl.col("grade").cast(pl.Float64))
        sources = {source: int((labels["place"] == i).sum()) for i, source in enumerate(sets)}
        record = _with_sets(track.record, {name: grades}, {} if rel is None else {name: rel})
        self.record: Mapping[str, Any] = {**record, "overlay": sources}

    def table(self, kind: str, where: pl.Expr | None = None) -> pl.LazyFrame:
        """Return a table of irmeta.schema, or the rows where `where` is true."""
        return self.read(kind, where).lazy() if kind == "qrels" else super().table(kind, where)

    def read(self, kind: str, where: pl.Expr | None = None) -> pl.DataFrame:
        """Return `table` as a collected frame, with checksums verified."""
        if kind != "qrels":
            return super().read(kind, where)
        return self._qrels if where is None else self._qrels.filter(where)


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

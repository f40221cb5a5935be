"""Factors: columns that group the queries or the systems of tracks.

Segments, clusters and weights of queries and methods of systems are read by one mechanism: from a
file, a frame, or a column of the tables beside a track's runs.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Self, TypeVar, cast

import numpy as np
import polars as pl

from irmeta.delimited import to_csv
from irmeta.errors import (
    DataError,
    SegmentWarning,
    UsageError,
    did_you_mean,
    first_few,
    shown,
    warn,
)
from irmeta.locations import not_a
from irmeta.phrases import count
from irmeta.rankings.track import Track, selected_queries
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.store.scan import StoreReader, Tracks, each_track, read_table
from irmeta.trec.streams import InputFile, file_sha256
from irmeta.trec.text import read_csv_rows, refuse_rows

COLUMNS = ("track", "query", "segment")
KEY = ("query", "segment")
LEAST_QUERIES = 2
"""Smallest number of queries that an interval can be computed from."""
Source = pl.DataFrame | str | Path
"""A file, a frame, or a column of a store, of which a path has the name."""


@dataclass(frozen=True)
class Factor:
    """A column of the queries, or of the systems, of tracks.

    `source`: the file, the name of the argument for a frame, or the column. `rows`: track (null:
    any track), and the columns `key` and `value`, no null in the last two. `sha256`: hexadecimal,
    of the file as stored, or of the frame or the column as CSV. `column`: that of the tracks'
    `queries.csv` or `systems.csv`; None: of a file or frame.
    """

    source: str
    rows: pl.DataFrame
    sha256: str
    column: str | None = None
    key: ClassVar[str] = "query"
    value: ClassVar[str] = "cluster"
    keyword: ClassVar[str] = "resample_by"

    @classmethod
    def of(cls, source: Self | Source) -> Self:
        """Read a factor from a frame, or from a CSV or TSV file with a header, compressed or not.

        The columns are `key`, `value` and, where tracks share names, track. For errors see
        `read_rows`; a wrong row is a DataError too.
        """
        if isinstance(source, cls):
            return source
        columns = ("track", cls.key, cls.value)
        name, rows, digest = read_rows(cast("Source", source), columns, cls.keyword)
        refuse_rows(rows, cls.problems(), name)
        return cls(name, cls.typed(rows.drop("line")), digest)

    @classmethod
    def problems(cls) -> dict[str, pl.Expr]:
        """Return what is wrong with a row, as text, and whether it is so."""
        keys = pl.struct("track", cls.key)
        return {
            f"a {cls.key} or {cls.value} is missing": pl.any_horizontal(
                pl.col(cls.key, cls.value).is_null()
            ),
            f"the {cls.key} has a {cls.value} already": ~keys.is_first_distinct(),
        }

    @classmethod
    def typed(cls, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows with values of their type: text."""
        return rows

    @classmethod
    def within(cls, source: Self | Source, store: StoreReader, tracks: Tracks) -> Self:
        """Read a factor, of which a text may also name a column of the tables beside runs.

        A file of that name goes first. Errors are those of `of`, and UsageError for neither.
        """
        if not isinstance(source, str | Path) or Path(source).is_file():
            return cls.of(source)
        column, table = str(source), TABLES[cls.key]
        every = beside_runs(store, tracks, cls.key)
        rows = every.filter(pl.col("column") == column)
        rows = rows.select("track", pl.col("name").alias(cls.key), pl.col("value").alias(cls.value))
        if rows.is_empty():
            columns = every["column"].unique().sort().to_list()
            none = f"no {table}" + ", and their runs no ir_metadata" * (cls.key == "system")
            hint = did_you_mean(column, columns) if columns else f"The tracks have {none}."
            for key, file in TABLES.items():
                if column in beside_runs(store, tracks, key)["column"]:
                    hint = f"It is a column of {file}: {_USE[key]}"
            raise UsageError(f"{column} is neither a file nor a column of {table}. {hint}")
        digest = hashlib.sha256(to_csv(rows).encode()).hexdigest()
        return cls(f"column {column} of {table}", cls.typed(rows), digest, column)

    @property
    def record(self) -> dict[str, str]:
        """What provenance records: the SHA-256, and the name of a column."""
        column = {} if self.column is None else {f"{self.keyword}_column": self.column}
        return {f"{self.keyword}_sha256": self.sha256, **column}

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Raise `UsageError` for the first name of a file or frame that is not known."""
        for name in () if self.column else self.rows[self.key]:
            if name not in known:
                hint = did_you_mean(name, known)
                raise UsageError(f"{self.source}: there is no {self.key} {name!r}. {hint}")

    def by_name(self, track: str) -> dict[str, str]:
        """Return the value of each query or system of a track; rows that name it go first."""
        rows = self.rows.filter(pl.col("track").is_null() | (pl.col("track") == track))
        named = rows.sort("track", nulls_last=False).select(self.key, self.value)
        return dict(named.iter_rows())


TABLES = {"query": "queries.csv", "system": "systems.csv"}
"""The files beside a track's runs, by what their rows are of."""
_USE = {
    "query": "`segment` and `resample_by` take it.",
    "system": "its runs share the queries, on which resampling moves them together, so that "
    "`replicates`, which averages the runs of each, is the test by clusters.",
}


def beside_runs(store: StoreReader, tracks: Tracks, key: str) -> pl.DataFrame:
    """Return the table of queries, systems or judges beside runs: track, name, column, value."""
    frames = list[pl.DataFrame]()
    for track in each_track(store, tracks):
        if key == "query":
            frames.append(read_table(track, "queries").rename({"query": "name"}))
            continue
        rows = read_table(track, "factors").filter(pl.col("kind") == key)
        frames.append(rows.drop("kind"))
        if key == "system":
            known = read_table(track, "systems").filter(pl.col("skip_reason").is_null())
            known = known.select(pl.col("track", "system", "group", "type").cast(pl.String))
            facts = known.unpivot(index=["track", "system"], variable_name="column")
            frames.append(facts.rename({"system": "name"}).drop_nulls("value"))
    columns = ("track", "name", "column", "value")
    return pl.concat([frame.select(pl.col(columns).cast(pl.String)) for frame in frames])


@dataclass(frozen=True)
class Methods(Factor):
    """Methods of systems, such as the seeds or folds of one: see `Factor`."""

    key: ClassVar[str] = "system"
    value: ClassVar[str] = "method"
    keyword: ClassVar[str] = "replicates"


@dataclass(frozen=True)
class Variants(Factor):
    """Variants of queries, in the column variant_of of `queries.csv`: see `Factor`."""

    keyword: ClassVar[str] = "variants"

    @classmethod
    def among(cls, store: StoreReader, tracks: Tracks) -> Variants | None:
        """Return the variants of the queries of tracks; None without the column."""
        has_column = "variant_of" in beside_runs(store, tracks, "query")["column"]
        return cls.within("variant_of", store, tracks) if has_column else None

    def sizes(self, track: str, queries: Collection[str]) -> list[int]:
        """Return the numbers of variants among queries of a track, of those that have several."""
        query_of = self.by_name(track)
        counts = Counter(query_of.get(query, query) for query in queries)
        return [number for number in counts.values() if number > 1]

    @classmethod
    def note(cls, track: Track) -> str | None:
        """Return a note on variants that results count as independent queries; None without any.

        They are of the judged queries that the policy selects.
        """
        store = track.stored.store
        variants = cls.among(store, track.name) if store.describes_queries() else None
        if variants is None:
            return None
        queries = set(track.judged_queries)
        if track.policy.selects_queries:
            queries.intersection_update(selected_queries(track.policy))
        if not (sizes := variants.sizes(track.name, queries)):
            return None
        return (
            f"{sum(sizes):,} of {count(len(queries), 'query')} are variants of "
            f"{len(sizes):,} (column variant_of of queries.csv) and count as independent queries "
            "here: where values of variants correlate, intervals are too narrow and p-values too "
            "small. `query_file='FILE'`, with one variant of each query, leaves out the others"
        )


ByQuery = TypeVar("ByQuery", Scores, Matrix)
"""Results of one track by query."""


@dataclass(frozen=True)
class Segments(Factor):
    """Segments of queries, such as groups of users; a query may be in several: see `Factor`."""

    value: ClassVar[str] = "segment"
    keyword: ClassVar[str] = "segments"

    @classmethod
    def problems(cls) -> dict[str, pl.Expr]:
        """Return what is wrong with a row: it is incomplete, or repeated."""
        return {
            "a query or segment is missing": pl.any_horizontal(pl.col(KEY).is_null()),
            "the query is in the segment already": ~pl.struct(COLUMNS).is_first_distinct(),
        }

    def of_track(self, track: str) -> dict[str, set[str]]:
        """Return the queries of each segment of a track, segments sorted by name."""
        rows = self.rows.filter(pl.col("track").is_null() | (pl.col("track") == track))
        grouped = rows.group_by("segment").agg("query").sort("segment")
        return {segment: set(queries) for segment, queries in grouped.iter_rows()}

    def parts_of(self, results: Sequence[ByQuery]) -> list[list[tuple[ByQuery, str | None]]]:
        """Return each result, and its part of each segment with at least `LEAST_QUERIES` queries.

        The segment of a result itself is None. Warns of small segments and of queries in none, once
        for each track; for errors see `check_queries`.
        """
        queries = dict[str, set[str]]()
        for result in results:
            queries.setdefault(result.track, set()).update(result.queries)
        self.check_queries(queries)
        members = {track: self.of_track(track) for track in queries}
        usable = {
            track: usable_segments(members[track], track, sorted(queries[track]), "a value")
            for track in queries
        }
        parts = list[list[tuple[ByQuery, str | None]]]()
        for result in results:
            by_segment: list[tuple[ByQuery, str | None]] = [(result, None)]
            for segment in usable[result.track]:
                is_member = [query in members[result.track][segment] for query in result.queries]
                by_segment.append((result.only_queries(np.flatnonzero(is_member)), segment))
            parts.append(by_segment)
        return parts

    def check_queries(self, judged: Mapping[str, Collection[str]]) -> None:
        """Warn of queries that no track judges, given those of each; DataError: none is judged."""
        known = [set(queries) for queries in judged.values()]
        is_known = [
            query in judged.get(track, ())
            if track
            else any(query in judged_queries for judged_queries in known)
            for track, query in self.rows.select("track", "query").iter_rows()
        ]
        if not any(is_known):
            fix = "Are these the queries of another track?"
            raise DataError("none of its queries is judged", file=self.source, fix=fix)
        unknown = self.rows.filter(~pl.Series(is_known))["query"].unique().sort().to_list()
        if unknown:
            hint = did_you_mean(unknown[0], set[str]().union(*known))
            listed = first_few(
                [shown(query) for query in unknown], "compare the file with the qrels"
            )
            warn(
                f"{self.source}: no track judges {len(unknown):,} of its queries: {listed}. {hint}",
                SegmentWarning,
                stacklevel=2,
            )


def read_rows(
    source: Source, columns: Sequence[str], keyword: str
) -> tuple[str, pl.DataFrame, str]:
    """Read a table of queries or systems: its name, its rows as text, and its hexadecimal SHA-256.

    The table is a CSV or TSV file, compressed or not, or a frame, which is called `keyword` and
    hashed as CSV. `columns` are track (optional: null, any track), and those that it must have; the
    rows have the line too. DataError: the file cannot be read, or a column is unknown or missing.
    UsageError: `source` is neither a file nor a frame.
    """
    if isinstance(source, pl.DataFrame):
        for column in source.columns:
            if column not in columns:
                hint = did_you_mean(column, columns)
                raise DataError("is not a known column", file=keyword, value=column, fix=hint)
        name, digest = keyword, hashlib.sha256(to_csv(source).encode()).hexdigest()
        frame = source.with_columns(pl.all().cast(pl.String)).with_row_index("line", 1)
    # callers without a type checker may pass anything
    elif not isinstance(source, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"{keyword} = {source!r} is neither a file nor a polars DataFrame.")
    else:
        path, name = Path(source), str(source)
        if not path.is_file():
            raise UsageError(f"{not_a('file', path)}.")
        frame, digest = read_csv_rows(InputFile.at(path, name), columns), file_sha256(path) or ""
    needed = [column for column in columns if column != "track"]
    for column in needed:
        if column not in frame.columns:
            fix = f"It needs the columns {' and '.join(needed)}, and may have the column track."
            raise DataError(f"has no column {column!r}", file=name, fix=fix)
    if frame.is_empty():
        raise DataError("has no row below its header", file=name)
    if "track" not in frame.columns:
        frame = frame.with_columns(track=pl.lit(None, pl.String))
    return name, frame.select("line", *columns), digest


def usable_segments(
    segments: Mapping[str, Collection[str]],
    track: str,
    queries: Collection[str],
    having: str = "a relevant doc",
) -> list[str]:
    """Return the segments of a track with at least `LEAST_QUERIES` queries.

    Warns of segments with fewer, and of queries in no segment. `queries` are those with a value, or
    what else they have: `having`, in words.
    """
    counts = {name: len(set(queries).intersection(members)) for name, members in segments.items()}
    small = [f"{name!r} ({n})" for name, n in counts.items() if n < LEAST_QUERIES]
    in_any = set[str]().union(*segments.values())
    without = [query for query in queries if query not in in_any]
    notes: list[str] = []
    if without:
        listed = first_few(without, "name them in the file")
        notes.append(
            f"{len(without):,} of {len(queries):,} queries with {having} are in no segment: "
            f"{listed}"
        )
    if small:
        listed = first_few(small, "see the numbers of their queries")
        notes.append(
            f"segments with fewer than {LEAST_QUERIES} queries with {having} are left out: {listed}"
        )
    for note in notes:
        place = f"track {track}: " if track else ""
        warn(f"{place}{note}", SegmentWarning, stacklevel=2)
    return [name for name, n in counts.items() if n >= LEAST_QUERIES]


@dataclass(frozen=True)
class QueryWeights(Factor):
    """Weights of queries in means over queries, above 0: see `Factor`."""

    value: ClassVar[str] = "weight"
    keyword: ClassVar[str] = "query_weights"

    @classmethod
    def problems(cls) -> dict[str, pl.Expr]:
        """Return what is wrong with a row: as of `Factor`, or a weight is no number above 0."""
        weight = pl.col("weight").cast(pl.Float64, strict=False)
        is_weight = (weight.is_finite() & (weight > 0)).fill_null(value=False)
        missing, repeated = super().problems().items()
        return dict([missing, ("the weight is not a number above 0", ~is_weight), repeated])

    @classmethod
    def typed(cls, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows with weights as numbers."""
        return rows.with_columns(pl.col("weight").cast(pl.Float64))

    def weigh(self, results: Sequence[ByQuery], *, selected: bool = False) -> list[ByQuery]:
        """Return results whose means over queries are weighted.

        DataError: a query of the results has no weight or, unless they are of `selected` queries, a
        query with a weight is in none. UsageError: the mean of a measure is not arithmetic.
        """
        queries = dict[str, dict[str, None]]()
        for result in results:
            queries.setdefault(result.track, {}).update(dict.fromkeys(result.queries))
            if isinstance(result, Scores) and result.averages:
                name, how = next(iter(result.averages.items()))
                raise UsageError(
                    f"the average of {name} is no weighted mean (average: {how}): omit the measure "
                    "or the weights of queries."
                )
        if not selected:
            self._refuse_unknown(queries)
        by_track = {track: self.by_name(track) for track in queries}
        for track, of_track in queries.items():
            missing = [query for query in of_track if query not in by_track[track]]
            if missing:
                listed = first_few([shown(query) for query in missing], "give each query a weight")
                place = f" of track {track}" if track else ""
                raise DataError(
                    f"no weight for {len(missing):,} of {len(of_track):,} queries{place}: {listed}",
                    file=self.source,
                )
        return [
            replace(result, weights=np.array([by_track[result.track][q] for q in result.queries]))
            for result in results
        ]

    def _refuse_unknown(self, queries: Mapping[str, Mapping[str, None]]) -> None:
        """Raise `DataError` for the first query with a weight that no result has."""
        every = set[str]().union(*queries.values())
        for track, query in self.rows.select("track", "query").iter_rows():
            known = every if track is None else queries.get(track, ())
            if query not in known:
                hint = did_you_mean(query, [*known])
                problem = f"no value of the query {shown(query)}, which has a weight"
                raise DataError(problem, file=self.source, fix=hint)


def parts_by_query(
    scores: list[Scores],
    segments: Segments | pl.DataFrame | str | Path | None,
    query_weights: QueryWeights | pl.DataFrame | str | Path | None,
    *,
    per_query: bool,
    selected: bool,
) -> tuple[list[Scores], list[str | None]]:
    """Return scores with weighted means, followed by their segments, and the segment of each.

    Without segments the second list is empty. For `selected` and errors see `QueryWeights.weigh`
    and `Segments.parts_of`; raises UsageError for values `per_query` too.
    """
    for name, of_means in {"segments": segments, "query_weights": query_weights}.items():
        if of_means is not None and per_query:
            raise UsageError(f"`{name}` is for means: omit `per_query`.")
    if query_weights is not None:
        scores = QueryWeights.of(query_weights).weigh(scores, selected=selected)
    if segments is None:
        return scores, []
    parts = [part for of in Segments.of(segments).parts_of(scores) for part in of]
    return [part for part, _ in parts], [segment for _, segment in parts]

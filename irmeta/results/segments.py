"""Segments of the queries of tracks: a file or frame of queries and their segments."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

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
from irmeta.store.scan import StoreReader, Tracks, each_track, read_table
from irmeta.trec.streams import InputFile, file_sha256
from irmeta.trec.text import read_csv_rows, refuse_rows

COLUMNS = ("track", "query", "segment")
KEY = ("query", "segment")
LEAST_QUERIES = 2
"""Smallest number of queries that an interval can be computed from."""


class ByQuery(Protocol):
    """Results of one track by query, such as `Scores` and `Matrix`."""

    @property
    def track(self) -> str:
        """Name of the track."""
        ...

    @property
    def queries(self) -> tuple[str, ...]:
        """Names of the queries."""
        ...

    def only_queries(self, places: np.ndarray, /) -> Any:
        """Select queries by index."""
        ...


Part = TypeVar("Part", bound=ByQuery)


@dataclass(frozen=True)
class Segments:
    """Segments of queries, such as groups of users; a query may be in several.

    Attributes
    ----------
    source
        The file, or "segments" for a frame.
    rows
        track (null: any track), query, segment: no null in the last two, no row twice.
    sha256
        Hexadecimal SHA-256 of the file as stored, or of the frame or the column as CSV.
    column
        The column of the tracks' `queries.csv` that they are; None: of a file or frame.
    """

    source: str
    rows: pl.DataFrame
    sha256: str
    column: str | None = None

    @classmethod
    def of(cls, source: Segments | pl.DataFrame | str | Path) -> Segments:
        """Read segments.

        Parameters
        ----------
        source : Segments, DataFrame, str or Path
            A frame with the columns query, segment and, where tracks share names of queries, track;
            or a CSV or TSV file with such a header, compressed or not.

        Raises
        ------
        DataError
            If the file cannot be read, a column is unknown or missing, or a row is incomplete or
            repeated.
        UsageError
            If `source` is neither a file nor a frame.
        """
        if isinstance(source, Segments):
            return source
        name, rows, digest = read_by_query(source, COLUMNS, "segments")
        return cls(name, _checked(rows, name), digest)

    @classmethod
    def within(
        cls, source: Segments | pl.DataFrame | str | Path, store: StoreReader, tracks: Tracks
    ) -> Segments:
        """Read segments, of which a text may also name a column of the tracks' ``queries.csv``.

        A file of that name goes first.

        Raises
        ------
        DataError, UsageError
            As `of`, or if a text is neither a file nor a column.
        """
        if not isinstance(source, str | Path) or Path(source).is_file():
            return cls.of(source)
        name = str(source)
        every = pl.concat([read_table(track, "queries") for track in each_track(store, tracks)])
        every = every.with_columns(pl.all().cast(pl.String))
        rows = every.filter(pl.col("column") == name).select("track", "query", segment="value")
        if rows.is_empty():
            columns = every["column"].unique().sort().to_list()
            hint = did_you_mean(name, columns) if columns else (
                "The tracks have no queries.csv.")  # fmt: skip
            raise UsageError(f"{name} is neither a file nor a column of queries.csv. {hint}")
        digest = hashlib.sha256(to_csv(rows).encode()).hexdigest()
        return cls(f"column {name} of queries.csv", rows, digest, name)

    @property
    def record(self) -> dict[str, str]:
        """What provenance records: the SHA-256, and the name of a column."""
        named = {} if self.column is None else {"segments_column": self.column}
        return {"segments_sha256": self.sha256, **named}

    def of_track(self, track: str) -> dict[str, set[str]]:
        """Return the queries of each segment of a track, segments sorted by name."""
        rows = self.rows.filter(pl.col("track").is_null() | (pl.col("track") == track))
        grouped = rows.group_by("segment").agg("query").sort("segment")
        return {segment: set(queries) for segment, queries in grouped.iter_rows()}

    def parts_of(self, results: Sequence[Part]) -> list[list[tuple[Part, str | None]]]:
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
        parts = list[list[tuple[Part, str | None]]]()
        for result in results:
            by_segment: list[tuple[Part, str | None]] = [(result, None)]
            for segment in usable[result.track]:
                is_member = [query in members[result.track][segment] for query in result.queries]
                by_segment.append((result.only_queries(np.flatnonzero(is_member)), segment))
            parts.append(by_segment)
        return parts

    def check_queries(self, judged: Mapping[str, Collection[str]]) -> None:
        """Warn of queries that no track judges.

        Parameters
        ----------
        judged
            The judged queries of each track that is compared.

        Raises
        ------
        DataError
            If no query is judged.
        """
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


def read_by_query(
    source: pl.DataFrame | str | Path, columns: Sequence[str], keyword: str
) -> tuple[str, pl.DataFrame, str]:
    """Read a table of queries: its name, its rows as text, and its SHA-256.

    Parameters
    ----------
    source
        A CSV or TSV file, compressed or not, or a frame, which is called `keyword`.
    columns
        track (optional: null, any track), and the columns that the table must have.
    keyword
        Name of the argument.

    Returns
    -------
    str, DataFrame, str
        The name; line and the columns; the hexadecimal SHA-256 of the file, or of the frame as CSV.

    Raises
    ------
    DataError
        If the file cannot be read, or a column is unknown or missing.
    UsageError
        If `source` is neither a file nor a frame.
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
    if "track" not in frame.columns:
        frame = frame.with_columns(track=pl.lit(None, pl.String))
    return name, frame.select("line", *columns), digest


def _checked(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """Return the rows of segments without their lines, or raise `DataError` for a wrong row."""
    wrong = {
        "a query or segment is missing": pl.any_horizontal(pl.col(KEY).is_null()),
        "the query is in the segment already": ~pl.struct(COLUMNS).is_first_distinct(),
    }
    refuse_rows(frame, wrong, source)
    return frame.drop("line")


def usable_segments(
    segments: Mapping[str, Collection[str]],
    track: str,
    queries: Collection[str],
    having: str = "a relevant doc",
) -> list[str]:
    """Return the segments of a track with at least `LEAST_QUERIES` queries.

    Warns of segments with fewer, and of queries in no segment.

    Parameters
    ----------
    segments
        The queries of each segment.
    queries
        The queries with a value.
    having
        What these queries have, in words.
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

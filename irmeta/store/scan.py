"""Reading a store: lazy frames for people, blocks of whole queries for kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from irmeta.errors import DataError, UsageError, did_you_mean
from irmeta.store.layout import Layout

BLOCK_ROWS = 1 << 22  # at most this many rows of the long table in memory at a time


def lazy(layout: Layout, kind: str, track: str | None = None) -> pl.LazyFrame:
    """One of the store's tables (runs, qrels, docs, systems), of one track or of all.

    Only complete tracks are read, whatever else lies in the folders.
    """
    tracks = layout.tracks() if track is None else [layout.read_record(track)["track"]]
    files = [file for name in tracks for file in layout.files(kind, name)]
    if not files:
        raise UsageError(f"{layout.root} holds no complete track.")
    return pl.scan_parquet(files, glob=False)


@dataclass(frozen=True)
class TrackFacts:
    """What a track's record says and measures need.

    Attributes
    ----------
    systems
        Their names, sorted; arrays hold systems in this order.
    deepest_rank
        The track's deepest rank, over all systems and queries.
    qrels
        The name of the chosen qrels set.
    highest_grade
        Of that set; at least 1, so that a gain can be divided by it.
    """

    track: str
    systems: tuple[str, ...]
    deepest_rank: int
    qrels: str
    highest_grade: int
    policy: Mapping[str, Any]


def track_facts(layout: Layout, track: str, qrels: str | None = None) -> TrackFacts:
    """The facts of one track under one of its qrels sets (None: the primary one).

    Raises
    ------
    UsageError
        If there is no such track or set.
    """
    record = layout.read_record(track)
    sets = {q["name"]: q for q in record["qrels"]}
    name = record["qrels"][0]["name"] if qrels is None else qrels
    if name not in sets:
        raise UsageError(f"track {track!r} has no qrels set {name!r}. {did_you_mean(name, sets)}")
    return TrackFacts(
        track=record["track"],
        systems=tuple(record["systems"]),
        deepest_rank=record["deepest_rank"],
        qrels=name,
        highest_grade=max(1, sets[name]["highest"]),
        policy=record["config"]["policy"],
    )


def qrels_notes(record: Mapping[str, Any]) -> str | None:
    """What reading noticed of a track's qrels, from its record; None: nothing."""
    notes = [f"qrels {q['name']}: {note}" for q in record["qrels"] for note in q["notes"]]
    return "; ".join(notes) or None


def graded(layout: Layout, facts: TrackFacts) -> pl.DataFrame:
    """The judged docs of the chosen set: query, doc_id, doc, grade (the maximum over subtopics).

    Sorted by query, then grade descending, then doc_id: a query's relevant docs lead, at any `rel`.
    """
    return (
        lazy(layout, "qrels", facts.track)
        .filter(pl.col("set") == facts.qrels)
        .group_by("query", "doc_id")
        .agg(pl.col("doc").first(), pl.col("grade").max())
        .sort("query", "grade", "doc_id", descending=[False, True, False])
        .collect()
    )


@dataclass(frozen=True)
class RowBlock:
    """Whole queries of the long table.

    `columns` holds arrays by name; query and system are codes into the lists given to `row_blocks`
    (-1: not in the list), doc codes sort as the docs' bytes do within a query.
    """

    first_query: int
    last_query: int
    columns: dict[str, np.ndarray]


@dataclass(frozen=True)
class _Group:
    path: Path
    index: int
    rows: int
    last_query: str


def row_blocks(
    layout: Layout,
    track: str,
    queries: Sequence[str],
    systems: Sequence[str],
    columns: Sequence[str],
    max_rows: int = BLOCK_ROWS,
) -> Iterator[RowBlock]:
    """The long table of one track, a block of whole queries at a time.

    The blocks share out all of `queries` (which must be sorted), those without a row included:
    block i is given ``queries[first_query:last_query]``.
    """
    groups = list(_groups(layout, track))
    if not groups:
        fix = "Ingest the track again."
        raise DataError("its Parquet files are missing from the store", track=track, fix=fix)
    codes = {
        "query": {name: i for i, name in enumerate(queries)},
        "system": {name: i for i, name in enumerate(systems)},
    }
    first = at = 0
    while at < len(groups):
        stop, rows = at + 1, groups[at].rows
        while stop < len(groups) and rows + groups[stop].rows <= max_rows:
            rows += groups[stop].rows
            stop += 1
        last = len(queries)
        if stop < len(groups):
            limit = groups[stop - 1].last_query.encode()
            last = next((i for i in range(first, last) if queries[i].encode() > limit), last)
        yield RowBlock(first, last, _read(groups[at:stop], columns, codes))
        first, at = last, stop


def _groups(layout: Layout, track: str) -> Iterator[_Group]:
    for path in layout.files("runs", track):
        file = pq.ParquetFile(path)
        for index in range(file.num_row_groups):
            if rows := file.metadata.row_group(index).num_rows:
                yield _Group(path, index, rows, _last_query(file, index))


def _last_query(file: pq.ParquetFile, index: int) -> str:
    """The greatest query of a row group; Parquet keeps no statistics on very long strings."""
    place = file.schema_arrow.get_field_index("query")
    found = file.metadata.row_group(index).column(place).statistics
    if found is not None and found.has_min_max:
        return found.max
    return file.read_row_group(index, columns=["query"])["query"][-1].as_py()


def _read(
    groups: Sequence[_Group], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
) -> dict[str, np.ndarray]:
    strings = [c for c in columns if c in ("query", "system", "doc")]
    tables = []
    for path in dict.fromkeys(g.path for g in groups):
        file = pq.ParquetFile(path, read_dictionary=strings)
        own = [g.index for g in groups if g.path == path]
        tables.append(file.read_row_groups(own, columns=list(columns)))
    table = pa.concat_tables(tables)
    return {name: _array(table[name], codes.get(name)) for name in columns}


def _array(column: pa.ChunkedArray, codes: Mapping[str, int] | None) -> np.ndarray:
    if not pa.types.is_dictionary(column.type):
        if column.null_count:
            column = column.fill_null(np.iinfo(np.int32).min)
        # A copy: kernels take one form, so that each compiles once, and Arrow's is read-only.
        return np.concatenate([_values(chunk) for chunk in column.chunks])
    parts = []
    for chunk in column.chunks:
        names = chunk.dictionary
        if codes is None:
            place = np.empty(len(names), np.int32)
            place[pl.Series(names).arg_sort().to_numpy()] = np.arange(len(names), dtype=np.int32)
        else:
            place = np.array([codes.get(n, -1) for n in names.to_pylist()], np.int32)
        parts.append(place[_values(chunk.indices)])
    return np.concatenate(parts)


def _values(array: pa.Array) -> np.ndarray:
    """Numbers without nulls; `to_numpy` would load pandas, where that is installed."""
    _, values = array.buffers()
    kind = array.type.to_pandas_dtype()
    return np.frombuffer(values, kind, array.offset + len(array))[array.offset :]

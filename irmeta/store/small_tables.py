"""The small tables of a track: qrels, samples, queries, subtopics and systems."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import printable
from irmeta.schema import TABLES
from irmeta.schema.arrow import as_frame, constant, encoded, text
from irmeta.store.facts import Facts
from irmeta.store.long_table import Noticed
from irmeta.store.parquet import part_writer, stored_schema
from irmeta.store.read_run import RunFacts, SkippedRun
from irmeta.store.read_track import ReadTrack
from irmeta.store.readers import Judgments
from irmeta.store.run_notes import disjoint_parts, equal_systems

_TYPES: dict[pa.DataType, Any] = {
    pa.int8(): pl.Int8,
    pa.int32(): pl.Int32,
    pa.int64(): pl.Int64,
    pa.float64(): pl.Float64,
    pa.bool_(): pl.Boolean,
}
"""Types of numbers; Arrow's `cast` would load pyarrow.compute."""


def write_qrels(folder: Path, track: str, pool: Judgments) -> None:
    """Write the qrels table, one row group per set."""
    with part_writer("qrels", folder) as writer:
        for columns in qrels_columns(track, pool):
            writer.write(columns)


def qrels_columns(track: str, pool: Judgments) -> Iterator[dict[str, pa.Array]]:
    """Yield all columns of the qrels table, set by set."""
    types = {frame["grade"].dtype for frame in pool.frames}
    kind = pl.Int8 if types == {pl.Int8} else pl.Float64  # one type for all sets of a file
    for frame in pool.frames:
        columns = {"track": constant(track, frame.height)}
        for name in ("set", "query", "subtopic", "doc"):
            columns[name] = encoded(frame[name])
        columns["grade"] = frame["grade"].cast(kind).to_arrow()
        columns["doc_id"] = frame["doc_id"].to_arrow()
        yield columns


def write_samples(folder: Path, track: str, pool: Judgments) -> None:
    """Write the samples table if a qrels set judges a sample of the pool."""
    if pool.samples:
        with part_writer("samples", folder) as writer:
            for frame in pool.samples:
                writer.write(described_columns("samples", track, frame))


def write_described(stage: Path, read: ReadTrack) -> None:
    """Write the tables of described queries, systems, subtopics, each if a file describes any."""
    for kind, attribute in _DESCRIBED.items():
        frame = getattr(read, attribute)
        if frame.height:
            with part_writer(kind, stage / kind) as writer:
                writer.write(described_columns(kind, read.source.name, frame))


_DESCRIBED = {"queries": "queries", "factors": "factors", "subtopics": "described"}
"""Tables of what files describe, and the attributes of `ReadTrack` with their rows."""


def described_columns(kind: str, track: str, frame: pl.DataFrame) -> dict[str, pa.Array]:
    """Return all columns of a table of samples, or of described queries, systems or subtopics."""
    schema = TABLES[kind].arrow(dictionary=True)
    columns = {name: _as(frame[name], schema.field(name).type) for name in frame.columns}
    return {"track": constant(track, frame.height), **columns}


def write_systems(folder: Path, read: ReadTrack, noticed: Noticed) -> None:
    """Write the systems table; for the arguments see `systems_columns`."""
    with part_writer("systems", folder) as writer:
        writer.write(systems_columns(read, noticed))


def systems_columns(read: ReadTrack, noticed: Noticed) -> dict[str, pa.Array]:
    """Return all columns of the systems table: notes on reading, and why runs are skipped."""
    track, rows, judged = read.source.name, read.rows, read.pool.queries()
    is_judged = np.zeros(len(read.names.queries), bool)
    is_judged[judged] = True
    counts = [int(is_judged[queries].sum()) for queries in rows.queries_of_run]
    names = [run.system for run in rows.runs]
    equal_to = equal_systems(names, noticed.hashes, noticed.judged)
    parts = disjoint_parts([queries[is_judged[queries]] for queries in rows.queries_of_run], judged)
    records = [
        _system_record(track, run, read.facts)
        | {
            "rows": rows.kept(run),
            "lists": len(queries),
            "missing_queries": len(judged) - counts[i],
            "unjudged_queries": len(queries) - counts[i],
            "deepest_rank": rows.deepest(run),
            "tied_rows": int(noticed.tied[i]),
            "rounded_rows": int(noticed.rounded[i]),
            "judged_rows": int(noticed.judged[i]),
            "contradicting_lists": run.contradicting,
            "equal_to": equal_to[i],
            "part": parts[i],
        }
        for i, (run, queries) in enumerate(zip(rows.runs, rows.queries_of_run, strict=True))
    ]
    records += [_skipped_record(track, skipped) for skipped in read.named.skipped]
    records.sort(key=lambda r: (str(r["system"] or ""), str(r["file"])))
    frame = pl.from_dicts(records, infer_schema_length=None)
    schema = TABLES["systems"].arrow(dictionary=True)
    return {field.name: _as(frame[field.name], field.type) for field in schema}


def table_frame(table: str, parts: Iterable[Mapping[str, pa.Array]]) -> pl.DataFrame:
    """Return a table with the types that polars reads from Parquet."""
    parts = list(parts)
    schema = stored_schema(table, parts[0] if parts else {})
    columns = ([part[name] for name in schema.names] for part in parts)
    frames = [as_frame(pa.Table.from_arrays(arrays, schema=schema)) for arrays in columns]
    return pl.concat([as_frame(pa.Table.from_batches([], schema)), *frames])


def small_frames(read: ReadTrack, noticed: Noticed) -> dict[str, pl.DataFrame]:
    """Return the tables as frames; for the arguments see `systems_columns`."""
    track = read.source.name
    samples = (described_columns("samples", track, frame) for frame in read.pool.samples)
    return {
        "qrels": table_frame("qrels", qrels_columns(track, read.pool)),
        "systems": table_frame("systems", [systems_columns(read, noticed)]),
        "samples": table_frame("samples", samples),
        **{
            kind: table_frame(kind, [described_columns(kind, track, getattr(read, attribute))])
            for kind, attribute in _DESCRIBED.items()
        },
    }


def _as(values: pl.Series, kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return encoded(values)
    return text(values) if kind == pa.string() else values.cast(_TYPES[kind]).to_arrow()


def _system_record(track: str, run: RunFacts, facts: dict[str, Facts]) -> dict[str, object]:
    known = facts.get(run.system, Facts())
    unknown = ["not among the track's system facts"] if facts and run.system not in facts else []
    return {
        "track": track,
        "system": run.system,
        "group": known.group,
        "type": known.type,
        "pooled": known.pooled,
        "tag": run.tag,
        "file": run.file,
        "sha256": run.sha256,
        "duplicates": run.duplicates,
        "malformed": run.malformed,
        "empty_lists": json.dumps(run.empty, ensure_ascii=False) if run.empty else None,
        "notes": "; ".join([*run.notes, *known.notes, *unknown]) or None,
        "skip_reason": None,
    }


def _skipped_record(track: str, skipped: SkippedRun) -> dict[str, object]:
    schema = TABLES["systems"].columns
    empty = {name: 0 for name, column in schema.items() if not column.null}
    return {
        **dict.fromkeys(schema),
        **empty,
        "track": track,
        "system": skipped.system,
        "tag": skipped.tag,
        "file": printable(skipped.file),
        "sha256": skipped.sha256,
        "skip_reason": skipped.reason,
    }

"""Tidy frames to Parquet and CSV: whole or not at all, with their provenance."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from irmeta.errors import UsageError
from irmeta.schema import TABLES

KEY = b"irmeta"
"""The key of the Parquet file metadata that holds the provenance, as JSON."""


Rows = pl.DataFrame | pa.Table
"""Some rows of a table; a `pa.Table` has the table's schema, repeated strings by dictionary."""


def write_parquet(
    frames: Rows | Iterable[Rows],
    path: Path,
    table: str | None,
    provenance: dict[str, Any],
) -> int:
    """Write one Parquet file, a row group for each frame, and return its number of rows.

    Parameters
    ----------
    table
        The name of the table in irmeta.schema that the frames follow; None: whatever they have.
    provenance
        JSON values that say what was computed from what.
    """
    one = isinstance(frames, pl.DataFrame | pa.Table)
    blocks: Iterator[Rows] = iter([frames] if one else frames)
    first = next(blocks)
    schema = _schema(first, table)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    rows = 0
    try:
        # The same content as in batches of 2^10, the default, which take longer.
        options = {"compression": "zstd", "store_schema": False, "write_batch_size": 1 << 16}
        with pq.ParquetWriter(beside, schema, write_page_checksum=True, **options) as writer:
            # Not in the schema: without an Arrow schema its metadata would be left out.
            writer.add_key_value_metadata({KEY: _json(provenance)})
            for frame in chain([first], blocks):
                writer.write_table(_arrow(frame, schema))
                rows += len(frame)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    return rows


def read_parquet(path: Path) -> pl.DataFrame:
    """A whole file, its pages compared with their checksums, where they have any.

    Raises
    ------
    irmeta.schema.arrow.DAMAGED
        If it cannot be read, or was changed.
    """
    frame = pl.from_arrow(pq.ParquetFile(path, page_checksum_verification=True).read())
    assert isinstance(frame, pl.DataFrame)
    return frame


def _schema(frame: Rows, table: str | None) -> pa.Schema:
    if isinstance(frame, pa.Table):
        return frame.schema
    if table is not None:
        return TABLES[table].arrow()
    plain = frame.head(0).to_arrow().schema
    text = pa.string()
    fields = [f.with_type(text) if pa.types.is_large_string(f.type) else f for f in plain]
    fields = [f.with_type(text) if f.type == pa.string_view() else f for f in fields]
    return pa.schema(fields)


def _arrow(frame: Rows, schema: pa.Schema) -> pa.Table:
    # Fields may not be null where the schema says so; Arrow checks that only on request.
    if isinstance(frame, pa.Table):
        table = frame
    else:
        open_schema = pa.schema([f.with_nullable(True) for f in schema])
        table = frame.select(schema.names).to_arrow().cast(open_schema)
    for field in schema:
        assert field.nullable or table[field.name].null_count == 0, f"null in {field.name}"
    return pa.Table.from_arrays(table.columns, schema=schema)


def _json(record: dict[str, Any]) -> bytes:
    return json.dumps(record, sort_keys=True, ensure_ascii=False).encode()


def provenance(path: Path) -> dict[str, Any] | None:
    """The provenance of a Parquet file that irmeta wrote; None for any other file."""
    try:
        metadata = pq.read_metadata(path).metadata or {}
    except (OSError, pa.ArrowInvalid):
        return None
    return json.loads(metadata[KEY]) if KEY in metadata else None


def write_out(frame: pl.DataFrame, path: Path, record: dict[str, Any], *, force: bool) -> None:
    """Write a frame to a file that the user named, in the format of its ending.

    Raises
    ------
    UsageError
        For an ending other than .parquet and .csv, or a file that is there and not ours, unless
        `force`.
    """
    check_ours(path, force=force, columns=frame.columns)
    if path.suffix == ".parquet":
        write_parquet(frame, path, None, record)
    else:
        write_text(path, frame.write_csv())


def check_ours(path: Path, *, force: bool, columns: Sequence[str] = ()) -> None:
    """Refuse an ending that is not written, and a file of someone else's unless `force`."""
    check_ending(path)
    if path.exists() and not force and not _ours(path, list(columns)):
        raise UsageError(f"{path} exists and irmeta did not write it: use --force to replace it.")


def write_text(path: Path, text: str) -> None:
    """Put a text file in place whole: UTF-8, lines as they are."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Put a file in place whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(data)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)


def check_ending(path: Path) -> None:
    """Refuse an output file of a kind that is not written, before anything is computed."""
    if path.suffix not in (".parquet", ".csv"):
        raise UsageError(f"{path}: the ending of an output file is .parquet or .csv.")
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file.")


def _ours(path: Path, columns: list[str]) -> bool:
    """Whether irmeta wrote a file: by its provenance, a CSV by having the same columns."""
    if path.suffix == ".csv":
        header = pl.DataFrame(schema=columns).write_csv().encode()
        with path.open("rb") as file:
            return file.read(len(header)) == header
    return provenance(path) is not None

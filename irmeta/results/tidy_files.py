"""Atomic writing of tidy frames to Parquet and CSV, with their provenance."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl
import pyarrow as pa

from irmeta._version import __version__
from irmeta.checksums import BLANK, EMBEDDED, check_embedded, embed_checksum, load_json
from irmeta.delimited import to_csv
from irmeta.errors import DataError
from irmeta.escapes import escape_json
from irmeta.files import (
    check_ours,
    check_target,
    has_mark,
    remove_temporaries,
    replacing,
    write_text,
)
from irmeta.locations import Location, RemotePath, local, source_of
from irmeta.schema.arrow import DAMAGED, with_grades
from irmeta.schema.columns import Table

if TYPE_CHECKING:
    import pyarrow.parquet as pq

KEY = b"irmeta"
"""Key of the provenance, as JSON, in the metadata of a Parquet file."""

AGAIN = "Make it again (reanalyze and studies do so by themselves), or restore it from a copy."
"""Advice for a damaged result file."""

Rows = pl.DataFrame | pa.Table
"""Rows of a table; a `pa.Table` has the table's schema, with dictionaries of strings."""


class ParquetFile:
    """A Parquet file that is written in pieces, one row group each; `rows` counts those written.

    It is not replaced atomically: see `irmeta.files.replacing`. `table` is the schema of the
    pieces; None: that of the first piece. `provenance` has JSON values.
    """

    def __init__(self, path: Path, table: Table | None, provenance: Mapping[str, Any]) -> None:
        self._path, self._table, self._provenance = path, table, provenance
        self._writer: pq.ParquetWriter | None = None
        self.rows: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        if error[0] is None and self._writer is None and self._table is not None:
            self.write(self._table.empty())
        if self._writer is None:
            return
        self._writer.close()
        if error[0] is None:
            embed_checksum(self._path)

    def write(self, piece: Rows) -> None:
        """Write a piece."""
        if self._writer is None:
            self._open(piece)
        assert self._writer is not None
        self._writer.write_table(_arrow(piece, self._writer.schema))
        self.rows += len(piece)

    def _open(self, piece: Rows) -> None:
        import pyarrow.parquet as pq

        # Larger batches than the default of 2^10 write the same content faster.
        self._writer = pq.ParquetWriter(
            self._path,
            _schema(piece, self._table),
            compression="zstd",
            store_schema=False,
            write_batch_size=1 << 16,
            write_page_checksum=True,
        )
        record = json.dumps(self._provenance, sort_keys=True, ensure_ascii=False).encode()
        # Not in the schema: without a stored Arrow schema its metadata would be dropped.
        self._writer.add_key_value_metadata({KEY: record, EMBEDDED: BLANK})


def write_parquet(
    pieces: Rows | Iterable[Rows], path: Path, table: Table | None, provenance: Mapping[str, Any]
) -> int:
    """Write a Parquet file atomically, one row group per piece; return its number of rows.

    For the parameters see `ParquetFile`.
    """
    is_one = isinstance(pieces, pl.DataFrame | pa.Table)
    with replacing(path) as temporary, ParquetFile(temporary, table, provenance) as file:
        for piece in [pieces] if is_one else pieces:
            file.write(piece)
    return file.rows


def read_parquet(path: Location) -> pl.DataFrame:
    """Read a Parquet file and verify its checksums, if it has any.

    Raises DataError if the file cannot be read, or was changed after irmeta wrote it.
    """
    import pyarrow.parquet as pq

    if isinstance(path, RemotePath):
        path.hold()  # the checksum is of the whole file
    check_parquet(path)  # first: Parquet libraries may crash on a damaged footer
    try:
        frame = pl.from_arrow(
            pq.ParquetFile(source_of(path), page_checksum_verification=True).read()
        )
    except (*DAMAGED, ValueError) as error:
        raise _damaged(path, error) from error
    assert isinstance(frame, pl.DataFrame)
    return frame


def check_parquet(path: Location) -> None:
    """Verify the checksum of a Parquet file, if it has one, before another library reads the file.

    Raises DataError if the file cannot be read, or was changed after irmeta wrote it.
    """
    try:
        check_embedded(path)
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from error


def scan_files(files: Sequence[Location]) -> pl.LazyFrame:
    """Scan Parquet files of one table after verifying their checksums; read remote files.

    For errors see `check_parquet`.
    """
    paths = [file for file in files if isinstance(file, Path)]
    if len(paths) < len(files):
        return pl.concat([read_parquet(file) for file in files]).lazy()
    for file in paths:
        check_parquet(file)
        try:
            pl.read_parquet_schema(file)  # a damaged footer may have lost its checksum too
        except DAMAGED as error:
            raise _damaged(file, error) from error
    return pl.scan_parquet(paths, glob=False)


def _damaged(path: Location, error: BaseException) -> DataError:
    reason = " ".join(str(error).split("\n", 1)[0].split())
    return DataError(f"cannot be read as Parquet ({reason})", file=str(path), fix=AGAIN)


def _schema(frame: Rows, table: Table | None) -> pa.Schema:
    if isinstance(frame, pa.Table):
        return frame.schema
    if table is not None:
        schema = table.arrow()
        for name, column in table.columns.items():
            if column.may_be_real and frame.schema[name] == pl.Float64:
                schema = with_grades(schema, pa.float64(), name)
        return schema
    plain = frame.head(0).to_arrow().schema
    text = pa.string()
    fields = [f.with_type(text) if pa.types.is_large_string(f.type) else f for f in plain]
    fields = [f.with_type(text) if f.type == pa.string_view() else f for f in fields]
    return pa.schema(fields)


def _arrow(frame: Rows, schema: pa.Schema) -> pa.Table:
    # Arrow does not check by itself that non-nullable fields have no nulls.
    if isinstance(frame, pa.Table):
        table = frame
    else:
        open_schema = pa.schema([f.with_nullable(True) for f in schema])
        table = frame.select(schema.names).to_arrow().cast(open_schema)
    for field in schema:
        assert field.nullable or table[field.name].null_count == 0, f"null in {field.name}"
    return pa.Table.from_arrays(table.columns, schema=schema)


def provenance(path: Location) -> dict[str, Any] | None:
    """Return the provenance of a Parquet file that irmeta wrote, None for any other file.

    Raises
    ------
    DataError
        If the file is a damaged Parquet file.
    """
    if isinstance(path, RemotePath):
        path.hold()
    try:
        check_embedded(path)
    except OSError:
        return None
    except ValueError as error:
        raise _damaged(path, error) from None
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(source_of(path)).metadata or {}
    except (*DAMAGED, ValueError) as error:
        if _has_parquet_ends(path):
            raise _damaged(path, error) from None
        return None
    if KEY not in metadata:
        return None
    try:
        record = load_json(metadata[KEY])
    except ValueError as error:  # a file of an older irmeta, without a checksum
        raise _damaged(path, error) from None
    return record if isinstance(record, dict) else None


def _has_parquet_ends(path: Location) -> bool:
    with path.open("rb") as file:
        first, size = file.read(4), file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 4))
        return size >= 12 and first == file.read() == b"PAR1"


SCHEMA_VERSION = 2
"""Version of the JSON of `tables_json`."""


def tables_json(
    command: str,
    tables: Mapping[str, pl.DataFrame],
    record: Mapping[str, Any],
    facts: Mapping[str, object],
    digits: int | None = None,
) -> str:
    """Return tables with their provenance as JSON, one row per line.

    The object has schema_version, irmeta (version), command, provenance, facts, and tables: for
    each name a list of rows. Values that are undefined, infinite or absent are null. `digits` are
    decimal places; default all.
    """
    head = {
        "schema_version": SCHEMA_VERSION,
        "irmeta": __version__,
        "command": command,
        "provenance": record,
        "facts": facts,
    }
    lines = [f' "{key}": {_json(fact)},' for key, fact in head.items()]
    rows = ",\n".join(
        f"  {_json(name)}: [{_rows(frame, digits)}]" for name, frame in tables.items()
    )
    text = "\n".join(["{", *lines, ' "tables": {', rows, " }", "}"])
    return escape_json(f"{text}\n")


def _json(value: object) -> str:
    return json.dumps(_finite(value), sort_keys=True, ensure_ascii=False)


def _finite(value: Any) -> Any:
    """Replace floats that JSON does not have by None."""
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _rows(frame: pl.DataFrame, digits: int | None) -> str:
    if digits is not None:
        frame = frame.with_columns(pl.selectors.float().round(digits))
    frame = frame.with_columns(pl.selectors.float() + 0.0)  # -0.0 is 0
    # Not splitlines, which also divides texts at other characters than the line feed.
    lines = frame.write_ndjson().strip("\n").split("\n")
    return ",".join(f"\n   {line}" for line in lines) + "\n  " if frame.height else ""


def write_out(
    frame: pl.DataFrame,
    path: Path,
    record: dict[str, Any],
    *,
    force: bool,
    csv_safe: bool = False,
) -> None:
    """Write a frame to a file that the user named, in the format of its extension.

    UsageError: an extension other than .parquet and .csv, or, unless `force`, an existing file that
    irmeta did not write. DataError: an existing file that irmeta wrote and that is damaged, unless
    `force`. `csv_safe` is `safe` of `to_csv`.
    """
    check_ending(path)
    check_ours(path, lambda file: has_written(file, frame.columns), force=force)
    remove_temporaries(path.parent)
    if path.suffix == ".parquet":
        write_parquet(frame, path, None, record)
    else:
        write_text(path, to_csv(frame, safe=csv_safe))


def check_ending(path: Path) -> None:
    """Reject an output file with an unsupported extension, before anything is computed."""
    check_target(local(path), (".parquet", ".csv"))


def is_ours(path: Location) -> bool:
    """Check whether irmeta wrote a Parquet file, damaged or not."""
    try:
        return provenance(path) is not None
    except DataError:
        return True


def has_written(path: Path, columns: Sequence[str] = ()) -> bool:
    """Check whether irmeta wrote a file: by its provenance or mark, a CSV by the same columns.

    Raises DataError if it is a damaged Parquet file.
    """
    if path.suffix == ".csv":
        header = pl.DataFrame(schema=list(columns)).write_csv().encode()
        with path.open("rb") as file:
            return file.read(len(header)) == header
    if path.suffix != ".parquet":
        return has_mark(path)
    try:
        return provenance(path) is not None
    except DataError as error:
        error.fix = "Use `force=True` to replace it."
        raise

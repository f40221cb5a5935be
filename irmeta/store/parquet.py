"""Parquet files of a store: tables written in row groups, and read with verified checksums."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from irmeta.checksums import has_footer
from irmeta.errors import DataError
from irmeta.kernels.lists import list_starts
from irmeta.locations import Location, RemotePath, reading, source_of
from irmeta.schema import TABLES
from irmeta.schema.arrow import DAMAGED, as_frame, with_grades
from irmeta.store.scan import COPY_AGAIN, StoredLists

if TYPE_CHECKING:
    import pyarrow.parquet as pq


@dataclass(frozen=True)
class RowGroup:
    """One row group of complete queries, up to `last_query`.

    `metadata` are those of the file when it was checked.
    """

    path: Location
    metadata: pq.FileMetaData
    index: int
    rows: int
    last_query: str


def row_groups(files: Iterable[Location]) -> Iterator[RowGroup]:
    """Yield the row groups of some files that have rows."""
    for path in files:
        with reading(path):
            file = _checked(path)
            for index in range(file.num_row_groups):
                if rows := file.metadata.row_group(index).num_rows:
                    yield RowGroup(path, file.metadata, index, rows, _last_query(file, index))


def read_frame(files: Iterable[Location]) -> pl.DataFrame:
    """Read a table into a polars frame, with its page checksums verified."""
    return pl.concat([_frame(path) for path in files])


def scan(files: Sequence[Location]) -> pl.LazyFrame:
    """Scan files of one table; page checksums are verified only of remote files.

    Of a remote file only the columns that a query uses are requested.
    """
    paths = [path for path in files if isinstance(path, Path)]
    if len(paths) == len(files):
        return pl.scan_parquet(paths, glob=False)
    schema = as_frame(_checked(files[0]).schema_arrow.empty_table()).schema
    return register_io_source(partial(_pieces, files), schema=schema)


def _pieces(
    files: Sequence[Location],
    columns: list[str] | None,
    where: pl.Expr | None,
    rows: int | None,
    _: int | None,
) -> Iterator[pl.DataFrame]:
    """Yield the row groups of some remote files, for polars; raise `DataError` for damaged ones."""
    for path in files:
        for index in range(_checked(path).num_row_groups):
            try:
                frame = _frame(path, [index], columns)
            except DAMAGED as error:
                problem = f"cannot be read ({' '.join(str(error).split())})"
                raise DataError(problem, file=str(path), fix=COPY_AGAIN) from error
            frame = frame if where is None else frame.filter(where)
            yield frame if rows is None else frame.head(rows)
            if rows is not None and (rows := rows - frame.height) <= 0:
                return


def _frame(
    path: Location, groups: Sequence[int] | None = None, columns: list[str] | None = None
) -> pl.DataFrame:
    """Read some row groups and columns of a file; None: all."""
    with reading(path):
        file = _checked(path)
        indices = range(file.num_row_groups) if groups is None else groups
        return as_frame(file.read_row_groups(indices, columns=columns))


def _checked(
    path: Location, as_dictionary: Sequence[str] = (), metadata: pq.FileMetaData | None = None
) -> pq.ParquetFile:
    """Open a Parquet file with verification of its page checksums, if any."""
    import pyarrow.parquet as pq  # slow: a store in memory needs none

    is_remote = isinstance(path, RemotePath)
    if isinstance(path, RemotePath) and metadata is None and has_footer(path.end):
        metadata = pq.read_metadata(pa.BufferReader(path.end))  # saves a request
    return pq.ParquetFile(
        source_of(path),
        metadata=metadata,
        read_dictionary=list(as_dictionary),
        pre_buffer=is_remote,  # joins requests of neighbouring columns
        page_checksum_verification=True,
    )


def _last_query(file: pq.ParquetFile, index: int) -> str:
    """Return the last query of a row group; Parquet has no statistics for very long strings."""
    column = file.schema_arrow.get_field_index("query")
    statistics = file.metadata.row_group(index).column(column).statistics
    if statistics is not None and statistics.has_min_max:
        return statistics.max
    return file.read_row_group(index, columns=["query"])["query"][-1].as_py()


def read_lists(
    groups: Sequence[RowGroup], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
) -> StoredLists:
    """Read some columns of the lists of row groups, see `StoredTrack.lists`."""
    tables = []
    for path, metadata in {g.path: g.metadata for g in groups}.items():
        indices = [g.index for g in groups if g.path == path]
        with reading(path):
            file = _checked(path, ["query", "system", "doc"], metadata)
            tables.append(file.read_row_groups(indices, columns=["query", "system", *columns]))
    table = pa.concat_tables(tables)
    begin, query, system = _lists(table, codes)
    starts = np.append(begin, table.num_rows)
    return StoredLists(query, system, starts, {name: _array(table[name]) for name in columns})


def _lists(
    table: pa.Table, codes: Mapping[str, Mapping[str, int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the first row of each list and its two codes; only these rows are decoded."""
    first_rows, rows = [], 0
    list_codes: dict[str, list[np.ndarray]] = {"query": [], "system": []}
    for batch in table.select(["query", "system"]).to_batches():
        indices = [_values(column.indices) for column in batch.columns]
        starts = list_starts(*indices)
        for (name, parts), column, values in zip(
            list_codes.items(), batch.columns, indices, strict=True
        ):
            code = [codes[name].get(n, -1) for n in column.dictionary.to_pylist()]
            parts.append(np.array(code, np.int32)[values[starts]])
        first_rows.append(starts + rows)
        rows += batch.num_rows
    starts, query, system = map(np.concatenate, (first_rows, *list_codes.values()))
    # Lists may continue in the next batch.
    first = np.append(True, (np.diff(query) != 0) | (np.diff(system) != 0))
    return starts[first], query[first], system[first]


def _array(column: pa.ChunkedArray) -> np.ndarray:
    """Return a column as an array, strings as numbers that sort like the strings."""
    if not pa.types.is_dictionary(column.type):
        if column.null_count:
            column = column.fill_null(np.iinfo(np.int32).min)
        # A copy, because kernels would compile again for Arrow's read-only arrays.
        return np.concatenate([_values(chunk) for chunk in column.chunks])
    parts = []
    for chunk in column.chunks:
        rank = np.empty(len(chunk.dictionary), np.int32)
        rank[pl.Series(chunk.dictionary).arg_sort().to_numpy()] = np.arange(len(rank))
        parts.append(rank[_values(chunk.indices)])
    return np.concatenate(parts)


_FLOATS = {"float": "float32", "double": "float64"}  # arrow's names; those of integers are numpy's


def _values(array: pa.Array) -> np.ndarray:
    """Return an array of numbers without nulls.

    `to_numpy` would load pandas if installed, and `to_pandas_dtype` of pyarrow 23 needs it.
    """
    _, values = array.buffers()
    name = str(array.type)
    kind = np.dtype(_FLOATS.get(name, name))
    return np.frombuffer(values, kind, array.offset + len(array))[array.offset :]


PART_ROWS = 1 << 25  # a file is closed at the first row group after this many rows


@dataclass
class PartWriter:
    """Writer of record batches as row groups to `folder`/part-0.parquet, part-1.parquet, ..."""

    table: str
    folder: Path
    parts: int = 0  # files begun
    _writer: pq.ParquetWriter | None = None
    _rows: int = 0

    def write(self, columns: dict[str, pa.Array]) -> None:
        """Write one row group; the columns are those of the table's schema."""
        import pyarrow.parquet as pq

        schema = stored_schema(self.table, columns)
        if self._writer is None or self._rows >= PART_ROWS:
            self.close()
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"part-{self.parts}.parquet"
            self._writer = pq.ParquetWriter(path, schema, **_options(self.table))
            self.parts += 1
            self._rows = 0
        group = pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)
        self._writer.write_table(group, row_group_size=max(1, group.num_rows))
        self._rows += group.num_rows

    def close(self) -> None:
        """Finish the current file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def stored_schema(table: str, columns: Mapping[str, pa.Array]) -> pa.Schema:
    """Return the schema of a table with these columns: grades are int8, or float64 if need be."""
    schema = TABLES[table].arrow(dictionary=True)
    return with_grades(schema, columns["grade"].type) if "grade" in columns else schema


@contextmanager
def part_writer(table: str, folder: Path) -> Generator[PartWriter]:
    """Yield a `PartWriter` that writes at least one file, so that every table can be read."""
    writer = PartWriter(table, folder)
    try:
        yield writer
        if writer.parts == 0:
            schema = TABLES[table].arrow(dictionary=True)
            writer.write({f.name: pa.array([], f.type) for f in schema})
    finally:
        writer.close()


def _options(table: str) -> dict[str, Any]:
    """Return a table's Parquet options; benchmarks/README.md has the bytes per row.

    Every reader sees strings (`store_schema`); statistics serve to find a track, set or query.
    """
    columns = TABLES[table].columns
    strings = [c for c, column in columns.items() if column.kind in ("name", "text")]
    encodings = {"score": "BYTE_STREAM_SPLIT"}
    encodings |= dict.fromkeys(("rank", "position", "rank_given", "doc_id"), "DELTA_BINARY_PACKED")
    levels = dict.fromkeys(columns, 1)
    few = []
    if table == "runs":
        few.append("grade")
        # Scores are smaller at level -1 than at 1 on the real tracks, and zstd does not compress
        # the unsorted numbers of docs. With the dictionary of grades, writing takes 61 ns a row,
        # where it took 76, at the same size.
        levels["score"] = -1
        del levels["doc_id"]
    return {
        "compression": {c: "zstd" if c in levels else "none" for c in columns},
        "compression_level": levels,
        "store_schema": False,
        "use_dictionary": strings + few,
        "column_encoding": {c: e for c, e in encodings.items() if c in columns},
        "dictionary_pagesize_limit": 1 << 27,
        "write_batch_size": 1 << 16,  # the same bytes as with the default 2^10, in less time
        # Of 100 single bits flipped in a long table without checksums, 13 changed values in
        # silence. Checksums take 0.03 % more bytes, and 5 % more time of reading scores.
        "write_page_checksum": True,
        "write_statistics": [c for c in ("track", "query", "set") if c in strings],
    }

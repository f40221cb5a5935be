"""Reading of Parquet files with verified checksums: row groups of the long table, and frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
from polars.io.plugins import register_io_source

from irmeta.checksums import has_footer
from irmeta.errors import DataError
from irmeta.kernels.lists import list_starts
from irmeta.locations import Location, RemotePath, reading, source_of
from irmeta.schema.arrow import DAMAGED, as_frame
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
    """Open a Parquet file with verification of its page checksums, if any.

    Parameters
    ----------
    as_dictionary
        Columns to read as dictionaries.
    metadata
        The file's metadata, if known.
    """
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
    """Read some columns of the lists of row groups, see `StoreReader.lists`."""
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

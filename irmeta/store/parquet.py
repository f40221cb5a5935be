"""Row groups of the long table, from Parquet files to arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq


@dataclass(frozen=True)
class RowGroup:
    """One row group: whole queries, up to `last_query`."""

    path: Path
    index: int
    rows: int
    last_query: str


def row_groups(files: Iterable[Path]) -> Iterator[RowGroup]:
    """The row groups of some files, those without a row left out."""
    for path in files:
        file = pq.ParquetFile(path)
        for index in range(file.num_row_groups):
            if rows := file.metadata.row_group(index).num_rows:
                yield RowGroup(path, index, rows, _last_query(file, index))


def _last_query(file: pq.ParquetFile, index: int) -> str:
    """The greatest query of a row group; Parquet keeps no statistics on very long strings."""
    place = file.schema_arrow.get_field_index("query")
    found = file.metadata.row_group(index).column(place).statistics
    if found is not None and found.has_min_max:
        return found.max
    return file.read_row_group(index, columns=["query"])["query"][-1].as_py()


def read_arrays(
    groups: Sequence[RowGroup], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
) -> dict[str, np.ndarray]:
    """Some columns of some row groups, strings as `StoreReader.arrays` says."""
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

"""What is read of Parquet files for numbers: row groups of the long table to arrays, and frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from irmeta.kernels.scatter import list_starts
from irmeta.schema.arrow import as_frame
from irmeta.store.scan import StoredLists


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
        file = _checked(path)
        for index in range(file.num_row_groups):
            if rows := file.metadata.row_group(index).num_rows:
                yield RowGroup(path, index, rows, _last_query(file, index))


def read_frame(files: Iterable[Path]) -> pl.DataFrame:
    """A table as polars reads it, whole, its pages compared with their checksums."""
    return pl.concat([as_frame(_checked(path).read()) for path in files])


def _checked(path: Path, as_dictionary: Sequence[str] = ()) -> pq.ParquetFile:
    """A Parquet file whose pages are compared with their checksums, where they have any.

    `as_dictionary` are the columns that are not spelled out.
    """
    return pq.ParquetFile(
        path, read_dictionary=list(as_dictionary), page_checksum_verification=True
    )


def _last_query(file: pq.ParquetFile, index: int) -> str:
    """The greatest query of a row group; Parquet keeps no statistics on very long strings."""
    place = file.schema_arrow.get_field_index("query")
    found = file.metadata.row_group(index).column(place).statistics
    if found is not None and found.has_min_max:
        return found.max
    return file.read_row_group(index, columns=["query"])["query"][-1].as_py()


def read_lists(
    groups: Sequence[RowGroup], columns: Sequence[str], codes: Mapping[str, Mapping[str, int]]
) -> StoredLists:
    """The lists of some row groups, with some columns, see `StoreReader.lists`."""
    tables = []
    for path in dict.fromkeys(g.path for g in groups):
        file = _checked(path, ["query", "system", "doc"])
        own = [g.index for g in groups if g.path == path]
        tables.append(file.read_row_groups(own, columns=["query", "system", *columns]))
    table = pa.concat_tables(tables)
    begin, query, system = _lists(table, codes)
    starts = np.append(begin, table.num_rows)
    return StoredLists(query, system, starts, {name: _array(table[name]) for name in columns})


def _lists(
    table: pa.Table, codes: Mapping[str, Mapping[str, int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The row that each list begins with, and its codes; only these rows are translated."""
    begin, at = [], 0
    found: dict[str, list[np.ndarray]] = {"query": [], "system": []}
    for batch in table.select(["query", "system"]).to_batches():
        indices = [_values(column.indices) for column in batch.columns]
        own = list_starts(*indices)
        for (name, parts), column, places in zip(
            found.items(), batch.columns, indices, strict=True
        ):
            code = [codes[name].get(n, -1) for n in column.dictionary.to_pylist()]
            parts.append(np.array(code, np.int32)[places[own]])
        begin.append(own + at)
        at += batch.num_rows
    starts, query, system = map(np.concatenate, (begin, *found.values()))
    # A list may go on in the next batch.
    first = np.append(True, (np.diff(query) != 0) | (np.diff(system) != 0))
    return starts[first], query[first], system[first]


def _array(column: pa.ChunkedArray) -> np.ndarray:
    """A column by row, strings as numbers that sort as they do."""
    if not pa.types.is_dictionary(column.type):
        if column.null_count:
            column = column.fill_null(np.iinfo(np.int32).min)
        # A copy: kernels take one form, so that each compiles once, and Arrow's is read-only.
        return np.concatenate([_values(chunk) for chunk in column.chunks])
    parts = []
    for chunk in column.chunks:
        place = np.empty(len(chunk.dictionary), np.int32)
        place[pl.Series(chunk.dictionary).arg_sort().to_numpy()] = np.arange(len(place))
        parts.append(place[_values(chunk.indices)])
    return np.concatenate(parts)


def _values(array: pa.Array) -> np.ndarray:
    """Numbers without nulls; `to_numpy` would load pandas, where that is installed."""
    _, values = array.buffers()
    kind = array.type.to_pandas_dtype()
    return np.frombuffer(values, kind, array.offset + len(array))[array.offset :]

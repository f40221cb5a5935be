"""Columns of tables as Arrow arrays: numbers without a copy, repeated strings by dictionary."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

# Exceptions that libraries raise for malformed or damaged files.
DAMAGED = (
    OSError,
    pa.ArrowException,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def column(values: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """Return numbers as an Arrow array without a copy, null where not `valid`.

    `pa.array` would load pandas, if installed, to check the type of `values`, which takes a fifth
    of a second.
    """
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(
        kind, len(values), [bits, pa.py_buffer(np.ascontiguousarray(values))]
    )


def constant(value: str, rows: int) -> pa.DictionaryArray:
    """Return a column that repeats one string."""
    string = pl.Series([value]).to_arrow().cast(pa.string())
    return pa.DictionaryArray.from_arrays(column(np.zeros(rows, np.int32)), string)


def dictionary(codes: np.ndarray, names: pl.Series, lengths: np.ndarray) -> pa.DictionaryArray:
    """Return the name of each code, repeated `lengths` times; the dictionary is sorted.

    The dictionary has only names that occur, since Parquet stores it in every row group.
    """
    used, compact = np.unique(np.repeat(codes, np.minimum(lengths, 1)), return_inverse=True)
    indices = np.repeat(compact.astype(np.int32), lengths[lengths > 0])
    return pa.DictionaryArray.from_arrays(column(indices), strings(names, used))


def strings(names: pl.Series, indices: np.ndarray) -> pa.StringArray:
    """Return the names at some indices."""
    # `gather` makes a query plan, which takes longer than the lookup of a few names.
    return names[indices].to_arrow().cast(pa.string())


def nullable(values: np.ndarray, null: int) -> pa.Array:
    """Return integers as an Arrow array, null where they equal `null`."""
    return column(values, values != null)


def as_frame(table: pa.Table) -> pl.DataFrame:
    """Return a table as the frame that polars would read from Parquet: strings are strings."""
    # Large strings: all rows together may have more than 2^31 bytes.
    fields = [
        field.with_type(pa.large_string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    frame = pl.from_arrow(table.cast(pa.schema(fields)))
    assert isinstance(frame, pl.DataFrame)
    return frame

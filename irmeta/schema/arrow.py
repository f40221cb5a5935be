"""Columns of tables as Arrow has them: numbers where they lie, repeated strings by dictionary."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

# What libraries raise for files that are none, or whose content makes no sense.
DAMAGED = (
    OSError,
    pa.ArrowException,
    pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)


def column(values: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """Numbers as they lie in memory, null where not `valid`.

    `pa.array` would load pandas, where that is installed, to see whether it was given its arrays: a
    fifth of a second.
    """
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(
        kind, len(values), [bits, pa.py_buffer(np.ascontiguousarray(values))]
    )


def constant(value: str, rows: int) -> pa.DictionaryArray:
    """A column that holds one string."""
    string = pl.Series([value]).to_arrow().cast(pa.string())
    return pa.DictionaryArray.from_arrays(column(np.zeros(rows, np.int32)), string)


def dictionary(codes: np.ndarray, names: pl.Series, lengths: np.ndarray) -> pa.DictionaryArray:
    """The name of each code, as often as `lengths` says, with only those that occur, sorted.

    Parquet stores a dictionary whole in every row group, so names that do not occur would cost.
    """
    used, compact = np.unique(np.repeat(codes, np.minimum(lengths, 1)), return_inverse=True)
    places = np.repeat(compact.astype(np.int32), lengths[lengths > 0])
    return pa.DictionaryArray.from_arrays(column(places), strings(names, used))


def strings(names: pl.Series, places: np.ndarray) -> pa.StringArray:
    """Some of the names."""
    # `gather` makes a query plan, which takes longer than to find a few names.
    return names[places].to_arrow().cast(pa.string())


def nullable(values: np.ndarray, null: int) -> pa.Array:
    """Integers with `null` standing for null."""
    return column(values, values != null)


def as_frame(table: pa.Table) -> pl.DataFrame:
    """A table for polars, as it reads it from Parquet: strings are strings."""
    # Large ones: those of all rows together may be longer than 2^31 bytes.
    fields = [
        field.with_type(pa.large_string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    frame = pl.from_arrow(table.cast(pa.schema(fields)))
    assert isinstance(frame, pl.DataFrame)
    return frame

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


def text(names: pl.Series) -> pa.StringArray:
    """Return strings as an Arrow array with offsets of 32 bits.

    Arrow's `cast` would load pyarrow.compute, which takes a twentieth of a second.
    """
    large = names.cast(pl.String).to_arrow(compat_level=pl.CompatLevel.oldest())
    valid, offsets, content = large.buffers()
    end = large.offset + len(large) + 1
    ends = np.frombuffer(offsets, np.int64, end) if offsets is not None else np.zeros(1, np.int64)
    if ends[-1] >= 1 << 31:
        return large.cast(pa.string())  # Arrow's error
    return pa.StringArray.from_buffers(
        len(large),
        pa.py_buffer(ends.astype(np.int32)),
        pa.py_buffer(b"") if content is None else content,
        valid,
        large.null_count,
        large.offset,
    )


def encoded(names: pl.Series) -> pa.DictionaryArray:
    """Return strings, some null, by a dictionary in the order of appearance."""
    used = names.cast(pl.String).drop_nulls().unique(maintain_order=True)
    numbers = pl.Series(np.arange(len(used), dtype=np.int32))
    codes = names.cast(pl.String).replace_strict(used, numbers, default=None, return_dtype=pl.Int32)
    valid = codes.is_not_null().to_numpy() if codes.null_count() else None
    return pa.DictionaryArray.from_arrays(column(codes.fill_null(0).to_numpy(), valid), text(used))


def constant(value: str, rows: int) -> pa.DictionaryArray:
    """Return a column that repeats one string."""
    return pa.DictionaryArray.from_arrays(
        column(np.zeros(rows, np.int32)), text(pl.Series([value]))
    )


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
    return text(names[indices])


def with_grades(schema: pa.Schema, kind: pa.DataType, name: str = "grade") -> pa.Schema:
    """Return a schema with another type of grades: float64 where they are not int8."""
    place = schema.get_field_index(name)
    return schema.set(place, schema.field(place).with_type(kind))


def nullable(values: np.ndarray, null: int) -> pa.Array:
    """Return integers as an Arrow array, null where they equal `null`."""
    return column(values, values != null)


def as_frame(table: pa.Table) -> pl.DataFrame:
    """Return a table as the frame that polars would read from Parquet: strings are strings."""
    is_coded = (pa.types.is_dictionary(field.type) for field in table.schema)
    columns = (
        _decoded(values) if coded else series(values)
        for values, coded in zip(table.columns, is_coded, strict=True)
    )
    return pl.DataFrame(dict(zip(table.column_names, columns, strict=True)))


def series(values: pa.Array | pa.ChunkedArray) -> pl.Series:
    """Return an Arrow array as a series; `pl.Series` would load pyarrow.compute."""
    frame = pl.from_arrow(pa.Table.from_arrays([values], ["values"]))
    assert isinstance(frame, pl.DataFrame)
    return frame.to_series()


def _decoded(values: pa.ChunkedArray) -> pl.Series:
    """Return the strings that a dictionary column stands for."""
    parts = [
        series(chunk.dictionary).cast(pl.String).gather(series(chunk.indices))
        for chunk in values.chunks
    ]
    return pl.concat([pl.Series(dtype=pl.String), *parts])

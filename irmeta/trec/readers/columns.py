"""Runs and qrels in memory as columns, with checks of every value."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import DataError
from irmeta.trec.qrels import GRADES_FIX, narrowed
from irmeta.trec.runs import NO_RANK


@dataclass(frozen=True)
class RunColumns:
    """The rows of one run in the order given; adjacent rows of one query are a list.

    Attributes
    ----------
    place
        What the user passed, for messages: ``runs['bm25']``.
    queries
        The name of the query of each list. A query may have several lists.
    starts
        int64 [lists + 1]: the first row of each list.
    docs
        The name of the doc of each row: LargeStringArray.
    score
        float64, finite.
    rank
        int32, `NO_RANK` without a usable rank.
    odd_ranks
        Number of rows whose rank is not a whole number.
    notes
        Notes of reading, as text.
    stored_sha256
        SHA-256 of the file that holds the run, as stored.
    empty
        Queries with an empty list.
    """

    place: str
    queries: pl.Series
    starts: np.ndarray
    docs: pa.LargeStringArray
    score: np.ndarray
    rank: np.ndarray
    odd_ranks: int = 0
    notes: tuple[str, ...] = ()
    stored_sha256: str | None = None
    empty: tuple[str, ...] = ()

    def sha256(self) -> str:
        """Return the SHA-256 of the file, or of all values; equal rows in memory have the same."""
        if self.stored_sha256 is not None:
            return self.stored_sha256
        return _sha256(large_strings(self.queries), self.docs, self.starts, self.score, self.rank)


@dataclass(frozen=True)
class QrelsColumns:
    """One qrels set in the order given.

    Attributes
    ----------
    place
        What the user passed, for messages: ``qrels``.
    frame
        query, doc, grade (Int8 or Float64) and, if the data have one, `subtopic`; or, unless
        `is_subtopic`, an iteration in its place.
    rows
        The row of the data for each row of `frame`, where rows without a grade are left out.
    notes
        Notes of reading, as text.
    """

    place: str
    frame: pl.DataFrame
    is_subtopic: bool = False
    rows: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def sha256(self) -> str:
        """Return the SHA-256 of all values; equal rows in another container have the same."""
        columns = self.frame.get_columns()
        texts = [large_strings(column) for column in columns if column.dtype == pl.String]
        return _sha256(*texts, self.frame["grade"].to_numpy())


def _sha256(*columns: pa.LargeStringArray | np.ndarray) -> str:
    digest = hashlib.sha256()
    for column in columns:
        parts = (column,)
        if isinstance(column, pa.LargeStringArray):
            bounds, content = bounds_and_bytes(column)
            parts = np.diff(bounds), content[bounds[0] : bounds[-1]]
        for part in parts:
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()


def large_strings(names: pl.Series) -> pa.LargeStringArray:
    """Return a column of names as one Arrow array with 64-bit offsets."""
    # Arrow's `cast` would load pyarrow.compute, which takes a tenth of a second.
    return names.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())


def bounds_and_bytes(names: pa.LargeStringArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the int64 [names + 1] bounds of names in the bytes, uint8, that follow."""
    _, offsets, content = names.buffers()
    bounds = np.frombuffer(offsets, np.int64)[names.offset : names.offset + len(names) + 1]
    return bounds, np.frombuffer(content or b"", np.uint8)


def check_names(column: pl.Series, place: str) -> pl.Series:
    """Return a column of ids as text; whole numbers are printed.

    Raises
    ------
    DataError
        At the first id that is missing or empty, or if the column is neither text nor whole
        numbers.
    """
    is_text = isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum)
    if not (is_text or column.dtype.is_integer()):
        fix = "Convert it to text first: 301.0 and 301 would be two names."
        problem = f"column {column.name!r} is {column.dtype}, neither text nor whole numbers"
        raise DataError(problem, file=place, fix=fix)
    names = column.cast(pl.String)
    if names.null_count():
        refuse(column, names.is_null(), place, "has no value", "Drop the row, or fill the value.")
    if (is_empty := names == "").any():
        refuse(column, is_empty, place, "is empty", "Drop the row, or fill the value.")
    return names


def check_scores(column: pl.Series, place: str) -> np.ndarray:
    """Return a column of scores as float64.

    Raises
    ------
    DataError
        At the first score that is missing or not finite, or if the column is not numeric.
    """
    if not column.dtype.is_numeric():
        fix = "Convert it to numbers first."
        raise DataError(
            f"column {column.name!r} is {column.dtype}, not numeric", file=place, fix=fix
        )
    fix = "Drop the row, or give the doc a finite score."
    if column.null_count():
        refuse(column, column.is_null(), place, "has no value", fix)
    scores = column.cast(pl.Float64)
    if not (finite := scores.is_finite()).all():
        refuse(column, ~finite, place, "is not a finite number", fix)
    return scores.to_numpy()


def check_ranks(column: pl.Series | None, rows: int) -> np.ndarray:
    """Return a column of ranks as int32; `NO_RANK` where a rank is not a whole number."""
    if column is None:
        return np.full(rows, NO_RANK, np.int32)
    numbers = column.cast(pl.Float64, strict=False)
    usable = (numbers == numbers.floor()) & (numbers > NO_RANK) & (numbers < 2**31)
    return numbers.set(~usable.fill_null(False), NO_RANK).cast(pl.Int32).to_numpy()


def check_grades(column: pl.Series, place: str) -> pl.Series:
    """Return a column of grades as Int8 if all fit, else as Float64; negative grades are kept.

    Raises
    ------
    DataError
        At the first grade that is missing or not a finite number.
    """
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        fix = "Convert it to numbers first, 1 and above relevant by default."
        raise DataError(
            f"column {column.name!r} is {column.dtype}, not numeric", file=place, fix=fix
        )
    if column.null_count():
        refuse(column, column.is_null(), place, "has no value", "Drop the row, or judge the doc.")
    numbers = column.cast(pl.Float64)
    if not (finite := numbers.is_finite()).all():
        refuse(column, ~finite, place, "is not a finite number", GRADES_FIX)
    return narrowed(numbers)


def refuse(column: pl.Series, where: pl.Series, place: str, problem: str, fix: str) -> None:
    """Raise the error of the first row where a column is invalid."""
    row = int(where.arg_true()[0])
    raise DataError(
        f"column {column.name!r} {problem}",
        file=place,
        line=row,
        unit="row",
        value=column[row],
        fix=fix,
    )

"""Comparison of two result files: their provenance and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

from irmeta.errors import UsageError
from irmeta.locations import AnyLocation, Location, location, readable
from irmeta.phrases import count
from irmeta.results.tidy_files import provenance, read_parquet
from irmeta.summaries import Summarized, Summary

KEYS = ("track", "system", "query", "measure")
NOT_RECORDED = "not recorded"


@dataclass(frozen=True, repr=False)
class Difference(Summarized):
    """Differences of two result files.

    Attributes
    ----------
    made : DataFrame
        about, field, a, b: one row per difference in provenance.
    measures : DataFrame
        One row per measure: measure, both (rows in both files), only_a, only_b, equal, different,
        greatest (the largest difference; infinite: one value is undefined), and its position:
        track, system, query (null for means), a, b.
    tolerance : float
        Absolute tolerance within which values are equal.
    """

    made: pl.DataFrame
    measures: pl.DataFrame
    tolerance: float

    def _summary(self) -> Summary:
        both, different = self.measures.select("both", "different").sum().row(0)
        facts = [
            f"{different:,} of {count(both, 'value')} by more than {self.tolerance:g}",
            f"{count(self.made.height, 'difference')} in provenance",
        ]
        return Summary("", facts, lambda: self.measures)

    @property
    def same(self) -> bool:
        """Whether both files have the same rows, with values equal within the tolerance."""
        return self.measures.select("only_a", "only_b", "different").sum().row(0) == (0, 0, 0)


def diff(a: AnyLocation, b: AnyLocation, tolerance: float = 1e-9) -> Difference:
    """Compare two files of means, or of values per query, row by row.

    Parameters
    ----------
    a, b : str or Path
        Files written by irmeta, Parquet or CSV, or their URLs. CSV files have no provenance.
    tolerance : float, default 1e-9
        Absolute tolerance within which values are equal. NaN equals NaN.

    Returns
    -------
    Difference
        Differences in provenance, and differences in values by measure.

    Raises
    ------
    UsageError
        If a file cannot be read or is not a result table, or if one has means and the other
        per-query values.
    DataError
        If a Parquet file is damaged.

    Examples
    --------
    >>> store.means("AP", tie_order="trec_eval").write_csv("a.csv")
    >>> store.means("AP", tie_order="score-file").write_csv("b.csv")
    >>> irmeta.diff("a.csv", "b.csv").measures.select("both", "different").row(0)
    (41, 36)
    """
    if not 0 <= tolerance < float("inf"):
        raise UsageError(f"tolerance = {tolerance!r} is not a number of at least 0.")
    first, second = _opened(location(a)), _opened(location(b))
    keys = _keys(*first)
    if keys != _keys(*second):
        means, values = (a, b) if "query" not in keys else (b, a)
        raise UsageError(f"{means} holds means, {values} values per query: compare two of a kind.")
    made = pl.DataFrame(
        list(_made_otherwise(provenance(first[0]), provenance(second[0]))),
        schema=dict.fromkeys(("about", "field", "a", "b"), pl.String),
        orient="row",
    )
    try:
        return Difference(made, _by_measure(first, second, keys, tolerance), tolerance)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{a} and {b} cannot be compared: {error}") from error


_Opened = tuple[Location, Callable[..., pl.LazyFrame]]
"""A file, and a function that returns its rows, given the types of some columns."""


def _opened(path: Location) -> _Opened:
    if path.suffix not in (".parquet", ".csv"):
        raise UsageError(f"{path}: results are in files that end in .parquet or .csv.")
    if not path.exists():
        raise UsageError(f"{path} is not there")
    if path.suffix == ".csv":
        return path, partial(_scan_csv, path)
    return path, partial(_stored, read_parquet(path))  # polars would skip checksums


def _stored(frame: pl.DataFrame, **_: Any) -> pl.LazyFrame:
    return frame.lazy()


def _scan_csv(path: Location, **types: Any) -> pl.LazyFrame:
    return pl.scan_csv(readable(path), schema_overrides=types or None)


def _keys(path: Location, rows: Callable[..., pl.LazyFrame]) -> list[str]:
    """Return the key columns of a file."""
    try:
        columns = rows().collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    missing = [c for c in ("track", "system", "measure", "value") if c not in columns]
    if missing == ["measure", "value"] and _is_wide(columns):
        raise UsageError(
            f"{path} has a column for each measure, as `irmeta evaluate --wide` writes it: compare "
            "files with a row for each value."
        )
    if missing:
        raise UsageError(
            f"{path} is no table of means or of values per query: it lacks the columns "
            f"{', '.join(missing)}; it has {', '.join(columns)}."
        )
    return [key for key in KEYS if key in columns]


def _is_wide(columns: pl.Schema) -> bool:
    values = [dtype for name, dtype in columns.items() if name not in KEYS]
    return bool(values) and all(dtype.is_float() for dtype in values)


def _rows(rows: Callable[..., pl.LazyFrame], keys: list[str]) -> pl.LazyFrame:
    """Select the keys as strings, and the value."""
    frame = rows(**dict.fromkeys(keys, pl.String), value=pl.Float64)
    return frame.select(
        pl.col(keys).cast(pl.String), pl.col("value").cast(pl.Float64).fill_null(float("nan"))
    )


def _by_measure(a: _Opened, b: _Opened, keys: list[str], tolerance: float) -> pl.DataFrame:
    """Compute `Difference.measures`, measures in order of appearance."""
    rows = [_rows(opened, keys) for _, opened in (a, b)]
    for (path, _), frame in zip((a, b), rows, strict=True):
        _refuse_repeated(path, frame, keys)
    left, right = (
        frame.rename({"value": name}).with_columns(pl.lit(True).alias(f"in_{name}"))
        for frame, name in zip(rows, "ab", strict=True)
    )
    both = pl.col("in_a") & pl.col("in_b")
    apart = (pl.col("a") - pl.col("b")).abs()
    joined = left.join(right, on=keys, how="full", coalesce=True).with_columns(
        pl.col("in_a", "in_b").fill_null(False),
        # Equal infinities differ by 0; NaN in one file only is an infinite difference.
        apart=pl.when(both & (pl.col("a") == pl.col("b")))  # in polars, NaN == NaN
        .then(0.0)
        .when(both)
        .then(apart.fill_nan(float("inf"))),
    )
    differs = pl.col("apart") > tolerance
    counts = joined.group_by("measure").agg(
        both=both.sum(),
        only_a=(~pl.col("in_b")).sum(),
        only_b=(~pl.col("in_a")).sum(),
        equal=(pl.col("apart") <= tolerance).sum(),
        different=differs.sum(),
        greatest=pl.col("apart").max(),
    )
    position = [key for key in keys if key != "measure"]
    worst = (
        joined.filter(differs & (pl.col("apart") == pl.col("apart").max().over("measure")))
        .group_by("measure")
        .agg(pl.col(*position, "a", "b").sort_by(position).first())
    )
    order = pl.concat([frame.select("measure") for frame in rows]).unique(maintain_order=True)
    by_measure = order.join(counts, on="measure", maintain_order="left").join(
        worst, on="measure", how="left", maintain_order="left"
    )
    if "query" not in keys:
        by_measure = by_measure.with_columns(query=pl.lit(None, pl.String))
    numbers = ("both", "only_a", "only_b", "equal", "different", "greatest")
    columns = ("measure", *numbers, "track", "system", "query", "a", "b")
    return by_measure.select(columns).collect()


def _refuse_repeated(path: Location, rows: pl.LazyFrame, keys: list[str]) -> None:
    repeated = rows.group_by(keys).len().filter(pl.col("len") > 1).head(1).collect()
    if repeated.height:
        which = repeated.select(keys).row(0, named=True).items()
        key_text = ", ".join(f"{key} {value}" for key, value in which)
        raise UsageError(f"{path} has more than one row for {key_text}.")


def _made_otherwise(
    a: dict[str, Any] | None, b: dict[str, Any] | None
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the fields in which the provenance of two files differs."""
    if a is None or b is None:
        recorded = {True: "recorded", False: NOT_RECORDED}
        yield "how it was made", "", recorded[a is not None], recorded[b is not None]
        return
    ours, theirs = _parts(a), _parts(b)
    for about in dict.fromkeys([*ours, *theirs]):
        if about not in ours or about not in theirs:
            there = {True: "there", False: "not there"}
            yield about, "", there[about in ours], there[about in theirs]
            continue
        first, second = ours[about], theirs[about]
        for field in dict.fromkeys([*first, *second]):
            if first.get(field) != second.get(field) or (field in first) != (field in second):
                yield about, field, _value_text(first, field), _value_text(second, field)


def _parts(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Split a provenance into flat records: irmeta, policies, each measure, each track."""
    parts: dict[str, dict[str, Any]] = {}
    for key, value in record.items():
        if key in ("measures", "tracks"):
            parts |= {f"{key[:-1]} {name}": _flat(held) for name, held in value.items()}
        elif isinstance(value, dict):
            parts[key.replace("_", " ")] = _flat(value)
        else:
            parts[key.replace("_", " ")] = {"version" if key == "irmeta" else "": value}
    return parts


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat = {}
    for key, value in record.items():
        inner = isinstance(value, dict)
        flat |= _flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": value}
    return flat


def _value_text(part: dict[str, Any], field: str) -> str:
    value = part.get(field, NOT_RECORDED)
    return "none" if value is None else str(value)

"""Comparison of two result files: their provenance and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import polars as pl

from irmeta.errors import UsageError, check_choice, did_you_mean
from irmeta.locations import AnyLocation, Location, location, readable
from irmeta.parallel import check_not_forked
from irmeta.phrases import count
from irmeta.policies import Missing
from irmeta.results.tidy_files import provenance, read_parquet
from irmeta.summaries import Result, Summary

KEYS = ("track", "qrels", "system", "query", "measure")
NAMED = 10
"""Number of rows of the first file alone that are named."""
NOT_RECORDED = "not recorded"


@dataclass(frozen=True, repr=False)
class Difference(Result):
    """Differences of two result files.

    Attributes
    ----------
    made : DataFrame
        about, field, a, b: one row per difference in provenance.
    measures : DataFrame
        One row per measure: measure, both (rows in both files), only_a, only_b, other_queries
        (means of another number of queries in each file), equal, different, greatest (the largest
        difference; infinite: one value is undefined), and its position: track, qrels (where the
        files have it), system, query (null for means), a, b; lost (names of the first ten rows of
        the first file alone). Of a pair of systems, `system` is ``old=new``.
    tolerance : float
        Absolute tolerance within which values are equal.
    worse_only : bool
        Whether values that are better in the second file count as equal.
    missing : {'error', 'common', 'zero'}
        Whether rows of one file alone are differences, left out, or count as 0 there.
    """

    made: pl.DataFrame
    measures: pl.DataFrame
    tolerance: float
    worse_only: bool = False
    missing: Missing = "error"

    def _summary(self) -> Summary:
        both, different = self.measures.select("both", "different").sum().row(0)
        facts = [
            f"{different:,} of {count(both, 'value')} by more than {self.tolerance:g}",
            f"{count(self.made.height, 'difference')} in provenance",
        ]
        return Summary("", facts)

    def frame(self) -> pl.DataFrame:
        """Return `measures`."""
        return self.measures

    @property
    def same(self) -> bool:
        """Whether values are equal within the tolerance, and rows and queries the same.

        Rows of one file alone are no differences under ``missing='common'``.
        """
        alone = () if self.missing == "common" else ("only_a", "only_b")
        faults = self.measures.select(*alone, "other_queries", "different").sum().row(0)
        return not any(faults)


def compare_files(
    a: AnyLocation,
    b: AnyLocation,
    tolerance: float,
    *,
    pairs: Mapping[str, str] | None = None,
    directions: Callable[[str], int] | None = None,
    missing: Missing = "error",
) -> Difference:
    """Compare two files row by row: see `irmeta.diff`.

    `directions` returns 1 or -1 for the name of a measure; with it, only worse values count.
    """
    check_not_forked()
    check_choice("missing", missing, get_args(Missing))
    if not 0 <= tolerance < float("inf"):
        raise UsageError(f"tolerance = {tolerance!r} is not a number of at least 0.")
    first, second = _opened(location(a)), _opened(location(b))
    keys, others = _keys(*first), _keys(*second)
    if ("qrels" in keys) != ("qrels" in others):
        several, single = (a, b) if "qrels" in keys else (b, a)
        raise UsageError(
            f"{several} has values by several qrels sets (a column qrels), {single} not."
        )
    if keys != others:
        means, values = (a, b) if "query" not in keys else (b, a)
        raise UsageError(f"{means} holds means, {values} values per query: compare two of a kind.")
    origins = pl.DataFrame(
        list(_made_otherwise(provenance(first[0]), provenance(second[0]))),
        schema=dict.fromkeys(("about", "field", "a", "b"), pl.String),
        orient="row",
    )
    try:
        rows = [_rows(opened, keys) for opened in (first, second)]
        if pairs is not None:
            rows = _paired(rows, (first[0], second[0]), pairs)
        by_measure = _by_measure(rows, keys, tolerance, directions, missing)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{a} and {b} cannot be compared: {error}") from error
    return Difference(origins, by_measure, tolerance, directions is not None, missing)


_Opened = tuple[Location, Callable[..., pl.LazyFrame]]
"""A file, and a function that returns its rows, given the types of some columns."""


def _opened(path: Location) -> _Opened:
    if path.suffix not in (".parquet", ".csv"):
        raise UsageError(f"{path}: results are in files that end in .parquet or .csv.")
    if not path.exists():
        raise UsageError(f"{path} does not exist")
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
    others = [dtype for name, dtype in columns.items() if name not in (*KEYS, "no_list")]
    if missing == ["measure", "value"] and others and all(dtype.is_float() for dtype in others):
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


def _rows(opened: _Opened, keys: list[str]) -> pl.LazyFrame:
    """Select the keys as strings, and the value; refuse two rows of the same keys."""
    path, rows = opened
    frame = rows(**dict.fromkeys(keys, pl.String), value=pl.Float64)
    has_queries = "queries" in frame.collect_schema().names()
    frame = frame.select(
        pl.col(keys).cast(pl.String),
        pl.col("value").cast(pl.Float64).fill_null(float("nan")),
        (pl.col("queries") if has_queries else pl.lit(None)).cast(pl.Int64).alias("queries"),
    )
    _refuse_repeated(path, frame, keys)
    return frame


def _paired(
    rows: list[pl.LazyFrame], files: tuple[Location, Location], pairs: Mapping[str, str]
) -> list[pl.LazyFrame]:
    """Select the systems of pairs, which are those of the first file by those of the second."""
    selected = []
    for frame, file, systems in zip(rows, files, (pairs.keys(), pairs.values()), strict=True):
        known = frame.select(pl.col("system").unique()).collect()["system"].to_list()
        for name in systems:
            if name not in known:
                raise UsageError(f"{file} has no system {name!r}. {did_you_mean(name, known)}")
        labels = pl.DataFrame(
            {"system": list(systems), "pair": [f"{old}={new}" for old, new in pairs.items()]},
            {"system": pl.String, "pair": pl.String},
        )
        paired_rows = frame.join(labels.lazy(), on="system", maintain_order="left")
        selected.append(paired_rows.drop("system").rename({"pair": "system"}))
    return selected


def _by_measure(
    rows: list[pl.LazyFrame],
    keys: list[str],
    tolerance: float,
    directions: Callable[[str], int] | None,
    missing: Missing,
) -> pl.DataFrame:
    """Compute `Difference.measures`, measures in order of appearance."""
    order = pl.concat([frame.select("measure") for frame in rows]).unique(maintain_order=True)
    left, right = (
        frame.rename({"value": name, "queries": f"queries_{name}"}).with_columns(
            pl.lit(True).alias(f"in_{name}")
        )
        for frame, name in zip(rows, "ab", strict=True)
    )
    both = pl.col("in_a") & pl.col("in_b")
    apart = (pl.col("a") - pl.col("b")).abs()
    is_better = pl.lit(False)
    if directions is not None:
        known = {name: directions(name) for name in order.collect()["measure"]}
        sign = pl.col("measure").replace_strict(known, return_dtype=pl.Float64)
        # A value that only the first file defines is worse in the second; in polars, NaN > 0.
        rises = ~pl.col("b").is_nan() & ((pl.col("b") - pl.col("a")) * sign > 0)
        is_better = pl.col("a").is_nan() | rises
    joined = left.join(right, on=keys, how="full", coalesce=True)
    if missing == "zero":
        joined = joined.with_columns(pl.col("a", "b").fill_null(0.0), in_a=True, in_b=True)
    joined = joined.with_columns(pl.col("in_a", "in_b").fill_null(False)).with_columns(
        # Equal infinities differ by 0; NaN in one file only is an infinite difference.
        apart=pl.when(both & ((pl.col("a") == pl.col("b")) | is_better))  # in polars, NaN == NaN
        .then(0.0)
        .when(both)
        .then(apart.fill_nan(float("inf"))),
    )
    differs = pl.col("apart") > tolerance
    position = [key for key in keys if key != "measure"]
    counts = joined.group_by("measure").agg(
        both=both.sum(),
        only_a=(~pl.col("in_b")).sum(),
        only_b=(~pl.col("in_a")).sum(),
        other_queries=(both & (pl.col("queries_a") != pl.col("queries_b"))).sum(),
        equal=(pl.col("apart") <= tolerance).sum(),
        different=differs.sum(),
        greatest=pl.col("apart").max(),
        lost=pl.concat_str(position, separator=" ").filter(~pl.col("in_b")).sort().head(NAMED),
    )
    worst = (
        joined.filter(differs & (pl.col("apart") == pl.col("apart").max().over("measure")))
        .group_by("measure")
        .agg(pl.col(*position, "a", "b").sort_by(position).first())
    )
    by_measure = order.join(counts, on="measure", maintain_order="left").join(
        worst, on="measure", how="left", maintain_order="left"
    )
    if "query" not in keys:
        by_measure = by_measure.with_columns(query=pl.lit(None, pl.String))
    numbers = ("both", "only_a", "only_b", "other_queries", "equal", "different", "greatest")
    sets = ["qrels"] if "qrels" in keys else []
    columns = ("measure", *numbers, "track", *sets, "system", "query", "a", "b", "lost")
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

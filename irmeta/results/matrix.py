"""`Matrix`: one measure's values by query and system, from a store, a result file or a table."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import compress, takewhile
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.delimited import read_cells
from irmeta.equality import tolerances
from irmeta.errors import DataError, UsageError, check_choice, did_you_mean, shown
from irmeta.locations import Location, NamedFile, is_stream, not_a
from irmeta.parallel import check_not_forked
from irmeta.phrases import count
from irmeta.policies import Columns, Missing, columns_by_key
from irmeta.results.averages import mean_over_queries, weighted_mean
from irmeta.results.tidy_files import read_parquet
from irmeta.results.value_tables import (
    COLUMN_KEYS,
    MEANS,
    NO_QUERIES,
    NO_SYSTEM,
    SUMMARIES,
    IsMeasure,
    no_measure,
    tidy_values,
    values_of_text,
)
from irmeta.schema.arrow import DAMAGED
from irmeta.summaries import Result, Summary
from irmeta.trec.readers.frames import NOT_CHOSEN, renamed_columns
from irmeta.trec.streams import read_stream, uncompressed
from irmeta.trec.system_names import file_names

MOST_DECIMALS = 11
"""Values with more decimals are floats."""
Chosen = np.ndarray | Sequence[str]
"""Queries or systems: their indices, or their names."""
FEWEST_DECIMALS = 4
"""Values with fewer decimals may be exact, as those of P@10 and P@1000; but see `units_of`."""


def decimals(column: pl.Series) -> np.ndarray:
    """Count the decimals of each number of a column of text: int64, -1 for missing values.

    A column of another type holds floats, which were not printed: all -1.
    """
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return np.full(len(column), -1)
    text = column.cast(pl.String).str.strip_chars()
    digits = text.str.extract(r"\.(\d*)").str.len_chars().fill_null(0).cast(pl.Int64)
    exponent = text.str.extract(r"[eE]([+-]?\d+)$").cast(pl.Int64, strict=False).fill_null(0)
    numbers = (digits - exponent).clip(0).to_numpy()
    is_number = text.str.contains(r"^[-+]?\.?\d").fill_null(value=False).to_numpy()
    return np.where(is_number, numbers, -1)


def units_of(numbers: np.ndarray, system: np.ndarray, systems: int) -> tuple[float, ...]:
    """Return the unit of the last digit of each system's values; 0 for exact values and floats.

    `numbers` are those of decimals (see `decimals`), and `system` the index of the system of each
    value. The values of a system are rounded if one has 4 to 11 decimals and none more, or if all
    have 3.
    """
    most, least = np.full(systems, -1), np.full(systems, MOST_DECIMALS + 1)
    known = numbers >= 0
    np.maximum.at(most, system[known], numbers[known])
    np.minimum.at(least, system[known], numbers[known])
    is_fixed = (most == FEWEST_DECIMALS - 1) & (least == most)
    is_rounded = is_fixed | ((most >= FEWEST_DECIMALS) & (most <= MOST_DECIMALS))
    return tuple(10.0**-n if rounded else 0.0 for n, rounded in zip(most, is_rounded, strict=True))


_KEYS = ["track", "system", "query", "measure", "qrels"]  # the first and last are optional
_QUERY = re.compile(r"(query|topic)(s|no|nr|num|number|id|name)?|queries|qid|tid|indexlevel0")
_FIRST = ("", "id", "num", "number")  # headings of a query column only as the first column
_MISSING = ("", "nan", "na", "n/a", "null", "none")


@dataclass(frozen=True, repr=False)
class Matrix(Result):
    """Values by query and system, usually of one measure on one track.

    Attributes
    ----------
    values : ndarray of float64, shape (queries, systems)
        NaN: undefined.
    queries, systems : tuple of str
        Names, each once.
    measure, track : str
        Names of the measure and of the track.
    direction : {1, -1}
        1: greater is better; -1: less is better.
    qrels : str
        Name of the qrels set by which values of a store were computed.
    no_list : ndarray of bool, shape (queries, systems), optional
        Whether the system has no list for the query; None: unknown, as in files of values.
    units : tuple of float
        Unit of the last printed digit of each system's values that were read as rounded decimals,
        0 for floats; empty: all are floats. Values within one unit are equal: see
        `irmeta.equality`.
    weights : ndarray of float64, shape (queries,), optional
        Weights of the queries, above 0, in `means`, `irmeta.compare` and `irmeta.stats.pairwise`;
        None: each query counts once, as in all other statistics.
    judgments : ndarray of int64, shape (queries, 2), optional
        Judged and relevant docs of each query; None: unknown, as in files of values.

    Examples
    --------
    >>> matrix = irmeta.Matrix([[0.5, 0.25], [1.0, np.nan]], ("q1", "q2"), ("a", "b"), "AP")
    >>> matrix.means.tolist(), matrix.complete().queries
    ([0.75, 0.25], ('q1',))
    """

    values: np.ndarray
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    measure: str = "value"
    track: str = ""
    direction: Literal[1, -1] = 1
    qrels: str = ""
    no_list: np.ndarray | None = None
    units: tuple[float, ...] = ()
    weights: np.ndarray | None = None
    judgments: np.ndarray | None = None

    def __post_init__(self) -> None:
        try:
            values = np.asarray(self.values, np.float64)
        except (TypeError, ValueError):
            raise UsageError("values must be numbers, an array [query, system].") from None
        object.__setattr__(self, "values", values)
        if self.direction not in (1, -1):
            raise UsageError(f"direction = {self.direction!r} is neither 1 nor -1.")
        if self.values.shape != (len(self.queries), len(self.systems)):
            raise UsageError(
                f"values of shape {self.values.shape} do not fit {len(self.queries)} queries and "
                f"{len(self.systems)} systems."
            )
        if self.units and len(self.units) != len(self.systems):
            raise UsageError(f"units = {self.units!r} are not one for each system.")
        if self.weights is not None and (
            self.weights.shape != (len(self.queries),)
            or not (np.isfinite(self.weights) & (self.weights > 0)).all()
        ):
            raise UsageError("weights must be numbers above 0, one for each query.")
        for what, labels in (("query", self.queries), ("system", self.systems)):
            if len(set(labels)) != len(labels):
                again = next(n for n in labels if labels.count(n) > 1)
                raise UsageError(f"{what} {again!r} occurs twice.")

    def _summary(self) -> Summary:
        on = f" on {self.track}" if self.track else ""
        facts = [count(len(self.queries), "query"), count(len(self.systems), "system")]
        return Summary(f"{self.measure}{on}", facts)

    def frame(self) -> pl.DataFrame:
        """Return one row per system and query: track, system, query, measure, value.

        Rows are in the order of the systems, then of the queries. NaN: undefined.

        Examples
        --------
        >>> matrix = irmeta.Matrix([[0.5, 0.25]], ("q1",), ("a", "b"), "AP", "news")
        >>> matrix.frame().row(1)
        ('news', 'b', 'q1', 'AP', 0.25)
        """
        systems, queries = (
            pl.Series(labels, dtype=pl.String) for labels in (self.systems, self.queries)
        )
        system, query = (axis.ravel() for axis in np.indices(self.values.T.shape))
        return pl.DataFrame(
            {
                "system": systems.gather(system) if self.values.size else systems.clear(),
                "query": queries.gather(query) if self.values.size else queries.clear(),
                "value": self.values.T.ravel(),
            }
        ).select(
            pl.lit(self.track).alias("track"),
            "system",
            "query",
            pl.lit(self.measure).alias("measure"),
            "value",
        )

    def _table(self) -> pl.DataFrame:
        frame = pl.DataFrame({"system": self.systems, "mean": self.means})
        return frame.sort("mean", descending=self.direction > 0, nulls_last=True)

    @property
    def means(self) -> np.ndarray:
        """Means of the defined values, weighted by `weights`: float64 [system], NaN without any."""
        if self.weights is not None:
            return weighted_mean(self.values, ~np.isnan(self.values), self.weights)
        return mean_over_queries(self.values)

    @property
    def oriented(self) -> np.ndarray:
        """Values, negated where less is better."""
        return self.values * self.direction

    @property
    def tolerances(self) -> np.ndarray:
        """Largest difference of each system's values that is a tie: float64 [system]."""
        return tolerances(self.values, self.printed)

    @property
    def printed(self) -> float | np.ndarray:
        """The `units` of all systems: 0.0, or float64 [system]."""
        return np.array(self.units) if any(self.units) else 0.0

    def complete(self) -> Matrix:
        """Select the queries on which every system has a value."""
        return self.only_queries(np.flatnonzero(~np.isnan(self.values).any(axis=1)))

    @property
    def missing(self) -> np.ndarray:
        """Whether a system lacks a value that another has: bool [query, system]."""
        undefined = np.isnan(self.values)
        return undefined & ~undefined.all(axis=1, keepdims=True)

    def with_missing(self, missing: Missing) -> Matrix:
        """Treat the values that some systems lack and others have.

        Parameters
        ----------
        missing : {'error', 'common', 'zero'}
            ``error``: refuse them; ``common``: leave them undefined, so that statistics compare
            systems on the queries that these have in common; ``zero``: count them as 0.

        Raises
        ------
        UsageError
            For such a value under ``error``, or under ``zero`` if less is better, since 0 would be
            the best value.
        """
        check_choice("missing", missing, get_args(Missing))
        lacks = self.missing
        if missing == "common" or not lacks.any():
            return self
        numbers = lacks.sum(axis=0)
        worst = int(numbers.argmax())
        where = f"{self.measure}{f' on {self.track}' if self.track else ''}"
        if missing == "error":
            others = int((numbers > 0).sum()) - 1
            more = f", {count(others, 'other system')} some" if others else ""
            raise UsageError(
                f"{where}: {self.systems[worst]} lacks {numbers[worst]:,} of "
                f"{count(len(self.queries), 'query')}{more}: use `missing='common'` or 'zero'."
            )
        if self.direction < 0:
            raise UsageError(
                f"{where}: 0 is the best value, as less is better: use `missing='common'`."
            )
        return replace(self, values=np.where(lacks, 0.0, self.values))

    def only_queries(self, queries: Chosen) -> Matrix:
        """Select queries by name or index, in the order given.

        Raises
        ------
        UsageError
            For a name that no query has.
        """
        places = _places(queries, self.queries, "query")
        chosen = tuple(self.queries[i] for i in places)
        by_query = {"values": self.values, "no_list": self.no_list}
        by_query |= {"weights": self.weights, "judgments": self.judgments}
        of_chosen = {n: None if array is None else array[places] for n, array in by_query.items()}
        return replace(self, queries=chosen, **of_chosen)

    def only_systems(self, systems: Chosen) -> Matrix:
        """Select systems by name or index, in the order given.

        Raises
        ------
        UsageError
            For a name that no system has.
        """
        places = _places(systems, self.systems, "system")
        chosen = tuple(self.systems[i] for i in places)
        no_list = None if self.no_list is None else self.no_list[:, places]
        units = tuple(self.units[i] for i in places) if self.units else ()
        values = self.values[:, places]
        return replace(self, values=values, systems=chosen, no_list=no_list, units=units)


def _places(chosen: Chosen, known: Sequence[str], kind: str) -> np.ndarray:
    """Return the indices of queries or systems, given by name or by index."""
    asked = np.atleast_1d(np.asarray(chosen))
    if asked.dtype.kind not in "UT":
        return asked if asked.size else asked.astype(np.int64)
    index = {name: i for i, name in enumerate(known)}
    for name in asked.tolist():
        if name not in index:
            raise UsageError(f"no {kind} {name!r}. {did_you_mean(name, known)}")
    return np.array([index[name] for name in asked.tolist()], np.int64)


def qrels_of(matrices: Sequence[Matrix]) -> list[str]:
    """Return the qrels set of each matrix if a track has several sets, else empty texts."""
    sets = {(matrix.track, matrix.qrels) for matrix in matrices}
    is_several = len(sets) > len({matrix.track for matrix in matrices})
    return [matrix.qrels if is_several else "" for matrix in matrices]


def matrix_of(frame: pl.DataFrame, measure: str = "value") -> Matrix:
    """Convert a frame with one column per system and one row per query to a matrix.

    Parameters
    ----------
    frame : DataFrame
        The query names are in a column named query, topic, qid, query_id, topic number or similar,
        in a first column without a name, or in a non-numeric first column; otherwise queries are
        numbered from 1. Numbers may be text; blank, NaN, NA, N/A, null and None, in any case, are
        missing values. A row called all, amean, average, avg or mean, in any case, is no query.
    measure : str, default 'value'
        Name of the measure.

    Returns
    -------
    Matrix
        Values [query, system]; NaN: missing.

    Raises
    ------
    DataError
        If no column is a system, or a system's column is not numeric.
    UsageError
        If two queries have the same name.

    Examples
    --------
    >>> frame = pl.DataFrame({"query": ["q1", "q2"], "a": [0.5, 1.0], "b": [0.25, None]})
    >>> irmeta.matrix_of(frame, "AP").means.tolist()
    [0.75, 0.25]
    """
    check_not_forked()
    queries = None
    if (index := _query_column(frame)) is not None:
        queries = tuple(frame.to_series(index).cast(pl.String).fill_null("").to_list())
        frame = frame.drop(frame.columns[index])
        is_query = [name.lower() not in SUMMARIES for name in queries]
        if not all(is_query) and any(is_query):
            frame, queries = frame.filter(is_query), tuple(compress(queries, is_query))
    if not frame.width:
        fix = "A table has a column for each system, with commas between them."
        raise DataError("no column of numbers", fix=fix)
    values = np.column_stack([_numbers(column) for column in frame.iter_columns()])
    numbers = np.concatenate([decimals(column) for column in frame.iter_columns()])
    units = units_of(numbers, np.repeat(np.arange(frame.width), frame.height), frame.width)
    queries = tuple(str(i) for i in range(1, frame.height + 1)) if queries is None else queries
    return Matrix(values, queries, tuple(frame.columns), measure, units=units)


def _query_column(frame: pl.DataFrame) -> int | None:
    """Return the index of the column that names the queries; None without such a column."""
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in frame.columns]
    for index, name in enumerate(plain):
        if _QUERY.fullmatch(name) or (index == 0 and name in _FIRST):
            return index
    if not frame.width:
        return None
    if plain[0] in ("system", "systems", "run", "runs", "runid"):
        fix = "A table has a column for each system and a row for each query."
        raise DataError("systems in rows", value=frame.columns[0], fix=fix)
    values, invalid = _read(frame.to_series(0))
    return 0 if invalid.any() and np.isnan(values).all() else None


def _numbers(column: pl.Series) -> np.ndarray:
    """Convert a column to float64, NaN where missing."""
    values, invalid = _read(column)
    if invalid.all() and len(column):
        fix = "Columns are systems: put other facts elsewhere."
        raise DataError("a column that holds no numbers", value=column.name, fix=fix)
    if invalid.any():
        example = column.cast(pl.String)[int(np.argmax(invalid))]
        raise DataError(f"not a number in the column {shown(column.name)}", value=example)
    return values


def _read(column: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a column (NaN where missing), and a mask of invalid values."""
    if column.dtype.is_numeric() or column.dtype == pl.Null:
        invalid = np.zeros(len(column), bool)
        return column.cast(pl.Float64).fill_null(np.nan).to_numpy(), invalid
    if not isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
        return np.full(len(column), np.nan), np.ones(len(column), bool)
    text = column.cast(pl.String).fill_null("").str.strip_chars()
    values = text.cast(pl.Float64, strict=False)
    invalid = values.is_null() & ~text.str.to_lowercase().is_in(_MISSING)
    return values.fill_null(np.nan).to_numpy(), invalid.to_numpy()


def read_matrices(
    path: Location,
    measures: tuple[str, ...] | None = None,
    is_measure: IsMeasure = no_measure,
    columns: Columns = NOT_CHOSEN,
) -> list[Matrix]:
    """Read the matrices of a file with per-query values, or of a user's table.

    The file is Parquet or CSV with the columns track, system, query, measure, value (one matrix per
    track and measure; track is optional), or with the first three and one column per measure;
    output of trec_eval -q or ir_measures, or nested JSON: see irmeta.results.value_tables; or a
    table with one column per system: see `matrix_of`, whose measure is the file's name. `measures`
    are the canonical names to read; None: all. `is_measure` tells names of measures from queries.

    UsageError: the file does not exist, has means instead of per-query values, or lacks a measure.
    DataError: it cannot be read, `matrix_of` rejects its table, two columns have the same name, or
    a system, query and measure have two values.
    """
    with _in_file(path):
        frame = _read_frame(path, is_measure, columns)
        tidy = tidy_values(frame, _stem(path), is_measure)
        if tidy is None:
            _check_known(str(path), measures, [_stem(path)])
            return [matrix_of(frame, _stem(path))]
        return tidy_matrices(tidy, str(path), measures)


def read_table(
    path: Location, is_measure: IsMeasure = no_measure, columns: Columns = NOT_CHOSEN
) -> pl.DataFrame:
    """Read the columns of a file of values or means; for parameters and errors see `read_matrices`.

    The cells of CSV files are text.
    """
    with _in_file(path):
        return _read_frame(path, is_measure, columns)


def read_several(files: Sequence[NamedFile], is_measure: IsMeasure = no_measure) -> list[Matrix]:
    """Read files with per-query values of different systems as the matrices of all of them.

    Systems are named as the files say, or else by file where the user gives no name. For errors see
    `read_matrices`; a file with one column per system is a DataError too.
    """
    paths = [file.path for file in files]
    frames = [
        _tidy_of(file, is_measure, stem)
        for file, stem in zip(files, _names_of_files(paths), strict=True)
    ]
    for path, frame in zip(paths, frames, strict=True):
        if frame is None:
            fix = "Name one such table alone, or write the columns system,query,measure,value."
            raise DataError("no column of measures beside other files", file=str(path), fix=fix)
    tables = [frame for frame in frames if frame is not None]
    return tidy_matrices(pl.concat(tables, how="diagonal"), f"{len(paths)} files")


def first_systems(files: Sequence[NamedFile], is_measure: IsMeasure) -> list[str]:
    """Return the systems of the first of several files, named as `read_several` names them."""
    frame = _tidy_of(files[0], is_measure, _names_of_files([file.path for file in files])[0])
    return [] if frame is None else frame["system"].unique().sort().to_list()


def holds_values(path: Location, is_measure: IsMeasure, columns: tuple[str, ...] = ()) -> bool:
    """Check whether a file is recognised as values or means, and not as a run or qrels.

    `columns` are those that the user names, see `ReadPolicy`.
    """
    try:
        file = NamedFile(None, path, columns)
        return path.is_file() and _tidy_of(file, is_measure) is not None
    except UsageError:  # means
        return True
    except DataError as error:
        return error.problem == NO_SYSTEM


def _names_of_files(paths: Sequence[Location]) -> list[str]:
    """Name the systems of files: by file, with folders or endings where files share a name."""
    stems = [_stem(path) for path in paths]
    places = [path.as_posix() if isinstance(path, Path) else str(path) for path in paths]
    if len(set(places)) < len(places):
        again = next(place for place in places if places.count(place) > 1)
        raise UsageError(f"{again} is given twice.")
    longer = file_names(places)
    return [
        stem if stems.count(stem) == 1 else longer[place]
        for stem, place in zip(stems, places, strict=True)
    ]


def _tidy_of(
    file: NamedFile, is_measure: IsMeasure, stem: str | None = None
) -> pl.DataFrame | None:
    """Return the values of a file by system; `stem` is of a file that does not name its system."""
    name, path, columns = file
    with _in_file(path):
        frame = _read_frame(path, is_measure, columns_by_key(columns))
        tidy = tidy_values(frame, name or stem or _stem(path), is_measure)
        if tidy is not None and name is not None:
            if (several := tidy["system"].n_unique()) > 1:
                raise DataError(f"{several} systems, which cannot all be called {name!r}")
            tidy = tidy.with_columns(system=pl.lit(name))
        keys = [key for key in _KEYS if tidy is not None and key in tidy.columns]
        return None if tidy is None else tidy.select(pl.col(keys).cast(pl.String), *_values(tidy))


def _values(frame: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return the values, and their decimals where they were printed."""
    numbers = frame["decimals"] if "decimals" in frame.columns else decimals(frame["value"])
    return pl.Series("value", _numbers(frame["value"])), pl.Series("decimals", numbers)


@contextmanager
def _in_file(path: Location) -> Generator[None]:
    """Name the file in errors of its content."""
    try:
        yield
    except DataError as error:
        if error.problem in (MEANS, NO_QUERIES):
            raise UsageError(f"{path} {error.problem}.") from None
        error.file = str(path)
        raise
    except DAMAGED as error:
        reason = str(error).splitlines()[0]
        raise DataError(f"cannot be read as CSV ({reason})", file=str(path)) from None


def _stem(path: Location) -> str:
    if is_stream(path):
        return "stdin"
    is_compressed = path.suffix.lower() in (".gz", ".bz2", ".xz", ".zst", ".lz4", ".z")
    return Path(path.stem).stem if is_compressed else path.stem


def _read_frame(path: Location, is_measure: IsMeasure, columns: Columns) -> pl.DataFrame:
    if not (path.is_file() or is_stream(path)):
        raise UsageError(f"{not_a('file', path)}.")
    if path.suffix == ".parquet":
        return renamed_columns(read_parquet(path), columns, COLUMN_KEYS, str(path))
    content = read_stream(path) if is_stream(path) else path.read_bytes()
    content = uncompressed(content, str(path))
    values = values_of_text(content, _stem(path), str(path), is_measure, columns)
    if values is None:
        return renamed_columns(_read_csv(content), columns, COLUMN_KEYS, str(path))
    return values


def tidy_matrices(
    frame: pl.DataFrame, place: str, measures: tuple[str, ...] | None = None
) -> list[Matrix]:
    """Return the matrices of rows of values, see `tidy_values`.

    Raises UsageError if a measure of `measures` is missing. Raises DataError if a name is missing,
    or a system, query and measure have two values.
    """
    absent = [name for name in ("track", "qrels") if name not in frame.columns]
    frame = frame.with_columns(pl.lit("").alias(name) for name in absent)
    frame = frame.with_columns(pl.col(_KEYS).cast(pl.String))
    _check_known(place, measures, frame["measure"].unique(maintain_order=True).to_list())
    if measures is not None:
        frame = frame.filter(pl.col("measure").is_in(list(measures)))
    _check_keys(frame)
    return [
        _tidy_matrix(values, *map(str, names))
        for names, values in frame.group_by("track", "measure", "qrels", maintain_order=True)
    ]


def _check_known(path: str, measures: tuple[str, ...] | None, known: list[str]) -> None:
    for name in measures or ():
        if name not in known:
            raise UsageError(f"{path} has no measure {name!r}. {did_you_mean(name, known)}")


def _check_keys(frame: pl.DataFrame) -> None:
    for key in _KEYS:
        if frame[key].null_count():
            raise DataError(f"a row without a {key}")
    again = frame.filter(frame.select(_KEYS).is_duplicated())
    if again.height:
        keys_text = " ".join(again.select(_KEYS).row(0)).strip()
        raise DataError("two values for one system, query and measure", value=keys_text)


def _tidy_matrix(frame: pl.DataFrame, track: str, measure: str, qrels: str) -> Matrix:
    queries = frame["query"].unique().sort().to_list()
    systems = frame["system"].unique().sort().to_list()
    values = np.full((len(queries), len(systems)), np.nan)
    q = frame["query"].replace_strict(queries, range(len(queries)), return_dtype=pl.Int64)
    s = frame["system"].replace_strict(systems, range(len(systems)), return_dtype=pl.Int64)
    column, numbers = _values(frame)
    values[q.to_numpy(), s.to_numpy()] = column.to_numpy()
    units = units_of(numbers.to_numpy(), s.to_numpy(), len(systems))
    return Matrix(values, tuple(queries), tuple(systems), measure, track, qrels=qrels, units=units)


def _read_csv(content: bytes) -> pl.DataFrame:
    """Read all columns as text, to preserve names such as 007; skip empty lines."""
    lines = content.splitlines()
    comments = sum(1 for _ in takewhile(lambda line: line.startswith(b"# "), lines))
    header = lines[comments] if comments < len(lines) else b""
    separator = "\t" if b"\t" in header and b"," not in header else ","
    frame = read_cells(content, separator=separator, comments=comments)
    frame = frame.filter(~pl.all_horizontal(pl.all().is_null()))
    for column in frame.columns[1:]:
        # Polars renames a column with a duplicate name.
        name, renamed, _ = column.rpartition("_duplicated_")
        name = name if renamed and name in frame.columns else column
        if name == "" and frame[column].null_count() == frame.height:
            frame = frame.drop(column)  # lines that end in a comma
        elif name == "":
            raise DataError("a column without a name", fix="Only the first may have none.")
        elif name != column:
            raise DataError("two columns have the same name", value=name)
    return frame


def query_differences(matrix: Matrix, system: str, baseline: str) -> pl.DataFrame:
    """Return the values of two systems by query, and the first minus the second.

    Columns: track, measure, query, system, baseline, value, baseline_value, difference, better
    (name of the better of the two; null: values are equal or undefined). The queries where the
    system is better come first, by the size of the difference; NaN is last. UsageError: a system is
    unknown.
    """
    for name in (system, baseline):
        if name not in matrix.systems:
            raise UsageError(f"no system {name!r}. {did_you_mean(name, matrix.systems)}")
    value, baseline_value = (
        matrix.values[:, matrix.systems.index(name)] for name in (system, baseline)
    )
    within = tolerances(
        np.concatenate([value, baseline_value])[:, None], max(matrix.units, default=0.0)
    )[0]
    labels = {"track": matrix.track, "measure": matrix.measure}
    frame = pl.DataFrame({"query": pl.Series(list(matrix.queries), dtype=pl.String)}).select(
        *(pl.lit(text).alias(name) for name, text in labels.items()),
        "query",
        pl.lit(system).alias("system"),
        pl.lit(baseline).alias("baseline"),
        pl.Series("value", value),
        pl.Series("baseline_value", baseline_value),
        pl.Series("difference", value - baseline_value),
    )
    gain = matrix.direction * pl.col("difference")
    better = pl.when(gain.is_nan()).then(None).when(gain > within).then(pl.lit(system))
    better = better.when(gain < -within).then(pl.lit(baseline)).alias("better")
    return frame.with_columns(better).sort(-gain, maintain_order=True)  # polars sorts NaN last

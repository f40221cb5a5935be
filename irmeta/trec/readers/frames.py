"""Frames and dicts in memory as columns of runs and qrels.

Frames of any library have the usual names of columns; dicts are by query: ``{query: {doc: value}}``
or ``{query: [doc]}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, islice
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import DataError, did_you_mean, short
from irmeta.policies import Columns
from irmeta.trec.qrels import EMPTY, GRADES_FIX, UNRATED
from irmeta.trec.readers.columns import (
    QrelsColumns,
    RunColumns,
    check_grades,
    check_names,
    check_ranks,
    check_scores,
    large_strings,
    refuse,
)
from irmeta.trec.runs import NO_RANK

# The first name that a frame has is read. Case is ignored, and - is _.
NAMES: dict[str, tuple[str, ...]] = {
    # In PyTerrier, query is the text of qid, and docid a number in the index.
    "query": ("query_id", "qid", "q_id", "query", "topic", "user_id", "user"),
    "doc": (
        *("docno", "doc_id", "docid", "corpus_id", "doc", "pid", "passage_id", "item_id", "item"),
        *("product_id", "product"),
    ),
    "system": ("system", "run_id", "run", "tag", "model"),
    "score": ("score",),
    "rank": ("rank",),
    "grade": ("relevance", "label", "grade", "rel", "rating", "score"),
    "subtopic": ("subtopic", "subtopic_id"),
    "iteration": ("iteration",),
}
NOT_CHOSEN: Columns = {}
"""Column names as the file has them: none is mapped."""
_INSTEAD = {
    "score": ", or add a column rank",
    "grade": "; if every row is a relevant doc, add a column relevance of ones",
}
"""Other ways to mend a missing column."""
_LISTED = 30  # columns that a message lists
_UNREADABLE = (TypeError, ValueError, OverflowError)
ByQuery = Mapping[Any, Mapping[Any, Any]]
DocLists = Mapping[Any, Sequence[Any] | AbstractSet[Any]]
RANKED = "no scores: score = -rank"
"""Note on a run without scores."""
ALL_RELEVANT = "docs without grades: each is relevant, grade 1"
"""Note on qrels without grades."""
OWN_TABLE = {"track", "doc", "doc_id"}
"""Columns of irmeta's tables, where doc_id is a number."""


def as_frame(data: object, place: str) -> Any:
    """Return a frame of any library as one of narwhals, polars' for Arrow streams; else None.

    Raises
    ------
    DataError
        If two columns of the frame have the same name.
    """
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    try:
        frame = nw.from_native(cast(Any, data), pass_through=True)
    except DuplicateError as error:
        problem, why = "two columns have the same name ({why})", " ".join(str(error).split())
        fix = "Rename or drop one of them."
        raise DataError(problem, file=place, ids={"why": why}, fix=fix) from None
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return frame
    if hasattr(data, "__arrow_c_stream__") or isinstance(data, pa.RecordBatch):
        try:
            return nw.from_native(pl.DataFrame(cast(Any, data)))
        except pl.exceptions.PolarsError:  # a single column
            return None
    return None


def selected(
    frame: Any, place: str, needed: Sequence[str], further: Sequence[str], chosen: Columns
) -> dict[str, pl.Series]:
    """Return the columns of a frame by their keys in `NAMES`; they keep their own names.

    `chosen` are the columns that the user names.

    Raises
    ------
    DataError
        If a needed column is missing, a column cannot be converted, or there is no row.
    """
    columns: list[Any] = frame.collect_schema().names()  # of pandas: numbers or tuples too
    by_key = {}
    for name in (*needed, *further):
        column = column_of(columns, name, chosen)
        if column is None and name in chosen:
            raise no_such_column(columns, name, chosen, place)
        if column is None and name in needed:
            first, *others = NAMES[name]
            listed = ", ".join(map(short, columns[:_LISTED]))
            known = f"{first} (or {', '.join(others)})" if others else first
            fix = f"Rename one of {listed} to {known}{_INSTEAD.get(name, '')}."
            fix += f" `columns='{name}=COLUMN'` names it."
            raise DataError(f"no column of the {name}", file=place, fix=fix)
        if column is not None:
            by_key[name] = column
    frame = frame.select(list(dict.fromkeys(by_key.values())))
    try:
        found = frame.lazy().collect("polars").to_native()
    except (pa.ArrowException, pl.exceptions.PolarsError, *_UNREADABLE) as error:
        fix = "Give every column one type: ids are text, scores and grades numbers."
        problem = "a column cannot be converted ({why})"
        why = {"why": " ".join(str(error).split())}
        raise DataError(problem, file=place, ids=why, fix=fix) from None
    if found.is_empty():
        raise DataError("has no rows", file=place)
    return {name: found[column] for name, column in by_key.items()}


def no_such_column(
    columns: Sequence[Any], name: str, chosen: Columns, place: str, line: int | None = None
) -> DataError:
    """Return the error that a table lacks a column named by `columns=`."""
    listed = ", ".join(map(short, columns[:_LISTED]))
    hint = did_you_mean(chosen[name][0], [str(column) for column in columns])
    called = " or ".join(repr(short(column)) for column in chosen[name])
    problem = f"no column of the {name} called {called}; the columns are {listed}"
    fix = hint if hint.startswith("Did") else None
    return DataError(problem, file=place, line=line, fix=fix)


def renamed_columns(
    frame: pl.DataFrame, chosen: Columns, keys: Sequence[str], place: str
) -> pl.DataFrame:
    """Rename the columns of a table that `columns=` names.

    Raises
    ------
    DataError
        If it lacks such a column, or they hold something else than `keys`.
    """
    if key := next((key for key in chosen if key not in keys), None):
        problem = f"no column of the {key}, which `columns=` names, is read of such a table"
        raise DataError(problem, file=place, fix=f"What columns hold here: {', '.join(keys)}.")
    by_column = dict[str, str]()
    for key in chosen:
        if (column := column_of(frame.columns, key, chosen)) is None:
            raise no_such_column(frame.columns, key, chosen, place)
        by_column[column] = key
    replaced = [c for c in frame.columns if c in by_column.values() and c not in by_column]
    return frame.drop(replaced).rename(by_column)


def column_of(columns: Sequence[Any], name: str, chosen: Columns = NOT_CHOSEN) -> str | None:
    """Return the column of a frame for one of `NAMES`.

    A column that the user names is this one, and no other.
    """
    if name in chosen:
        return next((column for column in chosen[name] if column in columns), None)
    taken = {column for named in chosen.values() for column in named}
    texts = [c for c in reversed(columns) if isinstance(c, str) and c not in taken]
    known = {column.lower().replace("-", "_"): column for column in texts}
    names = ("doc",) if name == "doc" and known.keys() >= OWN_TABLE else NAMES[name]
    return next((known[one] for one in names if one in known), None)


def holds_columns(data: Mapping[Any, Any], chosen: Columns = NOT_CHOSEN) -> bool:
    """Check whether the keys of a dict are names of columns, which are no queries.

    They name queries, docs and a value of these, or are known names of columns all.
    """
    names = [name for name in data if isinstance(name, str)]
    found = {key for key in NAMES if column_of(names, key, chosen) is not None}
    if not found >= {"query", "doc"} or not all(map(_is_column, data.values())):
        return False
    known = {alias for aliases in NAMES.values() for alias in aliases}
    lowered = {name.lower().replace("-", "_") for name in names}
    return bool(found & {"score", "rank", "grade"}) or lowered <= known


def _is_column(values: object) -> bool:
    """Check whether an object is a column: a list of single values, or a dict of these by row."""
    if isinstance(values, Mapping):
        return not any(isinstance(one, Mapping | list | tuple) for one in values.values())
    has_length = hasattr(values, "__len__") and not isinstance(values, str | bytes | AbstractSet)
    return has_length and getattr(values, "ndim", 1) == 1


def rows_of_columns(data: Mapping[Any, Any], place: str) -> list[dict[str, Any]]:
    """Return a dict of columns as rows.

    Raises
    ------
    DataError
        If two columns have other lengths, or other rows.
    """
    columns = {str(name): values for name, values in data.items()}
    first, *others = columns
    is_dict = isinstance(columns[first], Mapping)
    rows = list(columns[first]) if is_dict else range(len(columns[first]))
    for name in others:
        own = columns[name]
        own_rows = set(own) if isinstance(own, Mapping) else range(len(own))
        if own_rows != (set(rows) if is_dict else rows):
            problem = "columns {first} and {name} have different rows"
            fix = "Give all columns a value for each row."
            ids = {"first": first, "name": name}
            raise DataError(problem, file=place, ids=ids, fix=fix)
    return [{name: values[row] for name, values in columns.items()} for row in rows]


def frame_of_columns(data: Mapping[Any, Any], place: str) -> pl.DataFrame:
    """Return a dict of columns as a frame; for errors see `rows_of_columns`."""
    rows = rows_of_columns(data, place)
    names = [str(name) for name in data]
    try:
        return pl.DataFrame([_column(name, [row[name] for row in rows]) for name in names])
    except (*_UNREADABLE, pl.exceptions.PolarsError) as error:
        why = {"why": " ".join(str(error).split())}
        fix = "Give every column one type: ids are text, scores and grades numbers."
        raise DataError("a column cannot be read ({why})", file=place, ids=why, fix=fix) from None


def _column(name: str, values: list[Any]) -> pl.Series:
    """Return values as a column; whole and other numbers are numbers."""
    has_floats = any(isinstance(one, float) for one in values)
    if has_floats and all(one is None or isinstance(one, int | float) for one in values):
        return pl.Series(name, values, pl.Float64, strict=False)
    return pl.Series(name, values)


def runs_of_frame(
    frame: Any, place: str, chosen: Columns = NOT_CHOSEN
) -> Iterator[tuple[str | None, RunColumns]]:
    """Yield the name and the rows of each system of a frame; None without a column of systems.

    `chosen` are the columns that the user names.

    Raises
    ------
    DataError
        If a column is missing or has an invalid value, which is named.
    """
    value = "score"
    header = frame.collect_schema().names()
    has = {key: column_of(header, key, chosen) is not None for key in ("score", "rank")}
    if not has["score"] and has["rank"] and "score" not in chosen:
        value = "rank"
    named = selected(frame, place, ("query", "doc", value), ("rank", "system"), chosen)
    columns = pl.DataFrame(
        {
            "query": check_names(named["query"], place),
            "doc": check_names(named["doc"], place),
            "score": check_scores(named[value], place),
            "rank": check_ranks(named.get("rank"), len(named[value])),
        }
    )
    notes = ()
    if value == "rank":
        if (wrong := columns["rank"] == NO_RANK).any():
            fix = "Give the doc a rank, or add a column score."
            refuse(named["rank"], wrong, place, "is not a whole number", fix)
        columns = columns.with_columns(score=-pl.col("score"))
        notes = (RANKED,)
    parts: Iterator[tuple[str | None, pl.DataFrame]] = iter([(None, columns)])
    if "system" in named:
        parts = _by_system(columns, check_names(named["system"], place))
    for name, rows in parts:
        where = place if name is None else f"{place}, system {name!r}"
        yield name, replace(_run(rows, where, "rank" in named), notes=notes)


def _by_system(
    columns: pl.DataFrame, system: pl.Series
) -> Iterator[tuple[str | None, pl.DataFrame]]:
    """Yield the rows of each system; slices where they are adjacent."""
    pieces = system.rle().struct.unnest()
    names, lengths = pieces["value"], pieces["len"].to_numpy()
    if names.n_unique() == len(names):
        ends = np.cumsum(lengths, dtype=np.int64).tolist()
        for name, end, length in zip(names, ends, lengths.tolist(), strict=True):
            yield name, columns.slice(end - length, length)
        return
    grouped = columns.with_columns(system=system).partition_by("system", maintain_order=True)
    for rows in grouped:
        yield rows["system"][0], rows


def _run(rows: pl.DataFrame, place: str, has_ranks: bool) -> RunColumns:
    pieces, rank = rows["query"].rle().struct.unnest(), rows["rank"].to_numpy()
    return RunColumns(
        place=place,
        queries=pieces["value"],
        starts=np.append(0, np.cumsum(pieces["len"].to_numpy(), dtype=np.int64)),
        docs=large_strings(rows["doc"]),
        score=rows["score"].to_numpy(),
        rank=rank,
        odd_ranks=int((rank == NO_RANK).sum()) if has_ranks else 0,
    )


def qrels_of_frame(frame: Any, place: str, chosen: Columns = NOT_CHOSEN) -> QrelsColumns:
    """Return the judgments of a frame; docs without a grade are unjudged.

    `chosen` are the columns that the user names.

    Raises
    ------
    DataError
        If a column is missing or has an invalid value, which is named.
    """
    further = ("subtopic", "iteration")
    named = selected(frame, place, ("query", "doc", "grade"), further, chosen)
    rated = named["grade"].is_not_null()
    if rated.all() or not rated.any():
        return _qrels(named, place)
    rows = rated.arg_true()
    try:
        read = _qrels({name: column.filter(rated) for name, column in named.items()}, place)
    except DataError as error:
        if error.unit == "row" and error.line is not None:
            error.line = int(rows[error.line])
        raise
    notes = (f"{UNRATED}{len(rated) - len(rows):,}",)
    return replace(read, rows=rows.to_numpy(), notes=notes)


def _qrels(named: dict[str, pl.Series], place: str) -> QrelsColumns:
    columns = {
        "query": check_names(named["query"], place),
        "doc": check_names(named["doc"], place),
        "grade": check_grades(named["grade"], place),
    }
    if "subtopic" in named and named["subtopic"].null_count() == len(named["subtopic"]):
        del named["subtopic"]  # of ad hoc qrels in a table of irmeta
    is_subtopic = "subtopic" in named
    second = named.get("subtopic", named.get("iteration"))
    if second is not None:
        columns["subtopic"] = check_names(second, place)
    return QrelsColumns(place, pl.DataFrame(columns), is_subtopic)


def has_doc_lists(data: Mapping[Any, Any]) -> bool:
    """Check whether each query has a list, tuple or set of docs instead of a dict."""
    return bool(data) and all(
        isinstance(docs, list | tuple | AbstractSet) for docs in data.values()
    )


def run_of_dict(data: ByQuery | DocLists, place: str) -> RunColumns:
    """Return the rows of a run in the order of the dicts, or of lists of docs, best first.

    Raises
    ------
    DataError
        If the run is empty, an id is neither text nor a whole number, a score is not finite, or
        docs are a set, which has no order.
    """
    queries, lengths, docs = _ids(data, place)
    if has_doc_lists(data):
        return _run_of_lists(cast("DocLists", data), place, queries, lengths, docs)
    data = cast("ByQuery", data)
    score = _numbers(data, len(docs), place)
    if not (finite := np.isfinite(score)).all():
        row = int(np.argmin(finite))
        fix = "Drop the doc, or give it a finite score."
        raise _invalid(data, row, place, "the score is not a finite number", fix)
    starts = np.append(0, np.cumsum(lengths, dtype=np.int64))
    rank = np.full(len(docs), NO_RANK, np.int32)
    names = pl.Series(queries, dtype=pl.String)
    return RunColumns(place, names, starts, docs, score, rank, empty=_empty(data, place))


def _run_of_lists(
    data: DocLists, place: str, queries: list[str], lengths: list[int], docs: pa.LargeStringArray
) -> RunColumns:
    """Return a run whose docs have ranks by their order, and no scores."""
    for query, ranked in data.items():
        if isinstance(ranked, AbstractSet):
            fix = "Pass a list of docs, best first."
            problem = "query {query}: a set of docs has no order"
            raise DataError(problem, file=place, ids={"query": query}, fix=fix)
    rank = np.concatenate([np.arange(1, n + 1, dtype=np.int32) for n in lengths])
    starts = np.append(0, np.cumsum(lengths, dtype=np.int64))
    names = pl.Series(queries, dtype=pl.String)
    score = -rank.astype(np.float64)
    empty = _empty(data, place)
    return RunColumns(place, names, starts, docs, score, rank, notes=(RANKED,), empty=empty)


def _empty(data: ByQuery | DocLists, place: str) -> tuple[str, ...]:
    """Return the queries with an empty list, which is a list all the same."""
    return tuple(_texts([query for query, docs in data.items() if not docs], "query", place))


def qrels_of_dict(data: ByQuery | DocLists, place: str) -> QrelsColumns:
    """Return the judgments in the order of the dicts; docs of lists and sets have grade 1.

    Docs whose grade is None are unjudged.

    Raises
    ------
    DataError
        If there is no judgment, an id is neither text nor a whole number, or a grade is not a
        finite number.
    """
    is_list = has_doc_lists(data)
    if is_list:  # the order of a set differs between processes
        lists = cast("DocLists", data).items()
        data = {q: sorted(d, key=str) if isinstance(d, AbstractSet) else d for q, d in lists}
    queries, lengths, docs = _ids(data, place)
    scored = cast("ByQuery", data)
    try:
        grades = np.ones(len(docs)) if is_list else _numbers(scored, len(docs), place)
    except DataError:
        rated = {q: {d: g for d, g in one.items() if g is not None} for q, one in scored.items()}
        missing = len(docs) - sum(map(len, rated.values()))
        if missing in (0, len(docs)):
            raise
        found = qrels_of_dict(rated, place)
        return replace(found, notes=(f"{UNRATED}{missing:,}", *found.notes))
    if not (finite := np.isfinite(grades)).all():
        row = int(np.argmin(finite))
        raise _invalid(scored, row, place, "the grade is not a finite number", GRADES_FIX)
    columns = {
        "query": pl.Series(queries, dtype=pl.String).gather(
            np.repeat(np.arange(len(queries)), lengths)
        ),
        "doc": pl.Series(docs, dtype=pl.String),
        "grade": check_grades(pl.Series("grade", grades), place),
    }
    empty = len(data) - len(queries)
    notes = (f"{EMPTY}{empty:,}",) if empty else ()
    return QrelsColumns(place, pl.DataFrame(columns), notes=notes)


def _ids(data: ByQuery | DocLists, place: str) -> tuple[list[str], list[int], pa.LargeStringArray]:
    """Return the queries with docs, the number of docs of each, and all docs."""
    filled = [query for query, docs in data.items() if docs]
    if not filled:
        raise DataError("has no doc", file=place)
    docs = list(chain.from_iterable(data.values()))
    lengths = [len(data[query]) for query in filled]
    return _texts(filled, "query", place), lengths, _packed(docs, place)


def _packed(docs: list[Any], place: str) -> pa.LargeStringArray:
    """Return ids as one Arrow array; join texts first, which is faster than one call for each."""
    try:
        joined = "\0".join(docs).encode()
    except (TypeError, UnicodeEncodeError):
        docs = _texts(docs, "doc", place)
        joined = "\0".join(docs).encode()
    content = np.frombuffer(joined, np.uint8)
    breaks = np.flatnonzero(content == 0)
    bounds = np.concatenate([[0], breaks, [len(content)]])
    bounds[1:] -= np.arange(len(bounds) - 1)
    if len(bounds) != len(docs) + 1 or not np.diff(bounds).all():
        odd = next(doc for doc in docs if not doc or "\0" in doc)
        problem = "a doc has an empty name" if not odd else "the name of a doc contains NUL"
        raise DataError(problem, file=place, value=odd or None, fix="Rename it.")
    buffers = pa.py_buffer(bounds.astype(np.int64)), pa.py_buffer(joined.replace(b"\0", b""))
    return pa.LargeStringArray.from_buffers(len(docs), *buffers)


def _texts(names: Sequence[Any], what: str, place: str) -> list[str]:
    """Return ids as text; whole numbers are printed."""
    whole = int | np.integer
    for name in names:
        if not (isinstance(name, str) or (isinstance(name, whole) and not isinstance(name, bool))):
            fix = "Convert ids to text."
            problem = f"a {what} is {type(name).__name__}, neither text nor a whole number"
            raise DataError(problem, file=place, value=name, fix=fix)
    try:
        texts = [str(name) for name in names]
    except ValueError:  # Python prints at most 4,300 digits
        raise DataError(f"a {what} is too large a number", file=place, fix="Rename it.") from None
    for name in texts:
        if not name:
            raise DataError(f"a {what} has an empty name", file=place, fix="Rename it.")
        try:
            name.encode()
        except UnicodeEncodeError:
            problem, value = f"the name of a {what} is not Unicode text", ascii(name)
            raise DataError(problem, file=place, value=value, fix="Rename it.") from None
    return texts


def _numbers(data: ByQuery, rows: int, place: str) -> np.ndarray:
    """Return all values as float64."""
    values: list[Any] = []
    for docs in data.values():
        values += docs.values()
    try:
        numbers = np.array(values)
    except ValueError:  # lists of different lengths
        numbers = np.empty(0, np.object_)
    if numbers.dtype.kind in "fiub" and numbers.shape == (rows,):
        return numbers.astype(np.float64, copy=False)
    converted = np.empty(rows)
    for row, value in enumerate(values):  # such as fractions, or arrays without dimensions
        fix = "Give every doc a number."
        if not hasattr(value, "__float__") or isinstance(value, np.datetime64 | np.timedelta64):
            raise _invalid(data, row, place, "the value is not a number", fix)
        if getattr(value, "ndim", 0):
            raise _invalid(data, row, place, "the value is an array", fix)
        try:
            converted[row] = float(value)
        except OverflowError:
            raise _invalid(data, row, place, "the value is too large", fix) from None
        except (TypeError, ValueError):
            raise _invalid(data, row, place, "the value is not a number", fix) from None
    return converted


def _invalid(data: ByQuery, row: int, place: str, problem: str, fix: str) -> DataError:
    """Return the error of one doc, counted over all queries."""
    every = ((query, doc, docs[doc]) for query, docs in data.items() for doc in docs)
    query, doc, value = next(islice(every, row, None))
    ids = {"query": query, "doc": doc}
    problem = f"query {{query}}, doc {{doc}}: {problem}"
    return DataError(problem, file=place, ids=ids, value=value, fix=fix)

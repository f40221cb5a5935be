"""Dicts by query as columns of runs and qrels: ``{query: {doc: value}}``, ``{query: [doc]}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, islice
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa

from irmeta.errors import DataError
from irmeta.trec.qrels import EMPTY, GRADES_FIX, UNRATED
from irmeta.trec.readers.columns import QrelsColumns, RunColumns, check_grades
from irmeta.trec.rows import NO_RANK

ByQuery = Mapping[Any, Mapping[Any, Any]]
DocLists = Mapping[Any, Sequence[Any] | AbstractSet[Any]]
RANKED = "no scores: score = -rank"
"""Note on a run without scores."""
ALL_RELEVANT = "docs without grades: each is relevant, grade 1"
"""Note on qrels without grades."""


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

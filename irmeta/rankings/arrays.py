"""Checks of rankings given as arrays, for `JudgedRanks.from_arrays`, and ranks sorted by query."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.rankings.track_facts import NumberedNames
from irmeta.trec.qrels import narrowed, plain


def rank_array(name: str, given: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Return ranks as uint16 or uint32 [rows, systems]; the maximum value means no rank."""
    ranks = _whole_numbers(name, given, 2)
    ranks = ranks.astype(ranks.dtype.newbyteorder("="), copy=False)
    if shape is not None and ranks.shape != shape:
        raise UsageError(f"{name} of shape {ranks.shape} do not fit ranks of shape {shape}.")
    if ranks.dtype.name in ("uint16", "uint32"):
        missing = np.iinfo(ranks.dtype).max
        if (ranks == 0).any():
            ranks = np.where(ranks == 0, ranks.dtype.type(missing), ranks)
        return np.ascontiguousarray(ranks)
    if ranks.min(initial=0) < 0:
        row, system = np.argwhere(ranks < 0)[0].tolist()
        raise UsageError(f"{name}[{row}, {system}] = {ranks[row, system]} is below 0.")
    deepest = int(ranks.max(initial=0))
    if deepest >= np.iinfo(np.uint32).max:
        raise UsageError(f"{name} hold {deepest}, more than the largest rank of a list.")
    dtype = np.uint16 if deepest < np.iinfo(np.uint16).max else np.uint32
    return np.where(ranks == 0, np.iinfo(dtype).max, ranks).astype(dtype, order="C")


def _whole_numbers(name: str, given: Any, dimensions: int) -> np.ndarray:
    array = np.asarray(given)
    if not array.size:
        array = array.astype(np.int64)
    if array.ndim != dimensions or not np.issubdtype(array.dtype, np.integer):
        form = {1: "a list of whole numbers", 2: "an array [rows, systems] of whole numbers"}
        what = f"{array.dtype} of shape {array.shape}"
        raise UsageError(f"{name} must be {form[dimensions]}, not {what}.")
    return array


def offset_array(given: Any, rows: int) -> np.ndarray:
    """Check that offsets ascend to the number of rows, and return them."""
    offsets = _whole_numbers("offsets", given, 1).astype(np.int64)
    ascend = len(offsets) > 1 and (np.diff(offsets) >= 0).all()
    if not ascend or offsets[0] != 0 or offsets[-1] != rows:
        raise UsageError(f"offsets must ascend from 0 to {rows}, the number of rows.")
    return offsets


def grade_array(given: Any, offsets: np.ndarray) -> np.ndarray:
    """Check that grades descend within queries, and return them in their narrowest type."""
    grades = np.asarray(given)
    if not np.issubdtype(grades.dtype, np.floating):
        grades = _whole_numbers("grades", given, 1)
    elif grades.ndim != 1 or not np.isfinite(grades).all():
        raise UsageError("grades must be a list of finite numbers.")
    if len(grades) != offsets[-1]:
        raise UsageError(f"{len(grades)} grades do not fit {offsets[-1]} rows of ranks.")
    rises = np.flatnonzero(np.diff(grades.astype(np.float64)) > 0) + 1
    inside = rises[~np.isin(rises, offsets)]
    if len(inside):
        row = int(inside[0])
        raise UsageError(
            f"grades must descend within a query: row {row} has grade {grades[row]}, the row "
            f"before {grades[row - 1]}. Sort the rows of ranks and grades by grade, descending."
        )
    return narrowed(pl.Series(grades.astype(np.float64) + 0.0)).to_numpy().copy()


def length_array(ranks: np.ndarray, offsets: np.ndarray, given: Any) -> np.ndarray:
    """Check that ranks are possible, and return the lengths of the lists."""
    missing = np.iinfo(ranks.dtype).max
    shape = len(offsets) - 1, ranks.shape[1]
    deepest = np.zeros(shape, np.uint32)
    for query, (start, stop) in enumerate(pairwise(offsets.tolist())):
        ordered = np.sort(ranks[start:stop], axis=0)
        repeated = (ordered[1:] == ordered[:-1]) & (ordered[1:] != missing)
        if repeated.any():
            row, system = np.argwhere(repeated)[0].tolist()
            where = f"query {query}, system {system}"
            raise UsageError(f"two docs have rank {ordered[row, system]} ({where}, from 0).")
        if stop > start:
            deepest[query] = np.where(ordered == missing, 0, ordered).max(axis=0)
    if given is None:
        return deepest
    lengths = _whole_numbers("lengths", given, 2)
    if lengths.shape != shape:
        raise UsageError(f"lengths of shape {lengths.shape} are not [queries, systems], {shape}.")
    below = np.argwhere((lengths < deepest) | (lengths >= missing))
    if len(below):
        query, system = below[0].tolist()
        raise UsageError(
            f"a list of length {lengths[query, system]} cannot hold a doc at rank "
            f"{deepest[query, system]} (query {query}, system {system}, from 0)."
            if lengths[query, system] < deepest[query, system]
            else f"a list of length {lengths[query, system]} needs ranks of type uint32."
        )
    return np.ascontiguousarray(lengths, np.uint32)


def tie_arrays(
    given: tuple[Any, Any], ranks: np.ndarray, offsets: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Check that each doc is in its block of ties, and return the first and last ranks."""
    firsts, lasts = (
        rank_array(f"ties[{i}]", ends, ranks.shape).astype(np.int64) for i, ends in enumerate(given)
    )
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    is_listed = ranks != np.iinfo(ranks.dtype).max
    around = (firsts <= ranks) & (ranks <= lasts) & (lasts <= lengths[query])
    wrong = np.argwhere(is_listed & ~around)
    if len(wrong):
        row, system = wrong[0].tolist()
        block = f"{firsts[row, system]} to {lasts[row, system]}"
        raise UsageError(
            f"ties of row {row}, system {system} (from 0): rank {ranks[row, system]} is not in "
            f"the block of ranks {block}, or the block is not in the list."
        )
    for start, stop in pairwise(offsets.tolist()):
        order = np.argsort(ranks[start:stop], axis=0)
        first, last = (np.take_along_axis(t[start:stop], order, axis=0) for t in (firsts, lasts))
        listed = np.take_along_axis(is_listed[start:stop], order, axis=0)[1:]
        is_one = (first[1:] == first[:-1]) & (last[1:] == last[:-1])
        if (listed & ~is_one & (first[1:] <= last[:-1])).any():
            raise UsageError("ties overlap: docs of one block need the same first and last rank.")
    missing = np.iinfo(ranks.dtype).max
    block_ends = (np.where(is_listed, ends, missing) for ends in (firsts, lasts))
    first, last = (ends.astype(ranks.dtype) for ends in block_ends)
    return first, last


def retrieved_of(
    given: Any, ranks: np.ndarray, offsets: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray | None, dict[str, str]]:
    """Return the number of distinct docs of each query, or why it is unknown."""
    is_listed = ranks != np.iinfo(ranks.dtype).max
    judged = count_by_query(is_listed, offsets)
    any_list = np.concatenate([[0], np.cumsum(is_listed.any(axis=1))])
    held = np.diff(any_list[offsets])
    if given is not None:
        retrieved = _whole_numbers("retrieved", given, 1).astype(np.int64)
        if retrieved.shape != held.shape or (retrieved < held).any():
            raise UsageError(
                f"retrieved must be {len(held)} numbers, for each query at least the number of "
                "judged docs in any list."
            )
        return retrieved, {}
    if (judged == lengths).all():
        return held, {}
    return None, {"retrieved": "some lists hold unjudged docs; give `retrieved=` to from_arrays"}


def names_of(what: str, given: Sequence[str] | None, prefix: str, count: int) -> Sequence[str]:
    """Check names that are given, or make names of a letter and a number."""
    if given is None:
        return NumberedNames(prefix, count)
    names = _texts(what, given)
    if len(names) != count or len(set(names)) != count:
        raise UsageError(f"{what} must be {count} different names, not {len(set(names))}.")
    return names


def _texts(what: str, given: Sequence[object]) -> tuple[str, ...]:
    names: list[str] = []
    for name in given:
        if not isinstance(name, str):
            raise UsageError(f"{what} must be texts, not {name!r}.")
        names.append(name)
    return tuple(names)


def docs_of(given: Sequence[str] | None, offsets: np.ndarray) -> tuple[pl.Series, np.ndarray]:
    """Return the names of the docs, and numbers in the order of the names within a query."""
    sizes = np.diff(offsets)
    if given is None:
        numbers = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
        width = len(str(sizes.max(initial=1) - 1))
        names = "d" + pl.Series(numbers).cast(pl.String).str.zfill(width)
        return names, numbers.astype(np.int32)
    if len(given) != offsets[-1]:
        raise UsageError(f"{len(given)} docs do not fit {offsets[-1]} rows of ranks.")
    names = pl.Series(_texts("docs", given), dtype=pl.String)
    frame = pl.DataFrame({"query": np.repeat(np.arange(len(sizes)), sizes), "doc": names})
    if frame.is_duplicated().any():
        again = frame.filter(frame.is_duplicated())["doc"][0]
        raise UsageError(f"doc {again!r} occurs twice in a query.")
    order = frame.with_columns(row=pl.int_range(pl.len())).sort("query", "doc")["row"].to_numpy()
    numbers = np.empty(len(names), np.int32)
    numbers[order] = np.arange(len(names)) - np.repeat(offsets[:-1], sizes)
    return names, numbers


def pooled_of(given: Sequence[object], count: int) -> tuple[bool, ...]:
    """Check whether each system contributed to the pool."""
    is_bool = all(isinstance(flag, bool | np.bool_) for flag in given)
    if len(given) != count or not is_bool or not any(given):
        raise UsageError(f"pooled must be {count} bools, at least one of them true.")
    return tuple(bool(flag) for flag in given)


def highest_of(given: object, grades: np.ndarray) -> float:
    """Return the highest grade, given or of the arrays; 1 if that is not above 0."""
    highest = plain(grades.max(initial=0))
    if given is None:
        return highest if highest > 0 else 1
    if isinstance(given, bool) or not isinstance(given, int | float | np.integer | np.floating):
        raise UsageError(f"highest_grade = {given!r} is not a number.")
    if not max(highest, 0) <= given < np.inf or given == 0:
        raise UsageError(
            f"highest_grade = {given} is less than {highest}, a value in the arrays."
            if given > 0
            else f"highest_grade = {given} is not a finite number above 0."
        )
    return plain(float(given))


def deepest_of(deepest_rank: object, least: int) -> int:
    """Return the deepest rank, `least` by default."""
    if deepest_rank is None:
        return least
    if not isinstance(deepest_rank, int | np.integer):
        raise UsageError(f"deepest_rank = {deepest_rank!r} is not a whole number.")
    if deepest_rank < least:
        raise UsageError(
            f"deepest_rank = {deepest_rank} is less than {least}, a value in the arrays."
        )
    return int(deepest_rank)


def sorted_by_rank(
    ranks: np.ndarray, labels: np.ndarray | None, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted ranks and labels [docs, systems]: see `JudgedRanks.sort_by_rank`."""
    if labels is None:
        return _sorted_queries(ranks, offsets), np.zeros(ranks.shape, np.uint8)
    # Sorting rank and label as one number is much faster than argsort.
    bits = 8 * labels.itemsize
    wide = np.uint32 if 8 * ranks.itemsize + bits <= 32 else np.uint64
    keys = ranks.astype(wide) << wide(bits) | labels.astype(wide)[:, None]
    keys = _sorted_queries(keys, offsets)
    return (keys >> wide(bits)).astype(ranks.dtype), keys.astype(labels.dtype)


def _sorted_queries(keys: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sort each column within the rows of each query; `keys` may be overwritten."""
    # Most processors sort 32 bits in vectors, but not 16.
    wide = keys.astype(np.uint32) if keys.itemsize == 2 else keys
    for start, stop in pairwise(offsets):
        if stop - start > 1:
            wide[start:stop].sort(axis=0)
    return wide.astype(keys.dtype, copy=False)


def count_by_query(marked: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Count the marked rows of each query: int64 [queries, systems], of bool [rows, systems]."""
    none = np.zeros((1, marked.shape[1]), bool)  # for queries without rows at the end
    padded = np.concatenate([marked, none])
    counts = np.add.reduceat(padded, offsets[:-1], axis=0, dtype=np.int64)
    counts[np.diff(offsets) == 0] = 0  # reduceat takes the next row
    return counts

"""Tie orders: comparison of docs, order of lists, and blocks of tied docs.

In functions of a tie order `starts` is int64 [lists + 1], the first row of each list, and `columns`
are the columns that the tie order compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from irmeta.errors import DataError
from irmeta.kernels.lists import (
    FALLS,
    NEVER_RISES,
    RISES,
    count_tied,
    count_up,
    order_ties,
    ranks_fall,
    score_states,
    spread,
)
from irmeta.policies import TieOrder
from irmeta.trec.numbered_names import Names
from irmeta.trec.runs import NO_RANK


def sorted_lists(lists: np.ndarray, key: np.ndarray, *tie_keys: np.ndarray) -> np.ndarray:
    """Return the permutation that sorts rows by list, then key, then tie keys, each ascending.

    `lists` is the index of each row's list, from 0 to 2^32 - 1; `key` uint32, see `descending_bits`
    and `ascending_bits`.

    Raises
    ------
    ValueError
        If the index of a list does not fit into 32 bits.

    Notes
    -----
    One sort of 64 bits, then one of only the rows that share list and key, is faster than lexsort,
    which sorts all rows once per key.
    """
    if len(lists) and not 0 <= lists.min() <= lists.max() < 2**32:
        raise ValueError("lists are numbered from 0 to 2^32 - 1.")
    both = lists.astype(np.uint64) << np.uint64(32) | key
    permutation = np.argsort(both, kind="stable")  # fast for mostly sorted rows
    ordered = both[permutation]
    same = ordered[1:] == ordered[:-1]
    if same.any():
        tied = np.flatnonzero(np.r_[same, False] | np.r_[False, same])
        rows = permutation[tied]
        permutation[tied] = rows[np.lexsort((*(k[rows] for k in tie_keys[::-1]), both[rows]))]
    return permutation


def descending_bits(score: np.ndarray) -> np.ndarray:
    """Map float32 scores to uint32 in reverse order; 0 and -0 map to the same number."""
    bits = (score + np.float32(0)).view(np.uint32)
    ascending = bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    return ~ascending


def ascending_bits(number: np.ndarray) -> np.ndarray:
    """Map int32 numbers to uint32 in the same order."""
    return (number.astype(np.int64) + 2**31).astype(np.uint32)


def as_float32(score: np.ndarray) -> np.ndarray:
    """Round scores as trec_eval 7-9 do; as in C, scores beyond float32 become infinite."""
    with np.errstate(over="ignore", under="ignore"):
        return score.astype(np.float32)


def contradicting_lists(lists: np.ndarray, score: np.ndarray, rank: np.ndarray) -> int:
    """Count the lists whose rank column contradicts every order by score.

    After sorting by rank, then score, a rising score is a contradiction. Lists with all ranks 0, or
    with a rank column that only orders tied docs, have no contradiction.
    """
    known = rank != NO_RANK
    if not known.all():
        lists, score, rank = lists[known], score[known], rank[known]
    score = as_float32(score)
    by_rank = sorted_lists(lists, ascending_bits(rank), -score)
    same = lists[by_rank][1:] == lists[by_rank][:-1]
    rises = same & (score[by_rank][1:] > score[by_rank][:-1])
    return len(np.unique(lists[by_rank][1:][rises]))


def ranks_from(starts: np.ndarray) -> np.ndarray:
    """Return the 1-based ranks of rows in list order: int32. List i begins at row ``starts[i]``."""
    ranks = np.empty(starts[-1], np.int32)
    count_up(starts, ranks)
    return ranks


def rows_of(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Return the row numbers of lists with the given `starts`, list after list: int64."""
    rows = np.empty(lengths.sum(), np.int64)
    spread(starts, lengths, rows)
    return rows


Columns = Mapping[str, np.ndarray]
"""Columns of run rows by name, one array each.

score: float64, as read. doc: integers that sort like the docs' bytes, at least within a list.
position: int32, the row's position in its file. rank_given: int32, the rank column, `NO_RANK`
without a usable rank.
"""


@dataclass(frozen=True)
class TieRule:
    """Comparison of the docs of a list under one tie order.

    Attributes
    ----------
    column
        The column compared first: scores descending, ranks and positions ascending. Docs with equal
        values are tied.
    tie_break
        The order of tied docs. ``doc``: by the bytes of their names, descending. ``line``: by line
        of the file.
    float32
        Whether scores are compared as float32.
    """

    column: Literal["score", "rank_given", "position"]
    tie_break: Literal["doc", "line"] = "line"
    float32: bool = False

    def compared(self, columns: Columns) -> np.ndarray:
        """Return the values to compare first."""
        values = columns[self.column]
        return as_float32(values) if self.float32 else values

    @property
    def keys(self) -> tuple[str, str]:
        """Return the columns that determine the order of rows."""
        return self.column, "doc" if self.tie_break == "doc" else "position"


TIE_RULES: dict[TieOrder, TieRule] = {
    # comp_sim_docno in form_res_rels.c of trec_eval: a score is a float in 7-9, a double in 10.
    "trec_eval": TieRule("score", tie_break="doc", float32=True),
    "trec_eval10": TieRule("score", tie_break="doc"),
    "score-file": TieRule("score"),  # as the stable sorts of ndeval and NTCIREVAL
    "file": TieRule("position"),
    "rank": TieRule("rank_given"),
}
"""Every tie order by name; `ReadPolicy` explains the names to users."""


def columns_compared(
    stored: TieOrder, orders: Sequence[TieOrder | None], ties: bool = False
) -> set[str]:
    """Return the columns that other orders than the `stored` one compare; None is that one.

    With `ties` also the column by which docs are tied under the first of `orders`.
    """
    others = [TIE_RULES[order] for order in orders if order is not None and order != stored]
    columns = {column for rule in others for column in rule.keys}
    return columns | ({TIE_RULES[orders[0] or stored].column} if ties else set())


def sort_rows(order: TieOrder, lists: np.ndarray, columns: Columns) -> np.ndarray:
    """Return the permutation that sorts rows by list, then best first.

    `lists` is the index of each row's list, from 0 to 2^32 - 1; rows may be interleaved.

    Raises
    ------
    DataError
        If the order compares ranks and a row has none.
    """
    rule = TIE_RULES[order]
    if row_without_rank(order, columns) is not None:
        raise missing_rank(order)
    by_doc = rule.tie_break == "doc"
    tie_keys = [-columns["doc"].astype(np.int64) if by_doc else columns["position"]]
    if rule.column != "score":
        return sorted_lists(lists, ascending_bits(columns[rule.column]), *tie_keys)
    score = columns["score"]
    if not rule.float32:  # float64 may break ties of float32
        tie_keys.insert(0, -score)
    return sorted_lists(lists, descending_bits(as_float32(score)), *tie_keys)


def ranks_under(order: TieOrder, starts: np.ndarray, columns: Columns) -> np.ndarray:
    """Return the rank of every row under a tie order, int32; rows of a list may be in any order.

    Raises
    ------
    DataError
        If the order compares ranks and a row has none.
    """
    lists = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ranks = np.empty(starts[-1], np.int32)
    ranks[sort_rows(order, lists, columns)] = ranks_from(starts)
    return ranks


def tie_blocks(
    order: TieOrder, starts: np.ndarray, columns: Columns, permutation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last rank of each row's block of tied docs, int32.

    `permutation` sorts the rows into list order, see `sort_rows`; only the column compared first is
    read, and none for ``file``, because docs of one file are never tied by position.
    """
    rule = TIE_RULES[order]
    first = last = ranks = ranks_from(starts)
    if rule.column != "position":
        compared = rule.compared({rule.column: columns[rule.column][permutation]})
        is_first = ranks == 1
        is_first[1:] |= compared[1:] != compared[:-1]
        is_last = np.ones(len(ranks), bool)
        is_last[:-1] = is_first[1:]
        block = np.cumsum(is_first) - 1
        first, last = ranks[is_first][block], ranks[is_last][block]
    blocks = np.empty((2, len(ranks)), np.int32)
    blocks[0, permutation], blocks[1, permutation] = first, last
    return blocks[0], blocks[1]


def row_without_rank(order: TieOrder, columns: Columns) -> int | None:
    """Return the first row without a usable rank if the order compares ranks, else None."""
    if TIE_RULES[order].column != "rank_given":
        return None
    is_missing = columns["rank_given"] == NO_RANK
    return int(is_missing.argmax()) if is_missing.any() else None


def missing_rank(
    order: TieOrder,
    *,
    file: str | None = None,
    track: str | None = None,
    system: str | None = None,
) -> DataError:
    """Return the error of rows without a rank, in a run file or in a system of a store."""
    whose = "some ranks" if system is None else "some of its ranks"
    repair = "repair the rank column" if system is None else "leave the run out of the collection"
    return DataError(
        f"tie order `{order}`, but {whose} are not whole numbers",
        file=file,
        track=track,
        value=system,
        fix=f"Choose another tie order, or {repair}.",
    )


LONGEST_TIE = 64  # longest block of ties for insertion sort


def order_lists(
    order: TieOrder, starts: np.ndarray, states: np.ndarray, columns: dict[str, np.ndarray]
) -> None:
    """Sort the rows of lists from file order into a tie order, in place.

    `columns` are the compared columns and all others to sort with them. Most lists are already
    sorted and remain unchanged.

    Raises
    ------
    DataError
        If the order compares ranks and a row of a list that must be sorted has none.
    """
    rule = TIE_RULES[order]
    for some in _unordered_lists(rule, starts, states, columns):
        lengths = np.diff(starts)[some]
        rows = rows_of(starts[some], lengths)
        lists = np.repeat(np.arange(len(some)), lengths)
        keys = {name: columns[name][rows] for name in rule.keys}
        source_index = rows[sort_rows(order, lists, keys)]
        moved = rows != source_index
        _move(columns, rows[moved], source_index[moved])


def order_lists_by_name(
    order: TieOrder,
    starts: np.ndarray,
    states: np.ndarray,
    columns: dict[str, np.ndarray],
    names: Names,
) -> np.ndarray:
    """Sort rows as `order_lists`, where the column doc has their numbers in `names`.

    Only names of tied docs are compared, since sorting all takes as long as reading them.

    Returns
    -------
    The states of the sorted lists.
    """
    by_name = TIE_RULES[order].tie_break == "doc"
    if by_name and (states == RISES).any():
        ties = columns | {"name": columns["doc"], "doc": np.zeros_like(columns["doc"])}
        order_lists(order, starts, states, ties)  # by score alone
        states = np.empty_like(states)
        score_states(starts, columns["score"], states)
    if not by_name:
        order_lists(order, starts, states, columns)
    elif (states == NEVER_RISES).any():
        docs = columns["doc"]
        places = _places(columns["score"], docs, names)
        order_lists(order, starts, states, {**columns, "doc": places, "name": docs})
    return states


def _places(score: np.ndarray, doc: np.ndarray, names: Names) -> np.ndarray:
    """Return numbers of tied docs that sort like their names, int32 by row; 0 for other docs.

    Rows whose scores are equal as float32 are adjacent.
    """
    same = np.diff(as_float32(score)) == 0
    is_tied = np.zeros(len(names), bool)
    is_tied[doc[np.append(same, False) | np.append(False, same)]] = True
    tied, places = np.flatnonzero(is_tied), np.zeros(len(names), np.int32)
    places[tied[names.sort(tied)]] = np.arange(len(tied))
    return places[doc]


def _unordered_lists(
    rule: TieRule, starts: np.ndarray, states: np.ndarray, columns: dict[str, np.ndarray]
) -> Iterator[np.ndarray]:
    """Order short blocks of ties; yield the lists that need a general sort, in portions."""
    if rule.column == "position":
        return
    # Scores that strictly fall as float32 are in order under every rule that compares scores, also
    # as float64.
    if rule.column == "score":
        with_ties = np.flatnonzero(states == NEVER_RISES)
        if rule.float32 and rule.tie_break == "doc":
            with_ties = _order_short_ties(starts, with_ties, columns)
        portions = [with_ties, np.flatnonzero(states == RISES)]
    elif rule.tie_break == "line":
        has_fall = np.empty(len(states), bool)
        ranks_fall(starts, columns[rule.column], has_fall)
        portions = [np.flatnonzero(has_fall)]
    else:
        portions = [np.arange(len(states))]
    yield from (some for some in portions if len(some))


def _order_short_ties(
    starts: np.ndarray, with_ties: np.ndarray, columns: dict[str, np.ndarray]
) -> np.ndarray:
    """Sort short blocks of tied docs by doc, in place; return the lists with longer blocks.

    The scores of lists in `with_ties`, compared as float32, never rise.
    """
    rows, source_index = np.empty((2, starts[-1]), np.int64)
    has_long_tie = np.empty(len(with_ties), bool)
    count = order_ties(
        starts,
        with_ties,
        columns["score"],
        columns["doc"],
        LONGEST_TIE,
        rows,
        source_index,
        has_long_tie,
    )
    _move(columns, rows[:count], source_index[:count])
    return with_ties[has_long_tie]


def _move(columns: dict[str, np.ndarray], rows: np.ndarray, source_index: np.ndarray) -> None:
    """Overwrite rows of every column with rows of the same column."""
    for values in columns.values():
        values[rows] = values[source_index]


def tied_rows(
    order: TieOrder, starts: np.ndarray, states: np.ndarray, score: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count each list's rows that share their score, as float32, with another row of the list.

    Rows are in the tie order `order`, `score` is float64 by row. Returns int64 [lists] twice: all
    such rows, and those whose score differs, as float64, from one that it shares.
    """
    tied, rounded = np.zeros((2, len(starts) - 1), np.int64)
    may_tie = np.flatnonzero(states != FALLS)
    if TIE_RULES[order].column != "score":  # tied docs may not be adjacent
        score = score.copy()
        for index in may_tie:
            score[starts[index] : starts[index + 1]].sort()
    count_tied(starts, may_tie, score, tied, rounded)
    return tied, rounded

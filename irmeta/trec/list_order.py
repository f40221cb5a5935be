"""Sort the rows of lists into a tie order, in place, and count tied rows.

In both functions `starts` is int64 [lists + 1], the first row of each list, and `states` uint8
[lists] the order of the scores of each list in the file, see irmeta.kernels.lists.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irmeta.kernels.lists import (
    FALLS,
    NEVER_RISES,
    RISES,
    count_tied,
    order_ties,
    ranks_fall,
    score_states,
)
from irmeta.policies import TieOrder
from irmeta.trec.numbered_names import Names
from irmeta.trec.ordering import as_float32, rows_of
from irmeta.trec.tie_orders import TIE_RULES, TieRule, sort_rows

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
    """Yield the lists that must be sorted, in portions for fast sorting.

    Scores that strictly fall as float32 are in order under every rule that compares scores, also
    as float64. Short blocks of tied docs that need no general sort are ordered here.
    """
    if rule.column == "position":
        return
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

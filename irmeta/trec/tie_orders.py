"""Tie orders: comparison of docs, order of tied docs, and blocks of tied docs.

In all functions `starts` is int64 [lists + 1], the first row of each list, and `columns` are the
columns that the tie order compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from irmeta.errors import DataError
from irmeta.policies import TieOrder
from irmeta.trec.ordering import (
    as_float32,
    ascending_bits,
    descending_bits,
    ranks_from,
    sorted_lists,
)
from irmeta.trec.rows import NO_RANK

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

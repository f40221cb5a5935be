"""Ranks under another tie order than the store's, and the blocks of docs that are tied in one."""

from __future__ import annotations

import numpy as np

from irmeta.errors import DataError, UsageError
from irmeta.policies import TieOrder
from irmeta.rankings.facts import TrackFacts
from irmeta.store.scan import StoredLists
from irmeta.trec.ordering import as_float32, ranks_from, sort_lists
from irmeta.trec.rows import NO_RANK


def other_order(
    facts: TrackFacts, order: TieOrder | None, what: str = "tie order"
) -> TieOrder | None:
    """`order` where it differs from the one that the store's ranks were made with.

    Raises
    ------
    UsageError
        If it does, and the lists were cut at reading.
    """
    if order is None or order == facts.policy["tie_order"]:
        return None
    if (depth := facts.policy["depth"]) is not None:
        raise UsageError(
            f"track {facts.track!r} was cut at depth {depth} under tie order "
            f"{facts.policy['tie_order']!r}; under {what} {order!r} other docs would be in the "
            f"cut. Ask for {what} {facts.policy['tie_order']!r}, or ingest it again without a "
            "depth."
        )
    return order


def ranks_under(order: TieOrder, lists: StoredLists, facts: TrackFacts) -> np.ndarray:
    """The rank of every row under a tie order: int32."""
    columns = lists.columns
    unranked = columns["rank_given"] == NO_RANK
    if order == "rank" and unranked.any():
        raise DataError(
            "tie order `rank`, but some of its ranks are not whole numbers",
            track=facts.track,
            value=facts.systems[lists.by_row(lists.system)[unranked][0]],
            fix="Choose another tie order, or leave the run out of the collection.",
        )
    sort = (columns["score"], columns["doc"], columns["position"], columns["rank_given"])
    permutation = sort_lists(order, _numbers(lists), *sort)
    rank = np.empty(len(permutation), np.int32)
    rank[permutation] = ranks_from(lists.starts)
    return rank


def list_places(lists: StoredLists, rank: np.ndarray) -> np.ndarray:
    """The permutation that puts the rows in list order, given their ranks."""
    places = np.empty(len(rank), np.int64)
    places[lists.by_row(lists.starts[:-1]) + rank - 1] = np.arange(len(rank))
    return places


def tie_blocks(
    order: TieOrder, lists: StoredLists, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last rank of the block of tied docs that each row is in: int32.

    Tied are docs of a list that are equal by what `order` compares first: scores, as float32 for
    ``trec_eval``, or the file's ranks for ``rank``. Under ``file`` no docs are tied.
    """
    ranks, own = ranks_from(lists.starts), _numbers(lists)  # each list keeps its place
    if order == "file" or not len(ranks):
        last = first = ranks
    else:
        key = lists.columns["rank_given" if order == "rank" else "score"][places]
        if order == "trec_eval":
            key = as_float32(key)
        starts = np.r_[True, (own[1:] != own[:-1]) | (key[1:] != key[:-1])]
        block = np.cumsum(starts) - 1
        stops = np.r_[np.flatnonzero(starts)[1:], len(ranks)] - 1
        first, last = ranks[starts][block], ranks[stops][block]
    blocks = np.empty((2, len(ranks)), np.int32)
    blocks[0, places], blocks[1, places] = first, last
    return blocks[0], blocks[1]


def _numbers(lists: StoredLists) -> np.ndarray:
    """The number of each row's list, from 0."""
    return lists.by_row(np.arange(len(lists.query)))

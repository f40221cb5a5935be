"""Ranks under another tie order than the store's, and the blocks of docs that are tied in one."""

from __future__ import annotations

import numpy as np

from irmeta.errors import DataError, UsageError
from irmeta.policies import TieOrder
from irmeta.store.scan import TrackFacts
from irmeta.trec.ordering import as_float32, ranks_within, sort_lists
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


def ranks_under(order: TieOrder, columns: dict[str, np.ndarray], facts: TrackFacts) -> np.ndarray:
    """The rank of every row of the long table under a tie order: int32."""
    unranked = columns["system"][columns["rank_given"] == NO_RANK]
    if order == "rank" and len(unranked):
        raise DataError(
            "tie order `rank`, but some of its ranks are not whole numbers",
            track=facts.track,
            value=facts.systems[unranked[0]],
            fix="Choose another tie order, or leave the run out of the collection.",
        )
    lists = _lists(columns)
    sort = (columns["score"], columns["doc"], columns["position"], columns["rank_given"])
    permutation = sort_lists(order, lists, *sort)
    rank = np.empty(len(lists), np.int32)
    rank[permutation] = ranks_within(lists[permutation])
    return rank


def list_places(columns: dict[str, np.ndarray], rank: np.ndarray) -> np.ndarray:
    """The permutation that puts the rows in list order, given their ranks.

    The rows of a list lie together in the long table, whatever their order.
    """
    lists = _lists(columns)
    starts = np.flatnonzero(np.r_[True, lists[1:] != lists[:-1]]) if len(lists) else lists
    lengths = np.diff(np.r_[starts, len(lists)])
    places = np.empty(len(lists), np.int64)
    places[np.repeat(starts, lengths) + rank - 1] = np.arange(len(lists))
    return places


def tie_blocks(
    order: TieOrder, columns: dict[str, np.ndarray], places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last rank of the block of tied docs that each row is in: int32.

    Tied are docs of a list that are equal by what `order` compares first: scores, as float32 for
    ``trec_eval``, or the file's ranks for ``rank``. Under ``file`` no docs are tied.
    """
    lists = _lists(columns)[places]
    ranks = ranks_within(lists)
    if order == "file" or not len(lists):
        last = first = ranks
    else:
        key = columns["rank_given" if order == "rank" else "score"][places]
        if order == "trec_eval":
            key = as_float32(key)
        starts = np.r_[True, (lists[1:] != lists[:-1]) | (key[1:] != key[:-1])]
        block = np.cumsum(starts) - 1
        stops = np.r_[np.flatnonzero(starts)[1:], len(lists)] - 1
        first, last = ranks[starts][block], ranks[stops][block]
    blocks = np.empty((2, len(lists)), np.int32)
    blocks[0, places], blocks[1, places] = first, last
    return blocks[0], blocks[1]


def _lists(columns: dict[str, np.ndarray]) -> np.ndarray:
    """The number of each row's list, from 0: rows of a list lie together in the long table."""
    query, system = columns["query"], columns["system"]
    begins = (query[1:] != query[:-1]) | (system[1:] != system[:-1])
    return np.concatenate([np.zeros(min(len(query), 1), np.int64), np.cumsum(begins)])

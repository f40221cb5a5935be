"""Ranks and blocks of tied docs of stored lists, under the store's tie order or another."""

from __future__ import annotations

import numpy as np

from irmeta.errors import UsageError
from irmeta.policies import TieOrder
from irmeta.rankings.track_facts import TrackFacts
from irmeta.store.scan import StoredLists
from irmeta.trec import tie_orders


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


def check_pool_depth(depth: int | None, facts: TrackFacts) -> None:
    """Raise `UsageError` for a pool deeper than the lists, if they were cut at reading."""
    cut = facts.policy["depth"]
    if depth is not None and cut is not None and depth > cut:
        raise UsageError(
            f"track {facts.track!r} was cut at depth {cut}, so there is no pool of depth {depth}. "
            f"Ask for a depth up to {cut}, or ingest it again without a depth."
        )


def ranks_under(order: TieOrder, lists: StoredLists, facts: TrackFacts) -> np.ndarray:
    """Return the rank of every row under a tie order: int32.

    Raises
    ------
    DataError
        If the order compares ranks and a system has none on some row.
    """
    if (row := tie_orders.row_without_rank(order, lists.columns)) is not None:
        system = facts.systems[int(lists.by_row(lists.system)[row])]
        raise tie_orders.missing_rank(order, track=facts.track, system=system)
    return tie_orders.ranks_under(order, lists.starts, lists.columns)


def list_places(lists: StoredLists, rank: np.ndarray) -> np.ndarray:
    """Return the permutation that puts the rows in list order, given their ranks."""
    permutation = np.empty(len(rank), np.int64)
    permutation[lists.by_row(lists.starts[:-1]) + rank - 1] = np.arange(len(rank))
    return permutation


def tie_blocks(
    order: TieOrder, lists: StoredLists, permutation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last rank of the block of tied docs that each row is in: int32.

    `permutation` puts the rows in list order, as of `list_places`.
    """
    return tie_orders.tie_blocks(order, lists.starts, lists.columns, permutation)

"""Ranks and blocks of tied docs of stored lists under any tie order."""

from __future__ import annotations

import numpy as np

from irmeta.errors import UsageError
from irmeta.policies import TieOrder
from irmeta.rankings.track_facts import TrackFacts
from irmeta.store.scan import StoredLists
from irmeta.trec import tie_orders
from irmeta.trec.ordering import ranks_from


def other_order(
    facts: TrackFacts, order: TieOrder | None, what: str = "tie order"
) -> TieOrder | None:
    """Return `order` if it differs from the store's tie order, otherwise None.

    Raises
    ------
    UsageError
        If it differs, and the lists were cut at ingest.
    """
    if order is None or order == facts.policy["tie_order"]:
        return None
    if (depth := facts.policy["depth"]) is not None:
        raise UsageError(
            f"track {facts.track!r} was cut at depth {depth} under tie order "
            f"{facts.policy['tie_order']!r}; under {what} {order!r} the cut lists would hold other "
            f"docs. Use {what} {facts.policy['tie_order']!r}, or ingest the track again without a "
            "depth."
        )
    return order


def ranks_under(order: TieOrder, lists: StoredLists, facts: TrackFacts) -> np.ndarray:
    """Return the rank of every row under a tie order: int32.

    Raises
    ------
    DataError
        If the order compares ranks and a row has no rank.
    """
    if other_order(facts, order) is None:
        return ranks_from(lists.starts)
    if (row := tie_orders.row_without_rank(order, lists.columns)) is not None:
        system = facts.systems[int(lists.by_row(lists.system)[row])]
        raise tie_orders.missing_rank(order, track=facts.track, system=system)
    return tie_orders.ranks_under(order, lists.starts, lists.columns)


def list_permutation(lists: StoredLists, rank: np.ndarray) -> np.ndarray:
    """Return the permutation that sorts the rows into list order by their ranks."""
    permutation = np.empty(len(rank), np.int64)
    permutation[lists.by_row(lists.starts[:-1]) + rank - 1] = np.arange(len(rank))
    return permutation


def tie_blocks(
    order: TieOrder, lists: StoredLists, permutation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last rank of each row's block of tied docs: int32.

    `permutation` sorts the rows into list order, see `list_permutation`.
    """
    return tie_orders.tie_blocks(order, lists.starts, lists.columns, permutation)

"""The store's tables of one track as `JudgedRanks`, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import polars as pl

from irmeta.kernels.scatter import scatter
from irmeta.parallel import ordered_map, thread_count
from irmeta.policies import EvalPolicy, TieOrder
from irmeta.rankings.judged import JudgedRanks, Need
from irmeta.rankings.order import list_places, other_order, ranks_under, tie_blocks
from irmeta.rankings.pool import complete_depths, contributing, pool_depths
from irmeta.store.scan import (
    RowBlock,
    StoredLists,
    StoreReader,
    TrackFacts,
    graded,
    row_blocks,
    track_facts,
    undisturbed,
)
from irmeta.trec.ordering import ranks_from

Result = TypeVar("Result")

LEAST_ROWS = 1 << 19  # of a block that a thread is given


def over_blocks(
    function: Callable[[JudgedRanks], Result],
    store: StoreReader,
    track: str,
    policy: EvalPolicy,
    needs: Collection[Need] = (),
    *,
    workers: int | None = 1,
) -> Iterator[Result]:
    """What a function makes of each block of a track, in query order.

    Parameters
    ----------
    workers
        Threads that read blocks and call the function; None: the usable cores. They share the rows
        of one block of the store, down to `LEAST_ROWS` each.

    Raises
    ------
    DataError, UsageError
        As `judged_ranks`; or less than one thread is asked for.
    """
    threads, least = thread_count(workers), min(store.block_rows, LEAST_ROWS)
    rows = max(store.block_rows // threads, least)
    blocks = judged_blocks(store, track, policy, rows, needs)
    with (
        undisturbed(store, track),
        closing(ordered_map(lambda read: function(read()), blocks, workers=threads)) as found,
    ):
        yield from found


def judged_ranks(
    store: StoreReader,
    track: str,
    policy: EvalPolicy,
    max_rows: int | None = None,
    needs: Collection[Need] = (),
) -> Iterator[JudgedRanks]:
    """The blocks of a track, in query order; every judged query is in exactly one.

    Raises
    ------
    UsageError
        If the track or the qrels set is not there, or another tie order is asked for where a depth
        cut was made at reading.
    DataError
        If the track is damaged; or if it is replaced while it is read, after the last block.
    """
    with undisturbed(store, track):
        for read in judged_blocks(store, track, policy, max_rows, needs):
            yield read()


def judged_blocks(
    store: StoreReader,
    track: str,
    policy: EvalPolicy,
    max_rows: int | None = None,
    needs: Collection[Need] = (),
) -> Iterator[Callable[[], JudgedRanks]]:
    """As `judged_ranks`, each block read when it is called, by any thread.

    Raises
    ------
    UsageError
        As `judged_ranks`, when the first is asked for.
    """
    facts = track_facts(store, track, policy.qrels)
    order = other_order(facts, policy.tie_order)
    pool_order = other_order(facts, policy.pool_order, "pool order") if "pool" in needs else None
    judged = graded(store, facts)
    queries = judged["query"].unique(maintain_order=True).to_list()
    columns = ["doc_id"]
    if order or pool_order:
        columns += ["doc", "score", "position", "rank_given"]
    elif "ties" in needs:
        columns += ["score", "rank_given"]
    pooled = contributing(store, facts) if "pool" in needs else ()
    per_query = judged.group_by("query", maintain_order=True).len()["len"].to_numpy()
    kept = np.concatenate([[0], np.cumsum(per_query, dtype=np.int64)])
    for block in row_blocks(store, facts.track, queries, facts.systems, max_rows):
        rows = slice(kept[block.first_query], kept[block.last_query])
        offsets = kept[block.first_query : block.last_query + 1] - rows.start
        own = queries[block.first_query : block.last_query]
        yield partial(
            _view, facts, policy, own, offsets, judged[rows], block, columns, needs, pooled
        )


@dataclass(frozen=True)
class _Rows:
    """A block's rows of the long table, of judged queries alone, and where they go.

    Attributes
    ----------
    lists
        With the place of their query in the block.
    shape, dtype
        Of the arrays of judged docs by systems.
    """

    lists: StoredLists
    row_of: np.ndarray
    first_row: np.ndarray
    shape: tuple[int, int]
    dtype: type[np.unsignedinteger]

    def laid_out(self, values: np.ndarray) -> np.ndarray:
        """An int32 value of each row as an array of judged docs by systems."""
        out = np.full(self.shape, np.iinfo(self.dtype).max, self.dtype)
        lists, doc_id = self.lists, self.lists.columns["doc_id"]
        own = (lists.query, lists.system, lists.starts)
        scatter(*own, doc_id, self.row_of, self.first_row, values, out)
        return out

    def ranks(self, order: TieOrder, facts: TrackFacts) -> np.ndarray:
        """The rank of each row under a tie order."""
        if other_order(facts, order):
            return ranks_under(order, self.lists, facts)
        return ranks_from(self.lists.starts)


def _view(
    facts: TrackFacts,
    policy: EvalPolicy,
    queries: list[str],
    offsets: np.ndarray,
    judged: pl.DataFrame,
    block: RowBlock,
    read: Sequence[str],
    needs: Collection[Need],
    pooled: Sequence[int],
) -> JudgedRanks:
    lists = block.lists(read)
    if not (judged_only := lists.query >= 0).all():
        lists = lists.only(judged_only)
    doc_ids = judged["doc_id"].to_numpy().copy()
    rows = _Rows(
        replace(lists, query=lists.query - np.int32(block.first_query)),
        *_row_of(doc_ids, offsets),
        (judged.height, len(facts.systems)),
        np.uint16 if facts.deepest_rank < np.iinfo(np.uint16).max else np.uint32,
    )
    order: TieOrder = policy.tie_order or facts.policy["tie_order"]
    rank = rows.ranks(order, facts)
    lengths = np.zeros((len(queries), len(facts.systems)), np.uint32)
    lengths[rows.lists.query, lists.system] = np.diff(lists.starts)
    found: dict[str, Any] = {}
    if "ties" in needs:
        found |= _ties(rows, order, rank, lengths)
    if "pool" in needs:
        held = rank if policy.pool_order == order else rows.ranks(policy.pool_order, facts)
        found |= _pool(facts, rows.laid_out(held), offsets, lengths, pooled)
    if "retrieved" in needs:
        query = lists.by_row(rows.lists.query.astype(np.int64))
        docs = np.unique(query << 32 | lists.columns["doc_id"])
        found["retrieved"] = np.bincount(docs >> 32, minlength=len(queries)).astype(np.int64)
    return JudgedRanks(
        facts=facts,
        negative=policy.negative,
        queries=tuple(queries),
        offsets=offsets.astype(np.int64),
        ranks=rows.laid_out(rank),
        grades=judged["grade"].to_numpy().copy(),
        docs=judged["doc"],
        doc_ids=doc_ids,
        lengths=lengths,
        **found,
    )


def _pool(
    facts: TrackFacts,
    ranks: np.ndarray,
    offsets: np.ndarray,
    lengths: np.ndarray,
    pooled: Sequence[int],
) -> dict[str, np.ndarray]:
    """`pool_depth` and `complete_depth` of `JudgedRanks`."""
    if facts.pool_depth is None:
        contributed, listed = (
            np.ascontiguousarray(array[:, list(pooled)]) for array in (ranks, lengths)
        )
        complete = complete_depths(contributed, offsets.astype(np.int64), listed)
    else:
        complete = np.full(len(lengths), facts.pool_depth, np.int64)
    return {"pool_depth": pool_depths(ranks, pooled), "complete_depth": complete}


def _ties(
    rows: _Rows, order: TieOrder, rank: np.ndarray, lengths: np.ndarray
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """`ties` and `blocks` of `JudgedRanks`."""
    lists = rows.lists
    places = list_places(lists, rank)
    first, last = tie_blocks(order, lists, places)
    starts = np.zeros(lengths.shape, np.int64)
    starts[lists.query, lists.system] = lists.starts[:-1]
    return {
        "ties": (rows.laid_out(first), rows.laid_out(last)),
        "blocks": (starts, last[places]),
    }


def _row_of(doc_ids: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each query a table from doc_id to row, laid end to end; -1 where no row has it."""
    widths = np.zeros(len(offsets) - 1, np.int64)
    query = np.repeat(np.arange(len(widths)), np.diff(offsets))
    np.maximum.at(widths, query, doc_ids.astype(np.int64) + 1)
    first_row = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    row_of = np.full(first_row[-1], -1, np.int32)
    row_of[first_row[query] + doc_ids] = np.arange(len(doc_ids), dtype=np.int32)
    return row_of, first_row

"""`JudgedRanks`: the rank of each judged doc in each system's list, for a block of queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.kernels.scatter import scatter_ranks
from irmeta.policies import EvalPolicy, Negative, TieOrder
from irmeta.store.layout import Layout
from irmeta.store.scan import BLOCK_ROWS, TrackFacts, graded, row_blocks, track_facts
from irmeta.trec.ordering import ranks_within, sort_lists
from irmeta.trec.runs import NO_RANK


@dataclass(frozen=True)
class JudgedRanks:
    """The main view of a block of queries.

    Attributes
    ----------
    queries, systems
        Names, sorted.
    offsets
        int64 [queries + 1]; the rows of query q are ``offsets[q]:offsets[q + 1]``.
    ranks
        uint16 or uint32 [rows, systems], C order; `missing` where the doc is not retrieved.
    grades
        int8 [rows], descending within a query: its relevant docs are its leading rows at any `rel`.
    docs, doc_ids
        [rows], names and their int32 numbers in the store, which sort alike within a query.
    lengths
        uint32 [queries, systems]; 0: the system has no list for the query.
    """

    facts: TrackFacts
    negative: Negative
    queries: tuple[str, ...]
    offsets: np.ndarray
    ranks: np.ndarray
    grades: np.ndarray
    docs: pl.Series
    doc_ids: np.ndarray
    lengths: np.ndarray
    _sorted: dict[tuple[int, int], np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def systems(self) -> tuple[str, ...]:
        return self.facts.systems

    @property
    def missing(self) -> int:
        """The value in `ranks` of a doc that is not retrieved."""
        return int(np.iinfo(self.ranks.dtype).max)

    def counts(self, low: int, high: int = 127) -> np.ndarray:
        """int64 [queries]: how many judged docs of each query have a grade in low..high."""
        found = (self.grades >= low) & (self.grades <= high)
        return np.diff(np.concatenate([[0], np.cumsum(found)])[self.offsets])

    def sorted_ranks(self, low: int, high: int = 127) -> tuple[np.ndarray, np.ndarray]:
        """The ranks of the docs with a grade in low..high, ascending for each query and system.

        Returns
        -------
        ranks
            [docs, systems]: in the rows of a query, each system's ranks ascend downwards, with the
            missing ones last.
        offsets
            int64 [queries + 1] into those rows.
        """
        offsets = np.concatenate([[0], np.cumsum(self.counts(low, high))])
        if (low, high) not in self._sorted:
            found = self.ranks[(self.grades >= low) & (self.grades <= high)]
            for start, stop in pairwise(offsets):
                found[start:stop].sort(axis=0)
            self._sorted[low, high] = found
        return self._sorted[low, high], offsets

    def relevant_rows(self, rel: int) -> np.ndarray:
        """The rows of the relevant docs: by query, and within a query by doc."""
        rows = np.flatnonzero(self.grades >= rel)
        return rows[np.lexsort((self.doc_ids[rows], self.query_of(rows)))]

    def query_of(self, rows: np.ndarray) -> np.ndarray:
        """The place in `queries` of each of the rows."""
        return np.searchsorted(self.offsets, rows, side="right") - 1

    def nonrelevant(self, rel: int) -> tuple[int, int]:
        """The range of grades that counts as judged non-relevant at `rel`."""
        return (-128 if self.negative == "nonrelevant" else 0), rel - 1


def judged_ranks(
    layout: Layout, track: str, policy: EvalPolicy, max_rows: int = BLOCK_ROWS
) -> Iterator[JudgedRanks]:
    """The blocks of a track, in query order; every judged query is in exactly one.

    Raises
    ------
    UsageError
        If the track or the qrels set is not there, or another tie order is asked for where a depth
        cut was made at reading.
    """
    facts = track_facts(layout, track, policy.qrels)
    order = _other_order(facts, policy.tie_order)
    judged = graded(layout, facts)
    queries = judged["query"].unique(maintain_order=True).to_list()
    columns = ["query", "system", "rank", "doc_id"]
    if order is not None:
        columns += ["doc", "score", "position", "rank_given"]
    per_query = judged.group_by("query", maintain_order=True).len()["len"].to_numpy()
    kept = np.concatenate([[0], np.cumsum(per_query, dtype=np.int64)])
    for block in row_blocks(layout, facts.track, queries, facts.systems, columns, max_rows):
        if order is not None:
            _rerank(block.columns, order, facts)
        rows = slice(kept[block.first_query], kept[block.last_query])
        yield _view(
            facts,
            policy.negative,
            queries[block.first_query : block.last_query],
            kept[block.first_query : block.last_query + 1] - rows.start,
            judged[rows],
            block.columns,
            block.first_query,
        )


def _other_order(facts: TrackFacts, order: TieOrder | None) -> TieOrder | None:
    """`order` where it differs from the one that the store's ranks were made with."""
    if order is None or order == facts.policy["tie_order"]:
        return None
    if (depth := facts.policy["depth"]) is not None:
        raise UsageError(
            f"track {facts.track!r} was cut at depth {depth} under tie order "
            f"{facts.policy['tie_order']!r}; under {order!r} other docs would be in the cut. "
            "Ingest it again without a depth, or with this order."
        )
    return order


def _rerank(columns: dict[str, np.ndarray], order: TieOrder, facts: TrackFacts) -> None:
    """Replace the store's ranks by those under another tie order."""
    unranked = columns["system"][columns["rank_given"] == NO_RANK]
    if order == "rank" and len(unranked):
        raise DataError(
            "tie order `rank`, but some of its ranks are not whole numbers",
            track=facts.track,
            value=facts.systems[unranked[0]],
            fix="Choose another tie order, or leave the run out of the collection.",
        )
    lists = columns["query"].astype(np.int64) << 32 | columns["system"]
    sort = (columns["score"], columns["doc"], columns["position"], columns["rank_given"])
    permutation = sort_lists(order, lists, *sort)
    rank = np.empty(len(lists), np.int32)
    rank[permutation] = ranks_within(lists[permutation])
    columns["rank"] = rank


def _view(
    facts: TrackFacts,
    negative: Negative,
    queries: list[str],
    offsets: np.ndarray,
    judged: pl.DataFrame,
    columns: dict[str, np.ndarray],
    first_query: int,
) -> JudgedRanks:
    dtype = np.uint16 if facts.deepest_rank < np.iinfo(np.uint16).max else np.uint32
    ranks = np.full((judged.height, len(facts.systems)), np.iinfo(dtype).max, dtype)
    lengths = np.zeros((len(queries), len(facts.systems)), np.uint32)
    doc_ids = judged["doc_id"].to_numpy().copy()
    row_of, first_row = _row_of(doc_ids, offsets)
    query = columns["query"] - np.int32(first_query)  # those that no one judged stay below 0
    scatter_ranks(
        query,
        columns["system"],
        columns["rank"],
        columns["doc_id"],
        row_of,
        first_row,
        ranks,
        lengths,
    )
    return JudgedRanks(
        facts=facts,
        negative=negative,
        queries=tuple(queries),
        offsets=offsets.astype(np.int64),
        ranks=ranks,
        grades=judged["grade"].to_numpy().copy(),
        docs=judged["doc"],
        doc_ids=doc_ids,
        lengths=lengths,
    )


def _row_of(doc_ids: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each query a table from doc_id to row, laid end to end; -1 where no row has it."""
    widths = np.zeros(len(offsets) - 1, np.int64)
    query = np.repeat(np.arange(len(widths)), np.diff(offsets))
    np.maximum.at(widths, query, doc_ids.astype(np.int64) + 1)
    first_row = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    row_of = np.full(first_row[-1], -1, np.int32)
    row_of[first_row[query] + doc_ids] = np.arange(len(doc_ids), dtype=np.int32)
    return row_of, first_row

"""The pool: contributing systems, depth of the pool, and depth of each judged doc."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError
from irmeta.kernels.incomplete import first_unjudged
from irmeta.rankings.track_facts import TrackFacts

NOT_POOLED = int(np.iinfo(np.int64).max)
POOL_ARRAYS = ("pooled_lists", "pool_depth", "complete_depth")
"""The fields of a view that describe its pool."""


@dataclass(frozen=True)
class Pool:
    """The systems whose lists make the pool of a track: those declared, or all (not `known`).

    Docs that only the files of `skipped` runs retrieve are missing from the pool.
    """

    systems: tuple[str, ...]
    known: bool
    skipped: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The pool in words."""
        if not self.known:
            return "all systems: the store does not say which were pooled"
        text = f"the {len(self.systems)} systems here that are recorded as pooled"
        if self.skipped:
            text += f", without {', '.join(self.skipped)}, skipped"
        return text


def pool_of(track: str, facts: pl.DataFrame) -> Pool:
    """Return the pool of a track with this table `systems`."""
    known = facts["pooled"].null_count() < facts.height
    pooled = facts.filter("pooled") if known else facts
    available = pooled.filter(pl.col("skip_reason").is_null())["system"].to_list()
    skipped = pooled.filter(pl.col("skip_reason").is_not_null())["file"].to_list() if known else []
    if known and not available:
        raise no_contributor(track)
    return Pool(tuple(available), known, tuple(skipped))


def no_contributor(track: str) -> DataError:
    """Return the error for a track without any contributing system."""
    return DataError(
        "none of the pooled systems is in the store, so there is no pool",
        track=track,
        fix="Correct the column `pooled`, or remove it: then all systems make the pool.",
    )


def check_pool_depth(depth: int | None, facts: TrackFacts) -> None:
    """Raise `UsageError` for a pool deeper than the lists, if they were cut at reading."""
    cut = facts.policy["depth"]
    if depth is not None and cut is not None and depth > cut:
        raise UsageError(
            f"track {facts.track!r} was cut at depth {cut}, so there is no pool of depth {depth}. "
            f"Ask for a depth up to {cut}, or ingest it again without a depth."
        )


def pool_depths(ranks: np.ndarray, systems: Sequence[int]) -> np.ndarray:
    """Return the smallest rank of each doc over some systems: int64 [rows], or `NOT_POOLED`."""
    missing = np.iinfo(ranks.dtype).max
    if len(systems) < ranks.shape[1]:
        ranks = np.take(ranks, systems, axis=1)
    least = ranks.min(axis=1, initial=missing)
    return np.where(least == missing, NOT_POOLED, least.astype(np.int64))


def judged_depths(ranks: np.ndarray, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Compute the judged depth of each list: int64 [queries, systems].

    It is the largest d with all top d docs judged, `NOT_POOLED` for a list with all docs judged.
    `ranks` are those of all docs of the qrels; the maximum of their type means not retrieved.
    """
    first = np.empty(lengths.shape)
    space = np.zeros(int(lengths.max(initial=0)) + 2, np.int64)
    first_unjudged(ranks, offsets, np.ones(len(ranks), bool), lengths, space, first)
    return np.where(first > lengths, NOT_POOLED, first.astype(np.int64) - 1)


def complete_depths(judged: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Compute the depth to which the pool of each query is complete: int64 [queries].

    The largest d, up to the longest list, with the top d docs of every contributing list judged
    (Lu, Moffat and Culpepper 2016); all docs of a shorter list must be judged.
    """
    longest = lengths.max(axis=1, initial=0).astype(np.int64)
    return np.minimum(judged.min(axis=1, initial=NOT_POOLED), longest)


@dataclass(frozen=True)
class PooledLists:
    """The lists that made the pool, uncut and under the tie order of the pool.

    `ranks` are like `JudgedRanks.ranks`; [queries, systems]: uint32 `lengths`, and int64 `judged`,
    the `judged_depths` of the contributing systems.
    """

    ranks: np.ndarray
    lengths: np.ndarray
    judged: np.ndarray

    @classmethod
    def of(
        cls, facts: TrackFacts, ranks: np.ndarray, offsets: np.ndarray, lengths: np.ndarray
    ) -> PooledLists:
        """Compute the judged depths of the lists of the contributing systems."""
        systems = facts.contributors
        judged = np.full(lengths.shape, NOT_POOLED, np.int64)
        ranks_of, lengths_of = (np.take(array, systems, axis=1) for array in (ranks, lengths))
        judged[:, systems] = judged_depths(ranks_of, offsets, lengths_of)
        return cls(ranks, lengths, judged)

    def take_systems(self, systems: Sequence[int]) -> PooledLists:
        """Return the lists of some systems."""
        arrays = (self.ranks, self.lengths, self.judged)
        return PooledLists(*(np.take(array, systems, axis=1) for array in arrays))

    def depths(self, facts: TrackFacts, queries: Sequence[str]) -> dict[str, np.ndarray]:
        """Compute `pool_depth` and `complete_depth` of `JudgedRanks`."""
        return {
            "pool_depth": pool_depths(self.ranks, facts.contributors),
            "complete_depth": self.complete(facts, queries),
        }

    def complete(self, facts: TrackFacts, queries: Sequence[str]) -> np.ndarray:
        """Compute `complete_depth` of `JudgedRanks`."""
        systems = facts.contributors
        complete = complete_depths(self.judged[:, systems], self.lengths[:, systems])
        if facts.pool_depth is not None:
            complete = np.full(len(self.lengths), facts.pool_depth, np.int64)
        if by_query := facts.pool_depth_by_query:
            stated = [by_query.get(query, NOT_POOLED) for query in queries]
            complete = np.where(np.equal(stated, NOT_POOLED), complete, stated)
        return complete

    def depth_without(
        self, pool_depth: np.ndarray, removed: Sequence[int], remaining: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute the smallest rank of each doc over the remaining, and over the removed systems.

        Only docs that a removed system ranks first, as `pool_depth` over all shows, can change.
        """
        of_removed, left = pool_depths(self.ranks, removed), pool_depth.copy()
        rows = np.flatnonzero((of_removed == pool_depth) & (of_removed != NOT_POOLED))
        left[rows] = pool_depths(self.ranks[rows], remaining)
        return left, of_removed

    def without_docs(
        self, facts: TrackFacts, rows: np.ndarray, query: np.ndarray, kept: PooledLists
    ) -> PooledLists:
        """Return the lists after docs (ascending rows and their queries) became unjudged.

        `kept` are the lists with the ranks of the other docs; `judged` of these lists is current.
        """
        first = np.full(self.lengths.shape, NOT_POOLED, np.int64)
        if len(rows):
            ranks = self.ranks[rows].astype(np.int64)
            ranks[ranks == np.iinfo(self.ranks.dtype).max] = NOT_POOLED
            starts = np.flatnonzero(np.diff(query, prepend=-1))
            first[query[starts]] = np.minimum.reduceat(ranks, starts, axis=0)
        judged = np.full(self.judged.shape, NOT_POOLED, np.int64)
        systems = facts.contributors
        before, above = self.judged[:, systems], first[:, systems]
        is_cut = (above <= before) & (above != NOT_POOLED)
        judged[:, systems] = np.where(is_cut, above - 1, before)
        return replace(kept, judged=judged)

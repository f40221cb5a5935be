"""The pool: which systems made it, how deep it is, how deep each judged doc lies in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from irmeta.errors import DataError, PoolDepthWarning, warn
from irmeta.kernels.rarity import systems_within
from irmeta.kernels.unjudged_ranks import first_unjudged
from irmeta.rankings.track_facts import TrackFacts
from irmeta.store.scan import StoreReader, read_table

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks

NOT_POOLED = int(np.iinfo(np.int64).max)
POOL_ARRAYS = ("pooled_lists", "pool_depth", "complete_depth")
"""The fields of a view that describe its pool."""


@dataclass(frozen=True)
class Pool:
    """Which systems' lists make the pool of a track.

    Attributes
    ----------
    systems
        Those that the store says were pooled; all systems where it says so of none.
    known
        Whether the store says which were.
    skipped
        Files of systems that were pooled, but whose run was skipped: what only they retrieve is
        in no pool here.
    """

    systems: tuple[str, ...]
    known: bool
    skipped: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The same in words."""
        if not self.known:
            return "all systems: the store does not say which were pooled"
        said = f"the {len(self.systems)} systems here that are said to have been pooled"
        if self.skipped:
            said += f", without {', '.join(self.skipped)}, skipped"
        return said


def pool_of(store: StoreReader, track: str) -> Pool:
    """Return the pool of a track.

    Raises
    ------
    DataError
        If it is known which systems were pooled, and none of them is there.
    """
    facts = read_table(store, "systems", track)
    known = facts["pooled"].null_count() < facts.height
    pooled = facts.filter("pooled") if known else facts
    there = pooled.filter(pl.col("skip_reason").is_null())["system"].to_list()
    skipped = pooled.filter(pl.col("skip_reason").is_not_null())["file"].to_list() if known else []
    if known and not there:
        raise no_contributor(track)
    return Pool(tuple(there), known, tuple(skipped))


def no_contributor(track: str) -> DataError:
    """Return the error for a track none of whose systems contributed to its pool."""
    return DataError(
        "no system that was pooled is there, so there is no pool to measure by",
        track=track,
        fix="Correct the column of `pooled`, or leave it out: then all systems make the pool.",
    )


def pool_depths(ranks: np.ndarray, systems: Sequence[int]) -> np.ndarray:
    """Return the least rank of each doc over some systems: int64 [rows], or `NOT_POOLED`."""
    missing = np.iinfo(ranks.dtype).max
    if len(systems) < ranks.shape[1]:
        ranks = np.take(ranks, systems, axis=1)
    least = ranks.min(axis=1, initial=missing)
    return np.where(least == missing, NOT_POOLED, least.astype(np.int64))


def judged_depths(ranks: np.ndarray, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Compute how deep each list is judged: int64 [queries, systems].

    It is the greatest d at which every doc in the top d of the list is judged, `NOT_POOLED` where
    all docs of the list are.

    Parameters
    ----------
    ranks
        uint16 or uint32 [docs, systems]: of the docs of the qrels, whatever their grade. The
        greatest value: not retrieved.
    offsets
        int64 [queries + 1] into those rows.
    lengths
        uint32 [queries, systems], of the lists.
    """
    first = np.empty(lengths.shape)
    space = np.zeros(int(lengths.max(initial=0)) + 2, np.int64)
    first_unjudged(ranks, offsets, np.ones(len(ranks), bool), lengths, space, first)
    return np.where(first > lengths, NOT_POOLED, first.astype(np.int64) - 1)


def complete_depths(judged: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Compute the depth to which the pool of each query is complete: int64 [queries].

    It is the greatest d at which every doc in the top d of every contributing list is judged, the d
    of Lu, Moffat and Culpepper (2016). A list shorter than d asks only that its docs be judged, and
    d is at most the length of the longest list; 0 where the pool is complete at no depth.

    Parameters
    ----------
    judged
        `judged_depths` of the lists of the contributing systems: int64 [queries, systems].
    lengths
        uint32 [queries, systems], of those lists.
    """
    longest = lengths.max(axis=1, initial=0).astype(np.int64)
    return np.minimum(judged.min(axis=1, initial=NOT_POOLED), longest)


@dataclass(frozen=True)
class PooledLists:
    """The lists that the pool was made from, as whole lists under the tie order of the pool.

    Attributes
    ----------
    ranks
        uint16 or uint32 [rows, systems], like `JudgedRanks.ranks`.
    lengths
        uint32 [queries, systems].
    judged
        int64 [queries, systems]: `judged_depths` of the contributing systems.
    """

    ranks: np.ndarray
    lengths: np.ndarray
    judged: np.ndarray

    @classmethod
    def of(
        cls, facts: TrackFacts, ranks: np.ndarray, offsets: np.ndarray, lengths: np.ndarray
    ) -> PooledLists:
        """Compute how deep the lists of the contributing systems are judged."""
        systems = facts.contributors
        judged = np.full(lengths.shape, NOT_POOLED, np.int64)
        lists = (np.take(array, systems, axis=1) for array in (ranks, lengths))
        ranks_of, lengths_of = lists
        judged[:, systems] = judged_depths(ranks_of, offsets, lengths_of)
        return cls(ranks, lengths, judged)

    def take_systems(self, systems: Sequence[int]) -> PooledLists:
        """Return the lists of some systems."""
        arrays = (self.ranks, self.lengths, self.judged)
        return PooledLists(*(np.take(array, systems, axis=1) for array in arrays))

    def depths(self, facts: TrackFacts) -> dict[str, np.ndarray]:
        """Compute `pool_depth` and `complete_depth` of `JudgedRanks`."""
        systems = facts.contributors
        if facts.pool_depth is not None:
            complete = np.full(len(self.lengths), facts.pool_depth, np.int64)
        else:
            complete = complete_depths(self.judged[:, systems], self.lengths[:, systems])
        return {"pool_depth": pool_depths(self.ranks, systems), "complete_depth": complete}


def complete_depths_of(view: JudgedRanks) -> np.ndarray:
    """Return `complete_depth` of the queries that the qrels judge; empty if there is none."""
    if view.complete_depth is None:
        return np.empty(0, np.int64)
    return view.complete_depth if view.in_qrels is None else view.complete_depth[view.in_qrels]


def warn_without_depth(track: str, complete: Collection[np.ndarray]) -> None:
    """Warn once of the queries of a track whose pool is complete at no depth.

    Parameters
    ----------
    complete
        `complete_depths_of` each block of the track.
    """
    depths = np.concatenate([np.empty(0, np.int64), *complete])
    if none := int(np.count_nonzero(depths == 0)):
        warn(
            f"track {track}: on {none} of {len(depths)} queries the pool is complete at no depth, "
            "since a contributing system's first doc is unjudged; norm=pool and ideal=pool are "
            "undefined (NaN) there and left out of means. If the pool's depth is known, write "
            "pool_depth = N for the track in collection.toml; if not all systems contributed, name "
            "those that did (`pooled`).",
            PoolDepthWarning,
            stacklevel=3,
        )


def retrieved_by(view: JudgedRanks, depth: int, rel: int) -> np.ndarray:
    """Return how many systems retrieve each relevant doc at a rank up to `depth`: int32 [doc].

    Docs as `JudgedRanks.relevant_rows` says.
    """
    ranks = np.ascontiguousarray(view.ranks[view.relevant_rows(rel)])
    out = np.zeros(len(ranks), np.int32)
    systems_within(ranks, min(depth, view.missing - 1), out)
    return out

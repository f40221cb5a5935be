"""The pool: which systems made it, how deep it is, how deep each judged doc lies in it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from irmeta.errors import DataError, PoolDepthWarning, warn
from irmeta.kernels.rarity import systems_within
from irmeta.kernels.unjudged import first_unjudged
from irmeta.rankings.judged import NOT_POOLED, JudgedRanks
from irmeta.rankings.unjudged import condensed
from irmeta.store.scan import StoreReader, TrackFacts, read_table


@dataclass(frozen=True)
class Pool:
    """Which systems' lists make the pool of a track.

    Attributes
    ----------
    systems
        Those that the store says were pooled; all systems where it says so of none.
    known
        Whether the store says which were.
    set_aside
        Files of systems that were pooled, but whose run was set aside: what only they retrieve is
        in no pool here.
    """

    systems: tuple[str, ...]
    known: bool
    set_aside: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The same in words."""
        if not self.known:
            return "all systems: the store does not say which were pooled"
        said = f"the {len(self.systems)} systems here that are said to have been pooled"
        if self.set_aside:
            said += f", without {', '.join(self.set_aside)}, set aside"
        return said


def pool_of(store: StoreReader, track: str) -> Pool:
    """The pool of a track.

    Raises
    ------
    DataError
        If it is known which systems were pooled, and none of them is there.
    """
    facts = read_table(store, "systems", track)
    known = facts["pooled"].null_count() < facts.height
    pooled = facts.filter("pooled") if known else facts
    there = pooled.filter(pl.col("set_aside").is_null())["system"].to_list()
    aside = pooled.filter(pl.col("set_aside").is_not_null())["file"].to_list() if known else []
    if known and not there:
        raise DataError(
            "no system that was pooled is there, so there is no pool to measure by",
            track=track,
            fix="Correct the column of `pooled`, or leave it out: then all systems make the pool.",
        )
    return Pool(tuple(there), known, tuple(aside))


def contributing(store: StoreReader, facts: TrackFacts) -> list[int]:
    """The places of the systems that make the pool."""
    return [facts.systems.index(system) for system in pool_of(store, facts.track).systems]


def pool_depths(ranks: np.ndarray, systems: Sequence[int]) -> np.ndarray:
    """The least rank of each doc over some systems: int64 [rows], or `NOT_POOLED`."""
    least = ranks[:, list(systems)].min(axis=1, initial=np.iinfo(ranks.dtype).max)
    return np.where(least == np.iinfo(ranks.dtype).max, NOT_POOLED, least.astype(np.int64))


def complete_depths(ranks: np.ndarray, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Compute the depth to which the pool of each query is complete: int64 [queries].

    It is the greatest d at which every doc in the top d of every contributing list is judged, the d
    of Lu, Moffat and Culpepper (2016). A list shorter than d asks only that its docs be judged, and
    d is at most the length of the longest list; 0 where the pool is complete at no depth.

    Parameters
    ----------
    ranks
        uint16 or uint32 [docs, systems]: of the docs of the qrels, whatever their grade, in the
        lists of the contributing systems. The greatest value: not retrieved.
    offsets
        int64 [queries + 1] into those rows.
    lengths
        uint32 [queries, systems], of those lists.
    """
    first = np.empty(lengths.shape)
    space = np.zeros(int(lengths.max(initial=0)) + 2, np.int64)
    first_unjudged(ranks, offsets, np.ones(len(ranks), bool), lengths, space, first)
    longest = lengths.max(axis=1, initial=0).astype(np.int64)
    complete = np.where(first > lengths, longest[:, None], first.astype(np.int64) - 1)
    return np.minimum(complete.min(axis=1, initial=NOT_POOLED), longest)


def pooled_to(view: JudgedRanks, depth: int) -> JudgedRanks:
    """Return the view that a pool of this depth judges.

    A doc that no contributing system ranks so high is unjudged. From condensed lists it is left
    out.
    """
    assert view.pool_depth is not None
    assert view.complete_depth is not None
    lesser = _keep(view, view.pool_depth <= depth)
    return replace(lesser, complete_depth=np.minimum(view.complete_depth, depth))


def pooled_at(view: JudgedRanks, k: int) -> JudgedRanks:
    """Return the view for an evaluation at k that uses a pool no deeper than k.

    A query whose pool is deeper than k is judged by the pool of depth k, as in `pooled_to`. Every
    other query keeps all of its judged docs, also those that no contributing system retrieves.
    """
    assert view.pool_depth is not None
    assert view.complete_depth is not None
    query = view.query_of(np.arange(len(view.grades)))
    return _keep(view, (k >= view.complete_depth)[query] | (view.pool_depth <= k))


def _keep(view: JudgedRanks, judged: np.ndarray) -> JudgedRanks:
    lesser = view.only_rows(judged)
    return condensed(lesser) if view.condensed else lesser


def warn_without_depth(track: str, complete: Collection[np.ndarray]) -> None:
    """Warn once of the queries of a track whose pool is complete at no depth.

    Parameters
    ----------
    complete
        `JudgedRanks.complete_depth` of each block of the track.
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
    """How many systems retrieve each relevant doc at a rank up to `depth`: int32 [doc].

    Docs as `JudgedRanks.relevant_rows` says.
    """
    ranks = np.ascontiguousarray(view.ranks[view.relevant_rows(rel)])
    out = np.zeros(len(ranks), np.int32)
    systems_within(ranks, min(depth, view.missing - 1), out)
    return out

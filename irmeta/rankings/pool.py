"""The pool: which systems made it, how deep each judged doc lies in it, what they retrieve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import DataError
from irmeta.kernels.rarity import systems_within
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


def deepest_pooled(view: JudgedRanks) -> np.ndarray:
    """How deep the pool of each query is: int64 [queries].

    It is the greatest finite pool depth among its judged docs, whatever depth the organisers of the
    track meant; `NOT_POOLED` where no contributing system retrieves any of them.
    """
    assert view.pool_depth is not None
    finite = np.where(view.pool_depth == NOT_POOLED, 0, view.pool_depth)
    deepest = np.zeros(len(view.queries), np.int64)
    np.maximum.at(deepest, view.query_of(np.arange(len(finite))), finite)
    return np.where(deepest == 0, NOT_POOLED, deepest)


def pooled_to(view: JudgedRanks, depth: int) -> JudgedRanks:
    """The view that the pool of a lesser depth would have given: docs beyond it are unjudged.

    A query whose pool is no deeper keeps every judged doc, also those that no contributing system
    retrieves. From condensed lists the docs beyond it are left out.
    """
    assert view.pool_depth is not None
    whole = depth >= deepest_pooled(view)
    query = view.query_of(np.arange(len(view.grades)))
    kept = whole[query] | (view.pool_depth <= depth)
    lesser = view.only_rows(kept)
    return condensed(lesser) if view.condensed else lesser


def retrieved_by(view: JudgedRanks, depth: int, rel: int) -> np.ndarray:
    """How many systems retrieve each relevant doc at a rank up to `depth`: int32 [doc].

    Docs as `JudgedRanks.relevant_rows` says.
    """
    ranks = np.ascontiguousarray(view.ranks[view.relevant_rows(rel)])
    out = np.zeros(len(ranks), np.int32)
    systems_within(ranks, min(depth, view.missing - 1), out)
    return out

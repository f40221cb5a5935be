"""Views without some judgments: those of a shallower pool, or of fewer relevant docs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from irmeta.errors import UsageError, check_whole
from irmeta.rankings.derive.sample import doc_numbers, seed_of
from irmeta.rankings.derive.select import limit_pool, rejudged, take_rows
from irmeta.rankings.track_facts import TrackFacts
from irmeta.rankings.view import (
    JudgedView,
    View,
    also_diversity,
    replace_arrays,
    show_systems,
    through_all_systems,
)

NOT_SAMPLED = {"sample": "a view with fewer judgments does not know how they were sampled"}
DropOrder = Literal["random", "least-retrieved"]


@also_diversity
def with_pool(view: View, depth: int | None = None, without: str | Iterable[str] = ()) -> View:
    """Keep the judgments of a smaller pool: see `JudgedRanks.with_pool`."""
    cut = pool_cut(view, depth, without)
    if cut is None:
        return view
    rows = np.flatnonzero(cut.is_kept)
    if cut.facts is view.facts:  # of the same systems
        return limit_pool(take_rows(replace_arrays(view, NOT_SAMPLED), rows), depth)
    lists = view.require("pooled_lists")
    now = {"facts": cut.facts, "pool_depth": cut.pool_depth}
    now["complete_depth"] = lists.complete(cut.facts, view.queries)
    smaller = take_rows(replace_arrays(view, NOT_SAMPLED, **now), rows)
    if depth is not None:
        return limit_pool(smaller, depth)
    if view.pooled_to is not None:  # `judged` is of the deeper pool
        return rejudged(smaller)
    # Below the complete depth, only docs of the removed systems are dropped.
    gone = np.flatnonzero(~cut.is_kept)
    left = lists.without_docs(cut.facts, gone, view.query_of(gone), smaller.require("pooled_lists"))
    complete = left.complete(cut.facts, view.queries)
    return limit_pool(replace_arrays(smaller, pooled_lists=left, complete_depth=complete), None)


class PoolCut(NamedTuple):
    """What `with_pool` keeps: facts with the remaining contributors, and arrays of all rows."""

    facts: TrackFacts
    is_kept: np.ndarray
    pool_depth: np.ndarray


def pool_cut(view: JudgedView, depth: int | None, without: str | Iterable[str]) -> PoolCut | None:
    """Return the rows that `with_pool` keeps; None where it changes nothing."""
    if depth is not None:
        check_whole("depth", depth)
    lists, before = view.require("pooled_lists"), view.require("complete_depth")
    removed, facts = _contributors(view, without), view.facts
    if len(removed) == len(facts.contributors):
        raise UsageError(f"no system is left to contribute to the pool of {facts.track!r}.")
    pool_depth = view.require("pool_depth")
    if not removed:
        return None if depth is None else PoolCut(facts, pool_depth <= depth, pool_depth)
    remaining = set(facts.contributors) - set(removed)
    pooled = tuple(i in remaining for i in range(len(facts.systems)))
    facts = replace(facts, pooled=pooled, pool_known=True)
    left, of_removed = lists.depth_without(pool_depth, removed, sorted(remaining))
    if depth is not None:
        return PoolCut(facts, left <= depth, left)
    query_depth = before[view.query_of(np.arange(len(view.grades)))]
    return PoolCut(facts, (of_removed > query_depth) | (left <= query_depth), left)


def _contributors(view: JudgedView, named: str | Iterable[str]) -> list[int]:
    """Return the indices of the named contributing systems."""
    contributors, removed = set(view.facts.contributors), list[int]()
    for name in [named] if isinstance(named, str) else named:
        contributing = [i for i in view.facts.indices(name) if i in contributors]
        if not contributing:
            raise UsageError(f"{name!r} did not contribute to the pool of {view.facts.track!r}.")
        removed += contributing
    return sorted(set(removed))


@through_all_systems
def pooled_at(view: View, k: int) -> View:
    """Return the view for an evaluation at k with a pool no deeper than k.

    Queries with a deeper pool are judged by the pool of depth k, as in `with_pool`. Other queries
    keep all judged docs, including docs that no contributing system retrieves.
    """
    query = view.query_of(np.arange(len(view.grades)))
    is_kept = (k >= view.require("complete_depth"))[query] | (view.require("pool_depth") <= k)
    return take_rows(replace_arrays(view, NOT_SAMPLED), np.flatnonzero(is_kept))


def drop_relevant_shares(
    view: View,
    shares: Sequence[float],
    order: DropOrder = "random",
    *,
    rel: float = 1,
    rng: int | np.random.Generator = 0,
) -> list[View]:
    """Drop shares of the relevant docs, see `JudgedRanks.drop_relevant`: a view per share.

    The docs are ordered once, and a larger share drops all docs that a smaller one does.
    """
    for share in shares:
        if not _is_part(share):
            raise UsageError(f"share = {share!r} is not from 0 to 1.")
    if order not in ("random", "least-retrieved"):
        raise UsageError(f"order = {order!r} is neither 'random' nor 'least-retrieved'.")
    seed = seed_of(rng) if order == "random" else None
    source = view if view.all_systems is None else view.all_systems
    dropped = _drop(source, shares, seed, rel)
    if source.diversity is not None:
        of_diversity = _drop(source.diversity, shares, seed, rel)
        pairs = zip(dropped, of_diversity, strict=True)
        dropped = [replace(adhoc, diversity=diversity) for adhoc, diversity in pairs]
    return dropped if source is view else [show_systems(v, view.systems) for v in dropped]


def _is_part(share: object) -> bool:
    return isinstance(share, int | float) and 0 <= share <= 1


def _drop(view: View, shares: Sequence[float], seed: int | None, rel: float) -> list[View]:
    """Drop relevant docs at random; without a seed, the least retrieved first."""
    view = replace_arrays(view, NOT_SAMPLED)
    rows = view.relevant_rows(rel)
    query = view.query_of(rows)
    if seed is not None:
        key = doc_numbers(seed, view.queries, query, view.docs[rows].to_list())
    else:
        key = np.count_nonzero(view.ranks[rows] != view.missing, axis=1)
    by_key = rows[np.lexsort((key, query))]
    nth = np.arange(len(rows)) - np.searchsorted(query, query)
    relevant = np.bincount(query, minlength=len(view.queries))
    views: list[View] = []
    for share in shares:
        # 0.29 x 100 is 28.999999999999996 in floating point.
        drops = np.floor(np.round(share * relevant, 9))
        is_kept = np.ones(len(view.grades), bool)
        is_kept[by_key[nth < drops[query]]] = False
        views.append(rejudged(take_rows(view, np.flatnonzero(is_kept))))
    return views

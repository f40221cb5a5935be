"""Views with fewer judgments: a shallower pool, incomplete judgments, single subtopics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from irmeta.errors import UsageError, check_whole
from irmeta.rankings.derive.changes import (
    NOT_SAMPLED,
    also_diversity,
    changed,
    condense,
    limit_pool,
    random_number,
    rejudged,
    seed_of,
    take_rows,
)

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks
    from irmeta.rankings.track_facts import TrackFacts


DropOrder = Literal["random", "least-retrieved"]


@also_diversity
def with_pool(
    view: JudgedRanks, depth: int | None = None, without: str | Iterable[str] = ()
) -> JudgedRanks:
    """Keep the judgments of a shallower pool, or of a pool of fewer systems.

    Parameters
    ----------
    depth
        Keep the docs that a contributing system ranks at `depth` or above. None: drop only docs
        that no system except those in `without` ranks within the complete depth of the pool; docs
        judged for other reasons remain.
    without
        Contributing systems to remove from the pool, see `TrackFacts.indices`. Their lists remain.

    Raises
    ------
    UsageError
        If the view has no pool, a system in `without` did not contribute, no system remains, or
        `depth` is not a whole number from 1.
    """
    cut = pool_cut(view, depth, without)
    if cut is None:
        return view
    rows = np.flatnonzero(cut.is_kept)
    if cut.facts is view.facts:  # of the same systems
        return limit_pool(take_rows(changed(view, NOT_SAMPLED), rows), depth)
    lists = view.require("pooled_lists")
    now = {"facts": cut.facts, "pool_depth": cut.pool_depth}
    now["complete_depth"] = lists.complete(cut.facts, view.queries)
    smaller = take_rows(changed(view, NOT_SAMPLED, **now), rows)
    if depth is not None:
        return limit_pool(smaller, depth)
    if view.pooled_to is not None:  # `judged` is of the deeper pool
        return rejudged(smaller)
    # Below the complete depth, only docs of the removed systems are dropped.
    gone = np.flatnonzero(~cut.is_kept)
    left = lists.without_docs(cut.facts, gone, view.query_of(gone), smaller.require("pooled_lists"))
    complete = left.complete(cut.facts, view.queries)
    return limit_pool(changed(smaller, pooled_lists=left, complete_depth=complete), None)


class PoolCut(NamedTuple):
    """What `with_pool` keeps: facts with the remaining contributors, and arrays of all rows."""

    facts: TrackFacts
    is_kept: np.ndarray
    pool_depth: np.ndarray


def pool_cut(view: JudgedRanks, depth: int | None, without: str | Iterable[str]) -> PoolCut | None:
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


def _contributors(view: JudgedRanks, named: str | Iterable[str]) -> list[int]:
    """Return the indices of the named contributing systems."""
    contributors, removed = set(view.facts.contributors), list[int]()
    for name in [named] if isinstance(named, str) else named:
        contributing = [i for i in view.facts.indices(name) if i in contributors]
        if not contributing:
            raise UsageError(f"{name!r} did not contribute to the pool of {view.facts.track!r}.")
        removed += contributing
    return sorted(set(removed))


def pooled_at(view: JudgedRanks, k: int) -> JudgedRanks:
    """Return the view for an evaluation at k with a pool no deeper than k.

    Queries with a deeper pool are judged by the pool of depth k, as in `with_pool`. Other queries
    keep all judged docs, including docs that no contributing system retrieves.
    """
    query = view.query_of(np.arange(len(view.grades)))
    is_kept = (k >= view.require("complete_depth"))[query] | (view.require("pool_depth") <= k)
    return take_rows(changed(view, NOT_SAMPLED), np.flatnonzero(is_kept))


def drop_relevant(
    view: JudgedRanks,
    share: float,
    order: DropOrder = "random",
    *,
    rel: float = 1,
    rng: int | np.random.Generator = 0,
) -> JudgedRanks:
    """Drop the judgments of some relevant docs of each query, which become unjudged.

    Parameters
    ----------
    share
        Share of the relevant docs of each query, from 0 to 1. Fractions of a doc are rounded down.
    order
        ``random``, or ``least-retrieved``: first the docs retrieved by the fewest systems, ties by
        name.
    rel
        The least grade that is relevant.
    rng
        Random seed, or a Generator that draws one. The order of docs depends only on the seed and
        on names, not on other queries or qrels sets.

    Raises
    ------
    UsageError
        If `share` is not from 0 to 1, there is no such `order`, or `rng` is not a seed.
    """
    return drop_relevant_shares(view, (share,), order, rel=rel, rng=rng)[0]


def drop_relevant_shares(
    view: JudgedRanks,
    shares: Sequence[float],
    order: DropOrder = "random",
    *,
    rel: float = 1,
    rng: int | np.random.Generator = 0,
) -> list[JudgedRanks]:
    """Drop several shares of the relevant docs: a view per share, as `drop_relevant` makes it.

    The docs are ordered once, and a larger share drops all docs that a smaller one does.
    """
    for share in shares:
        if not _is_part(share):
            raise UsageError(f"share = {share!r} is not from 0 to 1.")
    if order not in ("random", "least-retrieved"):
        raise UsageError(f"order = {order!r} is neither 'random' nor 'least-retrieved'.")
    seed = seed_of(rng) if order == "random" else None
    dropped = _drop(view, shares, seed, rel)
    if view.diversity is None:
        return dropped
    of_diversity = _drop(view.diversity, shares, seed, rel)
    return [replace(a, diversity=b) for a, b in zip(dropped, of_diversity, strict=True)]


def _is_part(share: object) -> bool:
    return isinstance(share, int | float) and 0 <= share <= 1


def _drop(
    view: JudgedRanks, shares: Sequence[float], seed: int | None, rel: float
) -> list[JudgedRanks]:
    """Drop relevant docs at random; without a seed, the least retrieved first."""
    view = changed(view, NOT_SAMPLED)
    rows = view.relevant_rows(rel)
    query = view.query_of(rows)
    if seed is not None:
        names = zip((view.queries[q] for q in query), view.docs.gather(rows), strict=True)
        key = np.array([random_number(seed, *pair) for pair in names], np.uint64)
    else:
        key = np.count_nonzero(view.ranks[rows] != view.missing, axis=1)
    by_key = rows[np.lexsort((key, query))]
    nth = np.arange(len(rows)) - np.searchsorted(query, query)
    relevant = np.bincount(query, minlength=len(view.queries))
    views: list[JudgedRanks] = []
    for share in shares:
        # 0.29 x 100 is 28.999999999999996 in floating point.
        drops = np.floor(np.round(share * relevant, 9))
        is_kept = np.ones(len(view.grades), bool)
        is_kept[by_key[nth < drops[query]]] = False
        views.append(rejudged(take_rows(view, np.flatnonzero(is_kept))))
    return views


def one_subtopic(view: JudgedRanks, name: str) -> JudgedRanks:
    """Keep the judgments of one subtopic, and its grades.

    Queries without a doc judged for the subtopic are dropped.

    Raises
    ------
    UsageError
        If the view has no subtopics.
    """
    view = view.by_subtopic()
    subtopics = view.require("subtopics")
    is_judged = np.zeros(len(subtopics.names), bool)
    is_judged[subtopics.name_indices(view.offsets)] = True
    is_named = np.array([known == name for known in subtopics.names], bool)
    return _alone(view, np.flatnonzero(is_named & is_judged))


def each_subtopic(view: JudgedRanks) -> JudgedRanks:
    """Return a view with a query for each subtopic of each query, judged for it alone.

    Its queries are in the order of `Subtopics.names`, so that names of queries are repeated.

    Raises
    ------
    UsageError
        If the view has no subtopics.
    """
    view = view.by_subtopic()
    count = len(view.require("subtopics").names)
    return view.cached("each subtopic", lambda: _alone(view, np.arange(count)))


def _alone(view: JudgedRanks, kept: np.ndarray) -> JudgedRanks:
    """Return a view with a query for each kept subtopic, by ascending indices of its name."""
    subtopics = view.require("subtopics")
    place = np.full(len(subtopics.names), -1)
    place[kept] = np.arange(len(kept))
    rows = subtopics.rows
    query = place[subtopics.name_indices(view.offsets)]
    order = np.lexsort((view.doc_ids[rows], -subtopics.grade.astype(np.float64), query))
    order = order[np.searchsorted(query[order], 0) :]
    rows, query, grades = rows[order], query[order], subtopics.grade[order]
    source = subtopics.queries[kept]
    offsets = np.searchsorted(query, np.arange(len(kept) + 1))
    ties, lists = view.ties, view.pooled_lists
    if lists is not None:
        judged = lists.judged[source]
        lists = replace(
            lists, ranks=lists.ranks[rows], lengths=lists.lengths[source], judged=judged
        )
    alone = replace(
        subtopics,
        names=tuple(subtopics.names[i] for i in kept.tolist()),
        offsets=np.arange(len(kept) + 1),
        starts=np.arange(len(rows) + 1),
        subtopic=np.zeros(len(rows), np.int32),
        grade=grades,
        weights=subtopics.weights[kept],
        types=tuple(subtopics.types[i] for i in kept.tolist()),
    )
    judged_alone = changed(
        view,
        queries=tuple(view.queries[q] for q in source.tolist()),
        offsets=offsets,
        ranks=view.ranks[rows],
        grades=grades,
        docs=view.docs.gather(rows),
        doc_ids=view.doc_ids[rows],
        lengths=view.lengths[source],
        ties=None if ties is None else (ties[0][rows], ties[1][rows]),
        pooled_lists=lists,
        pool_depth=None if view.pool_depth is None else view.pool_depth[rows],
        complete_depth=None if view.complete_depth is None else view.complete_depth[source],
        retrieved=None if view.retrieved is None else view.retrieved[source],
        in_qrels=None,
        subtopics=alone,
        diversity=None,
        sample=None,
    )
    return rejudged(condense(judged_alone) if view.condensed else judged_alone)

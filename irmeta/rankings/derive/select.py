"""Views of some judged docs, systems, queries or subtopics of another view, or of unjudged docs.

Unjudged docs are removed from the lists, or assumed to be relevant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice
from irmeta.kernels.incomplete import condense as condense_lists
from irmeta.kernels.incomplete import unjudged_ranks
from irmeta.rankings.arrays import count_by_query
from irmeta.rankings.pool import NOT_POOLED, POOL_ARRAYS, PooledLists
from irmeta.rankings.view import (
    JudgedView,
    View,
    also_diversity,
    replace_arrays,
    through_all_systems,
)

UNJUDGED_DOC = "an unjudged doc"
"""Name of docs assumed to be relevant; ids of docs contain no spaces."""
ASSUMED_GRADE = 127  # the greatest of int8, relevant at any `rel`


@also_diversity
def condense(view: View) -> View:
    """Drop the unjudged docs of every list: see `JudgedRanks.condense`."""
    ranks, lengths = view.ranks.copy(), view.lengths.copy()
    none = np.empty((0, ranks.shape[1]), ranks.dtype)
    firsts, lasts = (none, none) if view.ties is None else (t.copy() for t in view.ties)
    space = counting_space(view)
    condense_lists(ranks, firsts, lasts, view.offsets, view.is_judged, lengths, space)
    is_retrieved = np.any(ranks < view.missing, axis=1)
    return replace_arrays(
        view,
        {"costs": "condensed lists have lost the ranks of their docs; omit unjudged=condensed"},
        ranks=ranks,
        lengths=lengths,
        ties=None if view.ties is None else (firsts, lasts),
        retrieved=None if view.retrieved is None else np.diff(view.offsets_of(is_retrieved)),
        condensed=True,
    )


@through_all_systems
def assume_relevant(view: View, deepest: int, gain: str) -> View:
    """Assume that unjudged docs are relevant: see `JudgedRanks.assume_relevant`."""
    check_choice("gain", gain, ("one", "gmax"))
    judged, queries = view.is_judged, len(view.queries)
    listed = np.minimum(view.lengths, deepest).astype(np.int64)
    within = view.ranks[judged] <= deepest
    counted = count_by_query(within, view.offsets_of(judged))
    extra = (listed - counted).max(axis=1, initial=0)
    first = np.concatenate([[0], np.cumsum(extra)])
    ranks = np.full((first[-1], view.ranks.shape[1]), view.missing, view.ranks.dtype)
    space = counting_space(view)
    unjudged_ranks(view.ranks, view.offsets, judged, view.lengths, deepest, space, first, ranks)
    # Assumed docs are the first of a query, because they have the highest grade.
    rows = view.query_of(np.arange(len(view.grades)))
    order = np.argsort(np.concatenate([np.repeat(np.arange(queries), extra), rows]), kind="stable")

    def merged(array: np.ndarray, new: float) -> np.ndarray:
        added = np.full((first[-1], *array.shape[1:]), new, array.dtype)
        return np.concatenate([added, array])[order]

    docs = pl.concat([pl.Series([UNJUDGED_DOC] * int(first[-1]), dtype=pl.String), view.docs])
    unknown = "docs that are assumed to be relevant stand for other docs in every list"
    pooled_lists, pool_depth = view.pooled_lists, view.pool_depth
    if pooled_lists is not None:
        pool_ranks = merged(pooled_lists.ranks, view.missing)
        pooled_lists = replace(pooled_lists, ranks=pool_ranks)
    return replace_arrays(
        view,
        dict.fromkeys(("ties", "subtopics", "diversity", "sample"), unknown),
        offsets=view.offsets + first,
        ranks=np.concatenate([ranks, view.ranks])[order],
        grades=merged(view.grades, ASSUMED_GRADE if view.grades.dtype == np.int8 else np.inf),
        docs=docs.gather(pl.Series(order)),
        doc_ids=merged(view.doc_ids, -1),
        pooled_lists=pooled_lists,
        pool_depth=None if pool_depth is None else merged(pool_depth, NOT_POOLED),
        assumed=(np.arange(len(order)) < first[-1])[order],
        assumed_gain=gain,
    )


def counting_space(view: JudgedView) -> np.ndarray:
    """Return working space for the kernels that count along a list."""
    return np.zeros(int(view.lengths.max(initial=0)) + 2, np.int64)


@through_all_systems
def take_rows(view: View, rows: np.ndarray) -> View:
    """Return the view with only some rows judged, sorted by query."""
    ranks = view.ranks[rows]
    ties, subtopics, pooled_lists = view.ties, view.subtopics, view.pooled_lists
    if pooled_lists is not None:
        is_same = pooled_lists.ranks is view.ranks
        pooled_lists = replace(pooled_lists, ranks=ranks if is_same else pooled_lists.ranks[rows])
    counts = np.bincount(view.query_of(rows), minlength=len(view.queries))
    taken = replace_arrays(
        view,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        ranks=ranks,
        grades=view.grades[rows],
        docs=view.docs[rows],
        doc_ids=view.doc_ids[rows],
        ties=_both(ties, lambda array: array[rows]),
        pooled_lists=pooled_lists,
        pool_depth=_at(view.pool_depth, rows),
        subtopics=None if subtopics is None else subtopics.take_rows(rows),
        assumed=_at(view.assumed, rows),
        sample=None if view.sample is None else view.sample.take_rows(rows),
    )
    return condense(taken) if view.condensed else taken


@through_all_systems
def keep_gained(view: View) -> View:
    """Return the view of the docs of a grade above 0, without what only some measures read.

    The depth of each doc in the pool remains.
    """
    unread = dict.fromkeys(("ties", "subtopics", "diversity", "sample"))
    return take_rows(replace_arrays(view, **unread), np.flatnonzero(view.grades > 0))


def take_systems(view: View, systems: list[int]) -> View:
    """Return the view of some systems, by ascending indices."""

    def columns(array: np.ndarray) -> np.ndarray:
        return np.take(array, systems, axis=1)  # in C order for kernels

    pooled_lists = view.pooled_lists
    taken = replace_arrays(
        view,
        {"retrieved": "a view does not know which unjudged docs only some systems retrieve"},
        facts=view.facts.select(systems),
        ranks=columns(view.ranks),
        lengths=columns(view.lengths),
        ties=_both(view.ties, columns),
        pooled_lists=None if pooled_lists is None else pooled_lists.take_systems(systems),
        costs=None if view.costs is None else (view.costs[0], columns(view.costs[1])),
    )
    return repooled(taken)


@also_diversity
def without_systems(view: View, systems: str | Iterable[str]) -> View:
    """Remove systems: see `JudgedRanks.without_systems`."""
    removed = set(view.facts.indices(systems))
    return _remaining(view, [i for i in range(len(view.systems)) if i not in removed])


@also_diversity
def only_systems(view: View, systems: str | Iterable[str]) -> View:
    """Keep only some systems: see `JudgedRanks.only_systems`."""
    return _remaining(view, view.facts.indices(systems))


def _remaining(view: View, systems: list[int]) -> View:
    if not systems:
        raise UsageError(f"no system of track {view.facts.track!r} is left.")
    return take_systems(view, systems)


@through_all_systems
def take_queries(view: View, queries: np.ndarray) -> View:
    """Return the view of some queries, by ascending indices."""
    is_kept = np.zeros(len(view.queries), bool)
    is_kept[queries] = True
    rows = np.flatnonzero(is_kept[view.query_of(np.arange(len(view.grades)))])
    subtopics = view.subtopics
    taken = take_rows(replace(view, condensed=False, subtopics=None), rows)
    if (pooled_lists := taken.pooled_lists) is not None:
        lengths, judged = pooled_lists.lengths[queries], pooled_lists.judged[queries]
        pooled_lists = replace(pooled_lists, lengths=lengths, judged=judged)
    return replace_arrays(
        taken,
        queries=tuple(view.queries[i] for i in queries.tolist()),
        offsets=np.concatenate([[0], np.cumsum(np.diff(view.offsets)[queries])]),
        lengths=view.lengths[queries],
        pooled_lists=pooled_lists,
        complete_depth=_at(view.complete_depth, queries),
        retrieved=_at(view.retrieved, queries),
        in_qrels=_at(view.in_qrels, queries),
        costs=None if view.costs is None else (view.costs[0], view.costs[1][queries]),
        subtopics=None if subtopics is None else subtopics.take_queries(queries, rows),
        condensed=view.condensed,
    )


@also_diversity
def only_queries(view: View, queries: str | Collection[str]) -> View:
    """Keep only some queries: see `JudgedRanks.only_queries`."""
    wanted: set[object] = {queries} if isinstance(queries, str) else set(queries)
    for name in wanted:
        if not isinstance(name, str):
            raise UsageError(f"queries are named by texts, not {name!r}.")
    return take_queries(
        view, np.array([i for i, q in enumerate(view.queries) if q in wanted], np.int64)
    )


@through_all_systems
def one_subtopic(view: View, name: str) -> View:
    """Keep the judgments of one subtopic: see `JudgedRanks.one_subtopic`."""
    view = view.by_subtopic()
    subtopics = view.require("subtopics")
    is_judged = np.zeros(len(subtopics.names), bool)
    is_judged[subtopics.name_indices(view.offsets)] = True
    is_named = np.array([known == name for known in subtopics.names], bool)
    return _alone(view, np.flatnonzero(is_named & is_judged))


@through_all_systems
def each_subtopic(view: View) -> View:
    """Make each subtopic a query: see `JudgedRanks.each_subtopic`."""
    view = view.by_subtopic()
    count = len(view.require("subtopics").names)
    return view.cached("each subtopic", lambda: _alone(view, np.arange(count)))


def _alone(view: View, kept: np.ndarray) -> View:
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
    judged_alone = replace_arrays(
        view,
        queries=tuple(view.queries[q] for q in source.tolist()),
        offsets=offsets,
        ranks=view.ranks[rows],
        grades=grades,
        docs=view.docs[rows],
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


def repooled(view: View) -> View:
    """Recompute the depths of the pool after removing systems."""
    if view.pooled_lists is None:
        return view
    if not view.facts.contributors:
        return replace_arrays(view, dict.fromkeys(POOL_ARRAYS, "no system that was pooled is left"))
    depths = view.pooled_lists.depths(view.facts, view.queries)
    return limit_pool(replace_arrays(view, **depths), None)


@through_all_systems
def rejudged(view: View) -> View:
    """Recompute the judged depths of contributing lists after dropping judgments."""
    if (lists := view.pooled_lists) is None:
        return view
    lists = PooledLists.of(view.facts, lists.ranks, view.offsets, lists.lengths)
    return repooled(replace_arrays(view, pooled_lists=lists))


def limit_pool(view: View, depth: int | None) -> View:
    """Return the view with a pool limited to `depth`."""
    limit = min(view.pooled_to or NOT_POOLED, depth or NOT_POOLED)
    complete = np.minimum(view.require("complete_depth"), limit)
    pooled_to = None if limit == NOT_POOLED else limit
    return replace_arrays(view, complete_depth=complete, pooled_to=pooled_to)


def _both(
    ties: tuple[np.ndarray, np.ndarray] | None, take: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Select from first and last ranks, which are the same array if no docs are tied."""
    if ties is None:
        return None
    first = take(ties[0])
    return first, first if ties[0] is ties[1] else take(ties[1])


def _at(array: np.ndarray | None, index: Any) -> Any:
    return None if array is None else array[index]

"""Selection of rows, systems or queries of a view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from irmeta.rankings.derive.change import changed
from irmeta.rankings.derive.unjudged import condense
from irmeta.rankings.pool import NOT_POOLED, POOL_ARRAYS, PooledLists

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks


def take_rows(view: JudgedRanks, rows: np.ndarray, grades: np.ndarray | None = None) -> JudgedRanks:
    """Return the view with only some rows judged, sorted by query, with optional new grades."""
    ranks = view.ranks[rows]
    ties, subtopics, pooled_lists = view.ties, view.subtopics, view.pooled_lists
    if pooled_lists is not None:
        is_same = pooled_lists.ranks is view.ranks
        pooled_lists = replace(pooled_lists, ranks=ranks if is_same else pooled_lists.ranks[rows])
    counts = np.bincount(view.query_of(rows), minlength=len(view.queries))
    made = changed(
        view,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        ranks=ranks,
        grades=view.grades[rows] if grades is None else grades,
        docs=view.docs.gather(rows),
        doc_ids=view.doc_ids[rows],
        ties=_both(ties, lambda array: array[rows]),
        pooled_lists=pooled_lists,
        pool_depth=_at(view.pool_depth, rows),
        subtopics=None if subtopics is None else subtopics.take_rows(rows),
        assumed=_at(view.assumed, rows),
        sample=None if view.sample is None else view.sample.take_rows(rows),
    )
    return condense(made) if view.condensed else made


def take_systems(view: JudgedRanks, systems: list[int]) -> JudgedRanks:
    """Return the view of some systems, by ascending indices."""

    def columns(array: np.ndarray) -> np.ndarray:
        return np.take(array, systems, axis=1)  # in C order for kernels

    pooled_lists = view.pooled_lists
    made = changed(
        view,
        {"retrieved": "a view does not know which unjudged docs only some systems retrieve"},
        facts=view.facts.select(systems),
        ranks=columns(view.ranks),
        lengths=columns(view.lengths),
        ties=_both(view.ties, columns),
        pooled_lists=None if pooled_lists is None else pooled_lists.take_systems(systems),
    )
    return repooled(made)


def take_queries(view: JudgedRanks, queries: np.ndarray) -> JudgedRanks:
    """Return the view of some queries, by ascending indices."""
    is_kept = np.zeros(len(view.queries), bool)
    is_kept[queries] = True
    rows = np.flatnonzero(is_kept[view.query_of(np.arange(len(view.grades)))])
    subtopics = view.subtopics
    taken = take_rows(replace(view, condensed=False, subtopics=None), rows)
    if (pooled_lists := taken.pooled_lists) is not None:
        lengths, judged = pooled_lists.lengths[queries], pooled_lists.judged[queries]
        pooled_lists = replace(pooled_lists, lengths=lengths, judged=judged)
    return changed(
        taken,
        queries=tuple(view.queries[i] for i in queries.tolist()),
        offsets=np.concatenate([[0], np.cumsum(np.diff(view.offsets)[queries])]),
        lengths=view.lengths[queries],
        pooled_lists=pooled_lists,
        complete_depth=_at(view.complete_depth, queries),
        retrieved=_at(view.retrieved, queries),
        in_qrels=_at(view.in_qrels, queries),
        subtopics=None if subtopics is None else subtopics.take_queries(queries, rows),
        condensed=view.condensed,
    )


def repooled(view: JudgedRanks) -> JudgedRanks:
    """Recompute the depths of the pool after removing systems."""
    if view.pooled_lists is None:
        return view
    if not view.facts.contributors:
        return changed(view, dict.fromkeys(POOL_ARRAYS, "no system that was pooled is left"))
    depths = view.pooled_lists.depths(view.facts, view.queries)
    return limit_pool(changed(view, **depths), None)


def rejudged(view: JudgedRanks) -> JudgedRanks:
    """Recompute the judged depths of contributing lists after dropping judgments."""
    if (lists := view.pooled_lists) is None:
        return view
    lists = PooledLists.of(view.facts, lists.ranks, view.offsets, lists.lengths)
    return repooled(changed(view, pooled_lists=lists))


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


def limit_pool(view: JudgedRanks, depth: int | None) -> JudgedRanks:
    """Return the view with a pool limited to `depth`."""
    limit = min(view.pooled_to or NOT_POOLED, depth or NOT_POOLED)
    complete = np.minimum(view.require("complete_depth"), limit)
    pooled_to = None if limit == NOT_POOLED else limit
    return changed(view, complete_depth=complete, pooled_to=pooled_to)

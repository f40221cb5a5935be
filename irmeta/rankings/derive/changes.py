"""Construction of derived views: replaced arrays, selected rows, treatment of unjudged docs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice
from irmeta.kernels.incomplete import condense as condense_lists
from irmeta.kernels.incomplete import unjudged_ranks
from irmeta.rankings.arrays import count_by_query
from irmeta.rankings.pool import NOT_POOLED, POOL_ARRAYS, PooledLists

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks


P = ParamSpec("P")
Derive = Callable[Concatenate["JudgedRanks", P], "JudgedRanks"]


def also_diversity(derive: Derive[P]) -> Derive[P]:
    """Make a function also derive the view of the diversity qrels."""

    @wraps(derive)
    def both(view: JudgedRanks, *args: P.args, **kwargs: P.kwargs) -> JudgedRanks:
        derived = derive(view, *args, **kwargs)
        if view.diversity is None:
            return derived
        return replace(derived, diversity=derive(view.diversity, *args, **kwargs))

    return both


def changed(
    view: JudgedRanks, lacks: dict[str, str] | None = None, /, **arrays: Any
) -> JudgedRanks:
    """Return the view with other arrays, without those in `lacks`, for the given reasons."""
    gone = {name: why for name, why in (lacks or {}).items() if getattr(view, name) is not None}
    arrays |= dict.fromkeys(gone)
    return replace(view, **arrays, lacks={**view.lacks, **gone}, _cache={})


NOT_SAMPLED = {"sample": "a view with fewer judgments does not know how they were sampled"}


def seed_of(rng: object) -> int:
    """Return a random seed, or draw one from a Generator.

    Raises
    ------
    UsageError
        If `rng` is neither a whole number from 0 nor a Generator.
    """
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63))
    if not isinstance(rng, int | np.integer) or isinstance(rng, bool) or rng < 0:
        raise UsageError(f"rng = {rng!r} is neither a whole number from 0 nor a numpy Generator.")
    return int(rng)


def random_number(seed: int, *names: str) -> int:
    """Return a number from 0 to 2^64 - 1 that depends only on the seed and the names."""
    return hash_of(str(seed), *names)


def hash_of(*names: str) -> int:
    """Hash names to an unsigned 64-bit number."""
    return int.from_bytes(hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest())


def random_numbers(seed: int, hashes: np.ndarray) -> np.ndarray:
    """Draw a random uint64 for each hash of names.

    The hashes are mixed with that of the seed as SplitMix64 does (Steele, Lea, Flood 2014,
    doi:10.1145/2660193.2660195).
    """
    mixed = hashes ^ np.uint64(hash_of(str(seed)))
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


UNJUDGED_DOC = "an unjudged doc"
"""Name of docs assumed to be relevant; ids of docs contain no spaces."""
ASSUMED_GRADE = 127  # the greatest of int8, relevant at any `rel`


@also_diversity
def condense(view: JudgedRanks) -> JudgedRanks:
    """Drop the unjudged docs of every list; the docs below them move up.

    The pool is unchanged.
    """
    ranks, lengths = view.ranks.copy(), view.lengths.copy()
    none = np.empty((0, ranks.shape[1]), ranks.dtype)
    firsts, lasts = (none, none) if view.ties is None else (t.copy() for t in view.ties)
    space = counting_space(view)
    condense_lists(ranks, firsts, lasts, view.offsets, view.is_judged, lengths, space)
    is_retrieved = np.any(ranks < view.missing, axis=1)
    return changed(
        view,
        {"costs": "condensed lists have lost the ranks of their docs; omit unjudged=condensed"},
        ranks=ranks,
        lengths=lengths,
        ties=None if view.ties is None else (firsts, lasts),
        retrieved=None if view.retrieved is None else np.diff(view.offsets_of(is_retrieved)),
        condensed=True,
    )


def assume_relevant(view: JudgedRanks, deepest: int, gain: str) -> JudgedRanks:
    """Assume that all unjudged docs of a list, down to rank `deepest`, are relevant.

    These docs differ between lists, so row i stands for the i-th unjudged doc of each list. `gain`
    is ``one`` or ``gmax``: the gain of these docs.
    """
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
    return changed(
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


def counting_space(view: JudgedRanks) -> np.ndarray:
    """Return working space for the kernels that count along a list."""
    return np.zeros(int(view.lengths.max(initial=0)) + 2, np.int64)


def take_rows(view: JudgedRanks, rows: np.ndarray) -> JudgedRanks:
    """Return the view with only some rows judged, sorted by query."""
    ranks = view.ranks[rows]
    ties, subtopics, pooled_lists = view.ties, view.subtopics, view.pooled_lists
    if pooled_lists is not None:
        is_same = pooled_lists.ranks is view.ranks
        pooled_lists = replace(pooled_lists, ranks=ranks if is_same else pooled_lists.ranks[rows])
    counts = np.bincount(view.query_of(rows), minlength=len(view.queries))
    taken = changed(
        view,
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        ranks=ranks,
        grades=view.grades[rows],
        docs=view.docs.gather(rows),
        doc_ids=view.doc_ids[rows],
        ties=_both(ties, lambda array: array[rows]),
        pooled_lists=pooled_lists,
        pool_depth=_at(view.pool_depth, rows),
        subtopics=None if subtopics is None else subtopics.take_rows(rows),
        assumed=_at(view.assumed, rows),
        sample=None if view.sample is None else view.sample.take_rows(rows),
    )
    return condense(taken) if view.condensed else taken


def keep_gained(view: JudgedRanks) -> JudgedRanks:
    """Return the view of the docs of a grade above 0, without what only some measures read.

    The depth of each doc in the pool remains.
    """
    unread = dict.fromkeys(("ties", "subtopics", "diversity", "sample"))
    return take_rows(changed(view, **unread), np.flatnonzero(view.grades > 0))


def take_systems(view: JudgedRanks, systems: list[int]) -> JudgedRanks:
    """Return the view of some systems, by ascending indices."""

    def columns(array: np.ndarray) -> np.ndarray:
        return np.take(array, systems, axis=1)  # in C order for kernels

    pooled_lists = view.pooled_lists
    taken = changed(
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
        costs=None if view.costs is None else (view.costs[0], view.costs[1][queries]),
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

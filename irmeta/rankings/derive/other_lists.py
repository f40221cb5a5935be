"""Views with cut or padded lists, fewer systems or fewer queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from irmeta.errors import UsageError, check_whole
from irmeta.rankings.derive.changes import (
    also_diversity,
    changed,
    random_number,
    seed_of,
    take_queries,
    take_systems,
)

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks


@also_diversity
def cut_to(view: JudgedRanks, depth: int) -> JudgedRanks:
    """Cut every list at rank `depth`: deeper docs are not retrieved.

    The pool is unchanged.

    Raises
    ------
    UsageError
        If `depth` is not a whole number from 1.
    """
    check_whole("depth", depth)
    facts = view.facts
    deepest = tuple(min(rank, depth) for rank in facts.deepest_ranks)
    return _cut_below(
        view,
        depth,
        {"retrieved": "a view of lists that were cut does not know their unjudged docs"},
        facts=replace(facts, deepest_rank=min(facts.deepest_rank, depth), deepest_ranks=deepest),
        lengths=np.minimum(view.lengths, np.uint32(min(depth, 2**32 - 1))),
    )


def _cut_below(
    view: JudgedRanks, last: int | np.ndarray, lacks: dict[str, str], **arrays: Any
) -> JudgedRanks:
    """Remove the docs below rank `last`, of all lists or [rows, systems]; see `changed`."""
    dtype, is_cut = view.ranks.dtype, view.ranks > last
    limit = np.minimum(last, view.missing - 1).astype(dtype)

    def cut(ranks: np.ndarray) -> np.ndarray:
        return np.where(is_cut, dtype.type(view.missing), np.minimum(ranks, limit))

    ties = None if view.ties is None else (cut(view.ties[0]), cut(view.ties[1]))
    return changed(view, lacks, ranks=cut(view.ranks), ties=ties, **arrays)


@also_diversity
def without_systems(view: JudgedRanks, systems: str | Iterable[str]) -> JudgedRanks:
    """Remove systems, as if they had submitted no run; the judgments remain.

    Parameters
    ----------
    systems
        Names of systems, ``group=NAME`` or ``type=NAME``.

    Raises
    ------
    UsageError
        If there is no such system, group or type, or no system is left.
    """
    removed = set(view.facts.indices(systems))
    return _remaining(view, [i for i in range(len(view.systems)) if i not in removed])


@also_diversity
def only_systems(view: JudgedRanks, systems: str | Iterable[str]) -> JudgedRanks:
    """Keep only some systems, given as in `without_systems`, as if no other had submitted a run.

    Raises
    ------
    UsageError
        If there is no such system, group or type, or no system is given.
    """
    return _remaining(view, view.facts.indices(systems))


def _remaining(view: JudgedRanks, systems: list[int]) -> JudgedRanks:
    if not systems:
        raise UsageError(f"no system of track {view.facts.track!r} is left.")
    return take_systems(view, systems)


@also_diversity
def only_queries(view: JudgedRanks, queries: str | Collection[str]) -> JudgedRanks:
    """Keep only the queries of the view that are among `queries`; other names are ignored.

    Raises
    ------
    UsageError
        If a name is not a text.
    """
    wanted: set[object] = {queries} if isinstance(queries, str) else set(queries)
    for name in wanted:
        if not isinstance(name, str):
            raise UsageError(f"queries are named by texts, not {name!r}.")
    return take_queries(
        view, np.array([i for i, q in enumerate(view.queries) if q in wanted], np.int64)
    )


def sample_queries(
    queries: Sequence[str], number: int, rng: int | np.random.Generator = 0
) -> tuple[str, ...]:
    """Draw queries at random without replacement, for `only_queries`.

    With a seed, smaller samples are subsets of larger samples, and the order of two queries does
    not depend on the other queries.

    Raises
    ------
    UsageError
        If `number` is negative or larger than the number of queries.

    Examples
    --------
    >>> sample_queries(["301", "302", "303", "304"], 2, rng=7)
    ('301', '304')
    """
    if not 0 <= number <= len(queries):
        raise UsageError(f"{number} of {len(queries)} queries cannot be drawn.")
    seed = seed_of(rng)
    drawn = set(sorted(queries, key=lambda q: (random_number(seed, q), q))[:number])
    return tuple(q for q in queries if q in drawn)


NOT_COUNTED = {"retrieved": "a view of lists with other ends does not know their unjudged docs"}


@also_diversity
def cut_ends(view: JudgedRanks, rel: float = 1) -> JudgedRanks:
    """End each list at its last relevant doc; a list without one keeps its first doc.

    The pool and the deepest rank are unchanged.
    """
    is_relevant = (view.grades >= rel)[:, None] & (view.ranks != view.missing)
    ranks = np.where(is_relevant, view.ranks, 0)
    ends = np.minimum(view.lengths, np.maximum(_greatest(ranks, view.offsets), 1))
    end = ends[view.query_of(np.arange(len(view.grades)))]
    return _cut_below(view, end, NOT_COUNTED, lengths=ends)


@also_diversity
def pad_ends(view: JudgedRanks, docs: int = 1) -> JudgedRanks:
    """Add unjudged docs to the end of each list, down to the deepest rank of the track.

    Raises
    ------
    UsageError
        If `docs` is not a whole number from 1.
    """
    check_whole("docs", docs)
    deepest = np.maximum(view.lengths, np.uint32(view.facts.deepest_rank))
    padded = np.minimum(view.lengths.astype(np.int64) + docs, deepest).astype(np.uint32)
    lacks = {**NOT_COUNTED, "costs": "docs that are added to lists have no costs"}
    return changed(view, lacks, lengths=np.where(view.lengths > 0, padded, view.lengths))


def _greatest(ranks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the greatest value of the rows of each query: uint32 [queries, systems]."""
    padded = np.concatenate([ranks, np.zeros((1, ranks.shape[1]), ranks.dtype)])
    greatest = np.maximum.reduceat(padded, offsets[:-1], axis=0).astype(np.uint32)
    greatest[np.diff(offsets) == 0] = 0
    return greatest

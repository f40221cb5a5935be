"""Changed lists: cut at a rank or at the last relevant doc, padded, ties reordered, re-ranked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from irmeta.errors import check_whole
from irmeta.rankings.derive.sample import hash_of, random_numbers
from irmeta.rankings.view import JudgedView, View, also_diversity, replace_arrays

Order = Literal["random", "best", "worst"]


@also_diversity
def cut_to(view: View, depth: int) -> View:
    """Cut every list at rank `depth`: see `JudgedRanks.cut_to`."""
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


def _cut_below(view: View, last: int | np.ndarray, lacks: dict[str, str], **arrays: Any) -> View:
    """Remove the docs below rank `last`, of all lists or [rows, systems]; see `replace_arrays`."""
    dtype, is_cut = view.ranks.dtype, view.ranks > last
    limit = np.minimum(last, view.missing - 1).astype(dtype)

    def cut(ranks: np.ndarray) -> np.ndarray:
        return np.where(is_cut, dtype.type(view.missing), np.minimum(ranks, limit))

    ties = None if view.ties is None else (cut(view.ties[0]), cut(view.ties[1]))
    return replace_arrays(view, lacks, ranks=cut(view.ranks), ties=ties, **arrays)


NOT_COUNTED = {"retrieved": "a view of lists with other ends does not know their unjudged docs"}


@also_diversity
def cut_ends(view: View, rel: float = 1) -> View:
    """End each list at its last relevant doc; a list without one keeps its first doc.

    The pool and the deepest rank are unchanged.
    """
    is_relevant = (view.grades >= rel)[:, None] & (view.ranks != view.missing)
    ranks = np.where(is_relevant, view.ranks, 0)
    padded = np.concatenate([ranks, np.zeros((1, ranks.shape[1]), ranks.dtype)])
    last = np.maximum.reduceat(padded, view.offsets[:-1], axis=0).astype(np.uint32)
    last[np.diff(view.offsets) == 0] = 0  # reduceat takes the next row
    ends = np.minimum(view.lengths, np.maximum(last, 1))
    end = ends[view.query_of(np.arange(len(view.grades)))]
    return _cut_below(view, end, NOT_COUNTED, lengths=ends)


@also_diversity
def pad_ends(view: View, docs: int = 1) -> View:
    """Add unjudged docs to the end of each list, down to the deepest rank of the track."""
    check_whole("docs", docs)
    deepest = np.maximum(view.lengths, np.uint32(view.facts.deepest_rank))
    padded = np.minimum(view.lengths.astype(np.int64) + docs, deepest).astype(np.uint32)
    lacks = {**NOT_COUNTED, "costs": "docs that are added to lists have no costs"}
    return replace_arrays(view, lacks, lengths=np.where(view.lengths > 0, padded, view.lengths))


@dataclass(frozen=True)
class _Tied:
    """Judged docs in blocks of ties; the docs of a block by grade descending.

    int64 [docs]: `rows`, `systems`, `block`, and `place` among the judged docs of the block; int64
    [blocks]: `first` rank, `size`, and numbers of docs `judged` and of `positive` grade; uint64:
    hashes of query, system and first rank.
    """

    rows: np.ndarray
    systems: np.ndarray
    block: np.ndarray
    place: np.ndarray
    first: np.ndarray
    size: np.ndarray
    judged: np.ndarray
    positive: np.ndarray
    hashes: np.ndarray


def _tied(view: JudgedView) -> _Tied:
    firsts, lasts = view.require("ties")
    rows, systems = np.nonzero((firsts < lasts) & (view.ranks != view.missing))
    query, first = view.query_of(rows), firsts[rows, systems].astype(np.int64)
    order = np.lexsort((rows, first, query, systems))
    rows, systems, query, first = (part[order] for part in (rows, systems, query, first))
    is_new = np.ones(len(rows), bool)
    is_new[1:] = np.diff(systems) | np.diff(query) | np.diff(first) != 0
    starts = np.flatnonzero(is_new)
    block = np.cumsum(is_new) - 1
    pairs, of_pair = np.unique(
        np.stack([query[starts], systems[starts]]), axis=1, return_inverse=True
    )
    queries, runs = list(view.queries), list(view.systems)
    pair_hashes = [hash_of(queries[q], runs[s]) for q, s in pairs.T.tolist()]
    return _Tied(
        rows,
        systems,
        block,
        np.arange(len(rows)) - starts[block],
        first[starts],
        lasts[rows[starts], systems[starts]].astype(np.int64) - first[starts] + 1,
        np.diff(starts, append=len(rows)),
        np.bincount(block, view.grades[rows] > 0, len(starts)).astype(np.int64),
        np.array(pair_hashes, np.uint64)[of_pair.ravel()] + first[starts].astype(np.uint64),
    )


def tied_systems(view: JudgedView) -> list[int]:
    """Return the indices of the systems that tie a judged doc with another doc."""
    return np.unique(view.cached("tied docs", lambda: _tied(view)).systems).tolist()


@also_diversity
def reorder_ties(view: View, order: Order, seed: int = 0) -> View:
    """Return the view with the docs of each block of ties in another order.

    ``best``: gained docs first, by grade, then unjudged, then other docs; ``worst``: the reverse;
    ``random``: an order per list, which depends only on the seed and the names of query and system.
    """
    tied: _Tied = view.cached("tied docs", lambda: _tied(view))
    if order == "random":
        shift = _drawn_places(tied, seed)
    else:
        low, high = tied.positive[tied.block], (tied.size - tied.judged)[tied.block]
        shift = tied.place + np.where(tied.place < low, 0, high)
        if order == "worst":
            shift = tied.size[tied.block] - 1 - shift
    ranks = view.ranks.copy()
    ranks[tied.rows, tied.systems] = tied.first[tied.block] + shift
    return replace_arrays(view, ranks=ranks)


def _drawn_places(tied: _Tied, seed: int) -> np.ndarray:
    """Draw distinct places from 0 in its block for each doc."""
    ends = np.cumsum(tied.size)
    block = np.repeat(np.arange(len(ends)), tied.size)
    starts = ends - tied.size
    place = np.arange(len(block)) - starts[block]
    keys = random_numbers(seed, tied.hashes)[block] + place.astype(np.uint64)
    # one number sorts much faster than two: the block, and 36 random bits
    by_block = block.astype(np.uint64) << np.uint64(36) | random_numbers(seed, keys) >> np.uint64(
        28
    )
    drawn = place[np.argsort(by_block)]
    return drawn[starts[tied.block] + tied.place]


def rank_by_grades(ranks: np.ndarray, grades: np.ndarray, depth: int) -> np.ndarray:
    """Re-rank the first `depth` docs of lists for one query by grades, stably.

    `ranks` is int64 [docs, systems], 0: not retrieved. Docs without a grade in `grades`, float64
    [docs], follow those with one: docs of NaN, 0 or less, and those that are not given.
    """
    graded = np.flatnonzero(grades > 0)
    moved = ranks[graded]
    is_first = (moved > 0) & (moved <= depth)
    level = np.unique(-grades[graded], return_inverse=True)[1]
    systems = ranks.shape[1]
    # by grade, then by rank; docs beyond the depth last
    keys = np.where(is_first, level[:, None] * (depth + 1) + moved, (len(graded) + 1) * (depth + 1))
    places = np.argsort(np.argsort(keys, axis=0, kind="stable"), axis=0) + 1
    # docs with a grade below each rank, of which a doc without a grade makes room for as many
    at_rank = np.zeros((depth + 2, systems), np.int64)
    rows, columns = np.nonzero(is_first)
    at_rank[moved[rows, columns], columns] = 1
    below = at_rank[::-1].cumsum(axis=0)[::-1] - at_rank
    capped = np.clip(ranks, 0, depth + 1)
    shift = np.where(ranks > 0, np.take_along_axis(below, capped, axis=0), 0)
    changed = ranks + shift
    changed[graded] = np.where(is_first, places, moved)
    return changed

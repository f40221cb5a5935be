"""Views of lists with other ends: cut at a rank, at the last relevant doc, or padded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from irmeta.errors import check_whole
from irmeta.rankings.view import View, also_diversity, replace_arrays


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

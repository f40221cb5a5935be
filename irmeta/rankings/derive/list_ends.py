"""Views with other ends of the lists: trailing non-relevant docs cut or added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from irmeta.errors import check_whole
from irmeta.rankings.derive.change import also_diversity, changed

if TYPE_CHECKING:
    from irmeta.rankings.judged import JudgedRanks

NOT_COUNTED = {"retrieved": "a view of lists with other ends does not know their unjudged docs"}


@also_diversity
def cut_ends(view: JudgedRanks, rel: int = 1) -> JudgedRanks:
    """End each list at its last relevant doc; a list without one keeps its first doc.

    The pool and the deepest rank are unchanged.
    """
    is_relevant = (view.grades >= rel)[:, None] & (view.ranks != view.missing)
    ranks = np.where(is_relevant, view.ranks, 0)
    ends = np.minimum(view.lengths, np.maximum(_greatest(ranks, view.offsets), 1))
    end = ends[view.query_of(np.arange(len(view.grades)))]
    missing = view.ranks.dtype.type(view.missing)
    is_cut = view.ranks > end

    def within(ranks: np.ndarray) -> np.ndarray:
        return np.where(is_cut, missing, np.minimum(ranks, end)).astype(ranks.dtype)

    ties = view.ties
    return changed(
        view,
        NOT_COUNTED,
        ranks=np.where(is_cut, missing, view.ranks),
        lengths=ends,
        ties=None if ties is None else (within(ties[0]), within(ties[1])),
    )


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
    return changed(view, NOT_COUNTED, lengths=np.where(view.lengths > 0, padded, view.lengths))


def _greatest(ranks: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the greatest value of the rows of each query: uint32 [queries, systems]."""
    padded = np.concatenate([ranks, np.zeros((1, ranks.shape[1]), ranks.dtype)])
    greatest = np.maximum.reduceat(padded, offsets[:-1], axis=0).astype(np.uint32)
    greatest[np.diff(offsets) == 0] = 0
    return greatest

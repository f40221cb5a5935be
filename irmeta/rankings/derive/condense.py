"""Treatment of unjudged docs: removed from the lists, or assumed to be relevant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from irmeta.errors import check_choice
from irmeta.kernels.incomplete import condense as condense_lists
from irmeta.kernels.incomplete import unjudged_ranks
from irmeta.rankings.arrays import count_by_query
from irmeta.rankings.pool import NOT_POOLED
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

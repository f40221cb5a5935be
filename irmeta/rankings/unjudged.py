"""Views that treat the unjudged docs of a list otherwise than as non-relevant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from irmeta.kernels.unjudged import condense, unjudged_ranks
from irmeta.rankings.judged import NOT_POOLED, JudgedRanks

UNJUDGED_DOC = "an unjudged doc"
"""The name of docs that are assumed to be relevant; ids of docs hold no spaces."""
ASSUMED_GRADE = 127  # relevant at any `rel`


def counting_space(view: JudgedRanks) -> np.ndarray:
    """Working space for the kernels that count along a list."""
    return np.zeros(int(view.lengths.max(initial=0)) + 2, np.int64)


def condensed(view: JudgedRanks) -> JudgedRanks:
    """Every list without its unjudged docs; those below them move up."""
    ranks, lengths = view.ranks.copy(), view.lengths.copy()
    none = np.empty((0, ranks.shape[1]), ranks.dtype)
    firsts, lasts = (none, none) if view.ties is None else (t.copy() for t in view.ties)
    space = counting_space(view)
    condense(ranks, firsts, lasts, view.offsets, view.is_judged, lengths, space)
    held = np.any(ranks < view.missing, axis=1)
    retrieved = np.diff(view.offsets_of(held))
    return replace(
        view,
        ranks=ranks,
        lengths=lengths,
        ties=None if view.ties is None else (firsts, lasts),
        blocks=None,
        retrieved=None if view.retrieved is None else retrieved,
        condensed=True,
        _sorted={},
    )


def assumed_relevant(view: JudgedRanks, deepest: int, gain: str) -> JudgedRanks:
    """Every unjudged doc of a list, down to rank `deepest`, as a relevant one.

    Such docs differ from list to list, so a row stands for the i-th unjudged doc of each. `gain` is
    ``one`` or ``gmax``: what each of them gains.
    """
    judged, queries = view.is_judged, len(view.queries)
    listed = np.minimum(view.lengths, deepest).astype(np.int64)
    within = view.ranks[judged] <= deepest
    counted = np.zeros(view.lengths.shape, np.int64)
    np.add.at(counted, view.query_of(np.flatnonzero(judged)), within)
    extra = (listed - counted).max(axis=1, initial=0)
    first = np.concatenate([[0], np.cumsum(extra)])
    ranks = np.full((first[-1], view.ranks.shape[1]), view.missing, view.ranks.dtype)
    space = counting_space(view)
    unjudged_ranks(view.ranks, view.offsets, judged, view.lengths, deepest, space, first, ranks)
    # Within a query the assumed docs lead, as the highest grade does.
    owner = np.concatenate([np.repeat(np.arange(queries), extra), view.query_of(_rows(view))])
    order = np.argsort(owner, kind="stable")
    assumed = (np.arange(len(owner)) < first[-1])[order]

    def merged(own: np.ndarray, new: int) -> np.ndarray:
        return np.concatenate([np.full(first[-1], new, own.dtype), own])[order]

    docs = pl.concat([pl.Series([UNJUDGED_DOC] * int(first[-1]), dtype=pl.String), view.docs])
    return replace(
        view,
        offsets=view.offsets + first,
        ranks=np.concatenate([ranks, view.ranks])[order],
        grades=merged(view.grades, ASSUMED_GRADE),
        docs=docs.gather(pl.Series(order)),
        doc_ids=merged(view.doc_ids, -1),
        ties=None,
        blocks=None,
        pool_depth=None if view.pool_depth is None else merged(view.pool_depth, NOT_POOLED),
        assumed=assumed,
        assumed_gain=gain,
        _sorted={},
    )


def _rows(view: JudgedRanks) -> np.ndarray:
    return np.arange(len(view.grades))

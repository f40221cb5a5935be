"""Measures of the judged share of a list."""

from __future__ import annotations

import math

import numpy as np

from irmeta.kernels.cutoff_sums import count_within
from irmeta.kernels.unjudged_ranks import first_unjudged
from irmeta.measures.cutoffs import empty_values, rank_cuts
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.rankings.derive.unjudged import UNJUDGED_DOC, counting_space
from irmeta.rankings.judged import JudgedRanks


def _judged_within(view: JudgedRanks, ks: Cutoffs) -> tuple[np.ndarray, np.ndarray]:
    """Count the judged docs and all docs at ranks up to each cutoff: float64."""
    judged = view.is_judged
    cuts, counts = rank_cuts(view, ks), empty_values(view, ks)
    count_within(view.ranks[judged], view.offsets_of(judged), cuts, counts)
    return counts, np.minimum(cuts[:, None, None], view.lengths).astype(np.float64)


def compute_judged(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the judged docs at ranks up to k by the number of docs at these ranks."""
    judged, listed = _judged_within(view, ks)
    return judged / np.maximum(listed, 1.0)


def compute_unjudged(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the unjudged docs at ranks up to k by k, even if the list is shorter."""
    judged, listed = _judged_within(view, ks)
    return (listed - judged) / np.array(ks, np.float64)[:, None, None]


def compute_first_unjudged(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Return the rank of the first unjudged doc; length + 1 if all docs are judged."""
    out = np.zeros(view.lengths.shape)
    first_unjudged(
        view.ranks, view.offsets, view.is_judged, view.lengths, counting_space(view), out
    )
    return np.broadcast_to(out, (len(ks), *out.shape))


def _judged(one: OneList, k: int | None) -> list[tuple[int, str, float]]:
    return [d for d in one.within(k) if one.counts_as_judged(d[2])]


def _unjudged(one: OneList, k: int | None) -> list[tuple[int, str, float]]:
    """List the unjudged docs at ranks up to k, by rank; docs not in the qrels have no name."""
    last = one.length if k is None else min(k, one.length)
    judged = {rank for rank, *_ in _judged(one, k)}
    known = {rank: (rank, doc, grade) for rank, doc, grade in one.within(k)}
    ranks = (rank for rank in range(1, last + 1) if rank not in judged)
    return [known.get(rank, (rank, UNJUDGED_DOC, -1)) for rank in ranks]


def trace_judged(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace Judged as counts over the docs of the list up to k."""
    terms = tuple(Term(*doc, "1", 1.0) for doc in _judged(one, k))
    listed = one.length if k is None else min(k, one.length)
    divisor_is = "docs of the list" + ("" if k is None else f", to rank {k}")
    return Trace(terms, listed, divisor_is, None if listed else 0.0)


def trace_unjudged(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace Unjudged as counts over k."""
    assert k is not None
    return Trace(tuple(Term(*d, "1", 1.0) for d in _unjudged(one, k)), k, "the cutoff k")


def trace_first_unjudged(one: OneList, params: Params, k: None) -> Trace:
    """Trace FirstUnjudged as one rank."""
    after = one.length + 1
    term = Term(None, "(no doc)", 0, f"all {one.length} are judged: {one.length} + 1", after)
    for rank, doc, grade in _unjudged(one, None)[:1]:
        term = Term(rank, doc, grade, f"rank {rank}", float(rank))
    return Trace((term,), 1.0, "(nothing)")


MEASURES = (
    Measure(
        name="Judged",
        summary="the share of the list, or of its first k docs, that is judged",
        compute=compute_judged,
        trace=trace_judged,
        source="ir_measures 0.4.3, Judged@k",
        parameters=(),
        no_relevant=None,
        family="count",
        monotone=False,
        unjudged=(),
    ),
    Measure(
        name="Unjudged",
        summary="unjudged docs among the first k, over k",
        compute=compute_unjudged,
        trace=trace_unjudged,
        source="trec_eval 10.0, m_unjudged.c",
        parameters=(),
        cutoff="required",
        direction=-1,
        no_relevant=None,
        family="count",
        monotone=False,
        unjudged=(),
    ),
    Measure(
        name="FirstUnjudged",
        summary="the rank of the first unjudged doc; list length + 1 if all docs are judged",
        compute=compute_first_unjudged,
        trace=trace_first_unjudged,
        source="doi:10.1007/s10791-016-9282-6, Table 4 (RankUnj)",
        parameters=(),
        cutoff="none",
        format="length",
        unit="rank",
        bounds=(1.0, math.inf),
        no_relevant=None,
        empty_list="1",
        family="count",
        unjudged=(),
    ),
)

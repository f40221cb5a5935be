"""Precision at levels of recall: interpolated, averaged over levels, and at multiples of R."""

from __future__ import annotations

import math

import numpy as np

from irmeta.kernels.cutoff_sums import count_to_own_cut
from irmeta.kernels.doc_amounts import best_precision_from
from irmeta.measures.cutoffs import empty_values, per_query
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL, Parameter, numbers
from irmeta.rankings.judged import JudgedRanks

ELEVEN_POINTS = "0;0.1;0.2;0.3;0.4;0.5;0.6;0.7;0.8;0.9;1"


def docs_needed(levels: np.ndarray, relevant: np.ndarray, trec_eval: str) -> np.ndarray:
    """Compute the number of relevant docs that a level of recall needs: int64 [levels, queries].

    In C, the arithmetic is ``(long)(level * R + 0.9)`` for trec_eval 9 and ``lround(level * R)``
    for trec_eval 10.
    """
    share = levels[:, None] * relevant
    if trec_eval == "9":
        return (share + 0.9).astype(np.int64)
    floor = np.floor(share)
    return (floor + (share - floor >= 0.5)).astype(np.int64)


def at_levels(view: JudgedRanks, params: Params, levels: np.ndarray) -> np.ndarray:
    """Compute interpolated precision at levels of recall: float64 [levels, queries, systems]."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    best = np.zeros(ranks.shape)
    best_precision_from(ranks, offsets, view.missing, best)
    relevant = np.diff(offsets)
    out = np.zeros((len(levels), *view.lengths.shape))
    has_relevant = relevant > 0
    needed = docs_needed(levels, relevant[has_relevant], params["trec_eval"])
    out[:, has_relevant] = best[offsets[:-1][has_relevant] + np.maximum(needed, 1) - 1]
    return out


def compute_interpolated(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Find the best precision at any rank with at least the given recall; 0 without any."""
    return at_levels(view, params, np.array(ks, np.float64))


def compute_interpolated_mean(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Average interpolated precision over levels of recall, added up from the highest level."""
    levels = numbers(params["levels"])
    total = empty_values(view, [None])[0]
    for precision in at_levels(view, params, np.array(levels[::-1])):
        total += precision
    return np.broadcast_to(total / len(levels), (len(ks), *total.shape))


def compute_r_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute precision at rank ``(long)(mult * R + 0.9)``; 0 where that rank is 0."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    cuts = np.floor(params["mult"] * np.diff(offsets) + 0.9)
    counts = np.zeros(view.lengths.shape)
    count_to_own_cut(ranks, offsets, np.minimum(cuts, view.missing - 1).astype(np.int64), counts)
    return np.broadcast_to(per_query(counts[None], cuts, 0.0), (len(ks), *counts.shape))


def _needed(level: float, relevant: int, trec_eval: str) -> int:
    share = level * relevant
    if trec_eval == "9":
        return int(share + 0.9)
    return math.floor(share) + (share - math.floor(share) >= 0.5)


def _trace_levels(one: OneList, params: Params, levels: list[float]) -> tuple[Term, ...]:
    relevant = one.relevant(params["rel"])
    retrieved = [d for d in relevant if d[0] is not None]
    terms = []
    for level in levels:
        needed = _needed(level, len(relevant), params["trec_eval"])
        deep_enough = [
            (hits / rank, hits, rank, doc, grade)
            for hits, (rank, doc, grade) in enumerate(retrieved, 1)
            if rank is not None and hits >= needed
        ]
        if deep_enough:
            best, hits, rank, doc, grade = max(deep_enough, key=lambda d: d[0])
            arithmetic = (
                f"recall {level:g} is {needed} docs; best precision from there {hits}/{rank}"
            )
            terms.append(Term(rank, doc, grade, arithmetic, best))
    return tuple(terms)


def trace_interpolated(one: OneList, params: Params, k: float | None) -> Trace:
    """Trace IPrec as the doc where precision is best."""
    assert k is not None
    return Trace(_trace_levels(one, params, [k]), 1.0, "(nothing)")


def trace_interpolated_mean(one: OneList, params: Params, k: None) -> Trace:
    """Trace IPrecAvg as one term per level of recall that is reached."""
    levels = numbers(params["levels"])
    return Trace(_trace_levels(one, params, levels), len(levels), "levels of recall")


def trace_r_precision(one: OneList, params: Params, k: None) -> Trace:
    """Trace Rprec as counts over a multiple of R."""
    relevant = one.relevant(params["rel"])
    cut = int(params["mult"] * len(relevant) + 0.9)
    terms = tuple(
        Term(rank, doc, grade, "1", 1.0)
        for rank, doc, grade in relevant
        if rank is not None and rank <= cut
    )
    divisor_is = "relevant docs of the query"
    if params["mult"] != 1:
        divisor_is = f"{params['mult']:g} times the {len(relevant)} relevant docs, rounded"
    return Trace(terms, cut, divisor_is, None if cut else 0.0)


_TREC_EVAL = Parameter(
    "trec_eval",
    "9",
    "version whose rounding of level * R is used: 9 adds 0.9 and truncates, 10 rounds to nearest",
    kind="choice",
    choices=("9", "10"),
)

MEASURES = (
    Measure(
        name="IPrec",
        summary="interpolated precision: the best precision at any rank with recall of at least r",
        compute=compute_interpolated,
        trace=trace_interpolated,
        source="trec_eval 9.0.8 and 10.0, m_iprec_at_recall.c",
        parameters=(REL, _TREC_EVAL),
        cutoff="required",
        cutoff_is="level",
        monotone=False,
    ),
    Measure(
        name="IPrecAvg",
        summary="the mean of interpolated precision over levels of recall (11pt_avg)",
        compute=compute_interpolated_mean,
        trace=trace_interpolated_mean,
        source="trec_eval 9.0.8 and 10.0, m_11pt_avg.c",
        parameters=(
            Parameter(
                "levels", ELEVEN_POINTS, "levels of recall", kind="levels", low=0.0, high=1.0
            ),
            REL,
            _TREC_EVAL,
        ),
        cutoff="none",
        revision=2,
    ),
    Measure(
        name="Rprec",
        summary="precision at rank R, or at mult * R + 0.9 truncated to an integer",
        compute=compute_r_precision,
        trace=trace_r_precision,
        source="trec_eval 9.0.8, m_Rprec.c and m_Rprec_mult.c",
        parameters=(
            Parameter(
                "mult",
                1.0,
                "the rank, as a multiple of R",
                kind="number",
                low=0,
                high=1e6,
                open=True,
            ),
            REL,
        ),
        cutoff="none",
    ),
)

"""P, R, AP and RR: the measures of trec_eval that count relevant docs by rank."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.precision import count_within, precision_sum, reciprocal_rank
from irmeta.measures.cuts import empty_values, per_query, rank_cuts
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.rankings.judged import JudgedRanks

_TREC_EVAL = "trec_eval 9.0.8, m_{}.c"


def _counts(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    count_within(ranks, offsets, rank_cuts(view, ks), out)
    return out


def compute_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Relevant docs at ranks up to k, over k, however short the list is."""
    return _counts(view, params, ks) / np.array(ks, np.float64)[:, None, None]


def compute_recall(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Relevant docs at ranks up to k, over all relevant docs."""
    return per_query(_counts(view, params, ks), view.counts(params["rel"]), 0.0)


def compute_average_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Precisions at the relevant docs retrieved up to k, added up, over all relevant docs."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    precision_sum(ranks, offsets, rank_cuts(view, ks), out)
    return per_query(out, view.counts(params["rel"]), 0.0)


def compute_reciprocal_rank(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """One over the rank of the first relevant doc; 0 where there is none up to k."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    reciprocal_rank(ranks, offsets, rank_cuts(view, ks), out)
    return out


def _within(one: OneList, params: Params, k: int | None) -> list[tuple[int, str, int]]:
    last = one.length if k is None else k
    found = one.relevant(params["rel"])
    return [(rank, doc, grade) for rank, doc, grade in found if rank is not None and rank <= last]


def _trace_count(one: OneList, params: Params, k: int | None) -> tuple[Term, ...]:
    found = _within(one, params, k)
    return tuple(Term(*place, "1", 1.0) for place in found)


def trace_precision(one: OneList, params: Params, k: int | None) -> Trace:
    """P@k as counts over k."""
    assert k is not None
    return Trace(_trace_count(one, params, k), k, "the cutoff k")


def trace_recall(one: OneList, params: Params, k: int | None) -> Trace:
    """R@k as counts over R."""
    relevant = len(one.relevant(params["rel"]))
    undefined = None if relevant else 0.0
    return Trace(_trace_count(one, params, k), relevant, "relevant docs of the query", undefined)


def trace_average_precision(one: OneList, params: Params, k: int | None) -> Trace:
    """AP as precisions at relevant docs over R."""
    terms = tuple(
        Term(rank, doc, grade, f"{i}/{rank}", i / rank)
        for i, (rank, doc, grade) in enumerate(_within(one, params, k), 1)
    )
    relevant = len(one.relevant(params["rel"]))
    undefined = None if relevant else 0.0
    return Trace(terms, relevant, "relevant docs of the query", undefined)


def trace_reciprocal_rank(one: OneList, params: Params, k: int | None) -> Trace:
    """RR as one term."""
    first = _within(one, params, k)[:1]
    terms = tuple(Term(r, doc, grade, f"1/{r}", 1 / r) for r, doc, grade in first)
    return Trace(terms, 1.0, "(nothing)")


MEASURES = (
    Measure(
        name="P",
        summary="precision: the share of relevant docs among the first k",
        compute=compute_precision,
        trace=trace_precision,
        source=_TREC_EVAL.format("P"),
        cutoff="required",
        family="utility",
        monotone=False,
    ),
    Measure(
        name="R",
        summary="recall: the share of the relevant docs that is among the first k",
        compute=compute_recall,
        trace=trace_recall,
        source=_TREC_EVAL.format("recall"),
        cutoff="required",
    ),
    Measure(
        name="AP",
        summary="average precision; @k is trec_eval's map_cut, divided by all relevant docs",
        compute=compute_average_precision,
        trace=trace_average_precision,
        source=_TREC_EVAL.format("map"),
    ),
    Measure(
        name="RR",
        summary="reciprocal rank of the first relevant doc",
        compute=compute_reciprocal_rank,
        trace=trace_reciprocal_rank,
        source=_TREC_EVAL.format("recip_rank"),
        family="utility",
    ),
)

"""P, R, F, Success, Accuracy, RelP and RR: relevant docs in the top k, and rank of the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irmeta.kernels.cutoff_sums import count_within, reciprocal_rank
from irmeta.measures.spec import (
    TREC_EVAL,
    Cutoff,
    Cutoffs,
    Events,
    Measure,
    OneList,
    Params,
    Term,
    Trace,
)
from irmeta.measures.sums import (
    Worth,
    add_up,
    empty_values,
    needs_ties,
    per_query,
    positions,
    rank_cuts,
    refuse_assumed,
    weight_at,
    weighted_gain,
)
from irmeta.naming import BETA, REL, TIES
from irmeta.rankings.judged import JudgedRanks


def relevant_within(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Count the relevant docs at ranks up to k; under ``ties=share`` their expected number."""
    if params.get("ties", "order") == "share":
        relevant = (view.grades >= params["rel"]).astype(np.float64)
        ones = np.ones(view.facts.deepest_rank + 1)
        ones[0] = 0.0
        return weighted_gain(view, relevant, Worth(ones), ks, "share")
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    count_within(ranks, offsets, rank_cuts(view, ks), out)
    return out


def compute_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the relevant docs at ranks up to k by k, even if the list is shorter."""
    return relevant_within(view, params, ks) / np.array(ks, np.float64)[:, None, None]


def compute_recall(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the relevant docs at ranks up to k by all relevant docs."""
    return per_query(relevant_within(view, params, ks), view.counts(params["rel"]), 0.0)


def compute_f(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute (1 + beta^2) P R / (beta^2 P + R) of P@k and R@k.

    With h relevant docs at ranks up to k, and R in all, this is (1 + beta^2) h / (beta^2 R + k).
    """
    weight = params["beta"] ** 2
    most = weight * view.counts(params["rel"]) + np.array(ks, np.float64)[:, None]
    return (1.0 + weight) * relevant_within(view, params, ks) / most[:, :, None]


def compute_best_f(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Find the greatest F@k up to rank k; 0 without a relevant doc there.

    F is greatest at a relevant doc: (1 + beta^2) h / (beta^2 R + i) at the hth, at rank i.
    """
    ranks, offsets = view.sorted_ranks(params["rel"])
    relevant = np.diff(offsets)
    nth = np.arange(len(ranks)) - np.repeat(offsets[:-1], relevant) + 1.0
    weight = params["beta"] ** 2
    below = weight * np.repeat(relevant, relevant)[:, None] + ranks
    out, has_relevant = empty_values(view, ks), relevant > 0
    if has_relevant.any():
        starts = offsets[:-1][has_relevant]
        for values, last in zip(out, rank_cuts(view, ks), strict=True):
            f = np.where(ranks <= last, (1.0 + weight) * nth[:, None] / below, 0.0)
            values[has_relevant] = np.maximum.reduceat(f, starts, axis=0)
    return out


def compute_success(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Return 1 where a relevant doc is at a rank up to k, else 0."""
    return (relevant_within(view, params, ks) > 0).astype(np.float64)


def compute_accuracy(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the share of pairs in order: a relevant doc above a non-relevant one, among k docs.

    Notes
    -----
    Without a relevant doc among them the value is 0, and with relevant docs alone 1. ir_measures
    leaves out queries of the first kind, and divides by zero for those of the second.
    """
    ranks, offsets = view.sorted_ranks(params["rel"])
    relevant = relevant_within(view, params, ks)
    above = add_up(view, ranks, offsets, ranks - positions(offsets)[:, None], ks)
    cuts = np.array([np.iinfo(np.int64).max if k is None else k for k in ks])
    pairs = relevant * (np.minimum(view.lengths, cuts[:, None, None]) - relevant)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.where(pairs > 0, 1.0 - above / pairs, relevant > 0)
    return np.where(view.counts(params["rel"])[:, None] > 0, values, np.nan)


def compute_relative_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the relevant docs at ranks up to k by min(k, R)."""
    most = np.minimum(np.array(ks)[:, None], view.counts(params["rel"]))
    return per_query(relevant_within(view, params, ks), most, 0.0)


def compute_reciprocal_rank(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Return 1 / rank of the first relevant doc; 0 without a relevant doc up to k."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    reciprocal_rank(ranks, offsets, rank_cuts(view, ks), out)
    return out


def _counted(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Return ranks, offsets and amounts of a count of relevant docs."""
    if params.get("ties", "order") != "order":
        return None
    ranks, offsets = view.sorted_ranks(params["rel"])
    return ranks, offsets, np.ones(ranks.shape)


def events_precision(view: JudgedRanks, params: Params) -> Events | None:
    """Step by 1 at each relevant doc, over k."""
    counted = _counted(view, params)
    return counted and Events(
        *counted, lambda ks: np.repeat(ks[:, None] * 1.0, len(view.queries), 1)
    )


def events_recall(view: JudgedRanks, params: Params) -> Events | None:
    """Step by 1 at each relevant doc, over R."""
    counted, relevant = _counted(view, params), view.counts(params["rel"])[None] * 1.0
    return counted and Events(*counted, lambda ks: relevant)


def events_f(view: JudgedRanks, params: Params) -> Events | None:
    """Step by 1 at each relevant doc, times 1 + beta^2, over beta^2 R + k."""
    counted, weight = _counted(view, params), params["beta"] ** 2
    relevant = weight * view.counts(params["rel"])
    return counted and Events(*counted, lambda ks: relevant + ks[:, None], scale=1.0 + weight)


def events_relative_precision(view: JudgedRanks, params: Params) -> Events | None:
    """Step by 1 at each relevant doc, over min(k, R)."""
    counted, relevant = _counted(view, params), view.counts(params["rel"])
    return counted and Events(*counted, lambda ks: np.minimum(ks[:, None], relevant) * 1.0)


def _events_at_the_first(view: JudgedRanks, params: Params, over_rank: bool) -> Events:
    ranks, offsets = view.sorted_ranks(params["rel"])
    first = offsets[:-1][np.diff(offsets) > 0]
    amounts = np.zeros(ranks.shape)
    amounts[first] = 1.0 / ranks[first] if over_rank else 1.0
    return Events(ranks, offsets, amounts, lambda ks: np.ones((1, len(view.queries))))


def events_success(view: JudgedRanks, params: Params) -> Events:
    """Step by 1 at the first relevant doc."""
    return _events_at_the_first(view, params, over_rank=False)


def events_reciprocal_rank(view: JudgedRanks, params: Params) -> Events:
    """Step by 1 / rank at the first relevant doc."""
    return _events_at_the_first(view, params, over_rank=True)


def _count_terms(one: OneList, params: Params, k: int | None) -> tuple[Term, ...]:
    terms = []
    for rank, doc, grade in one.within(None):
        counts, shared = weight_at(one, rank, k, params.get("ties", "order"), lambda rank: 1.0)
        if counts > 0 and grade >= params["rel"]:
            terms.append(Term(rank, doc, grade, shared or "1", counts))
    return tuple(terms)


def trace_precision(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace P@k as counts over k."""
    assert k is not None
    return Trace(_count_terms(one, params, k), k, "the cutoff k")


def trace_recall(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace R@k as counts over R."""
    relevant = len(one.relevant(params["rel"]))
    undefined = None if relevant else 0.0
    terms = _count_terms(one, params, k)
    return Trace(terms, relevant, "relevant docs of the query", undefined)


def trace_f(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace F@k as (1 + beta^2) counts over beta^2 R + k."""
    assert k is not None
    weight, relevant = params["beta"] ** 2, len(one.relevant(params["rel"]))
    terms = tuple(
        replace(term, arithmetic=f"{1 + weight:g}", amount=1.0 + weight)
        for term in _count_terms(one, params, k)
    )
    divisor_is = f"{weight:g} times {relevant} relevant docs + the cutoff k"
    return Trace(terms, weight * relevant + k, divisor_is)


def trace_best_f(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace BestF as the relevant doc where F is greatest."""
    weight, relevant = params["beta"] ** 2, len(one.relevant(params["rel"]))
    retrieved = [d for d in one.within(k) if d[2] >= params["rel"]]
    terms = [
        Term(
            *(rank, doc, grade),
            f"{1 + weight:g} * {nth}/({weight:g} * {relevant} + {rank})",
            (1.0 + weight) * nth / (weight * relevant + rank),
        )
        for nth, (rank, doc, grade) in enumerate(retrieved, 1)
    ]
    best = [max(terms, key=lambda term: term.amount)] if terms else []
    return Trace(tuple(best), 1.0, "(nothing)")


def trace_success(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace Success@k as at most one term."""
    return Trace(_count_terms(one, params, k)[:1], 1.0, "(nothing)")


def trace_accuracy(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace Accuracy as the share of non-relevant docs below each relevant doc."""
    relevant = [d for d in one.within(k) if d[2] >= params["rel"]]
    others = min(one.length, one.length if k is None else k) - len(relevant)
    terms = tuple(
        Term(
            *(rank, doc, grade),
            f"1 - {rank - i}/{others}" if others else "1",
            1.0 - (rank - i) / others if others else 1.0,
        )
        for i, (rank, doc, grade) in enumerate(relevant, 1)
    )
    undefined = 0.0 if one.relevant(params["rel"]) else np.nan
    return Trace(terms, len(relevant), "relevant docs retrieved", None if relevant else undefined)


def trace_relative_precision(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace RelP@k as counts over min(k, R)."""
    assert k is not None
    most = min(k, len(one.relevant(params["rel"])))
    terms = _count_terms(one, params, k)
    return Trace(terms, most, "min(k, relevant docs of the query)", None if most else 0.0)


def trace_reciprocal_rank(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace RR as at most one term."""
    first = [d for d in one.within(k) if d[2] >= params["rel"]][:1]
    terms = tuple(Term(r, doc, grade, f"1/{r}", 1 / r) for r, doc, grade in first)
    return Trace(terms, 1.0, "(nothing)")


def _printed_precision(params: Params, cutoff: Cutoff) -> Sequence[str]:
    refuse_assumed("P", params)
    return [p.name for p in (REL, TIES) if params[p.name] != p.default]


_TIES = (REL, TIES)

MEASURES = (
    Measure(
        name="P",
        summary="precision: the share of relevant docs among the first k",
        compute=compute_precision,
        trace=trace_precision,
        source=TREC_EVAL.format("P"),
        parameters=_TIES,
        cutoff="required",
        family="utility",
        monotone=False,
        needs=needs_ties,
        events=events_precision,
        printed=_printed_precision,
        gained_only=True,
    ),
    Measure(
        name="R",
        summary="recall: the share of the relevant docs that is among the first k",
        compute=compute_recall,
        trace=trace_recall,
        source=TREC_EVAL.format("recall"),
        parameters=_TIES,
        cutoff="required",
        needs=needs_ties,
        events=events_recall,
        gained_only=True,
    ),
    Measure(
        name="F",
        summary="F of P@k and R@k: their weighted harmonic mean, F1 by default",
        compute=compute_f,
        trace=trace_f,
        source="van Rijsbergen (1979), Information Retrieval, ch. 7; at a cutoff as in ranx's f1",
        parameters=(BETA, REL),
        cutoff="required",
        monotone=False,
        events=events_f,
    ),
    Measure(
        name="BestF",
        summary="hypothetical F: the greatest F@k at any rank, or at ranks up to k",
        compute=compute_best_f,
        trace=trace_best_f,
        source="Cormack et al. 2010, Overview of the TREC 2010 legal track (hypothetical F1)",
        parameters=(BETA, REL),
    ),
    Measure(
        name="Success",
        summary="1 if a relevant doc is among the first k, else 0",
        compute=compute_success,
        trace=trace_success,
        source=TREC_EVAL.format("success"),
        cutoff="required",
        family="utility",
        events=events_success,
        gained_only=True,
    ),
    Measure(
        name="Accuracy",
        summary="the share of pairs of a relevant and a non-relevant doc among the first k that "
        "are in order; BEIR's Accuracy@k is Success@k",
        compute=compute_accuracy,
        trace=trace_accuracy,
        source="ir_measures 0.4.3, Accuracy; the area under the ROC curve of the first k, Hanley "
        "and McNeil 1982, doi:10.1148/radiology.143.1.7063747",
        monotone=False,
        no_relevant=np.nan,
    ),
    Measure(
        name="RelP",
        summary="relative precision: P@k over the greatest possible P@k",
        compute=compute_relative_precision,
        trace=trace_relative_precision,
        source=TREC_EVAL.format("rel_P"),
        cutoff="required",
        monotone=False,
        events=events_relative_precision,
    ),
    Measure(
        name="RR",
        summary="reciprocal rank of the first relevant doc",
        compute=compute_reciprocal_rank,
        trace=trace_reciprocal_rank,
        source=TREC_EVAL.format("recip_rank"),
        family="utility",
        events=events_reciprocal_rank,
        gained_only=True,
    ),
)

"""P, R, AllRel, F, Success, Accuracy, RelP, RR: relevant docs in the top k, rank of the first."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from irmeta.kernels.cutoff_sums import count_within, reciprocal_rank
from irmeta.measures.spec import (
    TREC_EVAL,
    Cutoffs,
    Measure,
    OneList,
    Params,
    Steps,
    Term,
    Trace,
)
from irmeta.measures.sums import (
    LEAST_RELEVANT,
    RELEVANT,
    Divisor,
    Sum,
    Worth,
    add_up,
    empty_values,
    needs_ties,
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


def _steps(view: JudgedRanks, params: Params) -> Steps:
    """Step by 1 at each relevant doc."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    return ranks, offsets, np.ones(ranks.shape)


def _terms(ranking: OneList, params: Params, k: int | None) -> list[Term]:
    terms = []
    for rank, doc, grade in ranking.within(None):
        amount, shared = weight_at(ranking, rank, k, params.get("ties", "order"), lambda rank: 1.0)
        if amount > 0 and grade >= params["rel"]:
            terms.append(Term(rank, doc, grade, shared or "1", amount))
    return terms


_CUTOFF = Divisor(
    lambda view, params, ks: np.tile(np.array(ks, np.float64)[:, None], len(view.queries)),
    lambda ranking, params, k: (k, "the cutoff k"),
)
P = Sum(
    "Divide the relevant docs at ranks up to k by k, even if the list is shorter.",
    *(_steps, _terms, _CUTOFF),
    add=relevant_within,
)
R = Sum(
    "Divide the relevant docs at ranks up to k by all relevant docs.",
    *(_steps, _terms, RELEVANT),
    add=relevant_within,
)
RELATIVE_P = Sum(
    "Divide the relevant docs at ranks up to k by min(k, R).",
    *(_steps, _terms, LEAST_RELEVANT),
    add=relevant_within,
)


def _f_terms(ranking: OneList, params: Params, k: int) -> list[Term]:
    amount = 1.0 + params["beta"] ** 2
    return [replace(t, arithmetic=f"{amount:g}", amount=amount) for t in _terms(ranking, params, k)]


def _f_divisor(ranking: OneList, params: Params, k: int) -> tuple[float, str]:
    weight, relevant = params["beta"] ** 2, len(ranking.relevant(params["rel"]))
    return weight * relevant + k, f"{weight:g} times {relevant} relevant docs + the cutoff k"


_F_DIVISOR = Divisor(
    lambda view, params, ks: (
        params["beta"] ** 2 * view.counts(params["rel"]) + np.array(ks, np.float64)[:, None]
    ),
    _f_divisor,
)
F = Sum(
    """Compute (1 + beta^2) P R / (beta^2 P + R) of P@k and R@k.

    With h relevant docs at ranks up to k, and R in all, this is (1 + beta^2) h / (beta^2 R + k).
    """,
    *(_steps, _f_terms, _F_DIVISOR),
    scale=lambda params: 1.0 + params["beta"] ** 2,
    add=relevant_within,
)


def _step_once(view: JudgedRanks, params: Params, *, over_rank: bool) -> Steps:
    """Step at the first relevant doc: by 1, or by 1 / rank."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    first = offsets[:-1][np.diff(offsets) > 0]
    amounts = np.zeros(ranks.shape)
    amounts[first] = 1.0 / ranks[first] if over_rank else 1.0
    return ranks, offsets, amounts


SUCCESS = Sum(
    "Return 1 where a relevant doc is at a rank up to k, else 0.",
    steps=partial(_step_once, over_rank=False),
    terms=lambda ranking, params, k: _terms(ranking, params, k)[:1],
    add=lambda view, params, ks: (relevant_within(view, params, ks) > 0).astype(np.float64),
)


def _step_at_last(view: JudgedRanks, params: Params) -> Steps:
    """Step by 1 at the last relevant doc, which is out of reach if one is not retrieved."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    amounts = np.zeros(ranks.shape)
    amounts[offsets[1:][np.diff(offsets) > 0] - 1] = 1.0
    return ranks, offsets, amounts


def _has_all(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    relevant = view.counts(params["rel"])[:, None]
    within = relevant_within(view, params, ks)
    return ((relevant > 0) & (within == relevant)).astype(np.float64)


def _last_term(ranking: OneList, params: Params, k: int | None) -> list[Term]:
    terms = _terms(ranking, params, k)
    return terms[-1:] if len(terms) == len(ranking.relevant(params["rel"])) else []


ALL_RELEVANT = Sum(
    "Return 1 where all relevant docs are at ranks up to k, else 0; 0 without a relevant doc.",
    steps=_step_at_last,
    terms=_last_term,
    add=_has_all,
)


def _reciprocal_ranks(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    reciprocal_rank(ranks, offsets, rank_cuts(view, ks), out)
    return out


def _reciprocal_terms(ranking: OneList, params: Params, k: int | None) -> list[Term]:
    relevant = [doc for doc in ranking.within(k) if doc[2] >= params["rel"]]
    return [Term(rank, doc, grade, f"1/{rank}", 1 / rank) for rank, doc, grade in relevant[:1]]


RR = Sum(
    "Return 1 / rank of the first relevant doc; 0 without a relevant doc up to k.",
    steps=partial(_step_once, over_rank=True),
    terms=_reciprocal_terms,
    add=_reciprocal_ranks,
)


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


def trace_best_f(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace BestF as the relevant doc where F is greatest."""
    weight, relevant = params["beta"] ** 2, len(ranking.relevant(params["rel"]))
    retrieved = [d for d in ranking.within(k) if d[2] >= params["rel"]]
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


def trace_accuracy(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace Accuracy as the share of non-relevant docs below each relevant doc."""
    relevant = [d for d in ranking.within(k) if d[2] >= params["rel"]]
    others = min(ranking.length, ranking.length if k is None else k) - len(relevant)
    terms = tuple(
        Term(
            *(rank, doc, grade),
            f"1 - {rank - i}/{others}" if others else "1",
            1.0 - (rank - i) / others if others else 1.0,
        )
        for i, (rank, doc, grade) in enumerate(relevant, 1)
    )
    undefined = 0.0 if ranking.relevant(params["rel"]) else np.nan
    return Trace(terms, len(relevant), "relevant docs retrieved", None if relevant else undefined)


_TIES = (REL, TIES)

MEASURES = (
    Measure(
        name="P",
        summary="precision: the share of relevant docs among the first k",
        **P.functions,
        source=TREC_EVAL.format("P"),
        parameters=_TIES,
        cutoff="required",
        family="utility",
        monotone=False,
        needs=needs_ties,
        check=lambda params, cutoff: refuse_assumed("P", params),
        gained_only=True,
    ),
    Measure(
        name="R",
        summary="recall: the share of the relevant docs that is among the first k",
        **R.functions,
        source=TREC_EVAL.format("recall"),
        parameters=_TIES,
        cutoff="required",
        needs=needs_ties,
        gained_only=True,
    ),
    Measure(
        name="AllRel",
        summary="1 if all relevant docs are among the first k, else 0: where R@k is 1",
        **ALL_RELEVANT.functions,
        source="Wu et al. 2024, LongMemEval, doi:10.48550/arXiv.2410.10813 (recall_all)",
        cutoff="required",
        gained_only=True,
    ),
    Measure(
        name="F",
        summary="F of P@k and R@k: their weighted harmonic mean, F1 by default",
        **F.functions,
        source="van Rijsbergen (1979), Information Retrieval, ch. 7; at a cutoff as in ranx's f1",
        parameters=(BETA, REL),
        cutoff="required",
        monotone=False,
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
        **SUCCESS.functions,
        source=TREC_EVAL.format("success"),
        cutoff="required",
        family="utility",
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
        **RELATIVE_P.functions,
        source=TREC_EVAL.format("rel_P"),
        cutoff="required",
        monotone=False,
    ),
    Measure(
        name="RR",
        summary="reciprocal rank of the first relevant doc",
        **RR.functions,
        source=TREC_EVAL.format("recip_rank"),
        family="utility",
        gained_only=True,
    ),
)

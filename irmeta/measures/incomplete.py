"""Measures for incomplete judgments: Bpref, infAP, and the judged share of a list."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from irmeta.kernels.cutoff_sums import count_within
from irmeta.kernels.incomplete import bpref_sum, first_unjudged, inferred_sum
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import empty_values, per_query, rank_cuts
from irmeta.naming import REL, Parameter
from irmeta.rankings.derive.select import UNJUDGED_DOC, counting_space
from irmeta.rankings.judged import JudgedRanks

FORM = Parameter(
    "form",
    "trec_eval",
    "definition: trec_eval since version 8; trec_eval7: version 7.3; original and bpref-10: 2004",
    kind="choice",
    choices=("trec_eval", "trec_eval7", "original", "bpref-10"),
)
_MORE = {"bpref-10": 10}
"""Non-relevant docs beyond R that count."""
_BOUND_BY = {"trec_eval": 1, "trec_eval7": 2}
"""Whether the divisor is at most the number of judged (1) or retrieved (2) non-relevant docs."""


def compute_bpref(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the mean over relevant docs of 1 - min(n, R) / min(N, R).

    n of the N judged non-relevant docs are above the relevant doc; the term is 1 for n = 0, and 0
    for a relevant doc that is not retrieved. In trec_eval 7.3 (TREC 2003 and 2004, by the comments
    in the source of trec_eval 8.1), N counts retrieved docs only. The divisor is R in the original
    definition (doi:10.1145/1008992.1009000); bpref-10 replaces R by R + 10 in both places.
    """
    relevant = view.sorted_ranks(params["rel"])
    nonrelevant = view.sorted_ranks(*view.nonrelevant(params["rel"]))
    out, form = np.zeros(view.lengths.shape), params["form"]
    bounds = _MORE.get(form, 0), _BOUND_BY.get(form, 0)
    bpref_sum(*relevant, *nonrelevant, view.missing, *bounds, out)
    return per_query(out[None], view.counts(params["rel"]), 0.0)


def trace_bpref(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace Bpref as one term per relevant doc retrieved."""
    rel = params["rel"]
    lowest = -math.inf if ranking.negative == "nonrelevant" else 0
    nonrelevant = [rank for rank, _, grade in ranking.judged if lowest <= grade < rel]
    relevant, form = ranking.relevant(rel), params["form"]
    most = len(relevant) + _MORE.get(form, 0)
    bound, divisor = most, f"{most}"
    if form in _BOUND_BY:
        ranks = nonrelevant if form == "trec_eval" else [r for r in nonrelevant if r is not None]
        bound, divisor = min(len(ranks), most), f"min({len(ranks)}, {most})"
    terms = []
    for rank, doc, grade in relevant:
        if rank is None:
            continue
        above = sum(r is not None and r < rank for r in nonrelevant)
        text, amount = "none judged non-relevant above: 1", 1.0
        if above:
            text = f"1 - min({above}, {most})/{divisor}"
            amount = 1.0 - min(above, most) / bound
        terms.append(Term(rank, doc, grade, text, amount))
    undefined = None if relevant else 0.0
    return Trace(tuple(terms), len(relevant), "relevant docs of the query", undefined)


EPSILON = 0.00001  # trec_eval's INFAP_EPSILON


def compute_inferred(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum the expected precisions at the relevant docs retrieved, over all relevant docs."""
    lowest, rel = view.nonrelevant(params["rel"])
    relevant, nonrelevant = view.sorted_ranks(rel), view.sorted_ranks(lowest, rel)
    unjudged = view.sorted_ranks(-np.inf, lowest)
    out = np.zeros(view.lengths.shape)
    inferred_sum(*relevant, *nonrelevant, *unjudged, view.missing, EPSILON, out)
    means = per_query(out[None], view.counts(params["rel"]), 0.0)
    return np.broadcast_to(means, (len(ks), *view.lengths.shape))


def trace_inferred(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace infAP as one expected precision per relevant doc retrieved."""
    rel = params["rel"]
    terms = []
    better = judged = 0
    for pooled, (rank, doc, grade) in enumerate(ranking.within(None)):
        if grade >= rel:
            share = (better + EPSILON) / (judged + 2 * EPSILON)
            text = "1"
            if rank > 1:
                text = f"1/{rank} + {pooled}/{rank} in the pool * ({better} + e)/({judged} + 2e)"
            terms.append(Term(rank, doc, grade, text, (1 + pooled * share) / rank))
        better += grade >= rel
        judged += ranking.counts_as_judged(grade)
    relevant = len(ranking.relevant(rel))
    undefined = None if relevant else 0.0
    return Trace(tuple(terms), relevant, "relevant docs of the query", undefined)


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
    lists = view.ranks, view.offsets, view.is_judged, view.lengths
    first_unjudged(*lists, counting_space(view), out)
    return np.broadcast_to(out, (len(ks), *out.shape))


def _judged(ranking: OneList, k: int | None) -> list[tuple[int, str, float]]:
    return [d for d in ranking.within(k) if ranking.counts_as_judged(d[2])]


def _unjudged(ranking: OneList, k: int | None) -> list[tuple[int, str, float]]:
    """List the unjudged docs at ranks up to k, by rank; docs not in the qrels have no name."""
    last = ranking.length if k is None else min(k, ranking.length)
    judged = {rank for rank, *_ in _judged(ranking, k)}
    known = {rank: (rank, doc, grade) for rank, doc, grade in ranking.within(k)}
    ranks = (rank for rank in range(1, last + 1) if rank not in judged)
    return [known.get(rank, (rank, UNJUDGED_DOC, -1)) for rank in ranks]


def trace_judged(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace Judged as counts over the docs of the list up to k."""
    terms = tuple(Term(*doc, "1", 1.0) for doc in _judged(ranking, k))
    listed = ranking.length if k is None else min(k, ranking.length)
    divisor_is = "docs of the list" + ("" if k is None else f", to rank {k}")
    return Trace(terms, listed, divisor_is, None if listed else 0.0)


def trace_first_unjudged(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace FirstUnjudged as one rank."""
    after = ranking.length + 1
    term = Term(
        None, "(no doc)", 0, f"all {ranking.length} are judged: {ranking.length} + 1", after
    )
    for rank, doc, grade in _unjudged(ranking, None)[:1]:
        term = Term(rank, doc, grade, f"rank {rank}", float(rank))
    return Trace((term,), 1.0, "(nothing)")


_count = partial(Measure, parameters=(), no_relevant=None, family="count", unjudged=())

MEASURES = (
    Measure(
        name="Bpref",
        summary="binary preference: judged non-relevant docs above relevant ones",
        compute=compute_bpref,
        trace=trace_bpref,
        source="trec_eval 9.0.8, m_bpref.c; doi:10.1145/1008992.1009000",
        parameters=(REL, FORM),
        cutoff="none",
        monotone=False,
        unjudged=(),
        revision=2,
    ),
    Measure(
        name="infAP",
        summary="inferred AP: grades below 0 mark the docs of the pool that were not sampled",
        compute=compute_inferred,
        trace=trace_inferred,
        source="trec_eval 9.0.8, m_infap.c; doi:10.1145/1183614.1183633",
        parameters=(REL,),
        cutoff="none",
        revision=2,
    ),
    _count(
        name="Judged",
        summary="the share of the list, or of its first k docs, that is judged",
        compute=compute_judged,
        trace=trace_judged,
        source="ir_measures 0.4.3, Judged@k",
        monotone=False,
    ),
    _count(
        name="Unjudged",
        summary="unjudged docs among the first k, over k",
        compute=compute_unjudged,
        trace=lambda ranking, params, k: Trace(
            tuple(Term(*doc, "1", 1.0) for doc in _unjudged(ranking, k)), k, "the cutoff k"
        ),
        source="trec_eval 10.0, m_unjudged.c",
        cutoff="required",
        direction=-1,
        monotone=False,
    ),
    _count(
        name="FirstUnjudged",
        summary="the rank of the first unjudged doc; list length + 1 if all docs are judged",
        compute=compute_first_unjudged,
        trace=trace_first_unjudged,
        source="doi:10.1007/s10791-016-9282-6, Table 4 (RankUnj)",
        cutoff="none",
        format="length",
        unit="rank",
        bounds=(1.0, math.inf),
        empty_list="1",
    ),
)

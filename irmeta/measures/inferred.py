"""Inferred AP: the expected AP where only a sample of the pool was judged."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.judged_only import inferred_sum
from irmeta.measures.cutoffs import per_query
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL
from irmeta.rankings.judged import JudgedRanks

EPSILON = 0.00001  # trec_eval's INFAP_EPSILON


def compute_inferred(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum the expected precisions at the relevant docs retrieved, over all relevant docs."""
    lowest, rel = view.nonrelevant(params["rel"])
    relevant, relevant_offsets = view.sorted_ranks(rel)
    nonrelevant, nonrelevant_offsets = view.sorted_ranks(lowest, rel)
    unjudged, unjudged_offsets = view.sorted_ranks(-np.inf, lowest)
    out = np.zeros(view.lengths.shape)
    inferred_sum(
        relevant,
        relevant_offsets,
        nonrelevant,
        nonrelevant_offsets,
        unjudged,
        unjudged_offsets,
        view.missing,
        EPSILON,
        out,
    )
    means = per_query(out[None], view.counts(params["rel"]), 0.0)
    return np.broadcast_to(means, (len(ks), *view.lengths.shape))


def trace_inferred(one: OneList, params: Params, k: None) -> Trace:
    """Trace infAP as one expected precision per relevant doc retrieved."""
    rel = params["rel"]
    terms = []
    better = judged = 0
    for pooled, (rank, doc, grade) in enumerate(one.within(None)):
        if grade >= rel:
            share = (better + EPSILON) / (judged + 2 * EPSILON)
            text = "1"
            if rank > 1:
                text = f"1/{rank} + {pooled}/{rank} in the pool * ({better} + e)/({judged} + 2e)"
            terms.append(Term(rank, doc, grade, text, (1 + pooled * share) / rank))
        better += grade >= rel
        judged += one.counts_as_judged(grade)
    relevant = len(one.relevant(rel))
    undefined = None if relevant else 0.0
    return Trace(tuple(terms), relevant, "relevant docs of the query", undefined)


MEASURES = (
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
)

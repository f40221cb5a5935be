"""Bpref: binary preferences between judged docs."""

from __future__ import annotations

import math

import numpy as np

from irmeta.kernels.judged_only import bpref_sum
from irmeta.measures.cutoffs import per_query
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL, Parameter
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
    relevant, relevant_offsets = view.sorted_ranks(params["rel"])
    nonrelevant, nonrelevant_offsets = view.sorted_ranks(*view.nonrelevant(params["rel"]))
    out = np.zeros(view.lengths.shape)
    form = params["form"]
    bpref_sum(
        relevant,
        relevant_offsets,
        nonrelevant,
        nonrelevant_offsets,
        view.missing,
        _MORE.get(form, 0),
        _BOUND_BY.get(form, 0),
        out,
    )
    return per_query(out[None], view.counts(params["rel"]), 0.0)


def trace_bpref(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace Bpref as one term per relevant doc retrieved."""
    rel = params["rel"]
    lowest = -math.inf if one.negative == "nonrelevant" else 0
    nonrelevant = [rank for rank, _, grade in one.judged if lowest <= grade < rel]
    relevant, form = one.relevant(rel), params["form"]
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
)

"""RBP, rank-biased precision, and its residual, the weight of unjudged docs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.incomplete import add_unjudged
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import (
    GAIN_OF,
    OF_QUERY,
    Sum,
    Worth,
    doc_gains,
    empty_values,
    needs_ties,
    rank_cuts,
    refuse_assumed,
    retrieved,
    weight_at,
    weighted_gain,
    weighted_gains,
    weighted_terms,
)
from irmeta.naming import GMAX, REL, TIES, Parameter
from irmeta.rankings.derive.select import UNJUDGED_DOC, counting_space
from irmeta.rankings.judged import JudgedRanks


def powers(p: float, deepest: int) -> np.ndarray:
    """Compute p^0, p^1, ... p^deepest, each from the one before, as trec_eval 10 does."""
    return np.cumprod(np.concatenate([[1.0], np.full(deepest, p)]))


def gains(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the gain of each row of a view."""
    return doc_gains(view, params["gain"], params["rel"], params["gmax"])


def worth(view: JudgedRanks, params: Params) -> Worth:
    """Return the worth of gains: gain times p^(rank - 1)."""
    by_rank = powers(params["p"], view.facts.deepest_rank - 1)
    return Worth(np.concatenate([[0.0], by_rank]))


def _terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    p = params["p"]
    return weighted_terms(
        ranking,
        params,
        k,
        lambda rank: (1 - p) * p ** (rank - 1),
        lambda rank, gain: f"(1 - {p:g}) x {p:g}^{rank - 1} x gain {gain:g}",
    )


RBP = Sum(
    "Compute (1 - p) times the sum of gain times p^(rank - 1).",
    **weighted_gains(gains, worth),
    terms=_terms,
    scale=lambda params: 1.0 - params["p"],
)


def compute_residual(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum the weights of unjudged docs, and of all ranks below the list or the cutoff.

    Where tied docs share weights, the residual is 1 minus the weights of judged docs, because all
    weights add up to 1.
    """
    if params["ties"] == "order":
        residual = _of_unjudged(view, params["p"], ks)
    else:
        judged = view.is_judged.astype(np.float64)
        total = weighted_gain(view, judged, worth(view, params), ks, params["ties"])
        residual = np.maximum(1.0 - (1.0 - params["p"]) * total, 0.0)  # below 0 by rounding
    if params["tail"] == "trec_eval10":
        judged = retrieved(view, view.nonrelevant(1)[0])
        residual[:, judged == view.lengths] = 0.0
    return residual


def _of_unjudged(view: JudgedRanks, p: float, ks: Cutoffs) -> np.ndarray:
    total, cuts = empty_values(view, ks), rank_cuts(view, ks)
    weights = powers(p, view.facts.deepest_rank)
    lists = view.ranks, view.offsets, view.is_judged, view.lengths
    add_unjudged(*lists, counting_space(view), weights, cuts, total)
    return weights[np.minimum(view.lengths, cuts[:, None, None])] + (1.0 - p) * total


def trace_residual(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace the residual as the weights of unjudged docs and of the ranks below."""
    p, terms = params["p"], []
    by_rank = {rank: (doc, grade) for rank, doc, grade in ranking.within(None)}
    judged = {r for r, (_, grade) in by_rank.items() if ranking.counts_as_judged(grade)}
    unjudged = [rank for rank in range(1, ranking.length + 1) if rank not in judged]
    if params["tail"] == "trec_eval10" and not unjudged:
        return Trace((), 1.0, "(nothing)")
    for rank in unjudged:
        amount, shared = weight_at(
            ranking, rank, k, params["ties"], lambda i: (1 - p) * p ** (i - 1)
        )
        doc, grade = by_rank.get(rank, (UNJUDGED_DOC, -1))
        if amount > 0:
            arithmetic = shared or f"(1 - {p:g}) x {p:g}^{rank - 1}"
            terms.append(Term(rank, doc, grade, arithmetic, amount))
    last = ranking.length if k is None else min(k, ranking.length)
    below = Term(None, f"all below rank {last}", -1, f"{p:g}^{last}", p**last)
    return Trace((*terms, below), 1.0, "(nothing)")


def check_rbp(measure: str, params: Params) -> None:
    """Raise an error for parameters that cannot be combined."""
    refuse_assumed(measure, params)
    if params["gain"] == "binary":
        if params["gmax"] is not None:
            raise MeasureError(f"{measure}: gmax needs a graded gain (gain=linear or gain=exp).")
        return
    if params["gain"] == OF_QUERY and params["gmax"] is not None:
        raise MeasureError(f"{measure}: gain={OF_QUERY} takes no gmax, see gain=linear.")
    if params["rel"] != REL.default:
        raise MeasureError(
            f"{measure}: rel needs gain=binary; a graded gain counts every grade from 1."
        )


def printed_rbp(params: Params, cutoff: Cutoff) -> list[str]:
    """List the parameters that a name prints: p, and `rel` of binary gains or `gain` of others."""
    used = ["rel"] if params["gain"] == "binary" else ["gain"]
    changed = [p.name for p in (GMAX, TIES) if params.get(p.name, p.default) != p.default]
    return ["p", *used, *changed]


PERSISTENCE = Parameter("p", 0.8, "persistence", kind="number", low=0, high=1, open=True)
GAIN = Parameter("gain", "binary", GAIN_OF, kind="choice", choices=("binary", "linear", "exp"))
_GAIN = Parameter(
    "gain",
    "binary",
    f"{GAIN_OF}, {OF_QUERY} g / highest grade of the query",
    kind="choice",
    choices=(*GAIN.choices, OF_QUERY),
)
_TAIL = Parameter(
    "tail",
    "always",
    "weight of the ranks below: always added, or (trec_eval10) only if the list has an unjudged "
    "doc",
    kind="choice",
    choices=("always", "trec_eval10"),
)

MEASURES = (
    Measure(
        name="RBP",
        summary="rank-biased precision, binary by default",
        **RBP.functions,
        source="doi:10.1145/1416950.1416952, Eq. 5",
        parameters=(PERSISTENCE, REL, _GAIN, GMAX, TIES),
        family="utility",
        needs=needs_ties,
        check=lambda params, cutoff: check_rbp("RBP", params),
        printed=printed_rbp,
        revision=2,
        gained_only=True,
    ),
    Measure(
        name="RBPResidual",
        summary="how much higher RBP could be, were all unjudged docs and ranks below relevant",
        compute=compute_residual,
        trace=trace_residual,
        source="doi:10.1145/1416950.1416952; trec_eval 10.0, m_rbp_resid.c",
        parameters=(PERSISTENCE, _TAIL, TIES),
        direction=-1,
        no_relevant=None,
        empty_list="1",
        family="count",
        unjudged=(),
        needs=needs_ties,
        printed=lambda params, cutoff: [
            "p",
            *(p.name for p in (_TAIL, TIES) if params[p.name] != p.default),
        ],
        revision=2,
    ),
)

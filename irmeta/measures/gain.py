"""nDCG and RBP: discounted gains."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.gain import discounted_gain, ideal_gain
from irmeta.measures.cuts import empty_values, per_query, rank_cuts
from irmeta.measures.gains import gains
from irmeta.measures.spec import REL, Cutoffs, Measure, OneList, Parameter, Params, Term, Trace
from irmeta.rankings.judged import JudgedRanks


def _log2_discounts(deepest: int) -> np.ndarray:
    """1 / log2(rank + 1) by rank; the entry for rank 0 is not used."""
    return np.concatenate([[0.0], 1.0 / np.log2(np.arange(2, deepest + 2))])


def compute_ndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """DCG over the DCG of the ideal list, which holds all judged docs by gain descending."""
    gain = gains(view.grades, params["gain"], highest=view.facts.highest_grade)
    longest = int(np.diff(view.offsets).max(initial=0))
    discounts = _log2_discounts(max(view.facts.deepest_rank, longest))
    out = empty_values(view, ks)
    discounted_gain(view.ranks, view.offsets, gain, discounts, rank_cuts(view, ks), out)
    ideal = np.zeros(out.shape[:2])
    # The ideal list may be longer than any rank that the array's type can hold.
    firsts = np.array([longest if k is None else min(k, longest) for k in ks], np.int64)
    ideal_gain(view.offsets, gain, discounts, firsts, ideal)
    return per_query(out, ideal, 0.0)


def compute_rbp(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """(1 - p) times the gains, each times p for every doc above it."""
    gain = gains(
        view.grades, params["gain"], params["rel"], _highest(view.facts.highest_grade, params)
    )
    p = params["p"]
    out = empty_values(view, ks)
    # By rank from 1; the entry for rank 0 is not used.
    discounts = np.concatenate([[0.0], (1.0 - p) * p ** np.arange(view.facts.deepest_rank)])
    discounted_gain(view.ranks, view.offsets, gain, discounts, rank_cuts(view, ks), out)
    return out


def _highest(track_highest: int, params: Params) -> int:
    given = params["gmax"]
    if given is None:
        return track_highest
    if given < track_highest and params["gain"] != "binary":
        raise MeasureError(
            f"gmax={given} is below {track_highest}, the highest grade of the track: gains would "
            "be greater than 1."
        )
    return given


def _retrieved(one: OneList, k: int | None) -> list[tuple[int, str, int]]:
    last = one.length if k is None else k
    return [(r, doc, grade) for r, doc, grade in one.judged if r is not None and r <= last]


def _gain_of(grade: int, params: Params, highest: int) -> float:
    found = gains(np.array([grade]), params["gain"], params.get("rel", 1), highest)
    return float(found[0])


def trace_ndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """nDCG as gains over log2(rank + 1), over the ideal list's."""
    terms = tuple(
        Term(r, doc, grade, f"gain {gain:g} / log2({r} + 1)", gain / math.log2(r + 1))
        for r, doc, grade in _retrieved(one, k)
        if (gain := _gain_of(grade, params, one.highest_grade)) > 0
    )
    best = sorted((_gain_of(g, params, one.highest_grade) for *_, g in one.judged), reverse=True)
    ideal = sum(g / math.log2(i + 1) for i, g in enumerate(best[:k], 1))
    undefined = None if ideal > 0 else 0.0
    return Trace(terms, ideal, "the same sum over the ideal list", undefined)


def trace_rbp(one: OneList, params: Params, k: int | None) -> Trace:
    """RBP as weighted gains."""
    p, highest = params["p"], _highest(one.highest_grade, params)
    terms = tuple(
        Term(
            r,
            doc,
            grade,
            f"(1 - {p:g}) x {p:g}^{r - 1} x gain {gain:g}",
            (1 - p) * p ** (r - 1) * gain,
        )
        for r, doc, grade in _retrieved(one, k)
        if (gain := _gain_of(grade, params, highest)) > 0
    )
    return Trace(terms, 1.0, "(nothing)")


def _rbp_printed(params: Params) -> Sequence[str]:
    if params["gain"] == "binary":
        if params["gmax"] is not None:
            raise MeasureError("RBP: gmax goes with a graded gain (gain=linear or gain=exp).")
        return ["p", "rel"]
    if params["rel"] != REL.default:
        raise MeasureError(
            "RBP: rel goes with gain=binary; a graded gain takes every grade from 1."
        )
    return ["p", "gain"] if params["gmax"] is None else ["p", "gain", "gmax"]


MEASURES = (
    Measure(
        name="nDCG",
        summary="normalised discounted cumulated gain, discount log2(rank + 1); rel is not used",
        compute=compute_ndcg,
        trace=trace_ndcg,
        source="trec_eval 9.0.8, m_ndcg.c and m_ndcg_cut.c; doi:10.1145/582415.582418",
        parameters=(
            Parameter("gain", "grade", "gain of a doc", kind="choice", choices=("grade", "exp")),
        ),
        monotone=False,
    ),
    Measure(
        name="RBP",
        summary="rank-biased precision, binary unless a graded gain is named",
        compute=compute_rbp,
        trace=trace_rbp,
        source="doi:10.1145/1416950.1416952, Eq. 5",
        parameters=(
            Parameter("p", 0.8, "persistence", kind="number", low=0, high=1, open=True),
            REL,
            Parameter(
                "gain",
                "binary",
                "gain of a doc",
                kind="choice",
                choices=("binary", "linear", "exp"),
            ),
            Parameter("gmax", None, "highest grade; default the track's", low=1, high=127),
        ),
        family="utility",
        printed=_rbp_printed,
    ),
)

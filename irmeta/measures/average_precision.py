"""AP, precision at levels of recall, and Q, with the cutoffs of Lu, Moffat and Culpepper (2016)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.cutoff_sums import (
    best_precision_from,
    blended_ratios,
    count_to_own_cut,
    precision_sum,
)
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Steps, Term, Trace
from irmeta.measures.sums import (
    GAIN_OF,
    GAINS,
    IDEAL,
    NORM,
    RELEVANT,
    Sum,
    doc_gain,
    doc_gains,
    empty_values,
    label_type,
    needs_pool,
    per_query,
    positions,
    rank_cuts,
    refuse_without_cutoff,
    running_sums,
)
from irmeta.naming import GMAX, REL, Parameter, numbers
from irmeta.rankings.judged import JudgedRanks


def _precisions(view: JudgedRanks, params: Params) -> Steps:
    """Step by the precision at each relevant doc."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    return ranks, offsets, positions(offsets)[:, None] / ranks


def _precision_sums(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    precision_sum(ranks, offsets, rank_cuts(view, ks), out)
    return out


def _precision_terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    relevant = (doc for doc in ranking.within(k) if doc[2] >= params["rel"])
    for i, (rank, doc, grade) in enumerate(relevant, 1):
        yield Term(rank, doc, grade, f"{i}/{rank}", i / rank)


AP = Sum(
    """Sum the precisions at the relevant docs retrieved up to k, over `norm`.

    ``all``: R, all relevant docs (Eq. 1). ``min``: min(R, k) (Eq. 2). ``pool``: R_k, the relevant
    docs in the pool of depth k (Table 2, option c).

    Notes
    -----
    For ``pool`` the gains and R_k come from the same pool: a doc outside the pool is unjudged, so a
    value is never above 1. R_k = 0 gives NaN. The paper's d is the depth to which the query's pool
    is complete: every doc in the top d of every contributing list is judged. From k = d on every
    judged doc counts, option a. The value is NaN where d is unknown: the pool is complete at no
    depth and the collection states no `pool_depth`.
    """,
    *(_precisions, _precision_terms, RELEVANT),
    add=_precision_sums,
)


def compute_yaap(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute log((1 + s) / (1 + R - s)) of the sum s of the precisions at relevant docs."""
    total, relevant = _precision_sums(view, params, ks), view.counts(params["rel"])[:, None]
    return np.log((1.0 + total) / (1.0 + relevant - total))


def trace_yaap(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace YAAP as its value without relevant docs retrieved, and its growth at each of them."""
    relevant = len(ranking.relevant(params["rel"]))
    total, value = 0.0, math.log(1 / (1 + relevant))
    terms = [Term(None, "(no doc)", 0, f"log(1 / (1 + {relevant}))", value)]
    retrieved = [d for d in ranking.within(None) if d[2] >= params["rel"]]
    for i, (rank, doc, grade) in enumerate(retrieved, 1):
        total += i / rank
        grown = math.log((1 + total) / (1 + relevant - total))
        text = f"to log((1 + {total:.4g}) / (1 + {relevant} - {total:.4g})), s + {i}/{rank}"
        terms.append(Term(rank, doc, grade, text, grown - value))
        value = grown
    return Trace(tuple(terms), 1.0, "(nothing)")


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


def _level_terms(ranking: OneList, params: Params, levels: list[float]) -> tuple[Term, ...]:
    """Return the doc where precision is best from each level on, of levels that are reached."""
    relevant = ranking.relevant(params["rel"])
    retrieved = [d for d in relevant if d[0] is not None]
    terms = []
    for level in levels:
        share = level * len(relevant)
        needed = math.floor(share) + (share - math.floor(share) >= 0.5)
        if params["trec_eval"] == "9":
            needed = int(share + 0.9)
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


def trace_interpolated_mean(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace IPrecAvg as one term per level of recall that is reached."""
    levels = numbers(params["levels"])
    return Trace(_level_terms(ranking, params, levels), len(levels), "levels of recall")


def trace_r_precision(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace Rprec as counts over a multiple of R."""
    relevant = ranking.relevant(params["rel"])
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


_Q = (
    Parameter("beta", 1.0, "weight of gains against counts; 0: AP", kind="number", low=0, high=1e6),
    Parameter("gain", "grade", GAIN_OF, kind="choice", choices=GAINS),
    REL,
    GMAX,
    NORM,
    IDEAL,
)


def _blended(view: JudgedRanks, judged: JudgedRanks, params: Params) -> Steps:
    """Step by the ratio at each relevant doc; the ideal list is of `judged`, or of the pool."""
    ideal_of = view if params["ideal"] == "pool" else judged
    rows = view.grades > 0
    grades, first, labels = np.unique(view.grades[rows], return_index=True, return_inverse=True)
    gains = _q_gains(view, params)[rows][first]
    ranks, labels, offsets = view.sort_by_rank(rows, labels.astype(label_type(len(grades))))
    amounts = np.zeros(ranks.shape)
    gained, counted = np.empty((2, ranks.shape[1]))
    ideal = running_sums(ideal_of.offsets, _q_gains(ideal_of, params))
    blended_ratios(
        *(ranks, labels, gains, grades >= params["rel"], offsets, view.missing),
        *(*ideal, float(params["beta"]), gained, counted, amounts),
    )
    return ranks, offsets, amounts


def _q_gains(view: JudgedRanks, params: Params) -> np.ndarray:
    rel = params["rel"]
    return doc_gains(view, params["gain"], rel, params["gmax"], least=rel)


def _blended_terms(
    ranking: OneList, judged: OneList, params: Params, k: int | None
) -> Iterator[Term]:
    """Yield the ratio at each relevant doc; the ideal list is of `judged`, or of the pool."""
    rel, beta = params["rel"], params["beta"]
    ideal_of = ranking if params["ideal"] == "pool" else judged
    best = sorted(
        (doc_gain(ranking, d, g, params, rel) for _, d, g in ideal_of.judged), reverse=True
    )
    count, gained = 0, 0.0
    for rank, doc, grade in ranking.within(k):
        gained += doc_gain(ranking, doc, grade, params, rel)
        if grade >= rel:
            count += 1
            ideal = sum(best[:rank])
            arithmetic = f"({count} + {beta:g} x {gained:g}) / ({rank} + {beta:g} x {ideal:g})"
            amount = (count + beta * gained) / (rank + beta * ideal)
            yield Term(rank, doc, grade, arithmetic, amount)


Q = Sum(
    """Sum (count + beta gain) / (rank + beta ideal gain) at relevant docs up to k, over `norm`.

    ``all``: R, all relevant docs. ``min``: min(R, k). ``pool``: R_k, the relevant docs in the pool
    of depth k; R_k = 0 gives NaN. ``ideal`` is all judged docs by gain, or the docs in that pool.
    Docs of grades below `rel` have no gain.

    Notes
    -----
    Where either parameter is ``pool``, docs outside the pool are unjudged in the list too; a pool
    that is complete to k or less is all judged docs, and a pool that is complete at no depth gives
    NaN. Lu, Moffat and Culpepper call every Q@k non-monotone in k; with all judged docs for both
    parameters Q@k is monotone, because neither the ratio at a rank nor R depends on k.
    """,
    steps=lambda view, params: _blended(view, view, params),
    terms=lambda ranking, params, k: _blended_terms(ranking, ranking, params, k),
    divisor=RELEVANT,
    pooled_steps=_blended,
    pooled_terms=_blended_terms,
)


def _check_q(params: Params, cutoff: Cutoff) -> None:
    refuse_without_cutoff("Q", params, cutoff)
    if params["gmax"] is not None and params["gain"] not in ("linear", "exp"):
        raise MeasureError("Q: gmax needs gain=linear or gain=exp.")


MEASURES = (
    Measure(
        name="AP",
        summary="average precision; @k is trec_eval's map_cut, divided by all relevant docs",
        **AP.functions,
        source="trec_eval 9.0.8, m_map.c and m_map_cut.c; doi:10.1007/s10791-016-9282-6, Table 2",
        parameters=(REL, NORM),
        revision=2,
        needs=needs_pool,
        check=lambda params, cutoff: refuse_without_cutoff("AP", params, cutoff),
        gained_only=True,
    ),
    Measure(
        name="YAAP",
        summary="yet another average precision: the logistic form of AP, smoothed for few relevant "
        "docs (yaap)",
        compute=compute_yaap,
        trace=trace_yaap,
        source="Robertson 2012, doi:10.1007/978-3-642-28997-2, pp. 158-169; trec_eval 9.0.8, "
        "m_yaap.c",
        cutoff="none",
        bounds=(-math.inf, math.inf),
        empty_list="-log(1 + R)",
    ),
    Measure(
        name="IPrec",
        summary="interpolated precision: the best precision at any rank with recall of at least r",
        compute=compute_interpolated,
        trace=lambda ranking, params, k: Trace(
            _level_terms(ranking, params, [k]), 1.0, "(nothing)"
        ),
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
    Measure(
        name="Q",
        summary="Q-measure: AP whose precisions are blended with cumulated gains; never falls as k "
        "grows while norm=all and ideal=all, though Lu et al. call all of Q non-monotone",
        **Q.functions,
        source="Sakai 2004; doi:10.1007/s10791-016-9282-6, Table 2",
        parameters=_Q,
        needs=needs_pool,
        check=_check_q,
        revision=3,
        gained_only=True,
    ),
)

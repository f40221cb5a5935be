"""statAP and related measures: estimates from docs that were judged with known probabilities.

The weight of a judged doc is the inverse of its inclusion probability: the number of docs that it
stands for (Horvitz and Thompson). Where all docs are judged, every weight is 1, and the estimates
are AP, P@k, Rprec and the number of relevant docs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from irmeta.kernels.incomplete import sum_by_stratum, weighted_precision_sum
from irmeta.measures.cutoffs import divide, empty_values, rank_cuts
from irmeta.measures.spec import Compute, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL, Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.sample import BY_MTC, ONLY_MTC, inclusion_weights, is_random_sample
from irmeta.rankings.view import Need

SOURCE = "Aslam, Pavlu and Yilmaz 2006, doi:10.1145/1148170.1148263; statAP_MQ_eval_v3.pl"
MTC = Parameter(
    "mtc",
    "certain",
    "docs of prels that were chosen for MTC: of probability 1, or excluded",
    kind="choice",
    choices=("certain", "excluded"),
)


def needs_sample(params: Params) -> Collection[Need]:
    """Return the need for the sample of the qrels."""
    return ("sample",)


def relevant_weights(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of relevant docs with a weight (bool), and the weights of all rows."""
    weights = inclusion_weights(view, params["mtc"])
    return (view.grades >= params["rel"]) & (weights > 0), weights


def estimated_relevant(view: JudgedRanks, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the sum of weights of relevant docs, NaN for a query not sampled: float64 [query]."""
    query = view.query_of(np.flatnonzero(rows))
    total = np.bincount(query, weights[rows], minlength=len(view.queries))
    return np.where(is_random_sample(view), total, math.nan)


def _weights_within(
    view: JudgedRanks, rows: np.ndarray, weights: np.ndarray, cuts: np.ndarray
) -> np.ndarray:
    """Sum the weights of relevant docs at ranks up to each cutoff: [cutoff, query, system]."""
    out = np.zeros((len(cuts), *view.lengths.shape))
    query = view.query_of(np.flatnonzero(rows)).astype(np.int64)
    ones = np.ones(int(view.lengths.max(initial=0)) + 1)
    sum_by_stratum(view.ranks[rows], query, weights[rows], ones, cuts, out)
    return out


def compute_stat_ap(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum w (1 + W) / r of the relevant docs retrieved, over the estimated number R of them.

    w is the weight of the doc at rank r, W the sum of weights of relevant docs above it, and R the
    sum of weights of all relevant docs.
    """
    rows, weights = relevant_weights(view, params)
    labels = np.arange(np.count_nonzero(rows), dtype=np.uint32)
    ranks, labels, offsets = view.sort_by_rank(rows, labels)
    out = empty_values(view, ks)
    weighted_precision_sum(ranks, labels, weights[rows], offsets, rank_cuts(view, ks), out)
    relevant = estimated_relevant(view, rows, weights)[:, None]
    return divide(out, relevant, math.nan)


def compute_stat_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the weights of the relevant docs at ranks up to k by k."""
    rows, weights = relevant_weights(view, params)
    within = _weights_within(view, rows, weights, rank_cuts(view, ks))
    relevant = estimated_relevant(view, rows, weights)[:, None]
    return np.where(relevant > 0, within / np.array(ks, np.float64)[:, None, None], math.nan)


def compute_stat_r_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the weights of the relevant docs at ranks up to R by R, rounded to an integer.

    R is the estimated number of relevant docs. If the list is shorter than R, the divisor is not
    rounded, as in statAP_MQ_eval_v3.pl.
    """
    rows, weights = relevant_weights(view, params)
    relevant = estimated_relevant(view, rows, weights)[:, None]
    cuts = np.floor(np.nan_to_num(relevant) + 0.5)
    query = view.query_of(np.flatnonzero(rows))
    ranks = view.ranks[rows]
    is_within = ranks <= np.minimum(cuts[query], view.missing - 1)
    totals = np.zeros(view.lengths.shape)
    np.add.at(totals, query, np.where(is_within, weights[rows][:, None], 0.0))
    value = divide(totals, np.where(view.lengths >= cuts, cuts, relevant), math.nan)
    return np.broadcast_to(value, (len(ks), *totals.shape))


def compute_stat_relevant(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum the weights of the relevant docs of the query."""
    rows, weights = relevant_weights(view, params)
    relevant = estimated_relevant(view, rows, weights)
    return np.broadcast_to(relevant[:, None], (len(ks), *view.lengths.shape))


def doc_weight(one: OneList, params: Params, doc: str, grade: float) -> float:
    """Return the inverse inclusion probability of a doc, 0 for a doc to ignore."""
    if not one.counts_as_judged(grade):
        return 0.0
    if one.sampled is None:
        return 1.0
    stratum, method, probability = one.sampled[doc]
    if stratum:
        same = [g for _, d, g in one.judged if one.sampled[d][0] == stratum]
        return len(same) / sum(map(one.counts_as_judged, same))
    if math.isnan(probability) or (params["mtc"] == "excluded" and method == ONLY_MTC):
        return 0.0
    return 1.0 if params["mtc"] == "certain" and method in BY_MTC else 1 / probability


def _relevant(one: OneList, params: Params) -> list[tuple[int | None, str, float, float]]:
    """List rank, doc, grade and weight of the relevant docs with a weight, by rank."""
    relevant = one.relevant(params["rel"])
    weighted = ((*doc, doc_weight(one, params, doc[1], doc[2])) for doc in relevant)
    return [doc for doc in weighted if doc[3] > 0]


def _estimated(one: OneList, params: Params) -> float:
    """Return the estimated number of relevant docs; NaN for a query that was not sampled."""
    sampled = one.sampled
    if sampled is not None and not any(
        stratum or (method != ONLY_MTC and not math.isnan(probability))
        for stratum, method, probability in sampled.values()
    ):
        return math.nan
    return sum(weight for *_, weight in _relevant(one, params))


def _trace(terms: list[Term], relevant: float, divisor: float, divisor_is: str) -> Trace:
    return Trace(tuple(terms), divisor, divisor_is, None if relevant > 0 else math.nan)


def trace_stat_ap(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace statAP as weighted precisions over the estimated number of relevant docs."""
    terms, above = [], 0.0
    for rank, doc, grade, weight in _relevant(one, params):
        if rank is None or (k is not None and rank > k):
            continue
        text = f"{weight:g} * (1 + {above:g})/{rank}"
        terms.append(Term(rank, doc, grade, text, weight * (1 + above) / rank))
        above += weight
    relevant = _estimated(one, params)
    return _trace(terms, relevant, relevant, "estimated relevant docs of the query")


def _within(one: OneList, params: Params, k: float) -> list[Term]:
    return [
        Term(rank, doc, grade, f"{weight:g}", weight)
        for rank, doc, grade, weight in _relevant(one, params)
        if rank is not None and rank <= k
    ]


def trace_stat_precision(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace statP@k as weights over k."""
    assert k is not None
    return _trace(_within(one, params, k), _estimated(one, params), k, "the cutoff k")


def trace_stat_r_precision(one: OneList, params: Params, k: None) -> Trace:
    """Trace statRprec as weights over the estimated number of relevant docs."""
    relevant = _estimated(one, params)
    cut = 0 if math.isnan(relevant) else math.floor(relevant + 0.5)
    divisor = cut if one.length >= cut else relevant
    divisor_is = f"estimated relevant docs of the query, counted to rank {cut}"
    return _trace(_within(one, params, cut), relevant, divisor, divisor_is)


def trace_stat_relevant(one: OneList, params: Params, k: None) -> Trace:
    """Trace statNumRel as weights."""
    terms = tuple(
        Term(rank, doc, grade, f"{weight:g}", weight)
        for rank, doc, grade, weight in _relevant(one, params)
    )
    undefined = math.nan if math.isnan(_estimated(one, params)) else None
    return Trace(terms, 1.0, "(nothing)", undefined)


def _measure(
    name: str,
    summary: str,
    compute: Compute,
    trace: Callable[[OneList, Params, Any], Trace],
    no_relevant: float = math.nan,
    **more: Any,
) -> Measure:
    return Measure(
        name=name,
        summary=summary,
        compute=compute,
        trace=trace,
        source=SOURCE,
        parameters=(REL, MTC),
        bounds=(0.0, math.inf),
        unjudged=(),
        needs=needs_sample,
        no_relevant=no_relevant,
        **more,
    )


MEASURES = (
    _measure(
        "statAP",
        "AP estimated from docs judged with known probabilities",
        compute_stat_ap,
        trace_stat_ap,
    ),
    _measure(
        "statP",
        "P@k estimated from docs judged with known probabilities",
        compute_stat_precision,
        trace_stat_precision,
        cutoff="required",
        family="utility",
        monotone=False,
    ),
    _measure(
        "statRprec",
        "Rprec estimated from docs judged with known probabilities",
        compute_stat_r_precision,
        trace_stat_r_precision,
        cutoff="none",
    ),
    _measure(
        "statNumRel",
        "number of relevant docs, estimated from docs judged with known probabilities",
        compute_stat_relevant,
        trace_stat_relevant,
        cutoff="none",
        family="count",
        average="sum",
        format="count",
        no_relevant=0.0,
        empty_list="estimated relevant docs of the query",
    ),
)

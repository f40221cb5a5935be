"""xinfAP, infNDCG and their kin: expectations where each stratum of the pool was sampled.

A doc of the pool of negative grade was not sampled. All docs of a qrels set without strata are one
stratum. Where all docs are judged and nothing is smoothed, the estimates are AP, nDCG and P@k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irmeta.kernels.sampled_sums import stratified_precision_sum, sum_by_stratum
from irmeta.measures.cut_norms import refuse_without_cutoff
from irmeta.measures.cuts import divide, empty_values, per_query, rank_cuts
from irmeta.measures.gains import GAIN_OF, GAINS, doc_gains
from irmeta.measures.parameters import GMAX, REL, Parameter
from irmeta.measures.sampled import needs_sample
from irmeta.measures.spec import Compute, Cutoff, Cutoffs, Measure, OneList, Params, Trace
from irmeta.measures.stratified_traces import (
    SMOOTHING,
    ideal_docs,
    trace_inf_ndcg,
    trace_inf_precision,
    trace_inf_relevant,
    trace_inf_relevant_retrieved,
    trace_xinfap,
)
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.sample import Strata, strata_of

SOURCE = "Yilmaz, Kanoulas and Aslam 2008, doi:10.1145/1390334.1390437; sample_eval.pl"
_SMOOTHING = Parameter(
    "smoothing",
    "sample_eval",
    "smoothing of a stratum's precision (h + 1e-5)/(j + 3e-5); infAP: of (h + 1e-5)/(j + 2e-5)",
    kind="choice",
    choices=tuple(SMOOTHING),
)
_NORM = Parameter(
    "norm",
    "all",
    "divisor: the estimated number R of relevant docs, or min(R, k), as sample_eval since 2012",
    kind="choice",
    choices=("all", "min"),
)
_FORM = Parameter(
    "form",
    "2012",
    "docs of each gain in the ideal list: the whole part of their estimated number, as "
    "sample_eval.pl of 2012, or (2011) the nearest whole number, as that of 2011",
    kind="choice",
    choices=("2012", "2011"),
)
_GAIN = Parameter("gain", "grade", GAIN_OF, kind="gain", choices=GAINS)


def _relevant(view: JudgedRanks, rel: int) -> np.ndarray:
    return (view.grades >= rel) & view.is_judged


def _by_query(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sum values [cutoff, stratum, system] over the strata of each query."""
    out = np.zeros((len(values), len(offsets) - 1, values.shape[2]))
    has_strata = np.diff(offsets) > 0
    if has_strata.any():
        starts = offsets[:-1][has_strata]
        out[:, has_strata] = np.add.reduceat(values, starts, axis=1)
    return out


def _estimated_relevant(view: JudgedRanks, strata: Strata, rel: int) -> np.ndarray:
    """Estimate the number of relevant docs of each query: float64 [query]."""
    rows = _relevant(view, rel)
    relevant = np.bincount(strata.of_row[rows], minlength=len(strata.docs))
    return _by_query((relevant * strata.weights)[None, :, None], strata.offsets)[0, :, 0]


def _sums(
    view: JudgedRanks, strata: Strata, ks: Cutoffs, values: np.ndarray, discounted: bool = False
) -> np.ndarray:
    """Sum a value of each doc at ranks up to k by stratum: [cutoff, stratum, system]."""
    out = np.zeros((len(ks), len(strata.docs), len(view.systems)))
    ranks = np.arange(int(view.lengths.max(initial=0)) + 1)
    discounts = 1.0 / np.log2(np.maximum(ranks, 1) + 1.0) if discounted else np.ones(len(ranks))
    stratum = strata.of_row.astype(np.int64)
    sum_by_stratum(
        view.ranks, stratum, values.astype(np.float64), discounts, rank_cuts(view, ks), out
    )
    return out


def compute_xinfap(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum w (1 + E) / r of the relevant docs retrieved, over the estimated number R of them.

    The doc at rank r stands for w = n / j docs of its stratum, of whose n docs j are judged. E is
    the expected number of relevant docs above it: the sum over strata of n (h + e) / (j + 3e), here
    with n docs above the doc, j of them judged and h relevant. R is the sum of w over all relevant
    docs.

    Notes
    -----
    sample_eval.pl cuts lists at 1000 docs and, since 2012, divides by 1000 if R is greater:
    ``xinfAP(norm=min)@1000``.
    """
    strata, rows = strata_of(view), _relevant(view, params["rel"])
    every = np.ones(len(view.grades), bool)
    labels = np.arange(len(view.grades), dtype=np.uint32)
    ranks, labels, offsets = view.sort_by_rank(every, labels)
    first = np.repeat(strata.offsets[:-1], np.diff(view.offsets))
    out = empty_values(view, ks)
    stratified_precision_sum(
        ranks,
        labels,
        (view.is_judged.astype(np.int8) + rows).astype(np.int8),
        (strata.of_row - first).astype(np.int64),
        strata.weights[strata.of_row],
        offsets,
        rank_cuts(view, ks),
        int(np.diff(strata.offsets).max(initial=0)),
        *SMOOTHING[params["smoothing"]],
        out,
    )
    relevant = _estimated_relevant(view, strata, params["rel"])[None]
    if params["norm"] == "min":
        relevant = np.minimum(relevant, np.array(ks, np.float64)[:, None])
    return per_query(out, relevant, 0.0)


def compute_inf_ndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the estimated DCG at k by the ideal DCG of the estimated number of docs of each gain.

    In each stratum, the sum of gain / log2(rank + 1) of the docs retrieved is multiplied by n / j:
    n docs of the stratum are retrieved, j of them judged.

    Notes
    -----
    As in sample_eval.pl, the ideal list has the whole part of the estimated number of docs of each
    gain, and the first of these docs is one rank below the (fractional) number of docs of higher
    gains; with ``form=2011`` all these numbers are rounded. The ideal list ends at k; the program,
    which cuts at 1000, also has the first doc of each gain below that rank, and a doc at a
    fractional rank between 1000 and 1001.
    """
    strata, gains = strata_of(view), np.where(view.is_judged, _gains(view, params), 0.0)
    listed = _sums(view, strata, ks, np.ones(len(gains)))
    judged = _sums(view, strata, ks, view.is_judged)
    gained = _sums(view, strata, ks, gains, discounted=True)
    dcg = _by_query(divide(listed * gained, judged, 0.0), strata.offsets)
    weights = strata.weights[strata.of_row]
    ideal = [
        ideal_dcg(gains[rows], weights[rows], ks, params["form"])
        for rows in map(slice, view.offsets[:-1].tolist(), view.offsets[1:].tolist())
    ]
    return per_query(dcg, np.array(ideal).reshape(-1, len(ks)).T, 0.0)


def _gains(view: JudgedRanks, params: Params) -> np.ndarray:
    return doc_gains(view, params["gain"], gmax=params["gmax"])


def ideal_dcg(gains: np.ndarray, weights: np.ndarray, ks: Cutoffs, form: str) -> list[float]:
    """Compute the greatest DCG of docs that stand for several docs each, at each cutoff."""
    start, terms, ranks = 0.0, list[np.ndarray](), list[np.ndarray]()
    for gain in np.unique(gains[gains > 0])[::-1]:
        docs, whole = ideal_docs(float(weights[gains == gain].sum()), form)
        places = start + np.arange(1, whole + 1)
        terms.append(gain / np.log2(places + 1.0))
        ranks.append(places)
        start += docs
    amounts, places = np.concatenate([[], *terms]), np.concatenate([[], *ranks])
    return [float(amounts[places <= (math.inf if k is None else k)].sum()) for k in ks]


def _expected_within(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Estimate the number of relevant docs at ranks up to k: [cutoff, query, system]."""
    strata = strata_of(view)
    listed = _sums(view, strata, ks, np.ones(len(view.grades)))
    judged = _sums(view, strata, ks, view.is_judged)
    relevant = _sums(view, strata, ks, _relevant(view, params["rel"]))
    extra, extra_judged = SMOOTHING[params["smoothing"]]
    expected = divide(listed * (relevant + extra), judged + extra_judged, 0.0)
    return _by_query(expected, strata.offsets)


def compute_inf_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the expected number of relevant docs at ranks up to k by k.

    A stratum with n docs there, j of them judged and h relevant, has n (h + e) / (j + 3e).
    """
    return _expected_within(view, params, ks) / np.array(ks, np.float64)[:, None, None]


def compute_inf_relevant_retrieved(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Estimate the number of relevant docs of the list, as `infP` does."""
    return _expected_within(view, params, ks)


def compute_inf_relevant(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum, over the strata, the share of relevant docs among judged ones times the docs."""
    relevant = _estimated_relevant(view, strata_of(view), params["rel"])
    return np.broadcast_to(relevant[:, None], (len(ks), *view.lengths.shape))


def _printed(params: Params, cutoff: Cutoff) -> Sequence[str]:
    refuse_without_cutoff("xinfAP", params, cutoff)
    return [p.name for p in (REL, _NORM, _SMOOTHING) if params[p.name] != p.default]


def _measure(
    name: str,
    summary: str,
    compute: Compute,
    trace: Callable[[OneList, Params, Any], Trace],
    parameters: tuple[Parameter, ...] = (REL, _SMOOTHING),
    monotone: bool = False,
    **more: Any,
) -> Measure:
    return Measure(
        name=name,
        summary=summary,
        compute=compute,
        trace=trace,
        source=SOURCE,
        bounds=(0.0, math.inf),
        unjudged=(),
        needs=needs_sample,
        parameters=parameters,
        monotone=monotone,
        **more,
    )


MEASURES = (
    _measure(
        "xinfAP",
        "extended inferred AP: AP expected from a stratified sample of the pool",
        compute_xinfap,
        trace_xinfap,
        parameters=(REL, _NORM, _SMOOTHING),
        monotone=True,
        printed=_printed,
    ),
    _measure(
        "infNDCG",
        "inferred nDCG: nDCG estimated from a stratified sample of the pool",
        compute_inf_ndcg,
        trace_inf_ndcg,
        parameters=(_GAIN, GMAX, _FORM),
    ),
    _measure(
        "infP",
        "inferred P@k: P@k expected from a stratified sample of the pool",
        compute_inf_precision,
        trace_inf_precision,
        cutoff="required",
        family="utility",
    ),
    _measure(
        "infNumRelRet",
        "number of relevant docs of the list, expected from a stratified sample",
        compute_inf_relevant_retrieved,
        trace_inf_relevant_retrieved,
        cutoff="none",
        family="count",
        average="sum",
        format="count",
    ),
    _measure(
        "infNumRel",
        "number of relevant docs of the query, estimated from a stratified sample",
        compute_inf_relevant,
        trace_inf_relevant,
        parameters=(REL,),
        cutoff="none",
        family="count",
        average="sum",
        format="count",
        empty_list="estimated relevant docs of the query",
        monotone=True,
    ),
)

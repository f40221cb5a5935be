"""RareDCG, RarenDCG and RareRBP: gains count more if few systems retrieve the docs."""

from __future__ import annotations

import math

import numpy as np

from irmeta.errors import MeasureError
from irmeta.measures import rbp
from irmeta.measures.cumulated_gain import (
    DISCOUNT,
    GAIN,
    changed_parameters,
    compute_dcg,
    compute_ndcg,
    ideal_dcg,
    trace_dcg,
    trace_ndcg,
)
from irmeta.measures.cutoffs import per_query
from irmeta.measures.gains import doc_gains
from irmeta.measures.rareness import (
    PAPER,
    RARENESS,
    mixed,
    printed_rareness,
    rare_weight,
    rarity_sums,
    simplify_rareness,
)
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.weighted import Worth, discounted
from irmeta.naming.parameters import GMAX, REL
from irmeta.rankings.judged import JudgedRanks

_PLAIN = {"ties": "order"}
_PLAIN_DCG = {**_PLAIN, "ideal": "all", "rel": 1}
"""Parameters of the plain measures that rareness leaves at their defaults."""


def _rarity_of_gains(
    view: JudgedRanks, params: Params, ks: Cutoffs, gain: np.ndarray, worth: Worth
) -> np.ndarray:
    """Sum the worth of gains times the rarity of their docs: float64 [cutoff, query, system]."""
    rows = gain > 0
    by_rank, gains = worth(np.ones(1))[0], gain[rows][:, None]

    def weigh(ranks: np.ndarray, cut: int) -> np.ndarray:
        return gains * by_rank[np.where(ranks <= cut, ranks, 0)]

    return rarity_sums(view, params, ks, rows, weigh)


def _rare_dcg(view: JudgedRanks, params: Params, ks: Cutoffs, gain: np.ndarray) -> np.ndarray:
    worth = discounted(view.facts.deepest_rank, params["discount"], params["b"])
    return _rarity_of_gains(view, params, ks, gain, worth)


def compute_rare_dcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum gain times 1 + alpha R(d), over the discount of the rank.

    The gains and discounts are those of DCG, the rarity R(d) and the other parameters those of
    RareP: it is DCG for alpha = 0.
    """
    rare = _rare_dcg(view, params, ks, doc_gains(view, params["gain"], gmax=params["gmax"]))
    return mixed(view, params, compute_dcg(view, {**params, **_PLAIN_DCG}, ks), rare)


def compute_rare_ndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute RareDCG over the DCG of the ideal list, in which rarity does not count.

    Values are therefore up to 1 + alpha, or 1 under ``mix=convex``: it is nDCG for alpha = 0.
    """
    gain = doc_gains(view, params["gain"])
    ideal = ideal_dcg(view, params, gain, ks)
    rare = per_query(_rare_dcg(view, params, ks, gain), ideal, 0.0)
    return mixed(view, params, compute_ndcg(view, {**params, **_PLAIN_DCG}, ks), rare)


def compute_rare_rbp(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute (1 - p) times the sum of gain times 1 + alpha R(d), times p^(rank - 1).

    The gains and p are those of RBP, the rarity R(d) and the other parameters those of RareP: it is
    RBP for alpha = 0.
    """
    gain = doc_gains(view, params["gain"], params["rel"], params["gmax"])
    worth = rbp.worth(params["p"], view.facts.deepest_rank)
    rare = (1.0 - params["p"]) * _rarity_of_gains(view, params, ks, gain, worth)
    return mixed(view, params, rbp.compute_rbp(view, {**params, **_PLAIN}, ks), rare)


def _weighed(plain: Trace, one: OneList, params: Params, k: int | None) -> Trace:
    """Return the trace of a plain measure with each term multiplied by the weight of its doc."""
    terms = []
    for term in plain.terms:
        weight, text = rare_weight(one, term.doc, params, k)
        arithmetic = f"{term.arithmetic} x {text}"
        terms.append(Term(term.rank, term.doc, term.grade, arithmetic, term.amount * weight))
    return Trace(tuple(terms), plain.divisor, plain.divisor_is, plain.undefined)


def trace_rare_dcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace RareDCG as weighted gains over discounts."""
    return _weighed(trace_dcg(one, {**params, **_PLAIN_DCG}, k), one, params, k)


def trace_rare_ndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace RarenDCG as the terms of RareDCG over the ideal DCG."""
    return _weighed(trace_ndcg(one, {**params, **_PLAIN_DCG}, k), one, params, k)


def trace_rare_rbp(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace RareRBP as weighted gains."""
    return _weighed(rbp.trace_rbp(one, {**params, **_PLAIN}, k), one, params, k)


_NDCG = (*RARENESS, GAIN, *DISCOUNT)
_DCG = (*RARENESS, GAIN, GMAX, *DISCOUNT)
_RBP = (*RARENESS, rbp.PERSISTENCE, REL, rbp.GAIN, GMAX)


def _printed_dcg(params: Params, cutoff: Cutoff) -> list[str]:
    if params["gmax"] is not None and params["gain"] not in ("linear", "exp"):
        raise MeasureError("RareDCG: gmax needs gain=linear or gain=exp. Omit gmax.")
    changed_parameters("RareDCG", DISCOUNT, {**params, **_PLAIN_DCG})
    return printed_rareness("RareDCG", _DCG, params)


def _printed_ndcg(params: Params, cutoff: Cutoff) -> list[str]:
    changed_parameters("RarenDCG", DISCOUNT, {**params, **_PLAIN_DCG})
    return printed_rareness("RarenDCG", _NDCG, params)


def _printed_rbp(params: Params, cutoff: Cutoff) -> list[str]:
    own = rbp.printed_rbp("RareRBP", {**params, **_PLAIN})
    return [*printed_rareness("RareRBP", RARENESS, params), *own]


MEASURES = (
    Measure(
        name="RareDCG",
        summary="discounted cumulated gain that weighs docs by rarity",
        compute=compute_rare_dcg,
        trace=trace_rare_dcg,
        source=f"{PAPER}, Eq. 1, for the gains of doi:10.1145/582415.582418",
        parameters=_DCG,
        bounds=(0.0, math.inf),
        family="utility",
        monotone=False,
        unjudged=("condensed",),
        printed=_printed_dcg,
        simplify=simplify_rareness,
    ),
    Measure(
        name="RarenDCG",
        summary="RareDCG over the DCG of the ideal list, up to 1 + alpha",
        compute=compute_rare_ndcg,
        trace=trace_rare_ndcg,
        source=f"{PAPER}, Eq. 1, for the gains of doi:10.1145/582415.582418",
        parameters=_NDCG,
        bounds=(0.0, math.inf),
        monotone=False,
        unjudged=("condensed",),
        printed=_printed_ndcg,
        simplify=simplify_rareness,
    ),
    Measure(
        name="RareRBP",
        summary="rank-biased precision that weighs docs by rarity, binary by default",
        compute=compute_rare_rbp,
        trace=trace_rare_rbp,
        source=f"{PAPER}, Eq. 1, for the gains of doi:10.1145/1416950.1416952",
        parameters=_RBP,
        bounds=(0.0, math.inf),
        family="utility",
        monotone=False,
        unjudged=("condensed",),
        printed=_printed_rbp,
        simplify=simplify_rareness,
    ),
)

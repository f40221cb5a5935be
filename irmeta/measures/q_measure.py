"""Sakai's Q-measure, with the cutoff variants of Lu, Moffat and Culpepper (2016)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.doc_amounts import blended_ratios
from irmeta.measures.cut_norms import (
    IDEAL,
    NORM,
    divisor_of,
    divisors,
    needs_pool,
    over_pool,
    refuse_without_cutoff,
    trace_without_depth,
    without_depth,
)
from irmeta.measures.cutoffs import add_up, per_query, running_sums
from irmeta.measures.gains import GAIN_OF, GAINS, doc_gain, doc_gains
from irmeta.measures.spec import Cutoff, Cutoffs, Events, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import GMAX, REL, Parameter
from irmeta.rankings.derive.fewer_judgments import pooled_at
from irmeta.rankings.judged import JudgedRanks

PARAMETERS = (
    Parameter("beta", 1.0, "weight of gains against counts; 0: AP", kind="number", low=0, high=1e6),
    Parameter("gain", "grade", GAIN_OF, kind="choice", choices=GAINS),
    REL,
    GMAX,
    NORM,
    IDEAL,
)


def compute_q(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum (count + beta gain) / (rank + beta ideal gain) at relevant docs up to k, over `norm`.

    ``all``: R, all relevant docs. ``min``: min(R, k). ``pool``: R_k, the relevant docs in the pool
    of depth k; R_k = 0 gives NaN. ``ideal`` is all judged docs by gain, or the docs in that pool.

    Notes
    -----
    Where either parameter is ``pool``, docs outside the pool are unjudged in the list too; a pool
    that is complete to k or less is all judged docs, and a pool that is complete at no depth gives
    NaN. Lu, Moffat and Culpepper call every Q@k non-monotone in k; with all judged docs for both
    parameters Q@k is monotone, because neither the ratio at a rank nor R depends on k.
    """
    if needs_pool(params):
        return np.stack([_pooled(view, params, k) for k in ks])
    sums = add_up(view, *_amounts(view, view, params), ks)
    return per_query(sums, divisors(view, params, ks), 0.0)


def _amounts(
    view: JudgedRanks, ideal_of: JudgedRanks, params: Params
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute ranks, offsets, and the ratio at each relevant doc, with the ideal list of a view."""
    rows = view.grades > 0
    grades, first, labels = np.unique(view.grades[rows], return_index=True, return_inverse=True)
    gains = _gains(view, params)[rows][first]
    ranks, labels, offsets = view.sort_by_rank(rows, labels.astype(np.uint8))
    amounts = np.zeros(ranks.shape)
    gained, counted = np.empty((2, ranks.shape[1]))
    blended_ratios(
        ranks,
        labels,
        gains,
        grades >= params["rel"],
        offsets,
        view.missing,
        *running_sums(ideal_of.offsets, _gains(ideal_of, params)),
        float(params["beta"]),
        gained,
        counted,
        amounts,
    )
    return ranks, offsets, amounts


def _gains(view: JudgedRanks, params: Params) -> np.ndarray:
    return doc_gains(view, params["gain"], params["rel"], params["gmax"])


def _pooled(view: JudgedRanks, params: Params, k: int) -> np.ndarray:
    """Compute Q@k where `norm` or `ideal` is the pool of depth k: [query, system]."""
    pool = pooled_at(view, k)
    amounts = _amounts(pool, pool if params["ideal"] == "pool" else view, params)
    sums = add_up(pool, *amounts, [k])
    if params["norm"] == "pool":
        values = over_pool(view, pool, sums[0], params["rel"], k)
    else:
        values = per_query(sums, divisors(view, params, [k]), 0.0)[0]
    return without_depth(view, values)


def events_q(view: JudgedRanks, params: Params) -> Events | None:
    """Step by the ratio at each relevant doc, over R or min(R, k)."""
    if needs_pool(params):
        return None
    return Events(*_amounts(view, view, params), lambda ks: divisors(view, params, ks))


def trace_q(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace Q as one ratio per relevant doc, over the divisor of `norm`."""
    rel, beta = params["rel"], params["beta"]
    full = one
    if needs_pool(params):
        assert k is not None
        if unknown := trace_without_depth(one):
            return unknown
        one = one.pooled_at(k)
    divisor, divisor_is, undefined = divisor_of(full, one, params, k)
    ideal_of = one if params["ideal"] == "pool" else full
    best = sorted((doc_gain(one, d, g, params) for _, d, g in ideal_of.judged), reverse=True)
    terms, count, gained = [], 0, 0.0
    for rank, doc, grade in one.within(k):
        gained += doc_gain(one, doc, grade, params)
        if grade >= rel:
            count += 1
            ideal = sum(best[:rank])
            arithmetic = f"({count} + {beta:g} x {gained:g}) / ({rank} + {beta:g} x {ideal:g})"
            amount = (count + beta * gained) / (rank + beta * ideal)
            terms.append(Term(rank, doc, grade, arithmetic, amount))
    return Trace(tuple(terms), divisor, divisor_is, None if divisor else undefined)


def _printed(params: Params, cutoff: Cutoff) -> Sequence[str]:
    refuse_without_cutoff("Q", params, cutoff)
    if params["gmax"] is not None and params["gain"] not in ("linear", "exp"):
        raise MeasureError("Q: gmax needs gain=linear or gain=exp.")
    return [p.name for p in PARAMETERS if params[p.name] != p.default]


MEASURES = (
    Measure(
        name="Q",
        summary="Q-measure: AP whose precisions are blended with cumulated gains; never falls as k "
        "grows while norm=all and ideal=all, though Lu et al. call all of Q non-monotone",
        compute=compute_q,
        trace=trace_q,
        source="Sakai 2004; doi:10.1007/s10791-016-9282-6, Table 2",
        parameters=PARAMETERS,
        needs=needs_pool,
        events=events_q,
        printed=_printed,
        revision=2,
    ),
)

"""DCG and nDCG: gains discounted by rank, and normalised by the ideal list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from irmeta.errors import MeasureError
from irmeta.measures.cut_norms import (
    IDEAL,
    needs_pool,
    refuse_without_cutoff,
    trace_without_depth,
    undefined_at,
    without_depth,
)
from irmeta.measures.cutoffs import per_query, positions, running_sums, sums_at
from irmeta.measures.gains import GAIN_OF, GAINS, doc_gain, doc_gains
from irmeta.measures.spec import Cutoff, Cutoffs, Events, Measure, OneList, Params, Trace
from irmeta.measures.weighted import (
    Worth,
    discounted,
    discounts,
    gain_events,
    needs_ties,
    refuse_assumed,
    weighted_gain,
    weighted_terms,
)
from irmeta.naming.parameters import GMAX, REL, TIES, Parameter
from irmeta.rankings.derive.fewer_judgments import pooled_at
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need


def _worth(view: JudgedRanks, params: Params) -> Worth:
    return discounted(view.facts.deepest_rank, params["discount"], params["b"])


def _least(params: Params) -> float:
    """Return the least grade with a gain; under the default rel, gains by grade include grade 0."""
    return params["rel"] if params["rel"] != REL.default else 0


def _gains(view: JudgedRanks, params: Params) -> np.ndarray:
    return doc_gains(view, params["gain"], params["rel"], params.get("gmax"), least=_least(params))


def compute_dcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum gains times discounts."""
    gain = _gains(view, params)
    return weighted_gain(view, gain, _worth(view, params), ks, params["ties"])


def compute_ndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute DCG over the DCG of the ideal list, which has all judged docs by gain descending.

    Under ``ideal=pool`` docs outside the pool of depth k are unjudged, in the list and in the ideal
    list; the value is NaN where no doc in the pool has a gain.
    """
    if params["ideal"] == "pool":
        return np.concatenate([_pooled_ndcg(view, params, k) for k in ks])
    gain = _gains(view, params)
    listed = weighted_gain(view, gain, _worth(view, params), ks, params["ties"])
    return per_query(listed, ideal_dcg(view, params, gain, ks), 0.0)


def ideal_dcg(view: JudgedRanks, params: Params, gain: np.ndarray, ks: Cutoffs) -> np.ndarray:
    """Compute the DCG of the ideal list: float64 [cutoff, query]."""
    if params["gain"] not in GAINS:  # gains by grade need not rise with the grade
        gain = gain[np.lexsort((-gain, view.query_of(np.arange(len(gain)))))]
    longest = int(np.diff(view.offsets).max(initial=0))
    divisors = discounts(longest, params["discount"], params["b"])
    amounts = gain / divisors[positions(view.offsets)]
    firsts = np.array([longest if k is None else min(k, longest) for k in ks], np.int64)
    return sums_at(*running_sums(view.offsets, amounts), firsts)


def _pooled_ndcg(view: JudgedRanks, params: Params, k: int) -> np.ndarray:
    """Compute nDCG@k under the pool of depth k: [1, query, system]."""
    pool = pooled_at(view, k)
    value = compute_ndcg(pool, {**params, "ideal": "all"}, [k])
    ideal = ideal_dcg(pool, params, _gains(pool, params), [k])[0]
    value[:, (ideal == 0.0) & np.isnan(undefined_at(view, k))] = np.nan
    return without_depth(view, value)


def events_dcg(view: JudgedRanks, params: Params) -> Events | None:
    """Step by the discounted gain of each doc."""
    if params["ties"] != "order":
        return None
    gain = _gains(view, params)
    steps = gain_events(view, gain, _worth(view, params))
    return Events(*steps, lambda ks: np.ones((1, len(view.queries))))


def events_ndcg(view: JudgedRanks, params: Params) -> Events | None:
    """Step by the discounted gain of each doc, over the ideal DCG at k."""
    if params["ties"] != "order" or params["ideal"] == "pool":
        return None
    gain = _gains(view, params)
    steps = gain_events(view, gain, _worth(view, params))
    return Events(*steps, lambda ks: ideal_dcg(view, params, gain, ks.tolist()))


def discount_at(rank: int, params: Params) -> tuple[float, str]:
    """Return the divisor of a gain at this rank, as a number and as text."""
    if params["discount"] == "zipf":
        return float(rank), f" / {rank}"
    if params["discount"] == "log2":
        return math.log2(rank + 1), f" / log2({rank} + 1)"
    if rank < params["b"]:
        return 1.0, ""
    return math.log(rank, params["b"]), f" / log_{params['b']:g}({rank})"


def trace_dcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace DCG as gains over discounts."""
    terms = weighted_terms(
        one,
        params,
        k,
        lambda rank: 1.0 / discount_at(rank, params)[0],
        lambda rank, gain: f"gain {gain:g}{discount_at(rank, params)[1]}",
        _least(params),
    )
    return Trace(tuple(terms), 1.0, "(nothing)")


def trace_ndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace nDCG as the terms of DCG over the ideal DCG."""
    divisor_is, undefined = "the same sum over the ideal list", 0.0
    if params["ideal"] == "pool":
        assert k is not None
        if unknown := trace_without_depth(one):
            return unknown
        pool = one.pooled_at(k)
        if pool is not one:
            one, undefined = pool, math.nan
            divisor_is += f" of docs in the pool of depth {k}"
    gains = (doc_gain(one, doc, g, params, _least(params)) for _, doc, g in one.judged)
    best = sorted(gains, reverse=True)
    ideal = sum(gain / discount_at(i, params)[0] for i, gain in enumerate(best[:k], 1))
    terms = trace_dcg(one, params, k).terms
    return Trace(terms, ideal, divisor_is, None if ideal > 0 else undefined)


def _needs(params: Params) -> tuple[Need, ...]:
    return (*needs_ties(params), *needs_pool(params))


def changed_parameters(measure: str, of: Sequence[Parameter], params: Params) -> list[str]:
    """List the parameters that are not the default; raise if they cannot be combined."""
    refuse_assumed(measure, params)
    changed = [p.name for p in of if params[p.name] != p.default]
    if "b" in changed and params["discount"] != "jk":
        raise MeasureError(f"{measure}: b is the base of discount=jk. Add discount=jk, or omit b.")
    return changed


def _dcg_printed(params: Params, cutoff: Cutoff) -> list[str]:
    if params["gmax"] is not None and params["gain"] not in ("linear", "exp"):
        raise MeasureError("DCG: gmax needs gain=linear or gain=exp. Omit gmax.")
    return changed_parameters("DCG", _DCG, params)


def _ndcg_printed(params: Params, cutoff: Cutoff) -> list[str]:
    refuse_without_cutoff("nDCG", params, cutoff)
    return changed_parameters("nDCG", _NDCG, params)


GAIN = Parameter("gain", "grade", GAIN_OF, kind="gain", choices=GAINS)
DISCOUNT = (
    Parameter(
        "discount",
        "log2",
        "divisor of gains: log2(rank + 1); the rank; log_b(rank) from rank b on",
        kind="choice",
        choices=("log2", "zipf", "jk"),
    ),
    Parameter("b", 2.0, "base of the logarithm of jk", kind="number", low=1, open=True),
)
_REL = replace(REL, meaning="least grade with a gain")
_DCG = (GAIN, _REL, GMAX, *DISCOUNT, TIES)
_NDCG = (GAIN, _REL, *DISCOUNT, IDEAL, TIES)

MEASURES = (
    Measure(
        name="DCG",
        summary="discounted cumulated gain, default discount log2(rank + 1)",
        compute=compute_dcg,
        trace=trace_dcg,
        source="doi:10.1145/582415.582418; doi:10.1007/s10791-016-9282-6, Table 2",
        parameters=_DCG,
        bounds=(0.0, math.inf),
        family="utility",
        needs=_needs,
        events=events_dcg,
        printed=_dcg_printed,
        revision=2,
    ),
    Measure(
        name="nDCG",
        summary="normalised discounted cumulated gain, default discount log2(rank + 1)",
        compute=compute_ndcg,
        trace=trace_ndcg,
        source="trec_eval 9.0.8, m_ndcg.c and m_ndcg_cut.c; doi:10.1145/582415.582418",
        parameters=_NDCG,
        monotone=False,
        needs=_needs,
        events=events_ndcg,
        printed=_ndcg_printed,
        revision=2,
    ),
)

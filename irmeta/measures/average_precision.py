"""AP, with the cutoff variants of Lu, Moffat and Culpepper (2016)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irmeta.kernels.cutoff_sums import precision_sum
from irmeta.measures.cut_norms import (
    NORM,
    divisor_of,
    divisors,
    needs_pool,
    over_pool,
    refuse_without_cutoff,
    trace_without_depth,
    without_depth,
)
from irmeta.measures.cutoffs import empty_values, per_query, positions, rank_cuts
from irmeta.measures.spec import Cutoff, Cutoffs, Events, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL
from irmeta.rankings.derive.fewer_judgments import pooled_at
from irmeta.rankings.judged import JudgedRanks


def compute_average_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
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
    """
    if params["norm"] == "pool":
        return np.stack([_pooled(view, params["rel"], k) for k in ks])
    return per_query(_precision_sums(view, params["rel"], ks), divisors(view, params, ks), 0.0)


def _precision_sums(view: JudgedRanks, rel: float, ks: Cutoffs) -> np.ndarray:
    ranks, offsets = view.sorted_ranks(rel)
    out = empty_values(view, ks)
    precision_sum(ranks, offsets, rank_cuts(view, ks), out)
    return out


def _pooled(view: JudgedRanks, rel: float, k: int) -> np.ndarray:
    """Compute AP@k under the pool of depth k: [query, system]."""
    pool = pooled_at(view, k)
    values = over_pool(view, pool, _precision_sums(pool, rel, [k])[0], rel, k)
    return without_depth(view, values)


def events_average_precision(view: JudgedRanks, params: Params) -> Events | None:
    """Step by the precision at each relevant doc, over R or min(R, k)."""
    if params["norm"] == "pool":
        return None
    ranks, offsets = view.sorted_ranks(params["rel"])
    amounts = positions(offsets)[:, None] / ranks
    return Events(ranks, offsets, amounts, lambda ks: divisors(view, params, ks))


def trace_average_precision(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace AP as precisions at relevant docs, over the divisor of `norm`."""
    full = one
    if params["norm"] == "pool":
        assert k is not None
        if unknown := trace_without_depth(one):
            return unknown
        one = one.pooled_at(k)
    divisor, divisor_is, undefined = divisor_of(full, one, params, k)
    relevant = [d for d in one.within(k) if d[2] >= params["rel"]]
    terms = tuple(
        Term(rank, doc, grade, f"{i}/{rank}", i / rank)
        for i, (rank, doc, grade) in enumerate(relevant, 1)
    )
    return Trace(terms, divisor, divisor_is, None if divisor else undefined)


def _printed(params: Params, cutoff: Cutoff) -> Sequence[str]:
    refuse_without_cutoff("AP", params, cutoff)
    return [p.name for p in (REL, NORM) if params[p.name] != p.default]


MEASURES = (
    Measure(
        name="AP",
        summary="average precision; @k is trec_eval's map_cut, divided by all relevant docs",
        compute=compute_average_precision,
        trace=trace_average_precision,
        source="trec_eval 9.0.8, m_map.c and m_map_cut.c; doi:10.1007/s10791-016-9282-6, Table 2",
        parameters=(REL, NORM),
        revision=2,
        needs=needs_pool,
        events=events_average_precision,
        printed=_printed,
    ),
)

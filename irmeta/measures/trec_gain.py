"""ndcg_rel, Rndcg, G and binG: experimental gain measures of trec_eval 9."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from irmeta.kernels.trec_gain_terms import (
    discounted_lengths,
    gain_over_lag,
    ndcg_at_docs,
    ndcg_at_ranks,
)
from irmeta.measures.cutoffs import empty_values, per_query, positions, running_sums, valued_by_rank
from irmeta.measures.gains import doc_gain, doc_gains
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.weighted import discounted, discounts
from irmeta.naming.parameters import REL, Parameter
from irmeta.rankings.judged import JudgedRanks

GAIN = Parameter("gain", "grade", "gain of a doc", kind="gain", choices=("grade",))


def _ideal_gains(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive gains of each query's docs, descending, and their offsets."""
    gains = doc_gains(view, params["gain"])
    rows = np.flatnonzero(gains > 0)
    query = view.query_of(rows)
    order = np.lexsort((-gains[rows], query))
    return gains[rows][order], np.searchsorted(query, np.arange(len(view.queries) + 1))


def _ideal_dcgs(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the DCG of the ideal list down to each rank, as `running_sums`, and doc offsets."""
    ideal, bounds = _ideal_gains(view, params)
    divisors = discounts(int(np.diff(bounds).max(initial=0)))
    return *running_sums(bounds, ideal / divisors[positions(bounds)]), bounds


def _gained(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Return ranks, labels, worth by label and rank, and offsets of the docs with a gain."""
    ranks, labels, offsets, gains = valued_by_rank(view, doc_gains(view, params["gain"]))
    return ranks, labels, discounted(view.facts.deepest_rank)(gains), offsets


def compute_ndcg_rel(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Average nDCG over the ranks of the docs with a gain.

    A doc that is not retrieved has the nDCG of the full list.
    """
    sums, starts, bounds = _ideal_dcgs(view, params)
    ranks, labels, worth, offsets = _gained(view, params)
    out = empty_values(view, ks)
    gained, retrieved = np.empty((2, out.shape[2]))
    ndcg_at_docs(
        ranks,
        labels,
        worth,
        offsets,
        view.missing,
        sums,
        starts,
        gained,
        retrieved,
        out[0],
    )
    out[:] = out[0]
    return per_query(out, np.diff(bounds), 0.0)


def compute_rndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Average nDCG over the ranks where the ideal list ends or its gain falls, and the list's end.

    Notes
    -----
    As in trec_eval, the end counts only for lists that are longer than the ideal list by two docs
    or more, and a query without a relevant doc scores 0. `rel` has no other effect.
    """
    sums, starts, bounds = _ideal_dcgs(view, params)
    gains, relevant = _ideal_gains(view, params)[0], view.counts(params["rel"])
    ends = [
        np.append(np.flatnonzero(np.diff(gains[start:stop])) + 1, stop - start)
        if start < stop and some
        else np.empty(0, np.int64)
        for (start, stop), some in zip(pairwise(bounds), relevant, strict=True)
    ]
    out = empty_values(view, ks)
    ndcg_at_ranks(
        *_gained(view, params),
        view.missing,
        sums,
        starts,
        np.concatenate([np.empty(0, np.int64), *ends]),
        np.cumsum([0, *map(len, ends)]),
        view.lengths,
        out[0],
    )
    out[:] = out[0]
    return out


def compute_g(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum gain / log2(2 + ideal gain so far - gain so far) over docs, over the total ideal gain.

    Notes
    -----
    As in trec_eval, the ideal gain of a rank inside the logarithm is at least 1, also after the end
    of the ideal list.
    """
    ideal, bounds = _ideal_gains(view, params)
    out = empty_values(view, ks)
    gained = np.empty(out.shape[2])
    sums, starts = running_sums(bounds, np.maximum(ideal, 1.0))
    ranks, labels, offsets, gains = valued_by_rank(view, doc_gains(view, params["gain"]))
    gain_over_lag(ranks, labels, gains, offsets, view.missing, sums, starts, gained, out[0])
    out[:] = out[0]
    sums, starts = running_sums(bounds, ideal)
    return per_query(out, sums[starts[1:] - 1], 0.0)


def compute_bin_g(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Average 1 / log2(2 + non-relevant docs above) over the relevant docs."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    divisors = discounts(view.facts.deepest_rank)
    discounted_lengths(ranks, offsets, view.missing, divisors, out[0])
    out[:] = out[0]
    return per_query(out, view.counts(params["rel"]), 0.0)


def _gaining_docs(one: OneList, params: Params) -> list[tuple[int, str, float, float]]:
    """List (rank, doc, grade, gain) of the docs of the list that have a gain."""
    gained = [(*doc, doc_gain(one, *doc[1:], params)) for doc in one.within(None)]
    return [doc for doc in gained if doc[3] > 0]


def _best(one: OneList, params: Params) -> list[float]:
    """Return the gains of the ideal list."""
    gains = (doc_gain(one, doc, grade, params) for _, doc, grade in one.judged)
    return sorted((gain for gain in gains if gain > 0), reverse=True)


def _ideal_dcg(best: list[float], rank: int) -> float:
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(best[:rank], 1))


def trace_ndcg_rel(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace nDCGRel as nDCG at each doc with a gain, over the number of these docs."""
    best, terms, dcg = _best(one, params), [], 0.0
    for rank, doc, grade, gain in _gaining_docs(one, params):
        dcg += gain / math.log2(rank + 1)
        ideal = _ideal_dcg(best, rank)
        terms.append(Term(rank, doc, grade, f"DCG {dcg:g} / ideal {ideal:g}", dcg / ideal))
    total = _ideal_dcg(best, len(best))
    for rank, doc, grade in one.judged:
        if rank is None and doc_gain(one, doc, grade, params) > 0:
            arithmetic = f"not retrieved: DCG of the list {dcg:g} / ideal {total:g}"
            terms.append(Term(None, doc, grade, arithmetic, dcg / total))
    return Trace(tuple(terms), len(best), "docs with a gain", None if best else 0.0)


def trace_rndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace RnDCG as nDCG at each rank that counts, over the number of these ranks."""
    best, gaining = _best(one, params), _gaining_docs(one, params)
    if not best or not one.relevant(params["rel"]):
        return Trace((), 1.0, "ranks", 0.0)
    last = [i for i in range(1, len(best)) if best[i] != best[i - 1]]
    ends = [(rank, f"(the ideal gain falls after rank {rank})") for rank in [*last, len(best)]]
    if one.length > len(best) + 1:
        ends.append((one.length, "(the list ends)"))
    terms = []
    for rank, what in ends:
        dcg = sum(gain / math.log2(r + 1) for r, *_, gain in gaining if r <= rank)
        ideal = _ideal_dcg(best, rank)
        terms.append(Term(rank, what, 0, f"DCG {dcg:g} / ideal {ideal:g}", dcg / ideal))
    return Trace(tuple(terms), len(terms), "ranks at which nDCG is taken")


def trace_g(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace G as gains over the logarithm of the lacking gain."""
    best, terms, gained = _best(one, params), [], 0.0
    for rank, doc, grade, gain in _gaining_docs(one, params):
        gained += gain
        lacking = sum(max(g, 1.0) for g in best[:rank]) + max(rank - len(best), 0) - gained
        amount = gain / math.log2(2 + lacking)
        terms.append(Term(rank, doc, grade, f"gain {gain:g} / log2(2 + {lacking:g})", amount))
    undefined = None if best else 0.0
    return Trace(tuple(terms), sum(best), "the gain of the ideal list", undefined)


def trace_bin_g(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace BinG as `trace_g`, with gain 1 for relevant docs."""
    terms = tuple(
        Term(rank, doc, grade, f"1 / log2(2 + {rank - i})", 1 / math.log2(2 + rank - i))
        for i, (rank, doc, grade) in enumerate(
            ((r, d, g) for r, d, g in one.within(None) if g >= params["rel"]), 1
        )
    )
    relevant = len(one.relevant(params["rel"]))
    return Trace(terms, relevant, "relevant docs of the query", None if relevant else 0.0)


MEASURES = (
    Measure(
        name="nDCGRel",
        summary="nDCG averaged over the ranks of the docs with a gain",
        compute=compute_ndcg_rel,
        trace=trace_ndcg_rel,
        source="trec_eval 9.0.8, m_ndcg_rel.c",
        parameters=(GAIN,),
        cutoff="none",
        revision=2,
    ),
    Measure(
        name="RnDCG",
        summary="nDCG averaged over the ranks at which the gain of the ideal list falls",
        compute=compute_rndcg,
        trace=trace_rndcg,
        source="trec_eval 9.0.8, m_Rndcg.c",
        parameters=(GAIN, REL),
        cutoff="none",
        monotone=False,
        revision=2,
    ),
    Measure(
        name="G",
        summary="normalized gain, discounted by the lag of the list behind the ideal list",
        compute=compute_g,
        trace=trace_g,
        source="trec_eval 9.0.8, m_G.c",
        parameters=(GAIN,),
        cutoff="none",
    ),
    Measure(
        name="BinG",
        summary="normalized gain of relevant docs, discounted by the non-relevant docs above",
        compute=compute_bin_g,
        trace=trace_bin_g,
        source="trec_eval 9.0.8, m_binG.c",
        cutoff="none",
    ),
)

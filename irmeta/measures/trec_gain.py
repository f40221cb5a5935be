"""ndcg_rel, Rndcg, G and binG: the experimental measures of gain of trec_eval 9."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from irmeta.kernels.trec_gain import (
    discounted_lengths,
    gain_over_lag,
    ndcg_at_docs,
    ndcg_at_ranks,
)
from irmeta.measures.by_rank import positions, running_sums, valued_by_rank
from irmeta.measures.cuts import empty_values, per_query
from irmeta.measures.gains import doc_gain, doc_gains
from irmeta.measures.parameters import REL, Parameter
from irmeta.measures.spec import Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.weighted import discounted, discounts
from irmeta.rankings.judged import JudgedRanks

GAIN = Parameter("gain", "grade", "gain of a doc", kind="gain", choices=("grade",))


def _ideal_gains(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray]:
    """The positive gains of each query's docs, descending, and their offsets."""
    gains = doc_gains(view, params["gain"])
    rows = np.flatnonzero(gains > 0)
    query = view.query_of(rows)
    order = np.lexsort((-gains[rows], query))
    return gains[rows][order], np.searchsorted(query, np.arange(len(view.queries) + 1))


def _ideal_dcgs(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The DCG of the ideal list down to each rank, as `running_sums`, and offsets of its docs."""
    ideal, bounds = _ideal_gains(view, params)
    divisors = discounts(int(np.diff(bounds).max(initial=0)))
    return *running_sums(bounds, ideal / divisors[positions(bounds)]), bounds


def _gained(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
    """Ranks, labels and what each label is worth at each rank, of docs with a gain; offsets."""
    ranks, labels, offsets, gains = valued_by_rank(view, doc_gains(view, params["gain"]))
    return ranks, labels, discounted(view.facts.deepest_rank)(gains), offsets


def compute_ndcg_rel(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """The mean of nDCG at the ranks of the docs with a gain.

    A doc that is not retrieved has the nDCG of the whole list.
    """
    sums, starts, bounds = _ideal_dcgs(view, params)
    ranks, labels, worth, offsets = _gained(view, params)
    out = empty_values(view, ks)
    gained, found = np.empty((2, out.shape[2]))
    ndcg_at_docs(
        ranks,
        labels,
        worth,
        offsets,
        view.missing,
        sums,
        starts,
        gained,
        found,
        out[0],
    )
    out[:] = out[0]
    return per_query(out, np.diff(bounds), 0.0)


def compute_rndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """The mean of nDCG where the ideal list ends or its gain falls, and where the list ends.

    Notes
    -----
    As in trec_eval, the end counts only in lists that go on for more than a doc after the ideal
    one, and a query without a relevant doc has 0, whatever its docs gain; `rel` does no more.
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
    """Each gain over log2(2 + what the list lacks of the ideal one by then), over the ideal gain.

    Notes
    -----
    As in trec_eval, an ideal gain below 1 is lacked as if it were 1, and so is every rank after the
    end of the ideal list.
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
    """1 / log2(2 + docs above that are not relevant), for each relevant doc, over all of them."""
    ranks, offsets = view.sorted_ranks(params["rel"])
    out = empty_values(view, ks)
    divisors = discounts(view.facts.deepest_rank)
    discounted_lengths(ranks, offsets, view.missing, divisors, out[0])
    out[:] = out[0]
    return per_query(out, view.counts(params["rel"]), 0.0)


def _found(one: OneList, params: Params) -> list[tuple[int, str, int, float]]:
    """(rank, doc, grade, gain) of the docs of the list that have a gain."""
    gained = [(*place, doc_gain(one, *place[1:], params)) for place in one.within(None)]
    return [place for place in gained if place[3] > 0]


def _best(one: OneList, params: Params) -> list[float]:
    """The gains of the ideal list."""
    found = (doc_gain(one, doc, grade, params) for _, doc, grade in one.judged)
    return sorted((gain for gain in found if gain > 0), reverse=True)


def _ideal_dcg(best: list[float], rank: int) -> float:
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(best[:rank], 1))


def trace_ndcg_rel(one: OneList, params: Params, k: int | None) -> Trace:
    """nDCG at each doc with a gain, over their number."""
    best, terms, dcg = _best(one, params), [], 0.0
    for rank, doc, grade, gain in _found(one, params):
        dcg += gain / math.log2(rank + 1)
        ideal = _ideal_dcg(best, rank)
        terms.append(Term(rank, doc, grade, f"DCG {dcg:g} / ideal {ideal:g}", dcg / ideal))
    whole = _ideal_dcg(best, len(best))
    for rank, doc, grade in one.judged:
        if rank is None and doc_gain(one, doc, grade, params) > 0:
            said = f"not retrieved: DCG of the list {dcg:g} / ideal {whole:g}"
            terms.append(Term(None, doc, grade, said, dcg / whole))
    return Trace(tuple(terms), len(best), "docs with a gain", None if best else 0.0)


def trace_rndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """NDCG at each rank that counts, over their number."""
    best, found = _best(one, params), _found(one, params)
    if not best or not one.relevant(params["rel"]):
        return Trace((), 1.0, "ranks", 0.0)
    last = [i for i in range(1, len(best)) if best[i] != best[i - 1]]
    ends = [(rank, f"(the ideal gain falls after rank {rank})") for rank in [*last, len(best)]]
    if one.length > len(best) + 1:
        ends.append((one.length, "(the list ends)"))
    terms = []
    for rank, what in ends:
        dcg = sum(gain / math.log2(r + 1) for r, *_, gain in found if r <= rank)
        ideal = _ideal_dcg(best, rank)
        terms.append(Term(rank, what, 0, f"DCG {dcg:g} / ideal {ideal:g}", dcg / ideal))
    return Trace(tuple(terms), len(terms), "ranks at which nDCG is taken")


def trace_g(one: OneList, params: Params, k: int | None) -> Trace:
    """G as gains over the logarithm of what is lacking."""
    best, terms, gained = _best(one, params), [], 0.0
    for rank, doc, grade, gain in _found(one, params):
        gained += gain
        lacking = sum(max(g, 1.0) for g in best[:rank]) + max(rank - len(best), 0) - gained
        amount = gain / math.log2(2 + lacking)
        terms.append(Term(rank, doc, grade, f"gain {gain:g} / log2(2 + {lacking:g})", amount))
    undefined = None if best else 0.0
    return Trace(tuple(terms), sum(best), "the gain of the ideal list", undefined)


def trace_bin_g(one: OneList, params: Params, k: int | None) -> Trace:
    """The same with gain 1 for relevant docs."""
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
        summary="normalized gain, discounted by how far the list lags behind the ideal one",
        compute=compute_g,
        trace=trace_g,
        source="trec_eval 9.0.8, m_G.c",
        parameters=(GAIN,),
        cutoff="none",
    ),
    Measure(
        name="BinG",
        summary="normalized gain of relevant docs, discounted by the others above them",
        compute=compute_bin_g,
        trace=trace_bin_g,
        source="trec_eval 9.0.8, m_binG.c",
        cutoff="none",
    ),
)

"""DCG and nDCG, and the experimental gain measures of trec_eval 9: G, binG, Rndcg, ndcg_rel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.cutoff_sums import (
    discounted_lengths,
    gain_over_lag,
    ndcg_at_docs,
    ndcg_at_ranks,
)
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.measures.sums import (
    GAIN_OF,
    GAINS,
    IDEAL,
    Divisor,
    Sum,
    Worth,
    discounted,
    discounts,
    doc_gain,
    doc_gains,
    empty_values,
    needs_pool,
    needs_ties,
    per_query,
    positions,
    refuse_assumed,
    refuse_without_cutoff,
    running_sums,
    sums_of_first,
    valued_by_rank,
    weighted_gains,
    weighted_terms,
)
from irmeta.naming import GMAX, REL, TIES, Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.view import Need


def _worth(view: JudgedRanks, params: Params) -> Worth:
    return discounted(view.facts.deepest_rank, params["discount"], params["b"])


def least_gained(params: Params) -> float:
    """Return the least grade with a gain; under the default rel, gains by grade include grade 0."""
    return params["rel"] if params["rel"] != REL.default else 0


def _gains(view: JudgedRanks, params: Params) -> np.ndarray:
    return doc_gains(
        view, params["gain"], params["rel"], params.get("gmax"), least=least_gained(params)
    )


def discount_at(rank: int, params: Params) -> tuple[float, str]:
    """Return the divisor of a gain at this rank, as a number and as text."""
    if params["discount"] == "zipf":
        return float(rank), f" / {rank}"
    if params["discount"] == "log2":
        return math.log2(rank + 1), f" / log2({rank} + 1)"
    if rank < params["b"]:
        return 1.0, ""
    return math.log(rank, params["b"]), f" / log_{params['b']:g}({rank})"


def _terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    return weighted_terms(
        ranking,
        params,
        k,
        lambda rank: 1.0 / discount_at(rank, params)[0],
        lambda rank, gain: f"gain {gain:g}{discount_at(rank, params)[1]}",
        least_gained(params),
    )


def ideal_dcg(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Compute the DCG of the ideal list: float64 [cutoff, query]."""
    gain = _gains(view, params)
    if params["gain"] not in GAINS:  # gains by grade need not rise with the grade
        gain = gain[np.lexsort((-gain, view.query_of(np.arange(len(gain)))))]
    longest = int(np.diff(view.offsets).max(initial=0))
    divisors = discounts(longest, params["discount"], params["b"])
    amounts = gain / divisors[positions(view.offsets)]
    return sums_of_first(view.offsets, amounts, ks)


def _ideal_of(ranking: OneList, params: Params, k: int | None) -> tuple[float, str]:
    gains = (
        doc_gain(ranking, doc, g, params, least_gained(params)) for _, doc, g in ranking.judged
    )
    best = sorted(gains, reverse=True)[:k]
    ideal = sum(gain / discount_at(rank, params)[0] for rank, gain in enumerate(best, 1))
    return ideal, "the same sum over the ideal list"


_IDEAL_DCG = Divisor(
    *(ideal_dcg, _ideal_of),
    in_pool="the same sum over the ideal list of docs in the pool of depth {k}",
)
DCG = Sum("Sum gains times discounts.", **weighted_gains(_gains, _worth), terms=_terms)
NDCG = Sum(
    """Compute DCG over the DCG of the ideal list, which has all judged docs by gain descending.

    Under ``ideal=pool`` docs outside the pool of depth k are unjudged, in the list and in the ideal
    list; the value is NaN where no doc in the pool has a gain.
    """,
    **weighted_gains(_gains, _worth),
    terms=_terms,
    divisor=_IDEAL_DCG,
)


def _needs(params: Params) -> tuple[Need, ...]:
    return (*needs_ties(params), *needs_pool(params))


def check_discount(measure: str, params: Params) -> None:
    """Raise an error for a base without a logarithm."""
    if params["b"] != DISCOUNT[1].default and params["discount"] != "jk":
        raise MeasureError(f"{measure}: b is the base of discount=jk. Add discount=jk, or omit b.")


def check_gmax(measure: str, params: Params) -> None:
    """Raise an error for a highest grade that divides no gain."""
    if params["gmax"] is not None and params["gain"] not in ("linear", "exp"):
        raise MeasureError(f"{measure}: gmax needs gain=linear or gain=exp. Omit gmax.")


def _check_dcg(params: Params, cutoff: Cutoff) -> None:
    check_gmax("DCG", params)
    refuse_assumed("DCG", params)
    check_discount("DCG", params)


def _check_ndcg(params: Params, cutoff: Cutoff) -> None:
    refuse_without_cutoff("nDCG", params, cutoff)
    refuse_assumed("nDCG", params)
    check_discount("nDCG", params)


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


GRADE_GAIN = Parameter("gain", "grade", "gain of a doc", kind="gain", choices=("grade",))


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
    worth = discounted(view.facts.deepest_rank)
    return ranks, *worth.table(gains, ranks, labels), offsets


def compute_ndcg_rel(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Average nDCG over the ranks of the docs with a gain.

    A doc that is not retrieved has the nDCG of the full list.
    """
    sums, starts, bounds = _ideal_dcgs(view, params)
    out = empty_values(view, ks)
    gained, retrieved = np.empty((2, out.shape[2]))
    lists = *_gained(view, params), view.missing
    ndcg_at_docs(*lists, sums, starts, gained, retrieved, out[0])
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


def _gaining_docs(ranking: OneList, params: Params) -> list[tuple[int, str, float, float]]:
    """List (rank, doc, grade, gain) of the docs of the list that have a gain."""
    gained = [(*doc, doc_gain(ranking, *doc[1:], params)) for doc in ranking.within(None)]
    return [doc for doc in gained if doc[3] > 0]


def _best(ranking: OneList, params: Params) -> list[float]:
    """Return the gains of the ideal list."""
    gains = (doc_gain(ranking, doc, grade, params) for _, doc, grade in ranking.judged)
    return sorted((gain for gain in gains if gain > 0), reverse=True)


def _ideal_dcg(best: list[float], rank: int) -> float:
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(best[:rank], 1))


def trace_ndcg_rel(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace nDCGRel as nDCG at each doc with a gain, over the number of these docs."""
    best, terms, dcg = _best(ranking, params), [], 0.0
    for rank, doc, grade, gain in _gaining_docs(ranking, params):
        dcg += gain / math.log2(rank + 1)
        ideal = _ideal_dcg(best, rank)
        terms.append(Term(rank, doc, grade, f"DCG {dcg:g} / ideal {ideal:g}", dcg / ideal))
    total = _ideal_dcg(best, len(best))
    for rank, doc, grade in ranking.judged:
        if rank is None and doc_gain(ranking, doc, grade, params) > 0:
            arithmetic = f"not retrieved: DCG of the list {dcg:g} / ideal {total:g}"
            terms.append(Term(None, doc, grade, arithmetic, dcg / total))
    return Trace(tuple(terms), len(best), "docs with a gain", None if best else 0.0)


def trace_rndcg(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace RnDCG as nDCG at each rank that counts, over the number of these ranks."""
    best, gaining = _best(ranking, params), _gaining_docs(ranking, params)
    if not best or not ranking.relevant(params["rel"]):
        return Trace((), 1.0, "ranks", 0.0)
    last = [i for i in range(1, len(best)) if best[i] != best[i - 1]]
    ends = [(rank, f"(the ideal gain falls after rank {rank})") for rank in [*last, len(best)]]
    if ranking.length > len(best) + 1:
        ends.append((ranking.length, "(the list ends)"))
    terms = []
    for rank, what in ends:
        dcg = sum(gain / math.log2(r + 1) for r, *_, gain in gaining if r <= rank)
        ideal = _ideal_dcg(best, rank)
        terms.append(Term(rank, what, 0, f"DCG {dcg:g} / ideal {ideal:g}", dcg / ideal))
    return Trace(tuple(terms), len(terms), "ranks at which nDCG is taken")


def trace_g(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace G as gains over the logarithm of the lacking gain."""
    best, terms, gained = _best(ranking, params), [], 0.0
    for rank, doc, grade, gain in _gaining_docs(ranking, params):
        gained += gain
        lacking = sum(max(g, 1.0) for g in best[:rank]) + max(rank - len(best), 0) - gained
        amount = gain / math.log2(2 + lacking)
        terms.append(Term(rank, doc, grade, f"gain {gain:g} / log2(2 + {lacking:g})", amount))
    undefined = None if best else 0.0
    return Trace(tuple(terms), sum(best), "the gain of the ideal list", undefined)


def trace_bin_g(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace BinG as `trace_g`, with gain 1 for relevant docs."""
    terms = tuple(
        Term(rank, doc, grade, f"1 / log2(2 + {rank - i})", 1 / math.log2(2 + rank - i))
        for i, (rank, doc, grade) in enumerate(
            ((r, d, g) for r, d, g in ranking.within(None) if g >= params["rel"]), 1
        )
    )
    relevant = len(ranking.relevant(params["rel"]))
    return Trace(terms, relevant, "relevant docs of the query", None if relevant else 0.0)


MEASURES = (
    Measure(
        name="DCG",
        summary="discounted cumulated gain, default discount log2(rank + 1)",
        **DCG.functions,
        source="doi:10.1145/582415.582418; doi:10.1007/s10791-016-9282-6, Table 2",
        parameters=_DCG,
        bounds=(0.0, math.inf),
        family="utility",
        needs=_needs,
        check=_check_dcg,
        revision=2,
        gained_only=True,
    ),
    Measure(
        name="nDCG",
        summary="normalised discounted cumulated gain, default discount log2(rank + 1)",
        **NDCG.functions,
        source="trec_eval 9.0.8, m_ndcg.c and m_ndcg_cut.c; doi:10.1145/582415.582418",
        parameters=_NDCG,
        monotone=False,
        needs=_needs,
        check=_check_ndcg,
        revision=2,
        gained_only=True,
    ),
    Measure(
        name="nDCGRel",
        summary="nDCG averaged over the ranks of the docs with a gain",
        compute=compute_ndcg_rel,
        trace=trace_ndcg_rel,
        source="trec_eval 9.0.8, m_ndcg_rel.c",
        parameters=(GRADE_GAIN,),
        cutoff="none",
        revision=2,
    ),
    Measure(
        name="RnDCG",
        summary="nDCG averaged over the ranks at which the gain of the ideal list falls",
        compute=compute_rndcg,
        trace=trace_rndcg,
        source="trec_eval 9.0.8, m_Rndcg.c",
        parameters=(GRADE_GAIN, REL),
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
        parameters=(GRADE_GAIN,),
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

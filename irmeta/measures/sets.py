"""Measures of a list as a set: precision and recall, counts of docs, linear utility."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from irmeta.measures.spec import (
    TREC_EVAL,
    Compute,
    Cutoffs,
    Measure,
    OneList,
    Params,
    Term,
    Trace,
)
from irmeta.measures.sums import divide, retrieved
from irmeta.naming import BETA, REL, Parameter
from irmeta.rankings.judged import JudgedRanks


def set_sizes(view: JudgedRanks, params: Params) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return n, R and the relevant docs retrieved: float64 that broadcast to [query, system]."""
    relevant = view.counts(params["rel"]).astype(np.float64)[:, None]
    return view.lengths.astype(np.float64), relevant, retrieved(view, params["rel"])


def _for_each(ks: Cutoffs, values: np.ndarray, view: JudgedRanks) -> np.ndarray:
    return np.broadcast_to(values, (len(ks), *view.lengths.shape))


def compute_set_precision(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the relevant docs retrieved by the docs of the list."""
    listed, _, hits = set_sizes(view, params)
    return _for_each(ks, divide(hits, listed, 0.0), view)


def compute_set_recall(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the relevant docs retrieved by all relevant docs."""
    _, relevant, hits = set_sizes(view, params)
    return _for_each(ks, divide(hits, relevant, 0.0), view)


def compute_set_f(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute (1 + beta^2) P R / (beta^2 P + R) of set precision and set recall."""
    listed, relevant, hits = set_sizes(view, params)
    precision, recall = divide(hits, listed, 0.0), divide(hits, relevant, 0.0)
    weight = params["beta"] ** 2
    value = divide((1.0 + weight) * precision * recall, weight * precision + recall, 0.0)
    return _for_each(ks, value, view)


def compute_set_ap(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Multiply set precision by set recall, in one division."""
    listed, relevant, hits = set_sizes(view, params)
    return _for_each(ks, divide(hits * hits, listed * relevant, 0.0), view)


def compute_set_relative(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the relevant docs retrieved by the most that a list of this length can hold."""
    listed, relevant, hits = set_sizes(view, params)
    return _for_each(ks, divide(hits, np.minimum(listed, relevant), 0.0), view)


def compute_queries(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Return 1 for every query."""
    return _for_each(ks, np.array(1.0), view)


def compute_listed(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Return the length of the list."""
    return _for_each(ks, view.lengths.astype(np.float64), view)


def compute_relevant(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Return R, the number of relevant docs of the query."""
    return _for_each(ks, view.counts(params["rel"]).astype(np.float64)[:, None], view)


def compute_relevant_retrieved(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Count the relevant docs of the list."""
    return _for_each(ks, retrieved(view, params["rel"]), view)


def compute_judged_nonrelevant(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Count the docs of the list that are judged and not relevant."""
    return _for_each(ks, retrieved(view, *view.nonrelevant(params["rel"])), view)


def _hits(ranking: OneList, params: Params) -> list[tuple[int | None, str, float]]:
    return [d for d in ranking.relevant(params["rel"]) if d[0] is not None]


def _per_hit(
    ranking: OneList, params: Params, divisor: float, divisor_is: str, amount: float = 1.0
) -> Trace:
    """Trace the same amount for each relevant doc retrieved; 0 for divisor 0."""
    terms = tuple(Term(*doc, f"{amount:g}", amount) for doc in _hits(ranking, params))
    return Trace(terms, divisor, divisor_is, None if divisor else 0.0)


def _all_relevant(ranking: OneList, params: Params) -> int:
    return len(ranking.relevant(params["rel"]))


def trace_set_precision(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace SetP as counts over n."""
    return _per_hit(ranking, params, ranking.length, "docs of the list")


def trace_set_recall(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace SetR as counts over R."""
    return _per_hit(ranking, params, _all_relevant(ranking, params), "relevant docs of the query")


def trace_set_f(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace SetF as (1 + beta^2) relevant docs retrieved / (beta^2 R + n), an equal ratio."""
    weight, relevant = params["beta"] ** 2, _all_relevant(ranking, params)
    divisor_is = f"{weight:g} times {relevant} relevant docs + {ranking.length} docs of the list"
    return _per_hit(ranking, params, weight * relevant + ranking.length, divisor_is, 1.0 + weight)


def trace_set_ap(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace SetAP as the precision of the list for each relevant doc retrieved, over R."""
    precision = len(_hits(ranking, params)) / max(ranking.length, 1)
    relevant = _all_relevant(ranking, params)
    return _per_hit(ranking, params, relevant, "relevant docs of the query", precision)


def trace_set_relative(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace SetRelP as counts over min(n, R)."""
    relevant = _all_relevant(ranking, params)
    divisor_is = f"min({ranking.length} docs of the list, {relevant} relevant docs)"
    return _per_hit(ranking, params, min(ranking.length, relevant), divisor_is)


def _total(*terms: Term) -> Trace:
    return Trace(terms, 1.0, "(nothing)")


def _of_all(what: str, arithmetic: str, amount: float) -> Term:
    """Return a term without a doc."""
    return Term(None, f"({what})", 0, arithmetic, amount)


def trace_queries(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace NumQ as 1."""
    return _total(_of_all("the query", "1", 1.0))


def trace_listed(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace NumRet as one number."""
    return _total(_of_all("docs of the list", f"{ranking.length}", float(ranking.length)))


def trace_relevant(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace NumRel, doc by doc."""
    return _total(*(Term(*doc, "1", 1.0) for doc in ranking.relevant(params["rel"])))


def trace_relevant_retrieved(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace NumRelRet, doc by doc."""
    return _total(*(Term(*doc, "1", 1.0) for doc in _hits(ranking, params)))


def trace_judged_nonrelevant(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace NumNonrelJudgedRet, doc by doc."""
    counted = (
        Term(rank, doc, grade, "1", 1.0)
        for rank, doc, grade in ranking.within(None)
        if ranking.counts_as_judged(grade) and grade < params["rel"]
    )
    return _total(*counted)


def _count(
    name: str,
    summary: str,
    made: tuple[Compute, Callable[[OneList, Params, Any], Trace]],
    **more: Any,
) -> Measure:
    return Measure(
        name=name,
        summary=summary,
        compute=made[0],
        trace=made[1],
        source=TREC_EVAL.format(re.sub("(?<!^)(?=[A-Z])", "_", name).lower()),
        cutoff="none",
        family="count",
        average="sum",
        format="count",
        bounds=(0.0, math.inf),
        **more,
    )


def compute_utility(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Weight docs by a (relevant, in the list), b (only in the list), c (only relevant), d.

    A utility below ``low`` is raised to it, as T9U in the TREC-9 filtering track.
    """
    listed, relevant, hits = set_sizes(view, params)
    neither = params["N"] + hits - listed - relevant
    value = params["a"] * hits + params["b"] * (listed - hits)
    value = value + params["c"] * (relevant - hits) + params["d"] * neither
    if params["low"] is not None:
        value = np.maximum(value, params["low"])
    return np.broadcast_to(value, (len(ks), *view.lengths.shape))


def compute_scaled_utility(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Scale the utility a h + b (n - h) of n docs, h of them relevant, from 0 to 1.

    The value is (max(utility, least) - least) / (a R - least), with a R the greatest utility. The
    lower bound is ``least`` times a R for ``bound=share``, as in T11SU, and ``least`` itself for
    ``bound=utility``, as in T10SU.
    """
    listed, relevant, hits = set_sizes(view, params)
    greatest = params["a"] * relevant
    least = params["least"] * (greatest if params["bound"] == "share" else np.ones_like(relevant))
    value = np.maximum(params["a"] * hits + params["b"] * (listed - hits), least) - least
    scaled = np.where(relevant > 0, divide(value, greatest - least, math.nan), math.nan)
    return np.broadcast_to(scaled, (len(ks), *view.lengths.shape))


def _kinds(ranking: OneList, params: Params) -> tuple[int, int]:
    """Return the number of relevant docs of the list, and of all relevant docs."""
    relevant = ranking.relevant(params["rel"])
    return sum(rank is not None for rank, *_ in relevant), len(relevant)


def _weighted(params: Params, kinds: dict[str, tuple[str, int]]) -> list[Term]:
    """Return the weights of kinds of docs times their number, as terms without a doc."""
    return [
        Term(None, f"({what})", 0, f"{name} = {params[name]:g}, times {docs}", params[name] * docs)
        for name, (what, docs) in kinds.items()
    ]


def _raised(terms: list[Term], low: float) -> list[Term]:
    """Return the terms, with another that raises their sum to a lower bound."""
    total = sum(term.amount for term in terms)
    raised = Term(None, "(lower bound)", 0, f"raised from {total:g} to {low:g}", low - total)
    return [*terms, raised] if total < low else terms


def trace_utility(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace Utility as one term for each of its four kinds of docs."""
    hits, relevant = _kinds(ranking, params)
    kinds = {
        "a": ("relevant, in the list", hits),
        "b": ("not relevant, in the list", ranking.length - hits),
        "c": ("relevant, not in the list", relevant - hits),
        "d": ("neither", params["N"] + hits - ranking.length - relevant),
    }
    terms = _weighted(params, kinds)
    if params["low"] is not None:
        terms = _raised(terms, params["low"])
    return Trace(tuple(terms), 1.0, "(nothing)")


def trace_scaled_utility(ranking: OneList, params: Params, k: None) -> Trace:
    """Trace ScaledUtility as a bounded utility less the bound, over the greatest."""
    hits, relevant = _kinds(ranking, params)
    greatest = params["a"] * relevant
    least = params["least"] * (greatest if params["bound"] == "share" else 1.0)
    kinds = {
        "a": ("relevant, in the list", hits),
        "b": ("not relevant, in the list", ranking.length - hits),
    }
    terms = _raised(_weighted(params, kinds), least)
    terms.append(Term(None, "(scale)", 0, f"- lower bound {least:g}", -least))
    divisor_is = f"greatest utility {greatest:g} - lower bound {least:g}"
    return Trace(tuple(terms), greatest - least, divisor_is, None if relevant else math.nan)


MEASURES = (
    Measure(
        name="SetP",
        summary="precision of the complete list",
        compute=compute_set_precision,
        trace=trace_set_precision,
        source=TREC_EVAL.format("set_P"),
        family="utility",
        monotone=False,
        cutoff="none",
    ),
    Measure(
        name="SetR",
        summary="recall of the complete list",
        compute=compute_set_recall,
        trace=trace_set_recall,
        source=TREC_EVAL.format("set_recall"),
        unjudged=(),
        cutoff="none",
    ),
    Measure(
        name="SetF",
        summary="F of set precision and set recall; trec_eval names it by beta squared",
        compute=compute_set_f,
        trace=trace_set_f,
        source=TREC_EVAL.format("set_F"),
        parameters=(BETA, REL),
        monotone=False,
        cutoff="none",
    ),
    Measure(
        name="SetAP",
        summary="set precision times set recall",
        compute=compute_set_ap,
        trace=trace_set_ap,
        source=TREC_EVAL.format("set_map"),
        monotone=False,
        cutoff="none",
        revision=2,
    ),
    Measure(
        name="SetRelP",
        summary="relevant docs retrieved, over the most that a list of this length can hold",
        compute=compute_set_relative,
        trace=trace_set_relative,
        source=TREC_EVAL.format("set_rel_P"),
        monotone=False,
        cutoff="none",
    ),
    _count(
        "NumQ",
        "1 for every query; added up, the number of queries",
        (compute_queries, trace_queries),
        parameters=(),
        no_relevant=None,
        empty_list="1",
        unjudged=(),
    ),
    _count(
        "NumRet",
        "number of docs in the list",
        (compute_listed, trace_listed),
        parameters=(),
        no_relevant=None,
    ),
    _count(
        "NumRel",
        "number of relevant docs of the query",
        (compute_relevant, trace_relevant),
        empty_list="relevant docs of the query",
        unjudged=(),
    ),
    _count(
        "NumRelRet",
        "number of relevant docs in the list",
        (compute_relevant_retrieved, trace_relevant_retrieved),
        unjudged=(),
    ),
    _count(
        "NumNonrelJudgedRet",
        "number of docs of the list judged non-relevant",
        (compute_judged_nonrelevant, trace_judged_nonrelevant),
        direction=-1,
        no_relevant=None,
        monotone=False,
        unjudged=(),
    ),
    Measure(
        name="Utility",
        summary="linear utility: a, b, c and d times the docs that are relevant and listed, "
        "listed, relevant, neither",
        compute=compute_utility,
        trace=trace_utility,
        source=f"{TREC_EVAL.format('utility')}; Robertson and Hull 2000, TREC-9 filtering (low)",
        parameters=(
            Parameter("a", 1.0, "weight of relevant docs of the list", "number", -1e12, 1e12),
            Parameter("b", -1.0, "weight of other docs of the list", "number", -1e12, 1e12),
            Parameter("c", 0.0, "weight of relevant docs not in the list", "number", -1e12, 1e12),
            Parameter("d", 0.0, "weight of other docs not in the list", "number", -1e12, 1e12),
            Parameter("N", 0, "docs of the collection, for d (trec_eval's -N)", low=0, high=10**12),
            Parameter("low", None, "lower bound of the utility", "number", -1e12, 1e12),
            REL,
        ),
        bounds=(-math.inf, math.inf),
        no_relevant=None,
        empty_list="c * relevant docs + d * (N - relevant docs), at least low",
        monotone=False,
        cutoff="none",
    ),
    Measure(
        name="ScaledUtility",
        summary="linear utility between a lower bound and the greatest utility, scaled to 0 to 1",
        compute=compute_scaled_utility,
        trace=trace_scaled_utility,
        source="Robertson and Soboroff 2002, TREC 2002 filtering track (T11SU)",
        parameters=(
            Parameter("a", 2.0, "weight of relevant docs of the list", "number", 0, 1e12, True),
            Parameter("b", -1.0, "weight of other docs of the list", "number", -1e12, 0),
            Parameter("least", -0.5, "lower bound of the utility", "number", -1e12, 0),
            Parameter(
                "bound",
                "share",
                "meaning of least: a share of the greatest utility, or a utility",
                kind="choice",
                choices=("share", "utility"),
            ),
            REL,
        ),
        no_relevant=math.nan,
        empty_list="the scaled utility 0",
        monotone=False,
        cutoff="none",
    ),
)

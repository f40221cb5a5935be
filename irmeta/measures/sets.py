"""Measures of a list as a set: precision and recall, counts of docs, linear utility."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from irmeta.measures.spec import (
    TREC_EVAL,
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


def _of_set(
    name: str,
    summary: str,
    definition: str,
    value: Callable[[np.ndarray, np.ndarray, np.ndarray, Params], np.ndarray],
    per_hit: Callable[[int, int, int, Params], tuple[float, str, float]],
    **more: Any,
) -> Measure:
    """Return a measure of n docs of the list, R relevant docs, and h of both.

    `per_hit` returns the divisor in the trace, its words, and the amount of each of the h docs.
    """

    def compute(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        values = value(*set_sizes(view, params), params)
        return np.broadcast_to(values, (len(ks), *view.lengths.shape))

    def trace(ranking: OneList, params: Params, k: None) -> Trace:
        hits, relevant = _hits(ranking, params), len(ranking.relevant(params["rel"]))
        divisor, divisor_is, amount = per_hit(ranking.length, relevant, len(hits), params)
        terms = tuple(Term(*doc, f"{amount:g}", amount) for doc in hits)
        return Trace(terms, divisor, divisor_is, None if divisor else 0.0)

    compute.__doc__ = definition
    return Measure(name=name, summary=summary, compute=compute, trace=trace, cutoff="none", **more)


def _f(listed: np.ndarray, relevant: np.ndarray, hits: np.ndarray, params: Params) -> np.ndarray:
    precision, recall = divide(hits, listed, 0.0), divide(hits, relevant, 0.0)
    weight = params["beta"] ** 2
    return divide((1.0 + weight) * precision * recall, weight * precision + recall, 0.0)


def _f_per_hit(listed: int, relevant: int, hits: int, params: Params) -> tuple[float, str, float]:
    """Write F as (1 + beta^2) h / (beta^2 R + n), an equal ratio."""
    weight = params["beta"] ** 2
    divisor_is = f"{weight:g} times {relevant} relevant docs + {listed} docs of the list"
    return weight * relevant + listed, divisor_is, 1.0 + weight


def _hits(ranking: OneList, params: Params) -> list[tuple[int | None, str, float]]:
    return [d for d in ranking.relevant(params["rel"]) if d[0] is not None]


def _judged_nonrelevant(ranking: OneList, params: Params) -> list[tuple[int, str, float]]:
    return [
        (rank, doc, grade)
        for rank, doc, grade in ranking.within(None)
        if ranking.counts_as_judged(grade) and grade < params["rel"]
    ]


def _one_each(docs: Iterable[tuple[int | None, str, float]]) -> list[Term]:
    return [Term(*doc, "1", 1.0) for doc in docs]


def _count(
    name: str,
    summary: str,
    definition: str,
    count: Callable[[JudgedRanks, Params], np.ndarray],
    terms: Callable[[OneList, Params], list[Term]],
    **more: Any,
) -> Measure:
    """Return a measure that is a number of docs, the same at any cutoff."""

    def compute(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        return np.broadcast_to(count(view, params), (len(ks), *view.lengths.shape))

    compute.__doc__ = definition
    return Measure(
        name=name,
        summary=summary,
        compute=compute,
        trace=lambda ranking, params, k: Trace(tuple(terms(ranking, params)), 1.0, "(nothing)"),
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
    _of_set(
        "SetP",
        "precision of the complete list",
        "Divide the relevant docs retrieved by the docs of the list.",
        lambda n, rel, h, params: divide(h, n, 0.0),
        lambda n, rel, h, params: (n, "docs of the list", 1.0),
        source=TREC_EVAL.format("set_P"),
        family="utility",
        monotone=False,
    ),
    _of_set(
        "SetR",
        "recall of the complete list",
        "Divide the relevant docs retrieved by all relevant docs.",
        lambda n, rel, h, params: divide(h, rel, 0.0),
        lambda n, rel, h, params: (rel, "relevant docs of the query", 1.0),
        source=TREC_EVAL.format("set_recall"),
        unjudged=(),
    ),
    _of_set(
        "SetF",
        "F of set precision and set recall; trec_eval names it by beta squared",
        "Compute (1 + beta^2) P R / (beta^2 P + R) of set precision and set recall.",
        _f,
        _f_per_hit,
        source=TREC_EVAL.format("set_F"),
        parameters=(BETA, REL),
        monotone=False,
    ),
    _of_set(
        "SetAP",
        "set precision times set recall",
        "Multiply set precision by set recall, in one division.",
        lambda n, rel, h, params: divide(h * h, n * rel, 0.0),
        lambda n, rel, h, params: (rel, "relevant docs of the query", h / max(n, 1)),
        source=TREC_EVAL.format("set_map"),
        monotone=False,
        revision=2,
    ),
    _of_set(
        "SetRelP",
        "relevant docs retrieved, over the most that a list of this length can hold",
        "Divide the relevant docs retrieved by the most that a list of this length can hold.",
        lambda n, rel, h, params: divide(h, np.minimum(n, rel), 0.0),
        lambda n, rel, h, params: (
            min(n, rel),
            f"min({n} docs of the list, {rel} relevant docs)",
            1.0,
        ),
        source=TREC_EVAL.format("set_rel_P"),
        monotone=False,
    ),
    _count(
        "NumQ",
        "1 for every query; added up, the number of queries",
        "Return 1 for every query.",
        lambda view, params: np.array(1.0),
        lambda ranking, params: [Term(None, "(the query)", 0, "1", 1.0)],
        parameters=(),
        no_relevant=None,
        empty_list="1",
        unjudged=(),
    ),
    _count(
        "NumRet",
        "number of docs in the list",
        "Return the length of the list.",
        lambda view, params: view.lengths.astype(np.float64),
        lambda ranking, params: [
            Term(None, "(docs of the list)", 0, f"{ranking.length}", float(ranking.length))
        ],
        parameters=(),
        no_relevant=None,
    ),
    _count(
        "NumRel",
        "number of relevant docs of the query",
        "Return R, the number of relevant docs of the query.",
        lambda view, params: view.counts(params["rel"]).astype(np.float64)[:, None],
        lambda ranking, params: _one_each(ranking.relevant(params["rel"])),
        empty_list="relevant docs of the query",
        unjudged=(),
    ),
    _count(
        "NumRelRet",
        "number of relevant docs in the list",
        "Count the relevant docs of the list.",
        lambda view, params: retrieved(view, params["rel"]),
        lambda ranking, params: _one_each(_hits(ranking, params)),
        unjudged=(),
    ),
    _count(
        "NumNonrelJudgedRet",
        "number of docs of the list judged non-relevant",
        "Count the docs of the list that are judged and not relevant.",
        lambda view, params: retrieved(view, *view.nonrelevant(params["rel"])),
        lambda ranking, params: _one_each(_judged_nonrelevant(ranking, params)),
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

"""Linear utility of a list as a set, with a lower bound, and scaled as in the filtering tracks."""

from __future__ import annotations

import math

import numpy as np

from irmeta.measures.cutoffs import divide
from irmeta.measures.sets import set_sizes
from irmeta.measures.spec import TREC_EVAL, Cutoffs, Measure, OneList, Params, Term, Trace
from irmeta.naming.parameters import REL, Parameter
from irmeta.rankings.judged import JudgedRanks


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


def _kinds(one: OneList, params: Params) -> tuple[int, int]:
    """Return the number of relevant docs of the list, and of all relevant docs."""
    relevant = one.relevant(params["rel"])
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


def trace_utility(one: OneList, params: Params, k: None) -> Trace:
    """Trace Utility as one term for each of its four kinds of docs."""
    hits, relevant = _kinds(one, params)
    kinds = {
        "a": ("relevant, in the list", hits),
        "b": ("not relevant, in the list", one.length - hits),
        "c": ("relevant, not in the list", relevant - hits),
        "d": ("neither", params["N"] + hits - one.length - relevant),
    }
    terms = _weighted(params, kinds)
    if params["low"] is not None:
        terms = _raised(terms, params["low"])
    return Trace(tuple(terms), 1.0, "(nothing)")


def trace_scaled_utility(one: OneList, params: Params, k: None) -> Trace:
    """Trace ScaledUtility as a bounded utility less the bound, over the greatest."""
    hits, relevant = _kinds(one, params)
    greatest = params["a"] * relevant
    least = params["least"] * (greatest if params["bound"] == "share" else 1.0)
    kinds = {
        "a": ("relevant, in the list", hits),
        "b": ("not relevant, in the list", one.length - hits),
    }
    terms = _raised(_weighted(params, kinds), least)
    terms.append(Term(None, "(scale)", 0, f"- lower bound {least:g}", -least))
    divisor_is = f"greatest utility {greatest:g} - lower bound {least:g}"
    return Trace(tuple(terms), greatest - least, divisor_is, None if relevant else math.nan)


MEASURES = (
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

"""Arithmetic of D-measures in plain Python, for `irmeta explain`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from irmeta.measures.diversity.novelty_traces import log_weight, novelty_terms
from irmeta.measures.diversity.subtopic_recall import trace_strecall
from irmeta.measures.diversity.subtopic_shares import shares_of
from irmeta.measures.gains import gains, highest_grade
from irmeta.measures.spec import OneList, Params, Term, Trace


def _gain_of(one: OneList, params: Params) -> Callable[[int], float]:
    highest = highest_grade(one.highest_grade, params["gain"], params.get("gmax"))
    return lambda grade: float(gains(np.array([grade]), params["gain"], params["rel"], highest)[0])


def _gains_of(one: OneList, params: Params) -> dict[str, float]:
    """Return the global gain of each doc that has one, for traces."""
    shares, gain_of = shares_of(one, params), _gain_of(one, params)
    total = {
        doc: sum(shares.get(name, 0.0) * gain_of(grade) for name, grade in of_doc.items())
        for doc, of_doc in one.subtopic_grades.items()
    }
    return {doc: gain for doc, gain in total.items() if gain > 0}


def _ideal_of(one: OneList, params: Params, k: int | None) -> float:
    best = sorted(_gains_of(one, params).values(), reverse=True)[:k]
    return sum(gain * log_weight(rank)[0] for rank, gain in enumerate(best, 1))


def trace_dndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace D-nDCG as global gains over discounts, over the ideal sum."""
    gain, terms = _gains_of(one, params), []
    for rank, doc, grade in one.within(k):
        if doc in gain:
            weight, text = log_weight(rank)
            terms.append(Term(rank, doc, grade, f"{gain[doc]:g}{text}", gain[doc] * weight))
    ideal = _ideal_of(one, params, k)
    return Trace(tuple(terms), ideal, "the same sum over the ideal list", None if ideal else 0.0)


def trace_dinndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace DIN-nDCG as gains over discounts, over the ideal sum of D-nDCG."""
    gain_of, kinds = _gain_of(one, params), one.subtopic_types

    def gain(subtopic: str, grade: int) -> tuple[float, float]:
        is_found = kinds[subtopic] == "nav" and grade >= params["rel"]
        return gain_of(grade), 0.0 if is_found else 1.0

    terms = tuple(novelty_terms(one, k, gain, shares_of(one, params), log_weight))
    ideal = _ideal_of(one, params, k)
    return Trace(terms, ideal, "the ideal sum of DnDCG", None if ideal else 0.0)


def trace_dq(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace D-Q as one ratio per doc with a gain, over min(R, k)."""
    gain, beta = _gains_of(one, params), params["beta"]
    best = sorted(gain.values(), reverse=True)
    terms, count, gained = [], 0, 0.0
    for rank, doc, grade in one.within(k):
        if doc in gain:
            count, gained, ideal = count + 1, gained + gain[doc], sum(best[:rank])
            text = f"({count} + {beta:g} x {gained:g}) / ({rank} + {beta:g} x {ideal:g})"
            amount = (count + beta * gained) / (rank + beta * ideal)
            terms.append(Term(rank, doc, grade, text, amount))
    divisor = len(gain) if k is None else min(k, len(gain))
    return Trace(tuple(terms), divisor, "min(k, docs with a gain)", None if divisor else 0.0)


def trace_sharp(trace: Callable[..., Trace]) -> Callable[..., Trace]:
    """Return the function that traces a D#-measure."""

    def trace_both(one: OneList, params: Params, k: int | None) -> Trace:
        """Trace gamma times each part of subtopic recall, and 1 - gamma times the D-measure."""
        parts = ((trace_strecall, params["gamma"]), (trace, 1.0 - params["gamma"]))
        terms = []
        for trace_part, weight in parts:
            part = trace_part(one, params, k)
            if part.undefined is None:
                terms += [
                    replace(
                        term,
                        arithmetic=f"{weight:g} x ({term.arithmetic}) / {part.divisor:g}",
                        amount=weight * term.amount / part.divisor,
                    )
                    for term in part.terms
                ]
        return Trace(tuple(terms), 1.0, "(nothing)")

    return trace_both

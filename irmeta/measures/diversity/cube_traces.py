"""Arithmetic of the cube test in plain Python, for `irmeta explain`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from irmeta.measures.diversity.subtopic_shares import shares_of
from irmeta.measures.gains import highest_grade
from irmeta.measures.spec import OneList, Params, Term, Trace


def scale_of(params: Params) -> float:
    """Return what gains are divided by: the height of the cube, but nothing in Eq. 7."""
    return float(params["height"]) if params.get("form", "code") == "code" else 1.0


def bound_of(params: Params, k: int) -> tuple[int, int]:
    """Return the iterations that nCT's bound is divided by, and how many docs of a subtopic count.

    Under ``bound=time`` the value is divided by the bound of one iteration, as both have the
    iterations of the list.
    """
    if params["bound"] == "time":
        return 1, k
    iterations = params["iterations"] or _iteration(params, k)
    return iterations, (5 if params["per"] == "all" else params["per"]) * iterations + 1


def _rating_of(one: OneList, params: Params) -> Callable[[int], float]:
    highest = 1
    if params.get("form") == "paper":
        highest = highest_grade(one.highest_grade, "linear", params["gmax"])
    return lambda grade: grade / highest if grade >= params["rel"] else 0.0


def _iteration(params: Params, rank: int) -> int:
    return min(rank, 1) if params["per"] == "all" else -(-rank // params["per"])


def _gain_terms(one: OneList, params: Params, k: int | None) -> list[Term]:
    """List the gain of each doc down to k that has one."""
    rating_of, shares = _rating_of(one, params), shares_of(one, params)
    gamma, height, is_code = params["gamma"], params["height"], params.get("form") != "paper"
    seen, filled = defaultdict[str, int](int), defaultdict[str, float](float)
    terms = []
    for rank, doc, grade in one.within(k):
        total, texts = 0.0, []
        for name, of_doc in one.subtopic_grades.get(doc, {}).items():
            rating, share = rating_of(of_doc), shares.get(name, 0.0)
            if rating > 0 and filled[name] < height:
                power = seen[name] + is_code
                gain, text = gamma**power * rating, f"{gamma:g}^{power} x {rating:g}"
                if is_code and gain > height - filled[name]:
                    gain = height - filled[name]
                    text = f"({height:g} - {filled[name]:g})"
                filled[name] += gain if is_code else rating
                seen[name] += 1
                total += share * gain
                texts.append(f"{share:g} x {text}")
        if total > 0:
            terms.append(Term(rank, doc, grade, " + ".join(texts), total))
    return terms


def _docs(one: OneList, k: int | None) -> int:
    return one.length if k is None else min(k, one.length)


def trace_ct(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace CT as gains over the height of the cube and the iterations."""
    used, scale = _iteration(params, _docs(one, k)), scale_of(params)
    what = "iterations" if scale == 1 else f"height {scale:g} x {used} iterations"
    return Trace(tuple(_gain_terms(one, params, k)), scale * used, what, None if used else 0.0)


def trace_act(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace ACT as gains, each times the sum of 1 / iteration from its rank on."""
    docs, scale, terms = _docs(one, k), scale_of(params), []
    for term in _gain_terms(one, params, k):
        assert term.rank is not None
        times = sum(1 / _iteration(params, rank) for rank in range(term.rank, docs + 1))
        text = f"({term.arithmetic})" if "+" in term.arithmetic else term.arithmetic
        text = f"{text} x {times:g}"
        terms.append(replace(term, arithmetic=text, amount=term.amount * times))
    what = "docs of the list; a gain counts 1 / iteration at its rank and below"
    what = what if scale == 1 else f"height {scale:g} x {docs} {what}"
    return Trace(tuple(terms), scale * docs, what, None if docs else 0.0)


def trace_nct(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace nCT as gains over the greatest gain of the subtopics."""
    assert k is not None
    rating_of, total = _rating_of(one, params), 0.0
    is_code = params["bound"] == "code"
    iterations, most = bound_of(params, k)
    for name, share in shares_of(one, params).items():
        ratings = (rating_of(of.get(name, 0)) for of in one.subtopic_grades.values())
        best = sorted(ratings, reverse=True)[:most]
        filled = sum(params["gamma"] ** i * rating for i, rating in enumerate(best))
        total += share * min(filled, params["height"])
    used = _iteration(params, _docs(one, k)) if is_code else 1
    what = f"the gain of the best docs, {total:g}"
    if is_code:
        what += f", x {used} / {iterations} iterations"
    divisor = total * used / iterations
    terms = tuple(_gain_terms(one, params, k))
    return Trace(terms, divisor, what, None if divisor > 0 else 0.0)

"""ERR and related measures: a reader scans the list and may stop at each doc."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import prod

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.cutoff_sums import still_reading, stop_amounts
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Steps, Term, Trace
from irmeta.measures.sums import (
    Divisor,
    Sum,
    gains,
    highest_grade,
    positions,
    rank_cuts,
    sums_of_first,
    valued_by_rank,
)
from irmeta.naming import GMAX, Parameter
from irmeta.rankings.derive.select import ASSUMED_GRADE, UNJUDGED_DOC
from irmeta.rankings.judged import JudgedRanks

STOP = Parameter(
    "stop",
    "exp",
    "probability of stopping at a doc of grade g: (2^g - 1) / 2^gmax, g / gmax, g / (gmax + 1)",
    kind="choice",
    choices=("exp", "linear", "ntcir"),
)


def _stops(grades: np.ndarray, stop: str, highest: float) -> np.ndarray:
    if stop == "ntcir":
        return gains(grades, "linear", highest=highest + 1)
    return gains(grades, stop, highest=highest)


def stop_probabilities(view: JudgedRanks, params: Params) -> np.ndarray:
    """Compute the probability that the reader stops at the doc of each row: float64."""
    highest = highest_grade(view.facts.highest_grade, params["stop"], params["gmax"])
    stops = _stops(view.grades, params["stop"], highest)
    if view.assumed is not None:
        best = _stops(np.array([highest]), params["stop"], highest)[0]
        stops[view.assumed] = 1.0 if view.assumed_gain == "one" else best
    return stops


def _amounts(view: JudgedRanks, params: Params) -> Steps:
    """Step by P(stopping at the doc) / rank at each doc."""
    ranks, labels, offsets, stops = valued_by_rank(view, stop_probabilities(view, params))
    amounts = np.zeros(ranks.shape)
    reading = np.empty(ranks.shape[1])
    stop_amounts(ranks, labels, stops, offsets, view.missing, reading, amounts)
    return ranks, offsets, amounts


def _stop_of(ranking: OneList, doc: str, grade: float, params: Params) -> float:
    highest = highest_grade(ranking.highest_grade, params["stop"], params["gmax"])
    if doc == UNJUDGED_DOC and ranking.assumed_gain is not None:
        if ranking.assumed_gain == "one":
            return 1.0
        grade = highest
    return float(_stops(np.array([grade]), params["stop"], highest)[0])


def _stopping(
    ranking: OneList, params: Params, k: int | None
) -> list[tuple[int, str, float, float, float]]:
    """List (rank, doc, grade, P(reading the doc), P(stopping there)) of docs down to k."""
    stops, reading = [], 1.0
    for rank, doc, grade in ranking.within(k):
        if stop := _stop_of(ranking, doc, grade, params):
            stops.append((rank, doc, grade, reading, stop))
            reading *= 1 - stop
    return stops


def _terms(ranking: OneList, params: Params, k: int | None) -> list[Term]:
    return [
        Term(rank, doc, grade, f"{reading:g} x {stop:g} / {rank}", reading * stop / rank)
        for rank, doc, grade, reading, stop in _stopping(ranking, params, k)
    ]


def _ideal(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Compute ERR of the ideal list down to each k: float64 [k, query]."""
    stops = stop_probabilities(view, params)  # descending within a query, as the grades do
    reading = np.ones(len(stops))
    for start, stop in pairwise(view.offsets):
        np.cumprod(1.0 - stops[start : max(start, stop - 1)], out=reading[start + 1 : stop])
    return sums_of_first(view.offsets, reading * stops / positions(view.offsets), ks)


def _ideal_of(ranking: OneList, params: Params, k: int | None) -> tuple[float, str]:
    best = sorted((_stop_of(ranking, doc, g, params) for _, doc, g in ranking.judged), reverse=True)
    ideal, reading = 0.0, 1.0
    for rank, stop in enumerate(best[:k], 1):
        ideal += reading * stop / rank
        reading *= 1 - stop
    return ideal, "the same sum over the ideal list"


ERR = Sum(
    "Compute the expected 1 / rank of the doc where the reader stops; 0 for never stopping.",
    *(_amounts, _terms),
)
NERR = Sum(
    "Compute ERR over the ERR of the list of all judged docs by grade, both down to k.",
    *(_amounts, _terms, Divisor(_ideal, _ideal_of)),
)


def compute_residual(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute how much higher ERR could be if the list continued after k.

    ``bound``: 1 / (k + 1), for any list. ``product``: the bound, times the probability of reading
    on after k. Without a cutoff, k is the length of the list. ``unjudged``: the increase if every
    unjudged doc down to k had the highest grade, plus ``product`` for that list, which continues
    after its last doc if it is shorter than k.
    """
    if params["form"] == "unjudged":
        return _residual_with_unjudged(view, params, ks)
    after = np.empty((len(ks), *view.lengths.shape))
    for index, k in enumerate(ks):
        after[index] = (view.lengths if k is None else k) + 1.0
    if params["form"] == "bound":
        return 1.0 / after
    return _reading_on(view, params, ks) / after


def _reading_on(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the probability of reading on after each cutoff: float64 [cutoff, query, system]."""
    ranks, labels, offsets, stops = valued_by_rank(view, stop_probabilities(view, params))
    out = np.ones((len(ks), *view.lengths.shape))
    still_reading(ranks, labels, stops, offsets, rank_cuts(view, ks), out)
    return out


def _residual_with_unjudged(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the upper bound of ERR, minus ERR."""
    deepest = view.facts.deepest_rank
    last = [deepest if k is None else min(k, deepest) for k in ks]
    best = view.assume_relevant(max(last), "gmax")
    listed = np.minimum(view.lengths, np.array(last)[:, None, None])
    tail = _reading_on(best, params, ks) / (listed + 1.0)
    return ERR.compute(best, params, ks) - ERR.compute(view, params, ks) + tail


def trace_residual(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace the residual as 1 minus P(stopping) of each doc down to k, over k + 1."""
    if params["form"] == "unjudged":
        return _trace_with_unjudged(ranking, params, k)
    last, divisor_is = (ranking.length, "list length + 1") if k is None else (k, "k + 1")
    terms = [Term(None, "(every reader)", 0, "1", 1.0)]
    if params["form"] == "product":
        terms += [
            Term(rank, doc, grade, f"-{reading:g} x {stop:g}", -reading * stop)
            for rank, doc, grade, reading, stop in _stopping(ranking, params, k)
        ]
    return Trace(tuple(terms), last + 1, divisor_is)


def _trace_with_unjudged(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace the residual as ERR with unjudged docs of the highest grade, minus ERR, plus a tail."""
    last = ranking.length if k is None else min(k, ranking.length)
    judged = {rank: (doc, grade) for rank, doc, grade in ranking.within(last)
              if ranking.counts_as_judged(grade)}  # fmt: skip
    best = [(rank, *judged.get(rank, (UNJUDGED_DOC, ASSUMED_GRADE))) for rank in range(1, last + 1)]
    upper = replace(ranking, judged=tuple(best), assumed_gain="gmax")
    terms = list(_terms(upper, params, k))
    terms += [
        replace(term, arithmetic=f"-{term.arithmetic}", amount=-term.amount)
        for term in _terms(ranking, params, k)
    ]
    reading = prod(1 - stop for *_, stop in _stopping(upper, params, k))
    text = f"{reading:g} / {last + 1}"
    return Trace((*terms, Term(None, "(every reader)", 0, text, reading / (last + 1))), 1.0, "1")


_FORM = Parameter(
    "form",
    "product",
    "product: 1 / (k + 1) times the probability of reading on after k; bound: 1 / (k + 1); "
    "unjudged: the increase from unjudged docs of the highest grade down to k, plus their product",
    kind="choice",
    choices=("product", "bound", "unjudged"),
)


def _check_residual(params: Params, cutoff: Cutoff) -> None:
    is_changed = params["stop"] != STOP.default or params["gmax"] != GMAX.default
    if params["form"] == "bound" and is_changed:
        raise MeasureError("ERRResidual: form=bound is the same for any stop and gmax: omit them.")


_CHAPELLE = "Chapelle et al. 2009, Expected reciprocal rank, doi:10.1145/1645953.1646033"

MEASURES = (
    Measure(
        name="ERR",
        summary="expected reciprocal rank of the doc that the reader stops at",
        **ERR.functions,
        source=_CHAPELLE,
        parameters=(STOP, GMAX),
        family="utility",
        gained_only=True,
    ),
    Measure(
        name="nERR",
        summary="ERR over that of the ideal list, which holds all judged docs by grade",
        **NERR.functions,
        source=f"{_CHAPELLE}; NTCIR-13 We Want Web",
        parameters=(STOP, GMAX),
        monotone=False,
    ),
    Measure(
        name="ERRResidual",
        summary="largest possible increase of ERR if the list continued after k, or also from "
        "unjudged docs",
        compute=compute_residual,
        trace=trace_residual,
        source="doi:10.1007/s10791-016-9282-6, after Eq. 4",
        parameters=(_FORM, STOP, GMAX),
        direction=-1,
        no_relevant=None,
        empty_list="1 / (k + 1); 1 without a cutoff or with form=unjudged",
        family="utility",
        # The residual falls as k grows, but without a cutoff k is the length of the list.
        monotone=False,
        unjudged=(),
        check=_check_residual,
    ),
)

"""The Cube Test and its variants: how fast a list fills a cube with a column for each subtopic."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.subtopic_gains import cube_gains
from irmeta.measures.diversity.subtopics import (
    SUBTOPICS,
    UNJUDGED,
    WEIGHTS,
    GainPairs,
    by_rank,
    needs_subtopics,
    shares_of,
    subtopic_shares,
)
from irmeta.measures.spec import (
    Cutoff,
    Cutoffs,
    Events,
    Measure,
    OneList,
    Params,
    Steps,
    Term,
    Trace,
)
from irmeta.measures.sums import (
    add_up,
    divide,
    gains,
    highest_grade,
    per_query,
    positions,
    sums_of_first,
)
from irmeta.naming import GMAX, REL, Parameter
from irmeta.rankings.judged import JudgedRanks

GAMMA = Parameter(
    "gamma",
    0.5,
    "factor of a subtopic's gain for each doc that is relevant to it",
    kind="number",
    low=0,
    high=1,
)
HEIGHT = Parameter(
    "height",
    5,
    "height of the cube, MH: a subtopic gains nothing more from there on",
    kind="number",
    low=0,
    open=True,
)
PER = Parameter("per", 5, "docs of an iteration; all: one iteration", choices=("all",))
FORM = Parameter(
    "form",
    "code",
    "code: TREC's program; paper: Eq. 7 as printed",
    kind="choice",
    choices=("code", "paper"),
)
BOUND = Parameter(
    "bound",
    "code",
    "iterations of the bound: K, as TREC's program (code), or those of the list (time)",
    kind="choice",
    choices=("code", "time"),
)
ITERATIONS = Parameter("iterations", None, "K of bound=code; default the iterations of k docs")


def ratings_of(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the rating of each (doc, subtopic) pair: float64 [pairs], 0 below grade `rel`."""
    grades = view.require("subtopics").grade
    is_paper = params.get("form") == "paper"
    highest = 1
    if is_paper:
        highest = highest_grade(view.facts.highest_grade, "linear", params["gmax"])
    ratings = gains(grades, "linear" if is_paper else "grade", highest=highest)
    return np.where(grades >= params["rel"], ratings, 0.0)


def fill(view: JudgedRanks, ratings: np.ndarray, shares: np.ndarray, params: Params) -> Steps:
    """Fill the cube by the docs of each list.

    `ratings`: float64 [pairs]; a pair of rating 0 counts for nothing. `shares`: float64 [names of
    subtopics].
    """
    subtopics, gamma = view.require("subtopics"), float(params["gamma"])
    is_code = params.get("form", "code") == "code"
    pairs = GainPairs.of(view, ratings, 1.0)
    ranks, docs, offsets = pairs.by_rank(view)
    weights, heights = np.empty((2, int(subtopics.counts.max(initial=0)), ranks.shape[1]))
    amounts = np.zeros(ranks.shape)
    cube_gains(
        *(ranks, docs, offsets, view.missing),
        *(pairs.starts, pairs.subtopic, pairs.gains, shares, subtopics.offsets),
        *(gamma if is_code else 1.0, gamma, float(params["height"]), is_code),
        *(weights, heights, amounts),
    )
    return ranks, offsets, amounts


def _filled(view: JudgedRanks, params: Params) -> Steps:
    return fill(view, ratings_of(view, params), subtopic_shares(view, params), params)


def iterations_by_rank(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the number of the iteration of each rank: float64 [rank], 0 at rank 0."""
    ranks = np.arange(max(view.facts.deepest_rank, int(view.lengths.max(initial=0))) + 1)
    return np.minimum(ranks, 1.0) if params["per"] == "all" else np.ceil(ranks / params["per"])


def _last_ranks(view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
    """Return the number of docs down to each cutoff: int64 [cutoff, query, system]."""
    lengths = view.lengths.astype(np.int64)
    return np.stack([lengths if k is None else np.minimum(lengths, k) for k in ks])


def rates(view: JudgedRanks, steps: Steps, iterations: np.ndarray, ks: Cutoffs) -> np.ndarray:
    """Divide the gain of the docs down to k by the iterations that they take."""
    used = iterations[_last_ranks(view, ks)]
    return divide(add_up(view, *steps, ks), used, 0.0)


def mean_rates(view: JudgedRanks, steps: Steps, iterations: np.ndarray, ks: Cutoffs) -> np.ndarray:
    """Compute the mean of `rates` over the docs down to k.

    A gain at rank r counts 1 / iteration at each rank from r on.
    """
    ranks, offsets, amounts = steps
    until = np.cumsum(np.divide(1.0, iterations, out=0.0 * iterations, where=iterations > 0))
    above = by_rank(np.concatenate([[0.0], until[:-1]]), ranks, view.missing)
    docs = _last_ranks(view, ks)
    sums = until[docs] * add_up(view, ranks, offsets, amounts, ks)
    return divide(sums - add_up(view, ranks, offsets, amounts * above, ks), docs, 0.0)


def fullest(
    view: JudgedRanks, ratings: np.ndarray, shares: np.ndarray, params: Params, most: np.ndarray
) -> np.ndarray:
    """Compute the gain of the best docs of each subtopic, by rating: float64 [k, query].

    The i-th has gamma^(i - 1) times its rating, and a subtopic at most the height of the cube.
    `most` is the number of docs of a subtopic, by k.
    """
    subtopics = view.require("subtopics")
    rated = np.flatnonzero(ratings)
    names = subtopics.name_indices(view.offsets)[rated]
    order = np.lexsort((-ratings[rated], names))
    offsets = np.searchsorted(names[order], np.arange(len(subtopics.names) + 1))
    amounts = ratings[rated][order] * float(params["gamma"]) ** (positions(offsets) - 1)
    heights = np.minimum(sums_of_first(offsets, amounts, most), params["height"])
    queries, count = subtopics.queries, len(view.queries)
    return np.stack([np.bincount(queries, of_k * shares, count) for of_k in heights])


def compute_ct(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide the gain of the docs down to k by the cube's height and by the iterations used.

    A doc of rating r gains p_a min(gamma^(n + 1) r, MH - H_a) for each subtopic a that is not full:
    p_a is the share of the subtopic, n the number of docs above it that gained from a, and H_a what
    these filled. The rating is the grade, the docs of an iteration are `per`, and the iterations
    used are those of the docs of the list down to k. ``form=paper``: a doc gains
    p_a gamma^n r where the ratings above it add up to less than MH, with ratings divided by the
    highest grade, and the gain is not divided by MH.

    Notes
    -----
    The cutoff counts docs: with 5 docs in an iteration, TREC's CT@10 is ``CT@50``. Eq. 7 of Albahem
    et al. (2018) divides ratings by the highest grade, and lacks the first factor gamma and the
    division by MH of TREC's program. While no subtopic is full, its values are MH / (gamma times
    the highest grade) times those of the program, which are the ones that the paper prints.
    """
    steps = _filled(view, params)
    return rates(view, steps, iterations_by_rank(view, params), ks) / scale_of(params)


def compute_act(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute the mean of CT@i over the ranks i of the docs of the list, down to k.

    A non-relevant doc at the end of a list can raise the value, as CT is then counted once more.
    """
    steps = _filled(view, params)
    return mean_rates(view, steps, iterations_by_rank(view, params), ks) / scale_of(params)


def compute_nct(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Divide CT by a bound from the best docs of each subtopic.

    The bound adds up p_a min(MH, sum of gamma^i r_i) over the subtopics, where r_0, r_1, ... are
    the greatest ratings of docs for a, and divides by MH and by iterations. ``code``, as in TREC's
    program: the b K + 1 greatest ratings, where b is `per`, or 5 for ``per=all``, and K iterations
    even if the list takes fewer, so that the value may exceed 1. ``time``: the k greatest ratings,
    and the iterations of the list.
    """
    steps, ideal = _filled(view, params), _ideal(view, params, ks)
    if params["bound"] == "time":
        return per_query(add_up(view, *steps, ks), ideal, 0.0)
    return per_query(rates(view, steps, iterations_by_rank(view, params), ks), ideal, 0.0)


def _ideal(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Return the divisor of nCT, without the height of the cube: float64 [k, query]."""
    counted = [bound_of(params, int(k)) for k in ks]
    iterations, most = np.array(counted, np.int64).reshape(-1, 2).T
    ideal = fullest(view, ratings_of(view, params), subtopic_shares(view, params), params, most)
    return ideal / iterations[:, None]


def events_ct(view: JudgedRanks, params: Params) -> Events | None:
    """Step by the gain of each doc, in one iteration."""
    if params["per"] != "all":
        return None
    height = np.full((1, len(view.queries)), scale_of(params))
    return Events(*_filled(view, params), lambda ks: height)


def events_nct(view: JudgedRanks, params: Params) -> Events | None:
    """Step by the gain of each doc, if the iterations of the list do not matter."""
    if params["bound"] == "code" and params["per"] != "all":
        return None
    return Events(*_filled(view, params), lambda ks: _ideal(view, params, ks))


def _check(params: Params, cutoff: Cutoff) -> None:
    if params["form"] == "code" and params["gmax"] is not None:
        raise MeasureError("gmax needs form=paper, which divides by the highest grade. Omit gmax.")


def _check_nct(params: Params, cutoff: Cutoff) -> None:
    if params["bound"] == "time" and params["iterations"] is not None:
        raise MeasureError("nCT: iterations needs bound=code. Omit iterations.")


_SHARED = (GAMMA, HEIGHT, PER, REL, SUBTOPICS, WEIGHTS)
_CT = (*_SHARED, FORM, GMAX)
_NCT = (*_SHARED, BOUND, ITERATIONS)
_PROGRAM = "trec-dd-jig f279c6fe, cubetest.py"


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


def _rating_of(ranking: OneList, params: Params) -> Callable[[float], float]:
    highest = 1
    if params.get("form") == "paper":
        highest = highest_grade(ranking.highest_grade, "linear", params["gmax"])
    return lambda grade: grade / highest if grade >= params["rel"] else 0.0


def _iteration(params: Params, rank: int) -> int:
    return min(rank, 1) if params["per"] == "all" else -(-rank // params["per"])


def _gain_terms(ranking: OneList, params: Params, k: int | None) -> list[Term]:
    """List the gain of each doc down to k that has one."""
    rating_of, shares = _rating_of(ranking, params), shares_of(ranking, params)
    gamma, height, is_code = params["gamma"], params["height"], params.get("form") != "paper"
    seen, filled = defaultdict[str, int](int), defaultdict[str, float](float)
    terms = []
    for rank, doc, grade in ranking.within(k):
        total, texts = 0.0, []
        for name, of_doc in ranking.subtopic_grades.get(doc, {}).items():
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


def _docs(ranking: OneList, k: int | None) -> int:
    return ranking.length if k is None else min(k, ranking.length)


def trace_ct(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace CT as gains over the height of the cube and the iterations."""
    used, scale = _iteration(params, _docs(ranking, k)), scale_of(params)
    what = "iterations" if scale == 1 else f"height {scale:g} x {used} iterations"
    return Trace(tuple(_gain_terms(ranking, params, k)), scale * used, what, None if used else 0.0)


def trace_act(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace ACT as gains, each times the sum of 1 / iteration from its rank on."""
    docs, scale, terms = _docs(ranking, k), scale_of(params), []
    for term in _gain_terms(ranking, params, k):
        assert term.rank is not None
        times = sum(1 / _iteration(params, rank) for rank in range(term.rank, docs + 1))
        text = f"({term.arithmetic})" if "+" in term.arithmetic else term.arithmetic
        text = f"{text} x {times:g}"
        terms.append(replace(term, arithmetic=text, amount=term.amount * times))
    what = "docs of the list; a gain counts 1 / iteration at its rank and below"
    what = what if scale == 1 else f"height {scale:g} x {docs} {what}"
    return Trace(tuple(terms), scale * docs, what, None if docs else 0.0)


def trace_nct(ranking: OneList, params: Params, k: int | None) -> Trace:
    """Trace nCT as gains over the greatest gain of the subtopics."""
    assert k is not None
    rating_of, total = _rating_of(ranking, params), 0.0
    is_code = params["bound"] == "code"
    iterations, most = bound_of(params, k)
    for name, share in shares_of(ranking, params).items():
        ratings = (rating_of(of.get(name, 0)) for of in ranking.subtopic_grades.values())
        best = sorted(ratings, reverse=True)[:most]
        filled = sum(params["gamma"] ** i * rating for i, rating in enumerate(best))
        total += share * min(filled, params["height"])
    used = _iteration(params, _docs(ranking, k)) if is_code else 1
    what = f"the gain of the best docs, {total:g}"
    if is_code:
        what += f", x {used} / {iterations} iterations"
    divisor = total * used / iterations
    terms = tuple(_gain_terms(ranking, params, k))
    return Trace(terms, divisor, what, None if divisor > 0 else 0.0)


_measure = partial(
    Measure, bounds=(0.0, math.inf), monotone=False, unjudged=UNJUDGED, needs=needs_subtopics
)

MEASURES = (
    _measure(
        name="CT",
        summary="cube test: gain over subtopics that fill up, per iteration of a search session",
        compute=compute_ct,
        trace=trace_ct,
        source=f"Luo et al. 2013, doi:10.1145/2505515.2523648; {_PROGRAM}",
        parameters=_CT,
        family="utility",
        events=events_ct,
        check=_check,
    ),
    _measure(
        name="ACT",
        summary="average cube test: the mean of CT over the ranks of a list",
        compute=compute_act,
        trace=trace_act,
        source=f"Yang and Soboroff 2016, TREC 2016 Dynamic Domain track; {_PROGRAM}",
        parameters=_CT,
        family="utility",
        check=_check,
    ),
    _measure(
        name="nCT",
        summary="CT over a bound from the best docs of each subtopic",
        compute=compute_nct,
        trace=trace_nct,
        source=f"Yang, Tang and Soboroff 2017, TREC 2017 Dynamic Domain track; {_PROGRAM}",
        parameters=_NCT,
        cutoff="required",
        events=events_nct,
        check=_check_nct,
    ),
)

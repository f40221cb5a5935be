"""ERR-IA: a reader per subtopic, who scans the list and may stop at each relevant doc."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from irmeta.errors import MeasureError
from irmeta.measures.cutoffs import add_up, per_query
from irmeta.measures.diversity.novelty import (
    ALPHA,
    GREATEST_RATIO,
    NORM,
    Gain,
    greedy_values,
    novelty_steps,
    novelty_terms,
    perfect_sum,
    perfect_values,
    reciprocal,
    reciprocal_weight,
    relevant_gain,
    trace_over_greedy,
)
from irmeta.measures.diversity.subtopics import (
    SUBTOPICS,
    UNJUDGED,
    WEIGHTS,
    GainPairs,
    by_rank,
    gains_by_rank,
    needs_subtopics,
    shares_of,
    subtopic_shares,
)
from irmeta.measures.gains import gains, highest_grade
from irmeta.measures.spec import Cutoff, Cutoffs, Events, Measure, OneList, Params, Steps, Trace
from irmeta.naming.parameters import GMAX, REL, Parameter
from irmeta.rankings.judged import JudgedRanks

GAIN = Parameter(
    "gain",
    "binary",
    "gain of grade g: 1 from rel on, and alpha to stop there; or (2^g - 1) / 2^gmax for both",
    kind="choice",
    choices=("binary", "exp"),
)


def _top_stop(highest: float, params: Params) -> float:
    """Return the gain of the highest grade under ``gain=exp``."""
    best = highest_grade(highest, "exp", params["gmax"])
    return float(gains(np.array([best]), "exp", highest=best)[0])


def _steps(view: JudgedRanks, params: Params) -> Steps:
    """Return ranks, offsets, and the gain over the rank of each doc."""
    if params["gain"] == "binary":
        pairs = GainPairs.relevant(view, params["rel"], 1.0 - params["alpha"])
    else:
        highest = highest_grade(view.facts.highest_grade, "exp", params["gmax"])
        stops = gains(view.require("subtopics").grade, "exp", highest=highest)
        pairs = GainPairs.of(view, stops, 1.0 - stops)
    ranks, offsets, amounts = gains_by_rank(view, pairs, subtopic_shares(view, params))
    return ranks, offsets, amounts * by_rank(reciprocal(view, params), ranks, view.missing)


def _divisors(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Return the divisor at each k: float64 [k or 1, query]."""
    each = np.ones((1, len(view.queries)))
    if params["norm"] == "none":
        return each
    if params["gain"] == "binary":
        return perfect_values(1.0 - params["alpha"], "zipf", ks) * each
    top = _top_stop(view.facts.highest_grade, params)
    return top * perfect_values(1.0 - top, "zipf", ks) * each


def compute_err_ia(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum 1 / rank times the share-weighted gains of the subtopics, over `norm`.

    A doc gains p_a s(g) times the product of 1 - s(g) over the docs above it for each subtopic a,
    where p_a is the share of the subtopic and s(g) = (2^g - 1) / 2^gmax of the doc's grade for it
    (``gain=exp``). ``binary``: p_a (1 - alpha)^n for a relevant doc, with n relevant docs above.
    ``perfect``: over the same sum for a list whose docs have the highest grade for all subtopics;
    with binary gains and equal weights this is ndeval's ERR-IA. ``gain=exp,norm=none`` is Chapelle
    et al.'s.

    Notes
    -----
    ndeval and pyndeval leave rank 1 out of the divisor's discounts, so that their ERR-IA@1 is not
    normalised.
    """
    return per_query(add_up(view, *_steps(view, params), ks), _divisors(view, params, ks), 0.0)


def events_err_ia(view: JudgedRanks, params: Params) -> Events:
    """Step by the gain over the rank of each doc."""
    return Events(*_steps(view, params), lambda ks: _divisors(view, params, ks))


def trace_err_ia(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace ERR-IA as gains over ranks."""
    binary = params["gain"] == "binary"
    by_grade = _exp_gain(highest_grade(one.highest_grade, params["gain"], params["gmax"]))
    gain = relevant_gain(params["rel"], 1.0 - params["alpha"]) if binary else by_grade
    terms = tuple(novelty_terms(one, k, gain, shares_of(one, params), reciprocal_weight))
    if params["norm"] == "none":
        return Trace(terms, 1.0, "(nothing)")
    top = 1.0 if binary else _top_stop(one.highest_grade, params)
    keep = 1.0 - (params["alpha"] if binary else top)
    divisor_is = "the same sum if every doc had the highest grade for every subtopic"
    return Trace(terms, top * perfect_sum(keep, reciprocal_weight, k), divisor_is)


def _exp_gain(highest: float) -> Gain:
    """Return the gain (2^g - 1) / 2^highest as a function of the grade."""

    def gain(subtopic: str, grade: float) -> tuple[float, float]:
        stop = (2.0 ** max(grade, 0) - 1.0) / 2.0**highest
        return stop, 1.0 - stop

    return gain


def compute_nerr_ia(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute ERR-IA with binary gains over that of the greedy ideal list, both down to k.

    The greedy ideal list is that of `alpha_nDCG`.
    """
    sums = add_up(view, *novelty_steps(view, params, reciprocal), ks)
    return per_query(sums, greedy_values(view, params, reciprocal, ks), 0.0)


def events_nerr_ia(view: JudgedRanks, params: Params) -> Events:
    """Step by the gain over the rank of each doc, over the sum of the greedy ideal list at k."""
    steps = novelty_steps(view, params, reciprocal)
    return Events(*steps, lambda ks: greedy_values(view, params, reciprocal, ks))


def trace_nerr_ia(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace nERR-IA as gains over ranks, over those of the greedy ideal list."""
    return trace_over_greedy(one, params, k, reciprocal_weight, 0.0)


def _printed(params: Params, cutoff: Cutoff) -> Sequence[str]:
    changed = [p.name for p in _ERR_IA if params[p.name] != p.default]
    if params["gain"] == "exp" and "alpha" in changed:
        raise MeasureError("ERR_IA: gain=exp stops by the grade: omit alpha.")
    if params["gain"] == "binary" and "gmax" in changed:
        raise MeasureError("ERR_IA: gmax needs gain=exp. Omit gmax.")
    return changed


_ERR_IA = (ALPHA, NORM, GAIN, GMAX, REL, SUBTOPICS, WEIGHTS)

MEASURES = (
    Measure(
        name="ERR_IA",
        summary="intent-aware ERR: over subtopics, the expected 1 / rank where a reader stops",
        compute=compute_err_ia,
        trace=trace_err_ia,
        source="Chapelle et al. 2009, doi:10.1145/1645953.1646033, Section 7; ndeval 4.5",
        parameters=_ERR_IA,
        cutoff="required",
        bounds=(0.0, math.inf),
        family="utility",
        monotone=False,
        unjudged=UNJUDGED,
        needs=needs_subtopics,
        events=events_err_ia,
        printed=_printed,
    ),
    Measure(
        name="nERR_IA",
        summary="ERR_IA over that of the greedy ideal list",
        compute=compute_nerr_ia,
        trace=trace_nerr_ia,
        source="Clarke et al. 2011, doi:10.1145/1935826.1935847; ndeval 4.5",
        parameters=(ALPHA, REL),
        bounds=(0.0, GREATEST_RATIO),
        monotone=False,
        needs=needs_subtopics,
        events=events_nerr_ia,
    ),
)

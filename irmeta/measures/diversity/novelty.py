"""Novelty measures, where a subtopic gains less with each relevant doc above, and ERR-IA."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.subtopic_gains import perfect_sums
from irmeta.measures.diversity.subtopics import (
    SUBTOPICS,
    UNJUDGED,
    WEIGHTS,
    Gain,
    GainPairs,
    RankWeight,
    by_rank,
    count_subtopics,
    counted,
    counted_of,
    discount_weights,
    gains_by_rank,
    geometric_weight,
    greedy_gains_of,
    greedy_ideal,
    log_weight,
    needs_subtopics,
    novelty_terms,
    perfect_sum,
    reciprocal_weight,
    relevant_gain,
    shares_of,
    subtopic_shares,
    weights_at_positions,
)
from irmeta.measures.spec import (
    Cutoff,
    Cutoffs,
    Events,
    Measure,
    OneList,
    Params,
    Steps,
    Trace,
)
from irmeta.measures.sums import add_up, gains, highest_grade, per_query, running_sums, sums_at
from irmeta.naming import GMAX, REL, Parameter
from irmeta.rankings.judged import JudgedRanks

ALPHA = Parameter(
    "alpha",
    0.5,
    "part of a subtopic's gain that each relevant doc takes from the docs below it; 0: none",
    kind="number",
    low=0,
    high=1,
)
BETA = Parameter(
    "beta", 0.5, "probability of reading the next doc, the patience", kind="number", low=0, high=1
)
NORM = Parameter(
    "norm",
    "perfect",
    "divisor: the value of a list whose docs are all relevant to all subtopics; or none",
    kind="choice",
    choices=("perfect", "none"),
)
GREATEST_RATIO = math.e / (math.e - 1.0)
"""Bound of a sum over that of the greedy ideal list, which may miss the best list.

Down to any rank, the greedy list has at least 1 - 1/e of the greatest gain (Nemhauser, Wolsey and
Fisher 1978, doi:10.1007/BF01588971).
"""

Weights = Callable[[JudgedRanks, Params], np.ndarray]
"""Function that returns the weight of each rank: float64 [rank], 0 at rank 0."""


def longest_list(view: JudgedRanks) -> int:
    """Return the deepest rank that a list or an ideal list has."""
    return max(view.facts.deepest_rank, int(np.diff(view.offsets).max(initial=0)))


def logarithmic(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return 1 / log2(rank + 1) by rank."""
    return discount_weights(longest_list(view), "log2")


def reciprocal(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return 1 / rank by rank."""
    return discount_weights(longest_list(view), "zipf")


def geometric(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return ``beta ** (rank - 1)`` by rank."""
    powers = params["beta"] ** np.arange(longest_list(view), dtype=np.float64)
    return np.concatenate([[0.0], powers])


def novelty_steps(view: JudgedRanks, params: Params, weights: Weights) -> Steps:
    """Return ranks, offsets, and the gain times the weight of its rank of each doc."""
    pairs = GainPairs.relevant(view, params["rel"], 1.0 - params["alpha"])
    _, is_counted = counted(view, params)
    ranks, offsets, gains = gains_by_rank(view, pairs, is_counted.astype(np.float64))
    return ranks, offsets, gains * by_rank(weights(view, params), ranks, view.missing)


def perfect_values(keep: float, discount: str, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Sum ``keep ** (i - 1)`` times the discount of rank i, for i up to each k: float64 [k, 1]."""
    cutoffs, index = np.unique(np.asarray(ks, np.int64), return_inverse=True)
    sums = np.empty(len(cutoffs))
    perfect_sums(keep, discount == "log2", cutoffs, sums)
    return sums[index][:, None]


def greedy_values(
    view: JudgedRanks, params: Params, weights: Weights, ks: Cutoffs | np.ndarray
) -> np.ndarray:
    """Compute the sum over the greedy ideal list down to each k: float64 [k, query]."""
    gains, offsets = greedy_ideal(view, params["rel"], params["alpha"])
    amounts = gains * weights_at_positions(weights(view, params), offsets)
    longest = longest_list(view)
    firsts = np.array([longest if k is None else min(k, longest) for k in ks], np.int64)
    return sums_at(*running_sums(offsets, amounts), firsts)


def compute_alpha_dcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum the novelty gains of the docs, discounted by log2(rank + 1), over `norm`.

    A doc gains (1 - alpha)^n for each subtopic that it is relevant to, where n is the number of
    relevant docs above it. ``perfect``: over the sum of A (1 - alpha)^(i - 1) / log2(i + 1) for i
    from 1 to k, where A is the number of subtopics, as ndeval. ``none``: the sum itself.

    Notes
    -----
    ndeval and pyndeval leave rank 1 out of the divisor's discounts, so that their alpha-DCG@1 is
    not normalised.
    """
    sums = add_up(view, *novelty_steps(view, params, logarithmic), ks)
    return per_query(sums, _alpha_divisors(view, params, ks), 0.0)


def _alpha_divisors(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    if params["norm"] == "none":
        return np.ones((1, len(view.queries)))
    return count_subtopics(view, params) * perfect_values(1.0 - params["alpha"], "log2", ks)


def events_alpha_dcg(view: JudgedRanks, params: Params) -> Events:
    """Step by the discounted gain of each doc."""
    steps = novelty_steps(view, params, logarithmic)
    return Events(*steps, lambda ks: _alpha_divisors(view, params, ks))


def trace_alpha_dcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace alpha-DCG as gains over discounts."""
    names = counted_of(one, params)
    gain = relevant_gain(params["rel"], 1.0 - params["alpha"])
    terms = tuple(novelty_terms(one, k, gain, dict.fromkeys(names, 1.0), log_weight))
    if params["norm"] == "none":
        return Trace(terms, 1.0, "(nothing)")
    perfect = perfect_sum(1.0 - params["alpha"], log_weight, k)
    divisor_is = "the same sum if every doc were relevant to every subtopic"
    return Trace(terms, len(names) * perfect, divisor_is, None if names else 0.0)


def compute_alpha_ndcg(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute alpha-DCG over that of the greedy ideal list, both down to k.

    At each rank the greedy list has the judged doc of greatest gain, of docs with equal gains the
    one with the greatest name, as in ndeval. A better list may exist, and scores above 1, but at
    most e / (e - 1).

    Notes
    -----
    ndeval and pyndeval have cutoffs up to 20; without a cutoff the full lists are compared here.
    """
    sums = add_up(view, *novelty_steps(view, params, logarithmic), ks)
    return per_query(sums, greedy_values(view, params, logarithmic, ks), 0.0)


def events_alpha_ndcg(view: JudgedRanks, params: Params) -> Events:
    """Step by the discounted gain of each doc, over the sum of the greedy ideal list at k."""
    steps = novelty_steps(view, params, logarithmic)
    return Events(*steps, lambda ks: greedy_values(view, params, logarithmic, ks))


def trace_over_greedy(
    one: OneList, params: Params, k: int | None, weight: RankWeight, undefined: float
) -> Trace:
    """Trace a sum of weighted gains over that of the greedy ideal list."""
    rel, keep = params["rel"], 1.0 - params["alpha"]
    shares = dict.fromkeys(one.subtopics, 1.0)
    terms = novelty_terms(one, k, relevant_gain(rel, keep), shares, weight)
    best = greedy_gains_of(one, rel, keep)[:k]
    ideal = sum(gain * weight(rank)[0] for rank, gain in enumerate(best, 1))
    divisor_is = "the same sum over the greedy ideal list"
    return Trace(tuple(terms), ideal, divisor_is, None if ideal > 0 else undefined)


def trace_alpha_ndcg(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace alpha-nDCG as the terms of alpha-DCG over those of the greedy ideal list."""
    return trace_over_greedy(one, params, k, log_weight, 0.0)


def compute_nrbp(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Sum novelty gains times beta^(rank - 1), times (1 - (1 - alpha) beta) / A.

    The gains are those of `alpha_DCG`, over the full list; A is the number of subtopics.
    """
    sums = add_up(view, *novelty_steps(view, params, geometric), ks)
    return per_query(_patience(params) * sums, count_subtopics(view, params)[None], 0.0)


def _patience(params: Params) -> float:
    return 1.0 - (1.0 - params["alpha"]) * params["beta"]


def trace_nrbp(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace NRBP as gains times powers of beta."""
    names = counted_of(one, params)
    gain = relevant_gain(params["rel"], 1.0 - params["alpha"])
    shares, scale = dict.fromkeys(names, 1.0), _patience(params)
    terms = novelty_terms(one, k, gain, shares, geometric_weight(params["beta"]), scale)
    return Trace(tuple(terms), len(names), "subtopics", None if names else 0.0)


def compute_nnrbp(view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
    """Compute NRBP over that of the greedy ideal list; NaN without a relevant doc, as ndeval."""
    sums = add_up(view, *novelty_steps(view, params, geometric), ks)
    return per_query(sums, greedy_values(view, params, geometric, ks), np.nan)


def trace_nnrbp(one: OneList, params: Params, k: int | None) -> Trace:
    """Trace nNRBP as the terms of NRBP over those of the greedy ideal list."""
    return trace_over_greedy(one, params, k, geometric_weight(params["beta"]), math.nan)


def _check_alpha(params: Params, cutoff: Cutoff) -> None:
    if params["norm"] == "none" and params["subtopics"] != "found":
        raise MeasureError("alpha_DCG: norm=none is the same for any subtopics: omit one.")


_ALPHA_DCG = (ALPHA, NORM, REL, SUBTOPICS)
_CLARKE = "Clarke et al. 2008, Novelty and diversity, doi:10.1145/1390334.1390446"
_NRBP = "Clarke, Kolla and Vechtomova 2009, doi:10.1007/978-3-642-04417-5_17"


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


def _err_steps(view: JudgedRanks, params: Params) -> Steps:
    """Return ranks, offsets, and the gain over the rank of each doc."""
    if params["gain"] == "binary":
        pairs = GainPairs.relevant(view, params["rel"], 1.0 - params["alpha"])
    else:
        highest = highest_grade(view.facts.highest_grade, "exp", params["gmax"])
        stops = gains(view.require("subtopics").grade, "exp", highest=highest)
        pairs = GainPairs.of(view, stops, 1.0 - stops)
    ranks, offsets, amounts = gains_by_rank(view, pairs, subtopic_shares(view, params))
    return ranks, offsets, amounts * by_rank(reciprocal(view, params), ranks, view.missing)


def _err_divisors(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
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
    return per_query(
        add_up(view, *_err_steps(view, params), ks), _err_divisors(view, params, ks), 0.0
    )


def events_err_ia(view: JudgedRanks, params: Params) -> Events:
    """Step by the gain over the rank of each doc."""
    return Events(*_err_steps(view, params), lambda ks: _err_divisors(view, params, ks))


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


def _check_err(params: Params, cutoff: Cutoff) -> None:
    if params["gain"] == "exp" and params["alpha"] != ALPHA.default:
        raise MeasureError("ERR_IA: gain=exp stops by the grade: omit alpha.")
    if params["gain"] == "binary" and params["gmax"] is not None:
        raise MeasureError("ERR_IA: gmax needs gain=exp. Omit gmax.")


_ERR_IA = (ALPHA, NORM, GAIN, GMAX, REL, SUBTOPICS, WEIGHTS)


MEASURES = (
    Measure(
        name="alpha_DCG",
        summary="DCG of subtopics, whose gain falls by 1 - alpha with each relevant doc",
        compute=compute_alpha_dcg,
        trace=trace_alpha_dcg,
        source=f"{_CLARKE}; ndeval 4.5",
        parameters=_ALPHA_DCG,
        cutoff="required",
        bounds=(0.0, math.inf),
        family="utility",
        monotone=False,
        unjudged=UNJUDGED,
        needs=needs_subtopics,
        events=events_alpha_dcg,
        check=_check_alpha,
    ),
    Measure(
        name="alpha_nDCG",
        summary="alpha_DCG over that of the greedy ideal list",
        compute=compute_alpha_ndcg,
        trace=trace_alpha_ndcg,
        source=f"{_CLARKE}; ndeval 4.5",
        parameters=(ALPHA, REL),
        bounds=(0.0, GREATEST_RATIO),
        monotone=False,
        needs=needs_subtopics,
        events=events_alpha_ndcg,
    ),
    Measure(
        name="NRBP",
        summary="novelty- and rank-biased precision",
        compute=compute_nrbp,
        trace=trace_nrbp,
        source=f"{_NRBP}; ndeval 4.5",
        parameters=(ALPHA, BETA, REL, SUBTOPICS),
        cutoff="none",
        family="utility",
        unjudged=UNJUDGED,
        needs=needs_subtopics,
    ),
    Measure(
        name="nNRBP",
        summary="NRBP over that of the greedy ideal list; NaN without a relevant doc",
        compute=compute_nnrbp,
        trace=trace_nnrbp,
        source="Clarke et al. 2011, doi:10.1145/1935826.1935847; ndeval 4.5",
        parameters=(ALPHA, BETA, REL),
        cutoff="none",
        bounds=(0.0, GREATEST_RATIO),
        no_relevant=math.nan,
        needs=needs_subtopics,
    ),
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
        check=_check_err,
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

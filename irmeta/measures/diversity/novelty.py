"""Novelty measures, where a subtopic gains less with each relevant doc above, and ERR-IA."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.subtopic_gains import perfect_sums
from irmeta.measures.diversity.subtopics import (
    GEOMETRIC,
    LOGARITHMIC,
    RECIPROCAL,
    SUBTOPIC_COUNT,
    SUBTOPICS,
    UNJUDGED,
    WEIGHTS,
    Gain,
    GainPairs,
    RankWeight,
    count_subtopics,
    counted,
    counted_of,
    gains_by_rank,
    greedy_gains_of,
    greedy_ideal,
    needs_subtopics,
    novelty_terms,
    perfect_sum,
    relevant_gain,
    shares_of,
    subtopic_shares,
    weighted_steps,
    weights_at_positions,
)
from irmeta.measures.spec import Cutoff, Cutoffs, Measure, OneList, Params, Steps, Term
from irmeta.measures.sums import Divisor, Sum, gains, highest_grade, sums_of_first
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


GAIN = Parameter(
    "gain",
    "binary",
    "gain of grade g: 1 from rel on, and alpha to stop there; or (2^g - 1) / 2^gmax for both",
    kind="choice",
    choices=("binary", "exp"),
)


def _novelty(
    definition: str,
    weight: RankWeight,
    divisor: Divisor,
    scale: Callable[[Params], float] | None = None,
) -> Sum:
    """Return the sum of novelty gains, each times the weight of its rank."""

    def steps(view: JudgedRanks, params: Params) -> Steps:
        pairs = GainPairs.relevant(view, params["rel"], 1.0 - params["alpha"])
        _, is_counted = counted(view, params)
        gained = gains_by_rank(view, pairs, is_counted.astype(np.float64))
        return weighted_steps(weight, view, params, gained)

    def terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
        gain = relevant_gain(params["rel"], 1.0 - params["alpha"])
        shares = dict.fromkeys(counted_of(ranking, params), 1.0)
        factor = 1.0 if scale is None else scale(params)
        return novelty_terms(ranking, params, k, gain, shares, weight, factor)

    return Sum(definition, steps, terms, divisor, scale)


def perfect_values(keep: float, discount: str, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Sum ``keep ** (i - 1)`` times the discount of rank i, for i up to each k: float64 [k, 1]."""
    cutoffs, index = np.unique(np.asarray(ks, np.int64), return_inverse=True)
    sums = np.empty(len(cutoffs))
    perfect_sums(keep, discount == "log2", cutoffs, sums)
    return sums[index][:, None]


def _perfect(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Return the value of a list of docs relevant to all subtopics: float64 [k or 1, query]."""
    if params["norm"] == "none":
        return np.ones((1, len(view.queries)))
    return count_subtopics(view, params) * perfect_values(1.0 - params["alpha"], "log2", ks)


def _perfect_of(ranking: OneList, params: Params, k: int | None) -> tuple[float, str]:
    if params["norm"] == "none":
        return 1.0, "(nothing)"
    perfect = perfect_sum(1.0 - params["alpha"], LOGARITHMIC, k)
    divisor_is = "the same sum if every doc were relevant to every subtopic"
    return len(counted_of(ranking, params)) * perfect, divisor_is


def _over_greedy(weight: RankWeight, undefined: float = 0.0) -> Divisor:
    """Return the sum over the greedy ideal list down to k as a divisor."""

    def of_view(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
        gains, offsets = greedy_ideal(view, params["rel"], params["alpha"])
        amounts = gains * weights_at_positions(weight.of_view(view, params), offsets)
        return sums_of_first(offsets, amounts, ks)

    def of_list(ranking: OneList, params: Params, k: int | None) -> tuple[float, str]:
        best = greedy_gains_of(ranking, params["rel"], 1.0 - params["alpha"])[:k]
        ideal = sum(gain * weight.at(rank, params)[0] for rank, gain in enumerate(best, 1))
        return ideal, "the same sum over the greedy ideal list"

    return Divisor(of_view, of_list, undefined)


ALPHA_DCG = _novelty(
    """Sum the novelty gains of the docs, discounted by log2(rank + 1), over `norm`.

    A doc gains (1 - alpha)^n for each subtopic that it is relevant to, where n is the number of
    relevant docs above it. ``perfect``: over the sum of A (1 - alpha)^(i - 1) / log2(i + 1) for i
    from 1 to k, where A is the number of subtopics, as ndeval. ``none``: the sum itself.

    Notes
    -----
    ndeval and pyndeval leave rank 1 out of the divisor's discounts, so that their alpha-DCG@1 is
    not normalised.
    """,
    *(LOGARITHMIC, Divisor(_perfect, _perfect_of)),
)
ALPHA_NDCG = _novelty(
    """Compute alpha-DCG over that of the greedy ideal list, both down to k.

    At each rank the greedy list has the judged doc of greatest gain, of docs with equal gains the
    one with the greatest name, as in ndeval. A better list may exist, and scores above 1, but at
    most e / (e - 1).

    Notes
    -----
    ndeval and pyndeval have cutoffs up to 20; without a cutoff the full lists are compared here.
    """,
    *(LOGARITHMIC, _over_greedy(LOGARITHMIC)),
)
NRBP = _novelty(
    """Sum novelty gains times beta^(rank - 1), times (1 - (1 - alpha) beta) / A.

    The gains are those of `alpha_DCG`, over the full list; A is the number of subtopics.
    """,
    *(GEOMETRIC, SUBTOPIC_COUNT),
    scale=lambda params: 1.0 - (1.0 - params["alpha"]) * params["beta"],
)
NNRBP = _novelty(
    "Compute NRBP over that of the greedy ideal list; NaN without a relevant doc, as ndeval.",
    *(GEOMETRIC, _over_greedy(GEOMETRIC, math.nan)),
)
NERR_IA = _novelty(
    """Compute ERR-IA with binary gains over that of the greedy ideal list, both down to k.

    The greedy ideal list is that of `alpha_nDCG`.
    """,
    *(RECIPROCAL, _over_greedy(RECIPROCAL)),
)


def _top_stop(highest: float, params: Params) -> float:
    """Return the gain of the highest grade under ``gain=exp``."""
    best = highest_grade(highest, "exp", params["gmax"])
    return float(gains(np.array([best]), "exp", highest=best)[0])


def _err_steps(view: JudgedRanks, params: Params) -> Steps:
    """Step by the gain over the rank of each doc."""
    if params["gain"] == "binary":
        pairs = GainPairs.relevant(view, params["rel"], 1.0 - params["alpha"])
    else:
        highest = highest_grade(view.facts.highest_grade, "exp", params["gmax"])
        stops = gains(view.require("subtopics").grade, "exp", highest=highest)
        pairs = GainPairs.of(view, stops, 1.0 - stops)
    gained = gains_by_rank(view, pairs, subtopic_shares(view, params))
    return weighted_steps(RECIPROCAL, view, params, gained)


def _err_divisors(view: JudgedRanks, params: Params, ks: Cutoffs | np.ndarray) -> np.ndarray:
    """Return the divisor at each k: float64 [k or 1, query]."""
    each = np.ones((1, len(view.queries)))
    if params["norm"] == "none":
        return each
    if params["gain"] == "binary":
        return perfect_values(1.0 - params["alpha"], "zipf", ks) * each
    top = _top_stop(view.facts.highest_grade, params)
    return top * perfect_values(1.0 - top, "zipf", ks) * each


def _exp_gain(highest: float) -> Gain:
    """Return the gain (2^g - 1) / 2^highest as a function of the grade."""

    def gain(subtopic: str, grade: float) -> tuple[float, float]:
        stop = (2.0 ** max(grade, 0) - 1.0) / 2.0**highest
        return stop, 1.0 - stop

    return gain


def _err_terms(ranking: OneList, params: Params, k: int | None) -> Iterator[Term]:
    if params["gain"] == "binary":
        gain = relevant_gain(params["rel"], 1.0 - params["alpha"])
    else:
        gain = _exp_gain(highest_grade(ranking.highest_grade, "exp", params["gmax"]))
    return novelty_terms(ranking, params, k, gain, shares_of(ranking, params), RECIPROCAL)


def _err_divisor(ranking: OneList, params: Params, k: int | None) -> tuple[float, str]:
    if params["norm"] == "none":
        return 1.0, "(nothing)"
    binary = params["gain"] == "binary"
    top = 1.0 if binary else _top_stop(ranking.highest_grade, params)
    keep = 1.0 - (params["alpha"] if binary else top)
    divisor_is = "the same sum if every doc had the highest grade for every subtopic"
    return top * perfect_sum(keep, RECIPROCAL, k), divisor_is


ERR_IA = Sum(
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
    """,
    *(_err_steps, _err_terms, Divisor(_err_divisors, _err_divisor)),
)


def _check_alpha(params: Params, cutoff: Cutoff) -> None:
    if params["norm"] == "none" and params["subtopics"] != "found":
        raise MeasureError("alpha_DCG: norm=none is the same for any subtopics: omit one.")


def _check_err(params: Params, cutoff: Cutoff) -> None:
    if params["gain"] == "exp" and params["alpha"] != ALPHA.default:
        raise MeasureError("ERR_IA: gain=exp stops by the grade: omit alpha.")
    if params["gain"] == "binary" and params["gmax"] is not None:
        raise MeasureError("ERR_IA: gmax needs gain=exp. Omit gmax.")


_ALPHA_DCG = (ALPHA, NORM, REL, SUBTOPICS)
_CLARKE = "Clarke et al. 2008, Novelty and diversity, doi:10.1145/1390334.1390446"
_NRBP = "Clarke, Kolla and Vechtomova 2009, doi:10.1007/978-3-642-04417-5_17"
_ERR_IA = (ALPHA, NORM, GAIN, GMAX, REL, SUBTOPICS, WEIGHTS)


MEASURES = (
    Measure(
        name="alpha_DCG",
        summary="DCG of subtopics, whose gain falls by 1 - alpha with each relevant doc",
        **ALPHA_DCG.functions,
        source=f"{_CLARKE}; ndeval 4.5",
        parameters=_ALPHA_DCG,
        cutoff="required",
        bounds=(0.0, math.inf),
        family="utility",
        monotone=False,
        unjudged=UNJUDGED,
        needs=needs_subtopics,
        check=_check_alpha,
    ),
    Measure(
        name="alpha_nDCG",
        summary="alpha_DCG over that of the greedy ideal list",
        **ALPHA_NDCG.functions,
        source=f"{_CLARKE}; ndeval 4.5",
        parameters=(ALPHA, REL),
        bounds=(0.0, GREATEST_RATIO),
        monotone=False,
        needs=needs_subtopics,
    ),
    Measure(
        name="NRBP",
        summary="novelty- and rank-biased precision",
        **NRBP.functions,
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
        **NNRBP.functions,
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
        **ERR_IA.functions,
        source="Chapelle et al. 2009, doi:10.1145/1645953.1646033, Section 7; ndeval 4.5",
        parameters=_ERR_IA,
        cutoff="required",
        bounds=(0.0, math.inf),
        family="utility",
        monotone=False,
        unjudged=UNJUDGED,
        needs=needs_subtopics,
        check=_check_err,
    ),
    Measure(
        name="nERR_IA",
        summary="ERR_IA over that of the greedy ideal list",
        **NERR_IA.functions,
        source="Clarke et al. 2011, doi:10.1145/1935826.1935847; ndeval 4.5",
        parameters=(ALPHA, REL),
        bounds=(0.0, GREATEST_RATIO),
        monotone=False,
        needs=needs_subtopics,
    ),
)

"""Novelty measures: a subtopic gains less with each relevant doc above."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.subtopic_gains import perfect_sums
from irmeta.measures.cutoffs import add_up, per_query, running_sums, sums_at
from irmeta.measures.diversity.subtopics import (
    SUBTOPICS,
    UNJUDGED,
    GainPairs,
    by_rank,
    count_subtopics,
    counted,
    counted_of,
    discount_weights,
    gains_by_rank,
    greedy_ideal,
    needs_subtopics,
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
    Term,
    Trace,
)
from irmeta.naming.parameters import REL, Parameter
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


@lru_cache(maxsize=64)
def perfect_sum(keep: float, weight: RankWeight, k: int | None) -> float:
    """Return the divisor of ``norm=perfect`` for one subtopic, for traces."""
    assert k is not None
    total, left = 0.0, 1.0
    for rank in range(1, k + 1):
        if left == 0.0:
            break
        total += left * weight(rank)[0]
        left *= keep
    return total


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


def _alpha_printed(params: Params, cutoff: Cutoff) -> Sequence[str]:
    if params["norm"] == "none" and params["subtopics"] != "found":
        raise MeasureError("alpha_DCG: norm=none is the same for any subtopics: omit one.")
    return [p.name for p in _ALPHA_DCG if params[p.name] != p.default]


_ALPHA_DCG = (ALPHA, NORM, REL, SUBTOPICS)
_CLARKE = "Clarke et al. 2008, Novelty and diversity, doi:10.1145/1390334.1390446"
_NRBP = "Clarke, Kolla and Vechtomova 2009, doi:10.1007/978-3-642-04417-5_17"


Gain = Callable[[str, float], tuple[float, float]]
"""Function from a subtopic and a grade to the gain, and the factor of the next gain."""
RankWeight = Callable[[int], tuple[float, str]]
"""Function from a rank to its weight, and the text that applies it to a gain."""


def relevant_gain(rel: float, keep: float) -> Gain:
    """Return gain 1 for grades from `rel` on."""
    return lambda subtopic, grade: (float(grade >= rel), keep)


def log_weight(rank: int) -> tuple[float, str]:
    """Return 1 / log2(rank + 1)."""
    return 1.0 / math.log2(rank + 1), f" / log2({rank} + 1)"


def reciprocal_weight(rank: int) -> tuple[float, str]:
    """Return 1 / rank."""
    return 1.0 / rank, f" / {rank}"


def geometric_weight(base: float) -> RankWeight:
    """Return the weight ``base ** (rank - 1)`` as a function of the rank."""
    return lambda rank: (base ** (rank - 1), f" x {base:g}^{rank - 1}")


def novelty_terms(
    one: OneList,
    k: int | None,
    gain: Gain,
    shares: Mapping[str, float],
    weight: RankWeight,
    scale: float = 1.0,
) -> Iterator[Term]:
    """Yield the gain of each doc down to k, by the subtopics in `shares`, times its rank's weight.

    Every amount is multiplied by `scale`.
    """
    left = dict(shares)
    for rank, doc, grade in one.within(k):
        parts = []
        for name, of_doc in one.subtopic_grades.get(doc, {}).items():
            amount, keep = gain(name, of_doc)
            if name in left and amount > 0:
                parts.append((left[name], amount))
                left[name] *= keep
        if parts:
            by_rank, applied = weight(rank)
            total = sum(of_subtopic * amount for of_subtopic, amount in parts)
            texts = [f"{w:g}" if amount == 1 else f"{w:g} x {amount:g}" for w, amount in parts]
            text = f"({' + '.join(texts)})" if len(texts) > 1 else texts[0]
            scaled = "" if scale == 1 else f"{scale:g} x "
            yield Term(rank, doc, grade, f"{scaled}{text}{applied}", scale * total * by_rank)


def greedy_gains_of(one: OneList, rel: float, keep: float) -> list[float]:
    """Return the gain at each rank of the greedy ideal list."""
    relevant = {
        doc: [name for name, grade in of_doc.items() if grade >= rel]
        for doc, of_doc in one.subtopic_grades.items()
    }
    left = {doc: names for doc, names in relevant.items() if names}
    weights = dict.fromkeys(one.subtopics, 1.0)
    gains = []
    while left:
        total = {doc: sum(weights[name] for name in names) for doc, names in left.items()}
        best = max(left, key=lambda doc: (total[doc], doc.encode()))
        gains.append(total[best])
        for name in left.pop(best):
            weights[name] *= keep
    return gains


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
        printed=_alpha_printed,
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
)

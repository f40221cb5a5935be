"""Weights of docs by rank, optionally shared by tied docs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.cutoff_sums import add_discounted_gains, shared_gain
from irmeta.measures.cutoffs import empty_values, rank_cuts, valued_by_rank
from irmeta.measures.gains import doc_gain
from irmeta.measures.spec import Cutoffs, OneList, Params, Term
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need

Worth = Callable[[np.ndarray], np.ndarray]
"""Function from gains, float64 [gain], to their worth at each rank, float64 [gain, rank].

Rank 0 means docs that are not retrieved, with worth 0.
"""


def discounted(deepest: int, discount: str = "log2", b: float = 2.0) -> Worth:
    """Return the worth of gains that are divided by a discount of the rank: see `discounts`."""
    divisors = discounts(deepest, discount, b)
    return lambda gains: gains[:, None] / divisors


@lru_cache(maxsize=16)
def discounts(deepest: int, discount: str = "log2", b: float = 2.0) -> np.ndarray:
    """Compute the divisor of gains at each rank: float64 [rank], infinite at 0.

    ``log2``: log2(rank + 1). ``zipf``: the rank. ``jk``, Jarvelin and Kekalainen's: 1 at ranks
    below b, then log_b(rank).

    Notes
    -----
    The logarithms are the C library's, as in trec_eval: the last bit of numpy's depends on the
    processor.
    """
    ranks = range(1, deepest + 1)
    if discount == "zipf":
        positive = [float(rank) for rank in ranks]
    elif discount == "jk":
        base = math.log(b)
        positive = [math.log(max(rank, b)) / base for rank in ranks]
    else:
        positive = [math.log2(rank + 1) for rank in ranks]
    divisors = np.array([math.inf, *positive])
    divisors.flags.writeable = False
    return divisors


def weighted_gain(
    view: JudgedRanks, gain: np.ndarray, worth: Worth, ks: Cutoffs, ties: str
) -> np.ndarray:
    """Sum the worth of the docs of each list: float64 [cutoff, query, system].

    Docs are added up in the order of the list, as in trec_eval; where tied docs share weights, in
    the order of the judgments.

    Parameters
    ----------
    gain
        float64 by row of the view.
    """
    out, cuts = empty_values(view, ks), rank_cuts(view, ks)
    if ties == "order":
        ranks, labels, offsets, gains = valued_by_rank(view, gain)
        add_discounted_gains(ranks, labels, worth(gains), offsets, cuts, out)
        return out
    cumulative = np.cumsum(worth(np.ones(1))[0])
    firsts, lasts = view.require("ties")
    shared_gain(view.ranks, firsts, lasts, view.offsets, gain, cumulative, cuts, out)
    return out


def gain_events(
    view: JudgedRanks, gain: np.ndarray, worth: Worth
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ranks, offsets and amounts of the docs with a gain, by rank."""
    ranks, labels, offsets, gains = valued_by_rank(view, gain)
    return ranks, offsets, worth(gains)[labels, np.where(ranks == view.missing, 0, ranks)]


def needs_ties(params: Params) -> tuple[Need, ...]:
    """Return the need for blocks of tied docs, if a measure shares weights within blocks."""
    return () if params["ties"] == "order" else ("ties",)


def refuse_assumed(measure: str, params: Params) -> None:
    """Raise an error for shared ties with unjudged docs assumed relevant, which are in no block."""
    ties, unjudged = params["ties"], params.get("unjudged", "nonrelevant")
    if ties != "order" and unjudged.startswith("upper"):
        raise MeasureError(
            f"{measure}: ties={ties} cannot be combined with unjudged={unjudged}. Omit one."
        )


def weight_at(
    one: OneList, rank: int, k: int | None, ties: str, weight: Callable[[int], float]
) -> tuple[float, str]:
    """Return the weight of the doc at a rank, and how tied docs share the weight, in words.

    For traces. The weight is 0 beyond the cutoff, the words are empty for an untied doc.
    """
    deepest = one.length if k is None else k
    first, last = (rank, rank) if ties == "order" else one.ties.get(rank, (rank, rank))
    size, inside = last - first + 1, min(last, deepest) - first + 1
    if inside <= 0:
        return 0.0, ""
    if size == 1:
        return weight(rank), ""
    shared = sum(weight(i) for i in range(first, first + inside)) / size
    return shared, f"(weights of ranks {first} to {first + inside - 1}) / {size} tied docs"


def weighted_terms(
    one: OneList,
    params: Params,
    k: int | None,
    weight: Callable[[int], float],
    write: Callable[[int, float], str],
    least: float = 0,
) -> Iterator[Term]:
    """Yield gain times weight of judged docs if both are positive; `write` formats untied docs.

    Grades below `least` have no gain.
    """
    for rank, doc, grade in one.within(None):
        amount, shared = weight_at(one, rank, k, params["ties"], weight)
        gain = doc_gain(one, doc, grade, params, least) if amount > 0 else 0.0
        if gain > 0:
            arithmetic = f"gain {gain:g} x {shared}" if shared else write(rank, gain)
            yield Term(rank, doc, grade, arithmetic, gain * amount)

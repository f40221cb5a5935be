"""What docs are weighted by at their ranks, where tied docs may share what their ranks have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from irmeta.errors import MeasureError
from irmeta.kernels.gain import discounted_gain
from irmeta.kernels.ties import averaged_gain, shared_gain
from irmeta.measures.cuts import empty_values, rank_cuts
from irmeta.measures.gains import doc_gain
from irmeta.measures.parameters import TIES
from irmeta.measures.spec import Cutoffs, OneList, Params, Term
from irmeta.rankings.judged import JudgedRanks, Need

RBP_TIES = replace(TIES, choices=(*TIES.choices, "rbp_eval"))
"""``rbp_eval``: as that program, which shares the whole of a block also where k goes through it."""


def discounts(deepest: int, discount: str = "log2", b: float = 2.0) -> np.ndarray:
    """What gains are multiplied by, by rank: float64; 0 at 0, which is no rank.

    ``log2``: 1 / log2(rank + 1). ``zipf``: 1 / rank. ``jk``, Jarvelin and Kekalainen's: 1 at ranks
    below b, then 1 / log_b(rank).
    """
    ranks = np.arange(1, deepest + 1, dtype=np.float64)
    if discount == "zipf":
        by_rank = 1.0 / ranks
    elif discount == "jk":
        by_rank = math.log(b) / np.log(np.maximum(ranks, b))
    else:
        by_rank = 1.0 / np.log2(ranks + 1.0)
    return np.concatenate([[0.0], by_rank])


def weighted_gain(
    view: JudgedRanks, gain: np.ndarray, weights: np.ndarray, ks: Cutoffs, ties: str
) -> np.ndarray:
    """Gain times weight, added up over each list: float64 [cutoff, query, system].

    Parameters
    ----------
    gain
        float64 by row of the view.
    weights
        float64 by rank; 0 at 0, which is no rank.
    """
    out, cuts = empty_values(view, ks), rank_cuts(view, ks)
    if ties == "order":
        discounted_gain(view.ranks, view.offsets, gain, weights, cuts, out)
        return out
    assert view.ties is not None
    add_up = shared_gain if ties == "share" else averaged_gain
    add_up(view.ranks, *view.ties, view.offsets, gain, np.cumsum(weights), cuts, out)
    return out


def gain_events(
    view: JudgedRanks, gain: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ranks, offsets and amounts of the docs that gain something."""
    gaining = gain > 0
    ranks = view.ranks[gaining]
    offsets = view.offsets_of(gaining)
    return ranks, offsets, gain[gaining, None] * weights[np.where(ranks == view.missing, 0, ranks)]


def needs_ties(params: Params) -> tuple[Need, ...]:
    """Blocks of tied docs, where a measure shares weights over them."""
    return () if params["ties"] == "order" else ("ties",)


def refuse_assumed(measure: str, params: Params) -> None:
    """Unjudged docs that are assumed to be relevant have no place in a block of tied docs."""
    ties, unjudged = params["ties"], params.get("unjudged", "nonrelevant")
    if ties != "order" and unjudged.startswith("upper"):
        raise MeasureError(
            f"{measure}: ties={ties} does not go with unjudged={unjudged}. Leave one of them out."
        )


def weight_at(
    one: OneList, rank: int, k: int | None, ties: str, weight: Callable[[int], float]
) -> tuple[float, str]:
    """The weight of the doc at a rank, and how it is shared, in words; 0 if it counts for nothing.

    For traces: the words are empty where nothing is shared.
    """
    deepest = one.length if k is None else k
    first, last = (rank, rank) if ties == "order" else one.ties.get(rank, (rank, rank))
    size, inside = last - first + 1, min(last, deepest) - first + 1
    if inside <= 0:
        return 0.0, ""
    if size == 1:
        return weight(rank), ""
    if ties == "share":
        shared = sum(weight(i) for i in range(first, first + inside)) / size
        return shared, f"(weights of ranks {first} to {first + inside - 1}) / {size} tied docs"
    shared = sum(weight(i) for i in range(first, last + 1)) / size * inside / size
    part = f" x {inside}/{size} within {deepest}" if inside < size else ""
    return shared, f"(weights of ranks {first} to {last}) / {size} tied docs{part}"


def weighted_terms(
    one: OneList,
    params: Params,
    k: int | None,
    weight: Callable[[int], float],
    said: Callable[[int, float], str],
) -> Iterator[Term]:
    """Gain times weight of each judged doc that has both; `said` writes it for a doc alone."""
    for rank, doc, grade in one.within(None):
        amount, shared = weight_at(one, rank, k, params["ties"], weight)
        gain = doc_gain(one, doc, grade, params) if amount > 0 else 0.0
        if gain > 0:
            arithmetic = f"gain {gain:g} x {shared}" if shared else said(rank, gain)
            yield Term(rank, doc, grade, arithmetic, gain * amount)

"""Lexicographic preferences: the first recall level where two lists differ decides.

LexiRecall begins with the last relevant doc, LexiPrecision with the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from irmeta.kernels.pair_preferences import reciprocal_differences
from irmeta.naming import Params
from irmeta.preferences.levels import (
    Found,
    Levels,
    P,
    found_docs,
    graded_sets,
    sign_of,
    stack_levels,
)
from irmeta.preferences.spec import PairTerm, PairTrace, PreferenceRule
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.one_list import OneList
from irmeta.results.verdicts import BlockPreferences


def _levels(view: JudgedRanks, params: Params, k: int | None) -> Levels:
    sets = graded_sets(view, params["rel"], "binary")
    return stack_levels([sets], {"p": P.default}, k)


def compare_from_last(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the sign at the first level where two lists differ, from the last level up."""
    return _ordered(_levels(view, params, k), from_last=True)


def compare_from_first(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the sign at the first level where two lists differ, from the first level down."""
    return _ordered(_levels(view, params, k), from_last=False)


def compare_reciprocal(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the difference of reciprocal ranks at the first level where two lists differ."""
    levels = _levels(view, params, k)
    systems, missing = levels.ranks.shape[1], int(np.iinfo(levels.ranks.dtype).max)

    def difference(query: int) -> np.ndarray:
        out = np.empty((systems, systems))
        first, last = levels.offsets[query : query + 2].tolist()
        reciprocal_differences(levels.ranks, first, last, missing, out)
        return out

    return BlockPreferences(levels.counts > 0, systems, difference)


@dataclass(frozen=True)
class OrderPreferences(BlockPreferences):
    """Preferences that order the systems of each query: `places`, shared by equal lists."""

    places: np.ndarray

    def win_rates(self, opponents: np.ndarray) -> np.ndarray:
        """Sum the signs over opponents by sorting: float64 [queries, systems]."""
        out = np.full(self.places.shape, np.nan)
        for query in np.flatnonzero(self.defined).tolist():
            places = self.places[query]
            weight = np.bincount(places, opponents)
            below = np.cumsum(weight[::-1])[::-1] - weight
            out[query] = (below - (np.cumsum(weight) - weight))[places]
        return out


def _ordered(levels: Levels, *, from_last: bool) -> BlockPreferences:
    places = np.zeros((len(levels.counts), levels.ranks.shape[1]), np.int64)
    for query, (start, stop) in enumerate(pairwise(levels.offsets.tolist())):
        if stop > start:
            ranks = levels.ranks[start:stop]
            # The last key of lexsort is the first to decide.
            order = np.lexsort(ranks if from_last else ranks[::-1])
            is_new = (ranks[:, order[1:]] != ranks[:, order[:-1]]).any(axis=0)
            places[query, order[1:]] = np.cumsum(is_new)

    def difference(query: int) -> np.ndarray:
        place = places[query]
        return np.sign(place - place[:, None]).astype(np.float64)

    return OrderPreferences(levels.counts > 0, places.shape[1], difference, places)


def _trace(
    one: OneList,
    other: OneList,
    params: Params,
    k: int | None,
    *,
    from_last: bool = False,
    reciprocal: bool = False,
) -> PairTrace:
    """Return the levels up to the one that decides, which alone has a sign."""
    first_docs, others = (found_docs(o.relevant(params["rel"]), k) for o in (one, other))
    terms: list[PairTerm] = []
    levels = list(enumerate(zip(first_docs, others, strict=True), 1))
    for i, (f, g) in levels[::-1] if from_last else levels:
        sign = sign_of(f, g)
        weight = abs(_reciprocal(f) - _reciprocal(g)) if reciprocal else 1.0
        terms.append(PairTerm("", i, *f, *g, sign, weight))
        if sign:
            break
    return PairTrace(tuple(terms))


def _reciprocal(doc: Found) -> float:
    return 0.0 if doc[0] is None else 1.0 / doc[0]


RULES = (
    PreferenceRule(
        name="LexiRecall",
        summary="sign at the last recall level where two lists differ",
        compare=compare_from_last,
        trace=partial(_trace, from_last=True),
        source="Diaz, Ekstrand and Mitra 2025, doi:10.1145/3728373",
    ),
    PreferenceRule(
        name="LexiPrecision",
        summary="sign at the first recall level where two lists differ",
        compare=compare_from_first,
        trace=_trace,
        source="Diaz 2023, doi:10.48550/arXiv.2306.07908",
    ),
    PreferenceRule(
        name="RRLexiPrecision",
        summary="difference of reciprocal ranks at the first recall level where two lists differ",
        compare=compare_reciprocal,
        trace=partial(_trace, reciprocal=True),
        source="Diaz 2023, doi:10.48550/arXiv.2306.07908",
    ),
)

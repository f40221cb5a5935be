"""The preferences: recall-paired (RPP, STRPP), lexicographic (LexiRecall), interleaving (OI).

A lexicographic preference is decided by the first recall level where two lists differ: LexiRecall
begins with the last relevant doc, LexiPrecision with the first. OI is offline interleaving:
balanced interleaving of two lists, read by simulated users.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from irmeta.errors import UsageError
from irmeta.kernels.pair_preferences import interleaved_preferences, reciprocal_differences
from irmeta.naming import REL, Cutoff, Parameter, Params
from irmeta.preferences.levels import (
    Found,
    G,
    Levels,
    P,
    check_p,
    compare_levels,
    found_docs,
    graded_sets,
    level_terms,
    level_weights,
    printed_p,
    sign_of,
    stack_levels,
    subtopic_sets,
)
from irmeta.preferences.spec import PairTerm, PairTrace, PreferenceRule
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.one_list import OneList
from irmeta.results.verdicts import BlockPreferences

Docs = list[tuple[int | None, str, float]]


def compare_by_grade(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute Eq. 5: the mean preference of the sets of docs of each grade or above.

    The grades are those of the query from `rel` up, weighted by the sizes of their sets, and p(i)
    is normalised within each set; ``grades=binary`` has one set, which is Eq. 4.
    """
    sets = graded_sets(view, params["rel"], params["grades"])
    return compare_levels(stack_levels([sets], params, k))


def trace_by_grade(one: OneList, other: OneList, params: Params, k: int | None) -> PairTrace:
    """Trace RPP as one term for each grade and level."""
    rel = params["rel"]
    grades = sorted({grade for *_, grade in one.judged if grade >= rel}, reverse=True)
    if params["grades"] == "binary":
        grades = grades and [rel]
    parts = {f"grade >= {g}": (one.relevant(g), other.relevant(g)) for g in grades}
    return _trace_levels(parts, params, k)


def compare_by_subtopic(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute Eq. 6: the mean preference of the docs of each subtopic, and of the background.

    Subtopics are weighted by their numbers of relevant docs. The background interest is served by
    the docs of any subtopic, or by the relevant docs of another qrels set.
    """
    by_subtopic, rel = view.by_subtopic(), params["rel"]
    parts = [subtopic_sets(by_subtopic, rel)]
    if params["background"] == "yes":
        parts.append(graded_sets(by_subtopic, rel, "binary"))
    elif params["background"] != "no":
        if view is by_subtopic or view.facts.qrels != params["background"]:
            raise UsageError(
                f"track {view.facts.track!r}: background={params['background']} needs a view of "
                f"that qrels set, with subtopics; this view is of {view.facts.qrels!r}."
            )
        parts.append(graded_sets(view, rel, "binary"))
    return compare_levels(stack_levels(parts, params, k))


def trace_by_subtopic(one: OneList, other: OneList, params: Params, k: int | None) -> PairTrace:
    """Trace STRPP as one term for each subtopic and level, the background last."""
    rel = params["rel"]
    parts: dict[str, tuple[Docs, Docs]] = {}
    for name in one.subtopics:
        docs, others = (
            [d for d in ranking.judged if ranking.subtopic_grades[d[1]].get(name, -math.inf) >= rel]
            for ranking in (one, other)
        )
        if docs:
            parts[f"subtopic {name}"] = docs, others
    if params["background"] == "yes":
        parts["background"] = one.relevant(rel), other.relevant(rel)
    elif params["background"] != "no":
        both = ([d for d in o.background if d[2] >= rel] for o in (one, other))
        parts["background"] = next(both), next(both)
    return _trace_levels({name: docs for name, docs in parts.items() if docs[0]}, params, k)


def _trace_levels(
    parts: Mapping[str, tuple[Docs, Docs]], params: Params, k: int | None
) -> PairTrace:
    total = sum(len(first) for first, _ in parts.values())
    terms: list[PairTerm] = []
    for part, (first, others) in parts.items():
        raw = level_weights(len(first), params)
        weights = (raw / np.cumsum(raw)[-1] * len(first) / total).tolist()
        terms += level_terms(part, found_docs(first, k), found_docs(others, k), weights)
    return PairTrace(tuple(terms))


GRADES = Parameter(
    "grades",
    "graded",
    "one set of docs for each grade of the query, or only those of grade rel and above",
    kind="choice",
    choices=("graded", "binary"),
)
BACKGROUND = Parameter(
    "background",
    "yes",
    "interest in any subtopic: yes, no, or the relevant docs of another qrels set",
    kind="set",
    choices=("yes", "no"),
)


def _printed(params: Params, cutoff: Cutoff, others: Sequence[Parameter]) -> list[str]:
    """Return p and g as they depend on each other, and other parameters that are not default."""
    changed = [option.name for option in others if params[option.name] != option.default]
    return printed_p(params) + changed


def _one_set(view: JudgedRanks, params: Params, k: int | None) -> Levels:
    sets = graded_sets(view, params["rel"], "binary")
    return stack_levels([sets], {"p": P.default}, k)


def compare_from_last(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the sign at the first level where two lists differ, from the last level up."""
    return _ordered(_one_set(view, params, k), from_last=True)


def compare_from_first(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the sign at the first level where two lists differ, from the first level down."""
    return _ordered(_one_set(view, params, k), from_last=False)


def compare_reciprocal(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the difference of reciprocal ranks at the first level where two lists differ."""
    levels = _one_set(view, params, k)
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


def _trace_lexicographic(
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


def compare_interleaved(view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
    """Compute the mean gain of users of an interleaved list, over both lists that may start.

    A user of level i reads to the i-th relevant doc of the interleaved list, at rank k of the list
    that it comes from, and prefers the list with more relevant docs up to k (Eq. 2). A user for
    whom the list has too few relevant docs has no preference.
    """
    sets = graded_sets(view, params["rel"], "binary")
    sizes = np.bincount(sets.query, sets.sizes, len(view.queries)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    ranks, missing = view.ranks[sets.rows], view.missing
    if k is not None:
        ranks[ranks > min(k, missing - 1)] = missing
    systems = ranks.shape[1]

    def difference(query: int) -> np.ndarray:
        rows = ranks[offsets[query] : offsets[query + 1]].T.copy()
        raw = level_weights(rows.shape[1], params)
        out = np.empty((systems, systems))
        interleaved_preferences(rows, np.argsort(rows, axis=1), missing, raw, out)
        return out / np.cumsum(raw)[-1]

    return BlockPreferences(sizes > 0, systems, difference)


def trace_interleaved(one: OneList, other: OneList, params: Params, k: int | None) -> PairTrace:
    """Trace the relevant docs of both interleaved lists in the order in which they are read."""
    first_ranks, others = (_relevant_ranks(o, params["rel"], k) for o in (one, other))
    raw = level_weights(len(first_ranks), params)
    weights = (raw / raw.sum() / 2.0).tolist()
    terms: list[PairTerm] = []
    for part, first in (("first list starts", True), ("second list starts", False)):
        steps = sorted(
            (min(2 * first_ranks[doc] - first, 2 * others[doc] - (not first)), doc)
            for doc in first_ranks
            if min(first_ranks[doc], others[doc]) < float("inf")
        )
        for i, (_, doc) in enumerate(steps):
            cut = min(first_ranks[doc], others[doc])
            gain = sum(r <= cut for r in first_ranks.values()) - sum(
                r <= cut for r in others.values()
            )
            a, b = (None if r == float("inf") else int(r) for r in (first_ranks[doc], others[doc]))
            sign = (gain > 0) - (gain < 0)
            terms.append(PairTerm(part, i + 1, a, doc, b, doc, sign, weights[i]))
        if first_ranks and not steps:
            terms.append(PairTerm(part, 1, None, None, None, None, 0, weights[0]))
    return PairTrace(tuple(terms))


def _relevant_ranks(one: OneList, rel: float, k: int | None) -> dict[str, float]:
    """Return the rank of each relevant doc; infinity where it is not retrieved up to `k`."""
    most = float("inf") if k is None else k
    ranks = ((doc, float("inf") if r is None else r) for r, doc, _ in one.relevant(rel))
    return {doc: r if r <= most else float("inf") for doc, r in ranks}


SOURCE = "Diaz and Ferraro 2022, doi:10.1145/3477495.3532033, {}"
RULES = (
    PreferenceRule(
        name="RPP",
        summary="recall-paired preference: weighted share of recall levels won, minus lost",
        compare=compare_by_grade,
        trace=trace_by_grade,
        source=SOURCE.format("Eqs. 4 and 5"),
        parameters=(P, G, GRADES, REL),
        check=check_p,
        printed=partial(_printed, others=(GRADES, REL)),
    ),
    PreferenceRule(
        name="STRPP",
        summary="recall-paired preference by subtopic",
        compare=compare_by_subtopic,
        trace=trace_by_subtopic,
        source=SOURCE.format("Eq. 6"),
        parameters=(P, G, BACKGROUND, REL),
        needs=lambda params: ("subtopics",),
        check=check_p,
        printed=partial(_printed, others=(BACKGROUND, REL)),
    ),
    PreferenceRule(
        name="LexiRecall",
        summary="sign at the last recall level where two lists differ",
        compare=compare_from_last,
        trace=partial(_trace_lexicographic, from_last=True),
        source="Diaz, Ekstrand and Mitra 2025, doi:10.1145/3728373",
    ),
    PreferenceRule(
        name="LexiPrecision",
        summary="sign at the first recall level where two lists differ",
        compare=compare_from_first,
        trace=_trace_lexicographic,
        source="Diaz 2023, doi:10.48550/arXiv.2306.07908",
    ),
    PreferenceRule(
        name="RRLexiPrecision",
        summary="difference of reciprocal ranks at the first recall level where two lists differ",
        compare=compare_reciprocal,
        trace=partial(_trace_lexicographic, reciprocal=True),
        source="Diaz 2023, doi:10.48550/arXiv.2306.07908",
    ),
    PreferenceRule(
        name="OI",
        summary="offline interleaving: balanced, read to the i-th relevant doc by simulated users",
        compare=compare_interleaved,
        trace=trace_interleaved,
        source="Diaz and Ferraro 2022, doi:10.1145/3477495.3532033, section 5.5; Joachims 2003",
        parameters=(
            Parameter(
                "p",
                "uniform",
                "weights of the users of level i: 1 or 1 / log2(i + 1), normalised",
                kind="choice",
                choices=("uniform", "dcg"),
            ),
            REL,
        ),
    ),
)

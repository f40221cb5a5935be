"""Recall-paired preference, by grades (RPP) and by subtopics (STRPP)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from irmeta.errors import UsageError
from irmeta.naming import REL, Cutoff, Parameter, Params
from irmeta.preferences.levels import (
    G,
    P,
    check_p,
    compare_levels,
    found_docs,
    graded_sets,
    level_terms,
    level_weights,
    printed_p,
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
    return _trace(parts, params, k)


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
    return _trace({name: docs for name, docs in parts.items() if docs[0]}, params, k)


def _trace(parts: Mapping[str, tuple[Docs, Docs]], params: Params, k: int | None) -> PairTrace:
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
)

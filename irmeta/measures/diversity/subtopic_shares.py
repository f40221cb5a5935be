"""The subtopics that a measure counts, and their shares of its value."""

from __future__ import annotations

import math

import numpy as np

from irmeta.errors import UsageError
from irmeta.measures.spec import OneList, Params
from irmeta.naming.parameters import Parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need
from irmeta.rankings.subtopics import Subtopics

SUBTOPICS = Parameter(
    "subtopics",
    "found",
    "subtopics of a query: those with a doc of grade >= rel; or all in the collection's "
    "subtopics_file, else in the qrels",
    kind="choice",
    choices=("found", "all"),
)
WEIGHTS = Parameter(
    "weights",
    "uniform",
    "weights of the subtopics, normalised to sum 1: equal, or from the collection's subtopics_file",
    kind="choice",
    choices=("uniform", "given"),
)
UNJUDGED = ("condensed",)
"""Treatments of unjudged docs: an unjudged doc assumed relevant would have no subtopic."""


def needs_subtopics(params: Params) -> tuple[Need, ...]:
    """Return the need for judgments by subtopic."""
    return ("subtopics",)


def counted(view: JudgedRanks, params: Params) -> tuple[Subtopics, np.ndarray]:
    """Return the subtopics of a view, and which a measure counts: bool [names].

    With ``subtopics=found``, the default, these are the subtopics with a doc of grade >= `rel`.
    """
    subtopics = view.require("subtopics")
    if params.get("subtopics") == "all":
        return subtopics, subtopics.is_listed
    is_counted = np.zeros(len(subtopics.names), bool)
    is_relevant = subtopics.grade >= params.get("rel", 1)
    is_counted[subtopics.name_indices(view.offsets)[is_relevant]] = True
    return subtopics, is_counted


def count_subtopics(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the number of subtopics that a measure counts: float64 [queries]."""
    subtopics, is_counted = counted(view, params)
    return np.bincount(subtopics.queries, is_counted, minlength=len(view.queries))


def subtopic_shares(view: JudgedRanks, params: Params) -> np.ndarray:
    """Return the share p_a of each subtopic: float64 [names], with sum 1 over a query.

    Subtopics that do not count have share 0; all have if no weight of the query is above 0.

    Raises
    ------
    UsageError
        If ``weights=given`` and a subtopic that counts has no weight.
    """
    subtopics, is_counted = counted(view, params)
    weights = is_counted.astype(np.float64)
    if params["weights"] == "given":
        weights = np.where(is_counted, subtopics.weights, 0.0)
        missing = np.flatnonzero(np.isnan(weights))
        if len(missing):
            query = view.queries[subtopics.queries[missing[0]]]
            raise UsageError(
                f"track {view.facts.track!r} has no weight for subtopic "
                f"{subtopics.names[missing[0]]!r} of query {query!r}: add it to the subtopics_file "
                f"of the qrels set {view.facts.qrels!r} in collection.toml, or omit weights=given."
            )
    total = np.bincount(subtopics.queries, weights, minlength=len(view.queries))
    return weights / np.where(total > 0, total, 1.0)[subtopics.queries]


def counted_of(one: OneList, params: Params) -> list[str]:
    """Return the names of the subtopics that a measure counts, for traces."""
    if params.get("subtopics") == "all":
        return [name for name in one.subtopics if name in one.subtopic_weights]
    rel = params.get("rel", 1)
    docs = one.subtopic_grades.values()
    return [name for name in one.subtopics if any(of.get(name, -math.inf) >= rel for of in docs)]


def shares_of(one: OneList, params: Params) -> dict[str, float]:
    """Return the share of each subtopic that counts, for traces."""
    names = counted_of(one, params)
    weights = dict.fromkeys(names, 1.0)
    if params["weights"] == "given":
        weights = {name: one.subtopic_weights[name] for name in names}
    total = math.fsum(weights.values())
    return {name: weight / total if total > 0 else 0.0 for name, weight in weights.items()}

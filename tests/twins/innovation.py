"""The study of paper 2 by slow, obvious code, from rankings of docs (Tuerkmen et al. 2023)."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

from twins import orders, pools, rareness
from twins.measures import Qrels, Ranking, relevant_docs

Data = dict[str, tuple[rareness.Lists, Qrels]]  # lists of all systems, and judgments, by query
Groups = dict[str, str]
MEASURES = {"RareP": rareness.rare_precision, "RareAP": rareness.rare_ap}


def means(data: Data, measure: str, k: int, alpha: float, **how: Any) -> dict[str, float]:
    """The mean of a measure over the queries, by system."""
    value, total = MEASURES[measure], dict[str, float]()
    for lists, qrels in data.values():
        for system in lists:
            of_query = value(system, lists, qrels, k, alpha=alpha, **how)
            total[system] = total.get(system, 0.0) + of_query
    return {system: value / len(data) for system, value in total.items()}


def only(data: Data, systems: set[str]) -> Data:
    """The data as if only some systems had taken part."""
    return {q: ({s: lists[s] for s in systems}, qrels) for q, (lists, qrels) in data.items()}


def tau(a: dict[str, float], b: dict[str, float]) -> float:
    """Tau-b of two orders of the systems of `b`; means equal to 12 digits tie."""
    x, y = ([float(f"{of[s]:.11e}") for s in sorted(b)] for of in (a, b))
    return orders.kendall_tau_b(x, y)


def subset_taus(data: Data, measure: str, k: int, alpha: float, size: int) -> list[float]:
    """Algorithm 1 on every set of so many systems."""
    whole = means(data, measure, k, alpha)
    return [
        tau(whole, means(only(data, set(chosen)), measure, k, alpha))
        for chosen in combinations(sorted(whole), size)
    ]


def place(value: float, others: list[float]) -> float:
    """1, plus those that are better, plus half of those that are equal."""
    better = sum(other - value > 1e-12 for other in others)
    return 1 + better + sum(abs(other - value) <= 1e-12 for other in others) / 2


def made_system(
    lists: rareness.Lists, qrels: Qrels, made_of: str, docs: int, k: int, alpha: float, **how: Any
) -> tuple[float, float] | None:
    """RareP of a made system with so many relevant docs, and its place; None without the docs."""
    relevant = relevant_docs(qrels, how.get("rel", 1))
    if made_of == "rare":
        made = [f"made {i}" for i in range(docs)]
    else:
        held = {doc: len(rareness.holders(doc, lists, k)) for doc in relevant}
        made = sorted(relevant, key=lambda doc: (-held[doc], doc))[:docs]
    if len(made) < docs:
        return None
    joined = {**lists, "made": made}
    judged = {**qrels, **dict.fromkeys(made, 127)}
    values = {s: rareness.rare_precision(s, joined, judged, k, alpha=alpha, **how) for s in joined}
    own = values.pop("made")
    return own, place(own, list(values.values()))


def with_runs(data: Data, runs: dict[str, dict[str, Ranking]]) -> Data:
    """The data with more runs: lists by query, by name of the run."""
    return {
        query: ({**lists, **{name: run.get(query) for name, run in runs.items()}}, qrels)
        for query, (lists, qrels) in data.items()
    }


def spoiler(data: Data, best: str, k: int, rel: int = 1) -> dict[str, Ranking]:
    """A run of the relevant docs that the best system alone has."""
    run: dict[str, Ranking] = {}
    for query, (lists, qrels) in data.items():
        relevant = relevant_docs(qrels, rel)
        run[query] = sorted(d for d in relevant if rareness.holders(d, lists, k) == {best})
    return run


def without_group(data: Data, removed: set[str]) -> Data:
    """The data with the docs unjudged that some systems alone put into the pool."""
    made: Data = {}
    for query, (lists, qrels) in data.items():
        limit = pools.complete_depth([docs or [] for docs in lists.values()], qrels)
        own = pools.least_ranks([lists[s] or [] for s in removed])
        rest = pools.least_ranks([docs or [] for s, docs in lists.items() if s not in removed])
        lost = {d for d, r in own.items() if r <= limit and rest.get(d, math.inf) > limit}
        made[query] = lists, {d: g for d, g in qrels.items() if d not in lost}
    return made


def found(data: Data, systems: set[str], k: int, rel: int = 1) -> set[tuple[str, str]]:
    """The relevant docs that any of some systems has, as (query, doc)."""
    return {
        (query, doc)
        for query, (lists, qrels) in data.items()
        for doc in relevant_docs(qrels, rel)
        if rareness.holders(doc, lists, k) & systems
    }


def grade_counts(data: Data, low: int, high: int, k: int) -> dict[int, int]:
    """How many relevant docs of each grade so many systems have."""
    counts: dict[int, int] = {}
    for lists, qrels in data.values():
        for doc, grade in qrels.items():
            if grade >= 1 and low <= len(rareness.holders(doc, lists, k)) <= high:
                counts[grade] = counts.get(grade, 0) + 1
    return counts

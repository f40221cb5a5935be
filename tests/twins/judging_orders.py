"""Orders of judging, slowly, with lists of names for one query."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

Lists = Mapping[str, Sequence[str]]
"""The docs of each system by rank, None where a rank holds a doc that cannot be judged."""


def ranks_of(lists: Lists) -> dict[str, dict[str, int]]:
    """The rank of each doc in each list that holds it."""
    ranks: dict[str, dict[str, int]] = {}
    for system, docs in lists.items():
        for rank, doc in enumerate(docs, 1):
            if doc is not None:
                ranks.setdefault(doc, {})[system] = rank
    return ranks


def depth(lists: Lists) -> dict[str, float]:
    """The least rank of each doc."""
    return {doc: min(ranks.values()) for doc, ranks in ranks_of(lists).items()}


def rbp(lists: Lists) -> dict[str, float]:
    """The sum of the weights of each doc in RBP(0.8), negative."""
    return {
        doc: -sum(0.2 * 0.8 ** (rank - 1) for rank in ranks.values())
        for doc, ranks in ranks_of(lists).items()
    }


def move_to_front(lists: Lists, relevant: set[str], ties: Mapping[str, float]) -> list[str]:
    """Cormack, Palmer and Clarke 1998: docs of the list of highest priority."""
    queues = {system: [doc for doc in docs if doc is not None] for system, docs in lists.items()}
    priority, last = dict.fromkeys(lists, 0), dict.fromkeys(lists, 0)
    order, step = list[str](), 0
    while any(queues.values()):
        step += 1
        system = max(
            (s for s in queues if queues[s]), key=lambda s: (priority[s], last[s], ties[s])
        )
        doc = queues[system].pop(0)
        if doc not in order:
            order.append(doc)
        if doc in relevant:
            priority[system], last[system] = 0, step
        else:
            priority[system] -= 1
    return order


def bandit(
    lists: Lists,
    relevant: set[str],
    ties: Mapping[str, float],
    value: Callable[[Sequence[bool]], float],
) -> list[str]:
    """Losada, Parapar and Barreiro 2017: the next doc of the list of greatest value.

    The value is of the labels of the docs that were judged when the list was picked.
    """
    order, labels = list[str](), {system: list[bool]() for system in lists}
    while True:
        left = {
            s: [doc for doc in docs if doc is not None and doc not in order]
            for s, docs in lists.items()
        }
        values = {s: value(labels[s]) for s in lists if left[s]}
        if not values:
            return order
        picked = max(values, key=lambda s: (values[s], ties[s]))
        order.append(left[picked][0])
        labels[picked].append(order[-1] in relevant)


def last_mean(labels: Sequence[bool]) -> float:
    """The mean of Beta(1, 1) after the last label alone."""
    return (1 + labels[-1]) / 3 if labels else 0.5


def hedge(lists: Lists, relevant: set[str], ties: Mapping[str, float]) -> list[str]:
    """Aslam, Pavlu and Savell 2003: the doc of the greatest mixture loss if it is not relevant."""
    ranks = ranks_of(lists)
    held = {s: [r[s] for r in ranks.values() if s in r] for s in lists}
    last = max([len(ranks), *(rank for of_list in held.values() for rank in of_list)])

    def loss(doc: str, system: str) -> float:
        if system in ranks[doc]:
            return math.log(last / ranks[doc][system]) / 2
        below = range(max(held[system], default=0) + 1, last + 1)
        return sum(math.log(last / rank) / 2 for rank in below) / max(len(below), 1)

    weights, order = dict.fromkeys(lists, 1.0), list[str]()
    while len(order) < len(ranks):
        scores = {
            doc: sum(weights[s] * loss(doc, s) for s in lists) for doc in ranks if doc not in order
        }
        most = max(scores.values())
        tied = [doc for doc, score in scores.items() if score >= most * (1 - 1e-9)]
        order.append(max(tied, key=lambda doc: ties[doc]))
        for system in lists:
            sign = -1 if order[-1] in relevant else 1
            weights[system] *= 0.1 ** (sign * loss(order[-1], system))
        total = sum(weights.values())
        weights = {system: weight / total for system, weight in weights.items()}
    return order

"""Unjudged docs of lists, slowly: shares, weights, and the pairs that they leave undecided."""

from __future__ import annotations

from itertools import combinations

from twins import incomplete
from twins.measures import Qrels, Ranking, relevant_docs

P = 0.8
Lists = dict[str, dict[str, Ranking]]  # by system, then query


def row(lists: dict[str, Ranking], qrels: dict[str, Qrels], k: int, negative: str) -> list[float]:
    """Means of one system: Judged@10, Judged@k, rank of the first unjudged doc, RBP, residual."""
    rows = []
    for query, judged in qrels.items():
        ranking = lists.get(query)
        gains = [float(doc in relevant_docs(judged, 1)) for doc in ranking or []]
        rows.append(
            (
                incomplete.judged_share(ranking, judged, 10, negative),
                incomplete.judged_share(ranking, judged, k, negative),
                incomplete.first_unjudged(ranking, judged, negative),
                incomplete.rbp_of(gains, P),
                incomplete.rbp_residual(ranking, judged, P, negative=negative),
            )
        )
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)]


def undecided(rows: dict[str, list[float]]) -> dict[tuple[str, str], tuple[float, float]]:
    """Difference in RBP and greater residual of each pair that the residual leaves undecided."""
    pairs = {}
    for a, b in combinations(sorted(rows), 2):
        difference, residual = rows[a][3] - rows[b][3], max(rows[a][4], rows[b][4])
        if abs(difference) < residual:
            pairs[a, b] = difference, residual
    return pairs

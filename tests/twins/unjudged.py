"""Unjudged docs of lists, slowly: shares, weights, and the pairs that they leave undecided."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

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
    """Difference in RBP and residual of the worse system of each pair that it leaves undecided."""
    pairs = {}
    for a, b in combinations(sorted(rows), 2):
        difference = rows[a][3] - rows[b][3]
        worse = (a, b) if abs(difference) < 1e-12 else (a,) if difference < 0 else (b,)
        residual = max(rows[system][4] for system in worse)
        if residual - abs(difference) > 1e-12:
            pairs[a, b] = difference, residual
    return pairs


def docs_of(
    rankings: dict[str, dict[str, Ranking]], qrels: dict[str, Qrels], depth: int | None = None
) -> dict[tuple[str, str], tuple[int, int, Fraction]]:
    """Least rank, number of systems and weight of each doc that systems rank within a depth.

    The weight is the sum over systems of (1 - p) p^(rank - 1), in fractions.
    """
    found: dict[tuple[str, str], tuple[int, int, Fraction]] = {}
    for lists in rankings.values():
        for query in qrels:
            for rank, doc in enumerate((lists.get(query) or [])[:depth], 1):
                least, count, weight = found.get((query, doc), (rank, 0, Fraction(0)))
                weight += Fraction(1, 5) * Fraction(4, 5) ** (rank - 1)
                found[query, doc] = min(least, rank), count + 1, weight
    return found


def to_judge(
    rankings: dict[str, dict[str, Ranking]], qrels: dict[str, Qrels], negative: str
) -> list[tuple[str, str]]:
    """Unjudged docs (query, doc), greatest weight first, then by the bytes of query and doc."""
    docs = docs_of(rankings, qrels)
    judged = {(q, d) for q, of in qrels.items() for d in incomplete.judged_docs(of, negative)}
    return sorted(
        docs.keys() - judged, key=lambda at: (-docs[at][2], at[0].encode(), at[1].encode())
    )


def drawn(
    ranking: Ranking,
    qrels: Qrels,
    k: int | None,
    source: str,
    negative: str,
    measure: Callable[[Ranking, Qrels], float],
) -> list[tuple[float, float]]:
    """Chance and value of each way to give the unjudged docs of a list grades of judged docs."""
    listed = (ranking or [])[:k]
    judged = {doc: g for doc, g in qrels.items() if g >= 0 or negative == "nonrelevant"}
    unjudged = [doc for doc in listed if doc not in judged]
    own = [judged[doc] for doc in listed if doc in judged]
    known = (own if source == "run" else []) or list(judged.values()) or [0]
    found = []
    for grades in product(sorted(set(known)), repeat=len(unjudged)):
        chance = 1.0
        for grade in grades:
            chance *= known.count(grade) / len(known)
        found.append((chance, measure(ranking, judged | dict(zip(unjudged, grades, strict=True)))))
    return found

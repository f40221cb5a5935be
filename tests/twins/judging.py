"""Slow, obvious twins of the comparison of leaderboards by two sets of labels.

They share no code with irmeta. Values are rows of floats: one row a query, one column a system.
"""

import math
from itertools import combinations, pairwise, permutations

Rows = list[list[float]]


def means(values: Rows, times: list[int]) -> list[float]:
    """The mean of each system over queries, of which each counts some times; 10 decimals."""
    return [
        round(math.fsum(t * row[s] for t, row in zip(times, values, strict=True)) / sum(times), 10)
        for s in range(len(values[0]))
    ]


def orders(scores: list[float]) -> list[tuple[int, ...]]:
    """All orders of the systems, best first, that break ties in some way."""
    every = permutations(range(len(scores)))
    return [one for one in every if all(scores[a] >= scores[b] for a, b in pairwise(one))]


def shares_of_best(scores: list[float], size: int) -> list[float]:
    """How often each system is among the best `size`, over all ways to break ties."""
    ways = orders(scores)
    return [sum(s in way[:size] for way in ways) / len(ways) for s in range(len(scores))]


def common_best(reference: list[float], judge: list[float], size: int) -> float:
    """The overlap of the best by both, where ties share places."""
    pairs = zip(shares_of_best(reference, size), shares_of_best(judge, size), strict=True)
    return math.fsum(min(pair) for pair in pairs)


def regret(reference: list[float], judge: list[float], size: int) -> float:
    """How much lower the mean of the judge's best is, over all ways to break ties."""

    def mean_of(scores: list[float]) -> float:
        chosen = [sum(reference[s] for s in way[:size]) / size for way in orders(scores)]
        return sum(chosen) / len(chosen)

    return mean_of(reference) - mean_of(judge)


def conclusions(reference: list[list[int]], judge: list[list[int]]) -> dict[str, int]:
    """Count pairs by two matrices of conclusions: 1: the row is better, -1: worse, 0: neither."""
    found = dict.fromkeys(("kept", "reversed", "lost", "new", "neither"), 0)
    for a, b in combinations(range(len(reference)), 2):
        mine, theirs = reference[a][b], judge[a][b]
        if mine and theirs:
            found["kept" if mine == theirs else "reversed"] += 1
        elif mine:
            found["lost"] += 1
        else:
            found["new" if theirs else "neither"] += 1
    return found

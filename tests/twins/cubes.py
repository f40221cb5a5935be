"""Naive cube test, from its definition in trec-dd-jig's cubetest.py and in Albahem et al. (2018).

A list is docs with the iteration of each; ratings are by doc and subtopic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Ratings = Mapping[str, Mapping[str, float]]
"""Ratings of docs by subtopic."""


def cumulated_gains(
    docs: Sequence[str],
    ratings: Ratings,
    shares: Mapping[str, float],
    gamma: float = 0.5,
    height: float = 5,
    form: str = "code",
) -> list[float]:
    """Gain of the first 0, 1, 2, ... docs; a doc seen before counts as non-relevant."""
    gains, fill, count = [0.0], dict.fromkeys(shares, 0.0), dict.fromkeys(shares, 0)
    for index, doc in enumerate(docs):
        gain = 0.0
        for a, share in shares.items():
            rating = 0 if doc in docs[:index] else ratings.get(a, {}).get(doc, 0)
            if rating == 0 or fill[a] >= height:
                continue
            if form == "code":
                poured = min(gamma ** (count[a] + 1) * rating, height - fill[a])
                fill[a] += poured
            else:
                poured = gamma ** count[a] * rating
                fill[a] += rating
            count[a] += 1
            gain += share * poured
        gains.append(gains[-1] + gain)
    return gains


def cube_test(gains: Sequence[float], iterations: Sequence[int], height: float) -> float:
    """CT: gain of all docs over the height and the iterations used."""
    return gains[-1] / height / iterations[-1] if iterations else 0.0


def average_cube_test(gains: Sequence[float], iterations: Sequence[int], height: float) -> float:
    """ACT: mean of CT over the docs."""
    if not iterations:
        return 0.0
    cuts = range(1, len(gains))
    return sum(cube_test(gains[: i + 1], iterations[:i], height) for i in cuts) / len(cuts)


def greatest_gain(
    ratings: Ratings, shares: Mapping[str, float], most: int, gamma: float, height: float
) -> float:
    """Gain of the best docs of each subtopic, at most the height."""
    total = 0.0
    for a, share in shares.items():
        best = sorted(ratings.get(a, {}).values(), reverse=True)[:most]
        total += share * min(height, sum(gamma**i * rating for i, rating in enumerate(best)))
    return total

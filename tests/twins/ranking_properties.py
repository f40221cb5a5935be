"""Naive properties of measures: rankings as text, relations by looking at all pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

Pair = tuple[str, str]
Holds = Callable[[str, str], bool]


def all_rankings(subtopics: int, length: int) -> list[str]:
    """All rankings in the order of their numbers: shorter first, then by letter, x last."""
    letters = "abcdefgh"[:subtopics] + "x"
    return ["".join(r) for n in range(length + 1) for r in product(letters, repeat=n)]


def _one_change(lower: str, upper: str) -> list[int]:
    """Ranks from 0 at which two rankings of the same length differ."""
    if len(lower) != len(upper):
        return []
    return [i for i in range(len(lower)) if lower[i] != upper[i]]


def relevance(lower: str, upper: str) -> bool:
    """S, S·r."""
    return upper[:-1] == lower and upper[-1:] not in ("", "x")


def irrelevance(lower: str, upper: str) -> bool:
    """S·x, S."""
    return lower == upper + "x"


def redundancy(lower: str, upper: str, weights: Sequence[float] = ()) -> bool:
    """S·p, S·n, with the subtopic of p in S, and that of n not."""
    if not lower or len(lower) != len(upper) or lower[:-1] != upper[:-1]:
        return False
    start, p, n = lower[:-1], lower[-1], upper[-1]
    fits = "x" not in (p, n) and p in start and n not in start
    return fits and (not weights or weights[ord(n) - 97] >= weights[ord(p) - 97])


def heavier(lower: str, upper: str, weights: Sequence[float]) -> bool:
    """S·p, S·n, with neither subtopic in S, that of n heavier."""
    if not lower or len(lower) != len(upper) or lower[:-1] != upper[:-1]:
        return False
    start, p, n = lower[:-1], lower[-1], upper[-1]
    if "x" in (p, n) or p == n or p in start or n in start:
        return False
    return weights[ord(n) - 97] > weights[ord(p) - 97]


def swap(lower: str, upper: str) -> bool:
    """P·x·r·Q, P·r·x·Q."""
    match _one_change(lower, upper):
        case [i, j]:
            return j == i + 1 and lower[i] == upper[j] == "x" and lower[j] == upper[i]
        case _:
            return False


def replacement(lower: str, upper: str) -> bool:
    """P·x·Q, P·r·Q."""
    match _one_change(lower, upper):
        case [i]:
            return lower[i] == "x"
        case _:
            return False


def extension(lower: str, upper: str) -> bool:
    """S, S·d."""
    return upper[:-1] == lower and upper != ""


def related(rankings: list[str], holds: Holds) -> set[Pair]:
    """All pairs for which a relation holds."""
    return {(a, b) for a in rankings for b in rankings if a != b and holds(a, b)}


def induced(rankings: list[str], weights: Sequence[float] = ()) -> set[Pair]:
    """All pairs with a path of relevance, irrelevance and redundancy from lower to upper."""
    steps: dict[str, set[str]] = {ranking: set() for ranking in rankings}
    for a, b in (
        related(rankings, relevance)
        | related(rankings, irrelevance)
        | related(rankings, lambda a, b: redundancy(a, b, weights))
    ):
        steps[a].add(b)
    pairs: set[Pair] = set()
    for start in rankings:
        reached, waiting = set[str](), [start]
        while waiting:
            new = steps[waiting.pop()] - reached
            reached |= new
            waiting += new
        pairs |= {(start, end) for end in reached - {start}}
    return pairs


def fails(lower: float, upper: float, strict: bool) -> bool:
    """Whether the lower ranking scores too much."""
    if math.isnan(lower) or math.isnan(upper):
        return False
    if lower == upper:
        return strict
    return lower - upper >= -1e-12 if strict else lower - upper > 1e-12


def counts(
    pairs: set[Pair], scores: dict[str, float], strict: bool, deepest: int
) -> dict[str, object]:
    """Count the pairs of rankings of up to `deepest` docs that fail, and name the first."""
    seen = [(a, b) for a, b in pairs if max(len(a), len(b)) <= deepest]
    full = [(a, b) for a, b in seen if a and b]
    failed = [(a, b) for a, b in full if fails(scores[a], scores[b], strict)]
    empty = [(a, b) for a, b in seen if not (a and b)]
    order = "abcdefghx"

    def place(ranking: str) -> tuple[int, list[int]]:
        return len(ranking), [order.index(letter) for letter in ranking]

    return {
        "applicable": len(full),
        "violated": len(failed),
        "tied": sum(scores[a] == scores[b] or abs(scores[a] - scores[b]) <= 1e-12 for a, b in full),
        "undefined": sum(math.isnan(scores[a]) or math.isnan(scores[b]) for a, b in full),
        "with_empty": len(empty),
        "with_empty_violated": sum(fails(scores[a], scores[b], strict) for a, b in empty),
        "first": min(
            failed,
            key=lambda p: (max(map(len, p)), place(p[0]), place(p[1])),
            default=None,
        ),
    }

"""Conclusions on pairs of systems, and the conditions that undo them, from lists of numbers."""

from __future__ import annotations

from itertools import permutations

from twins.significance import Rows, column, holm, mean, paired_t

Pair = tuple[int, int]


def significant(values: Rows, alpha: float) -> set[Pair]:
    """Return the pairs (better, worse) by the paired t-test with Holm's correction."""
    systems = len(values[0])
    pairs = [(a, b) for a in range(systems) for b in range(a + 1, systems)]
    corrected = holm([paired_t(column(values, a), column(values, b))[1] for a, b in pairs])
    found = set()
    for (a, b), p in zip(pairs, corrected, strict=True):
        if p <= alpha:
            found.add((a, b) if mean(column(values, a)) > mean(column(values, b)) else (b, a))
    return found


def lowest(a: list[float], b: list[float], draws: list[list[int]], share: float) -> float:
    """Return the quantile of the differences of means over samples of queries."""
    sampled = sorted(mean([a[q] - b[q] for q in drawn]) for drawn in draws)
    place = share * (len(sampled) - 1)
    low = int(place)
    high = min(low + 1, len(sampled) - 1)
    return sampled[low] + (place - low) * (sampled[high] - sampled[low])


def conclusions(
    values: Rows, conditions: dict[str, list[Rows]], draws: list[list[int]], alpha: float
) -> dict[Pair, tuple[set[str], set[str]]]:
    """Return by conclusion the conditions that undo it without reversing it, and that reverse it.

    Greater values are better by all conditions. A condition has values of one or several draws, of
    which most decide.
    """
    found = {}
    for a, b in sorted(significant(values, alpha)):
        undone, reversed_ = set(), set()
        for name, others in conditions.items():
            turned = [mean(column(o, b)) - mean(column(o, a)) > 1e-12 for o in others]
            kept = [(a, b) in significant(other, alpha) for other in others]
            if sum(turned) > len(others) / 2:
                reversed_.add(name)
            elif sum(kept) <= len(others) / 2:
                undone.add(name)
        if not lowest(column(values, a), column(values, b), draws, 0.025) > 0:
            undone.add("other queries")
        found[a, b] = undone, reversed_
    return found


def best(systems: int, found: dict[Pair, tuple[set[str], set[str]]]) -> set[int]:
    """Return the systems that no other beats by a conclusion without a condition against it."""
    safe = {pair for pair, (undone, reversed_) in found.items() if not undone and not reversed_}
    beaten = {b for a, b in permutations(range(systems), 2) if (a, b) in safe}
    return set(range(systems)) - beaten

"""Arithmetic of novelty measures in plain Python, for `irmeta explain`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from irmeta.measures.spec import OneList, Term

Gain = Callable[[str, int], tuple[float, float]]
"""Function from a subtopic and a grade to the gain, and the factor of the next gain."""
RankWeight = Callable[[int], tuple[float, str]]
"""Function from a rank to its weight, and the text that applies it to a gain."""


def relevant_gain(rel: int, keep: float) -> Gain:
    """Return gain 1 for grades from `rel` on."""
    return lambda subtopic, grade: (float(grade >= rel), keep)


def log_weight(rank: int) -> tuple[float, str]:
    """Return 1 / log2(rank + 1)."""
    return 1.0 / math.log2(rank + 1), f" / log2({rank} + 1)"


def reciprocal_weight(rank: int) -> tuple[float, str]:
    """Return 1 / rank."""
    return 1.0 / rank, f" / {rank}"


def geometric_weight(base: float) -> RankWeight:
    """Return the weight ``base ** (rank - 1)`` as a function of the rank."""
    return lambda rank: (base ** (rank - 1), f" x {base:g}^{rank - 1}")


def novelty_terms(
    one: OneList,
    k: int | None,
    gain: Gain,
    shares: Mapping[str, float],
    weight: RankWeight,
    scale: float = 1.0,
) -> Iterator[Term]:
    """Yield the gain of each doc down to k, by the subtopics in `shares`, times its rank's weight.

    Every amount is multiplied by `scale`.
    """
    left = dict(shares)
    for rank, doc, grade in one.within(k):
        parts = []
        for name, of_doc in one.subtopic_grades.get(doc, {}).items():
            amount, keep = gain(name, of_doc)
            if name in left and amount > 0:
                parts.append((left[name], amount))
                left[name] *= keep
        if parts:
            by_rank, applied = weight(rank)
            total = sum(of_subtopic * amount for of_subtopic, amount in parts)
            texts = [f"{w:g}" if amount == 1 else f"{w:g} x {amount:g}" for w, amount in parts]
            text = f"({' + '.join(texts)})" if len(texts) > 1 else texts[0]
            scaled = "" if scale == 1 else f"{scale:g} x "
            yield Term(rank, doc, grade, f"{scaled}{text}{applied}", scale * total * by_rank)


def greedy_gains_of(one: OneList, rel: int, keep: float) -> list[float]:
    """Return the gain at each rank of the greedy ideal list."""
    relevant = {
        doc: [name for name, grade in of_doc.items() if grade >= rel]
        for doc, of_doc in one.subtopic_grades.items()
    }
    left = {doc: names for doc, names in relevant.items() if names}
    weights = dict.fromkeys(one.subtopics, 1.0)
    gains = []
    while left:
        total = {doc: sum(weights[name] for name in names) for doc, names in left.items()}
        best = max(left, key=lambda doc: (total[doc], doc.encode()))
        gains.append(total[best])
        for name in left.pop(best):
            weights[name] *= keep
    return gains

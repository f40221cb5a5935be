"""Naive measures of diversity, from their definitions.

Subtopics are a dict of qrels by name: grades by doc. `described` has the weight and the type of the
subtopics that the collection describes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

Ranking = list[str] | None
Subtopics = dict[str, dict[str, int]]
Described = Mapping[str, tuple[float | None, str | None]]
Weight = Callable[[int], float]
Gain = Callable[[int], float]


def log_discount(rank: int) -> float:
    """1 / log2(rank + 1)."""
    return 1 / math.log2(rank + 1)


def reciprocal(rank: int) -> float:
    """1 / rank."""
    return 1 / rank


def counted(subtopics: Subtopics, rel: int, which: str, described: Described) -> list[str]:
    """Names of the subtopics that count, in byte order."""
    names = [name for name, docs in subtopics.items() if any(g >= rel for g in docs.values())]
    if which == "all":
        names = [name for name, facts in described.items() if facts != (None, None)]
        names = names or list({*subtopics, *described})
    return sorted(names, key=str.encode)


def shares(names: list[str], weights: str, described: Described) -> dict[str, float]:
    """Share of each subtopic: equal, or by the given weights."""
    if weights == "uniform":
        return {name: 1 / len(names) for name in names}
    total: float = sum(described[name][0] for name in names)
    return {name: described[name][0] / total if total else 0.0 for name in names}


def relevant_to(doc: str, names: list[str], subtopics: Subtopics, rel: int) -> list[str]:
    """Names of the subtopics that a doc is relevant to."""
    return [name for name in names if subtopics.get(name, {}).get(doc, -99) >= rel]


def remaining(alpha: float, seen: int) -> float:
    """(1 - alpha)^seen by repeated multiplication, so that equal gains are equal as floats."""
    left = 1.0
    for _ in range(seen):
        left *= 1 - alpha
    return left


def novelty_sum(
    docs: Ranking,
    k: int | None,
    names: list[str],
    subtopics: Subtopics,
    rel: int,
    alpha: float,
    weight: Weight,
    of: dict[str, float] | None = None,
) -> float:
    """Sum of the gains (1 - alpha)^n of docs down to k, times the weight of the rank."""
    total, seen = 0.0, dict.fromkeys(names, 0)
    for rank, doc in enumerate((docs or [])[:k], 1):
        for name in relevant_to(doc, names, subtopics, rel):
            total += (of[name] if of else 1.0) * remaining(alpha, seen[name]) * weight(rank)
            seen[name] += 1
    return total


def greedy_ideal(subtopics: Subtopics, rel: int, alpha: float) -> list[str]:
    """The list that has the doc of greatest gain at each rank, equal ones by docno descending."""
    names = sorted(subtopics, key=str.encode)
    left, ideal = {d for docs in subtopics.values() for d in docs}, []
    seen = dict.fromkeys(names, 0)
    while left:
        best, most = "", -1.0
        for doc in sorted(left, key=str.encode, reverse=True):
            own = relevant_to(doc, names, subtopics, rel)
            gain = 0.0
            for name in own:
                gain += remaining(alpha, seen[name])
            if gain > most:
                best, most = doc, gain
        for name in relevant_to(best, names, subtopics, rel):
            seen[name] += 1
        ideal.append(best)
        left.remove(best)
    return ideal


def over_perfect(
    value: float, k: int, alpha: float, weight: Weight, subtopics: int | float
) -> float:
    """A sum over that of a list whose docs are all relevant to all subtopics."""
    perfect = subtopics * sum((1 - alpha) ** (i - 1) * weight(i) for i in range(1, k + 1))
    return value / perfect if perfect else 0.0


def alpha_dcg(
    docs: Ranking,
    subtopics: Subtopics,
    k: int,
    described: Described,
    alpha: float = 0.5,
    rel: int = 1,
    norm: str = "perfect",
    which: str = "found",
) -> float:
    """Clarke et al. (2008), with the normalisation of ndeval."""
    names = counted(subtopics, rel, which, described)
    value = novelty_sum(docs, k, names, subtopics, rel, alpha, log_discount)
    return value if norm == "none" else over_perfect(value, k, alpha, log_discount, len(names))


def over_greedy(
    docs: Ranking,
    subtopics: Subtopics,
    k: int | None,
    weight: Weight,
    alpha: float = 0.5,
    rel: int = 1,
    undefined: float = 0.0,
) -> float:
    """A novelty sum over that of the greedy ideal list."""
    names = sorted(subtopics, key=str.encode)
    ideal = greedy_ideal(subtopics, rel, alpha)
    best = novelty_sum(ideal, k, names, subtopics, rel, alpha, weight)
    value = novelty_sum(docs, k, names, subtopics, rel, alpha, weight)
    return value / best if best else undefined


def nrbp(
    docs: Ranking,
    subtopics: Subtopics,
    described: Described,
    alpha: float = 0.5,
    beta: float = 0.5,
    rel: int = 1,
    which: str = "found",
) -> float:
    """Eq. 4 of Albahem et al. (2018)."""
    names = counted(subtopics, rel, which, described)
    if not names:
        return 0.0
    total = novelty_sum(docs, None, names, subtopics, rel, alpha, lambda i: beta ** (i - 1))
    return (1 - (1 - alpha) * beta) / len(names) * total


def err_ia(
    docs: Ranking,
    subtopics: Subtopics,
    k: int,
    described: Described,
    alpha: float = 0.5,
    norm: str = "perfect",
    gain: str = "binary",
    gmax: int = 1,
    rel: int = 1,
    which: str = "found",
    weights: str = "uniform",
) -> float:
    """Eq. 5 of Albahem et al. (2018); with binary gains and norm=perfect that of ndeval."""
    of = shares(counted(subtopics, rel, which, described), weights, described)
    if gain == "binary":
        value = novelty_sum(docs, k, list(of), subtopics, rel, alpha, reciprocal, of)
        return value if norm == "none" else over_perfect(value, k, alpha, reciprocal, 1)
    value = 0.0
    for name, share in of.items():
        reading = 1.0
        for rank, doc in enumerate((docs or [])[:k], 1):
            stop = (2 ** max(subtopics.get(name, {}).get(doc, 0), 0) - 1) / 2**gmax
            value += share * reading * stop / rank
            reading *= 1 - stop
    top = (2**gmax - 1) / 2**gmax
    return value if norm == "none" else over_perfect(value, k, top, reciprocal, top)


def subtopic_recall(
    docs: Ranking,
    subtopics: Subtopics,
    k: int | None,
    described: Described,
    rel: int = 1,
    which: str = "found",
) -> float:
    """Share of the subtopics with a relevant doc down to k (Zhai et al. 2003)."""
    names = counted(subtopics, rel, which, described)
    shown = (docs or [])[:k]
    covered = {n for doc in shown for n in relevant_to(doc, names, subtopics, rel)}
    return len(covered) / len(names) if names else 0.0


def intent_aware(
    of_subtopic: Callable[[str], float],
    subtopics: Subtopics,
    described: Described,
    rel: int,
    which: str,
    weights: str,
    undefined: float,
) -> float:
    """Eq. 1: the weighted mean of a measure over subtopics, for each of which it is given."""
    of = shares(counted(subtopics, rel, which, described), weights, described)
    if not any(of.values()):
        return undefined
    return sum(share * of_subtopic(name) for name, share in of.items() if share)


def global_gains(subtopics: Subtopics, of: dict[str, float], gain: Gain) -> dict[str, float]:
    """Sum over subtopics of share times gain, of each doc that has any."""
    docs = {doc for judged in subtopics.values() for doc in judged}
    total = {
        doc: sum(p * gain(subtopics.get(name, {}).get(doc, 0)) for name, p in of.items())
        for doc in docs
    }
    return {doc: g for doc, g in total.items() if g > 0}


def d_ndcg(docs: Ranking, k: int | None, gains: dict[str, float]) -> float:
    """D-nDCG (Sakai and Song 2011): nDCG of global gains."""
    ideal = sorted(gains.values(), reverse=True)[:k]
    best = sum(g * log_discount(i) for i, g in enumerate(ideal, 1))
    shown = enumerate((docs or [])[:k], 1)
    return sum(gains.get(doc, 0) * log_discount(i) for i, doc in shown) / best if best else 0.0


def d_q(docs: Ranking, k: int | None, gains: dict[str, float], beta: float = 1.0) -> float:
    """D-Q: the Q-measure of global gains, divided by min(R, k) as in NTCIREVAL."""
    ideal = sorted(gains.values(), reverse=True)
    total = 0.0
    for rank, doc in enumerate((docs or [])[:k], 1):
        if doc in gains:
            above = [gains[d] for d in docs[:rank] if d in gains]
            blended = len(above) + beta * sum(above)
            total += blended / (rank + beta * sum(ideal[:rank]))
    divisor = len(gains) if k is None else min(k, len(gains))
    return total / divisor if divisor else 0.0


def din_ndcg(
    docs: Ranking,
    k: int | None,
    subtopics: Subtopics,
    of: dict[str, float],
    gain: Gain,
    rel: int,
    described: Described,
) -> float:
    """DIN-nDCG (Sakai 2012): only the first relevant doc of a navigational subtopic gains."""
    ideal = sorted(global_gains(subtopics, of, gain).values(), reverse=True)[:k]
    best = sum(g * log_discount(i) for i, g in enumerate(ideal, 1))
    value = 0.0
    for rank, doc in enumerate((docs or [])[:k], 1):
        for name, share in of.items():
            above = any(relevant_to(d, [name], subtopics, rel) for d in docs[: rank - 1])
            if described[name][1] == "inf" or not above:
                value += share * gain(subtopics.get(name, {}).get(doc, 0)) * log_discount(rank)
    return value / best if best else 0.0

"""Slow, obvious twins of the measures of rareness (Tuerkmen, Lease and Kutlu 2023).

Lists are {system: docs, best first, or None}: all systems of a track for one query.
"""

import math
from collections.abc import Callable
from typing import Any

from twins import gain as naive_gain
from twins.measures import Qrels, Ranking, relevant_docs

Lists = dict[str, Ranking]
Groups = dict[str, str | None]


def holders(doc: str, lists: Lists, depth: int | None) -> set[str]:
    """The systems that have the doc at a rank <= depth."""
    return {system for system, docs in lists.items() if doc in (docs or [])[:depth]}


def held_and_total(
    doc: str,
    own: str,
    lists: Lists,
    depth: int | None,
    counted: str = "systems",
    groups: Groups | None = None,
    pooled: set[str] | None = None,
) -> tuple[int, int]:
    """S_d and S as the system `own` sees them."""
    held, known = holders(doc, lists, depth), groups or {}

    def group(system: str) -> tuple[str, str]:
        name = known.get(system)
        return ("alone", system) if name is None else ("group", name)

    if counted == "groups":
        return len({group(s) for s in held}), len({group(s) for s in lists})
    if counted == "others":
        outside = {s for s in lists if group(s) != group(own)}
        return len(held & outside) + 1, len(outside) + 1
    if counted == "pooled" and pooled is not None:
        return len(held & pooled), len(pooled)
    return len(held), len(lists)


def rarity(held: int, total: int, kind: str = "linear") -> float:
    """Eq. 2; R' of Section 5.2; and two more. A doc that nobody counted has is rarest."""
    if held == 0:
        return 1.0
    if total <= 1:
        return 0.0
    if kind == "linear":
        return 1 - held / total
    if kind == "revised":
        return 1 - (held - 1) / (total - 1)
    if kind == "idf":
        return math.log(total / held) / math.log(total)
    if kind == "unique":
        return 1.0 if held == 1 else 0.0
    raise ValueError(kind)


def weights(
    own: str,
    lists: Lists,
    qrels: Qrels,
    k: int | None,
    alpha: float | str = 1,
    mix: str = "add",
    kind: str | None = None,
    counted: str = "systems",
    depth: int | None = None,
    rel: int = 1,
    groups: Groups | None = None,
    pooled: set[str] | None = None,
) -> Callable[[str], float]:
    """The weight of a doc: 1 + alpha R (Eq. 1), or 1 - alpha + alpha R' (Eq. 4)."""
    relevant, depth = len(relevant_docs(qrels, rel)), depth or k
    a = (1 / relevant if relevant else 0.0) if alpha == "1/R" else float(alpha)
    kind = kind or {"add": "linear", "convex": "revised"}[mix]

    def weight(doc: str) -> float:
        counts = held_and_total(doc, own, lists, depth, counted, groups, pooled)
        rare = rarity(*counts, kind) if holders(doc, lists, depth) else 0.0
        return 1 + a * rare if mix == "add" else (1 - a) + a * rare

    return weight


def rare_precision(own: str, lists: Lists, qrels: Qrels, k: int, rel: int = 1, **how: Any) -> float:
    """Eq. 1: the weights of the relevant docs at ranks <= k, over k."""
    weight = weights(own, lists, qrels, k, rel=rel, **how)
    relevant = relevant_docs(qrels, rel)
    return sum(weight(doc) for doc in (lists[own] or [])[:k] if doc in relevant) / k


def rare_ap(own: str, lists: Lists, qrels: Qrels, k: int | None, rel: int = 1, **how: Any) -> float:
    """Eq. 3: RareP at each relevant doc down to k, by one S_d, over all relevant docs."""
    weight = weights(own, lists, qrels, k, rel=rel, **how)
    relevant, docs, total = relevant_docs(qrels, rel), (lists[own] or [])[:k], 0.0
    for i, doc in enumerate(docs, start=1):
        if doc in relevant:
            total += sum(weight(above) for above in docs[:i] if above in relevant) / i
    return total / len(relevant) if relevant else 0.0


def rare_dcg(
    own: str,
    lists: Lists,
    qrels: Qrels,
    k: int | None,
    gain: naive_gain.Gain = "grade",
    gmax: int = 1,
    discount: tuple[str, float] = ("log2", 2),
    **how: Any,
) -> float:
    """The discounted gains, each times the weight of its doc."""
    weight, docs = weights(own, lists, qrels, k, **how), (lists[own] or [])[:k]
    gains = naive_gain.gains_of(docs, qrels, gain, gmax)
    weighed = [g * weight(doc) if g else 0.0 for g, doc in zip(gains, docs, strict=True)]
    return naive_gain.dcg_of(weighed, *discount)


def rare_ndcg(
    own: str,
    lists: Lists,
    qrels: Qrels,
    k: int | None,
    gain: naive_gain.Gain = "grade",
    gmax: int = 1,
    discount: tuple[str, float] = ("log2", 2),
    **how: Any,
) -> float:
    """That over the plain DCG of the ideal list."""
    ideal = naive_gain.dcg_of(naive_gain.ideal_gains(qrels, gain, gmax)[:k], *discount)
    value = rare_dcg(own, lists, qrels, k, gain, gmax, discount, **how)
    return value / ideal if ideal else 0.0


def rare_rbp(
    own: str,
    lists: Lists,
    qrels: Qrels,
    k: int | None,
    p: float = 0.8,
    gain: naive_gain.Gain = "binary",
    gmax: int = 1,
    rel: int = 1,
    **how: Any,
) -> float:
    """(1 - p) times the sum of p^(rank - 1) times gain times weight."""
    weight, docs = weights(own, lists, qrels, k, rel=rel, **how), (lists[own] or [])[:k]
    gains = naive_gain.gains_of(docs, qrels, gain, gmax, rel)
    terms = (
        p**i * g * weight(doc) for i, (g, doc) in enumerate(zip(gains, docs, strict=True)) if g
    )
    return (1 - p) * sum(terms)


def contribution(
    own: str,
    queries: list[tuple[Lists, Qrels]],
    depth: int,
    rel: int = 1,
    groups: Groups | None = None,
) -> tuple[int, int, int, float, float]:
    """Docs found; no other system has; no system of another group has; share; mean rarity."""
    found = unique = unique_to_group = union = 0
    rarities = []
    for lists, qrels in queries:
        for doc in relevant_docs(qrels, rel):
            held = holders(doc, lists, depth)
            union += bool(held)
            if own in held:
                found += 1
                unique += held == {own}
                counts = held_and_total(doc, own, lists, depth, "others", groups)
                unique_to_group += counts[0] == 1
                rarities.append(rarity(len(held), len(lists)))
    share = found / union if union else math.nan
    mean = sum(rarities) / len(rarities) if rarities else math.nan
    return found, unique, unique_to_group, share, mean

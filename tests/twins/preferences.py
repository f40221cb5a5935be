"""Slow, obvious twins of preferences between systems, by Diaz and Ferraro 2022.

Written from the paper; they share no code with irmeta.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

CORPUS = 10**12
"""n: how many items the corpus has, more than any list."""


def positions(ranks: Sequence[int], m: int) -> list[int]:
    """f_1 to f_m of a ranking: Section 3.1.

    `ranks` are those of the relevant items that the system retrieves. The others of the m stand in
    the last places of the corpus: "we treat these items as ranked [...] at the end of the total
    corpus ranking" (Section 3).
    """
    omitted = m - len(ranks)
    return sorted(ranks) + [CORPUS - omitted + j for j in range(1, omitted + 1)]


def sgn(x: int) -> int:
    return 1 if x > 0 else -1 if x < 0 else 0


def wins_less_losses(own: Sequence[int], other: Sequence[int], m: int) -> int:
    """m times Eq. 4 with p(i) = 1/m: by how many i more the first is preferred to the second."""
    f, g = positions(own, m), positions(other, m)
    return sum(sgn(g[i] - f[i]) for i in range(m))


def rpp(own: Sequence[int], other: Sequence[int], m: int) -> Fraction:
    """RPP(own, other) of Eq. 4; positive where `own` is preferred."""
    return Fraction(wins_less_losses(own, other, m), m)


def all_wins_less_losses(systems: Sequence[Sequence[int]], m: int) -> list[list[int]]:
    """For all pairs: [own][other]."""
    return [[wins_less_losses(own, other, m) for other in systems] for own in systems]


Qrels = Mapping[str, int]
Lists = tuple[Sequence[str], Sequence[str]]


def weights_of(p: str, m: int, g: float = 0.8) -> list[float]:
    """p(i) for i from 1 to m, summing to 1: Section 5.2."""
    raw = {
        "uniform": lambda i: 1.0,
        "dcg": lambda i: 1 / math.log2(i + 1),
        "inverse": lambda i: 1 / i,
        "geometric": lambda i: g ** (i - 1),
    }[p]
    total = math.fsum(raw(i) for i in range(1, m + 1))
    return [raw(i) / total for i in range(1, m + 1)]


def found(ranking: Sequence[str], docs: Iterable[str], k: int | None) -> list[int]:
    """The ranks up to k at which a list has some docs."""
    wanted = set(docs)
    return [i for i, doc in enumerate(ranking, 1) if doc in wanted and (k is None or i <= k)]


def set_preference(lists: Lists, docs: set[str], p: str, k: int | None) -> float:
    """Eq. 4: the preference of users who want some of these docs."""
    f, g = (positions(found(ranking, docs, k), len(docs)) for ranking in lists)
    return sum(w * sgn(b - a) for w, a, b in zip(weights_of(p, len(docs)), f, g, strict=True))


def mean_preference(lists: Lists, sets: list[set[str]], p: str, k: int | None) -> float:
    """Sets of docs weighted by their sizes; NaN without a doc."""
    total = sum(map(len, sets))
    parts = [len(docs) / total * set_preference(lists, docs, p, k) for docs in sets if docs]
    return sum(parts) if parts else math.nan


def graded_rpp(
    lists: Lists,
    qrels: Qrels,
    p: str = "uniform",
    rel: int = 1,
    grades: str = "graded",
    k: int | None = None,
) -> float:
    """Eq. 5, over the grades that the query has; Eq. 4 with binary grades."""
    levels = {grade for grade in qrels.values() if grade >= rel}
    levels = {rel} if grades == "binary" else levels
    sets = [{doc for doc, grade in qrels.items() if grade >= level} for level in levels]
    return mean_preference(lists, sets, p, k)


def subtopic_rpp(
    lists: Lists,
    qrels: Mapping[str, Qrels],
    p: str = "uniform",
    rel: int = 1,
    background: Qrels | None = None,
    k: int | None = None,
) -> float:
    """Eq. 6: by subtopic, and with a background of any subtopic; {}: without a background."""
    sets = [{doc for doc, grade in docs.items() if grade >= rel} for docs in qrels.values()]
    any_of = set().union(*sets)
    if background is not None:
        any_of = {doc for doc, grade in background.items() if grade >= rel}
    return mean_preference(lists, [*sets, any_of], p, k)


def lexicographic(
    lists: Lists, qrels: Qrels, first: bool, reciprocal: bool = False, k: int | None = None
) -> float:
    """The sign at the first level where the lists differ, from level 1 or from level m."""
    docs = {doc for doc, grade in qrels.items() if grade >= 1}
    if not docs:
        return math.nan
    f, g = (positions(found(ranking, docs, k), len(docs)) for ranking in lists)
    pairs = list(zip(f, g, strict=True))
    for a, b in pairs if first else reversed(pairs):
        if a != b:
            x, y = (0.0 if r > CORPUS / 2 else 1 / r for r in (a, b))
            return x - y if reciprocal else float(sgn(b - a))
    return 0.0


def interleave(a: Sequence[str], b: Sequence[str], a_starts: bool) -> list[str]:
    """Balanced interleaving, Joachims 2003, Figure 1; then the rest of the longer list."""
    out: list[str] = []
    i = j = 0
    while i < len(a) or j < len(b):
        if i < j or (i == j and a_starts):
            if i < len(a) and a[i] not in out:
                out.append(a[i])
            i += 1
        else:
            if j < len(b) and b[j] not in out:
                out.append(b[j])
            j += 1
    return out


def offline_interleaving(
    lists: Lists, qrels: Qrels, p: str = "uniform", k: int | None = None
) -> float:
    """Eq. 2, for users who read to the i-th relevant doc of either interleaved list."""
    docs = {doc for doc, grade in qrels.items() if grade >= 1}
    if not docs:
        return math.nan
    a, b = (list(ranking if k is None else ranking[:k]) for ranking in lists)
    total = 0.0
    for a_starts in (True, False):
        met = [doc for doc in interleave(a, b, a_starts) if doc in docs]
        for weight, doc in zip(weights_of(p, len(docs)), met, strict=False):
            cut = min(ranking.index(doc) for ranking in (a, b) if doc in ranking) + 1
            clicks = [sum(d in docs for d in ranking[:cut]) for ranking in (a, b)]
            total += weight * sgn(clicks[0] - clicks[1]) / 2
    return total

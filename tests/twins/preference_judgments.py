"""trec_eval's measures of preference judgments, pair by pair, as its help describes them."""

from __future__ import annotations

Row = tuple[str, str, str, float]
"""Group, subgroup, doc, level."""
NAMES = ("simp", "pair", "avgjg", "avgjg_Rnonrel")


def preferences(rows: list[Row], ranking: list[str]) -> dict[str, float]:
    """All values of one query."""
    judged = sorted({doc for _, _, doc, _ in rows})
    retrieved = [doc for doc in ranking if doc in judged]
    order = retrieved + [doc for doc in judged if doc not in retrieved]
    groups = sorted({group for group, _, _, _ in rows})
    by_group = [[row[1:] for row in rows if row[0] == group] for group in groups]
    wanted = [pairs_of(group) for group in by_group]
    found = {
        "num_prefs_poss": float(sum(map(len, wanted))),
        "num_prefs_ful": float(sum(kept(a, b, order, retrieved) for g in wanted for a, b in g)),
        "num_prefs_ful_ret": float(
            sum(
                kept(a, b, order, retrieved)
                for g in wanted
                for a, b in g
                if {a, b} <= set(retrieved)
            )
        ),
    }
    for ending, least in (("", 0), ("_imp", 1), ("_ret", 2)):
        seen = [
            [(a, b) for a, b in group if (a in retrieved) + (b in retrieved) >= least]
            for group in wanted
        ]
        shares = [share(group, order, retrieved) for group in seen]
        together = [pair for group in seen for pair in group]
        found[f"simp{ending}"] = share(together, order, retrieved)
        found[f"avgjg{ending}"] = sum(shares) / len(shares)
        docs = {frozenset(pair) for pair in together}
        each = [
            share([p for p in together if frozenset(p) == both], order, retrieved) for both in docs
        ]
        found[f"pair{ending}"] = sum(each) / len(each) if each else 0.0
        if least != 1:
            equal = [
                with_equal_nonrelevant(group, pairs, order, retrieved, alone=least == 2)
                for group, pairs in zip(by_group, wanted, strict=True)
            ]
            is_defined = None not in equal
            values = [value or 0.0 for value in equal]
            found[f"avgjg_Rnonrel{ending}"] = sum(values) / len(values) if is_defined else 0.0
    return {f"prefs_{name}": value for name, value in found.items()}


def pairs_of(rows: list[tuple[str, str, float]]) -> list[tuple[str, str]]:
    """Pairs of a preferred doc and another: of each pair of judgments, or of all that follow."""
    direct = [
        (a, b) for s, a, first in rows for other, b, second in rows if s == other and first > second
    ]
    if len({subgroup for subgroup, _, _ in rows}) == 1:
        return direct
    known = set(direct)
    while True:
        more = {(a, d) for a, b in known for c, d in known if b == c} - known
        if not more:
            return sorted(known)
        known |= more


def kept(a: str, b: str, order: list[str], retrieved: list[str]) -> bool:
    """Whether the list has a above b, or a alone."""
    return a in retrieved and order.index(a) < order.index(b)


def share(pairs: list[tuple[str, str]], order: list[str], retrieved: list[str]) -> float:
    """Share of preferences that the list fulfils."""
    return sum(kept(a, b, order, retrieved) for a, b in pairs) / len(pairs) if pairs else 0.0


def with_equal_nonrelevant(
    rows: list[tuple[str, str, float]],
    pairs: list[tuple[str, str]],
    order: list[str],
    retrieved: list[str],
    *,
    alone: bool,
) -> float | None:
    """Share with as many non-relevant as relevant docs; None without a preference."""
    is_partial = len({subgroup for subgroup, _, _ in rows}) > 1
    docs = [(doc, level) for _, doc, level in rows]
    if is_partial:
        docs = sorted(set(dict(docs).items()))  # the level is 0 in all subgroups, or in none
    docs.sort(key=lambda one: order.index(one[0]))
    relevant = [doc for doc, level in docs if level > 0]
    others = [doc for doc, level in docs if level == 0]
    relevant_seen = [doc for doc in relevant if doc in retrieved]
    others_seen = [doc for doc in others if doc in retrieved]
    most, held = (relevant_seen, others_seen) if alone else (relevant, others)
    if alone:
        pairs = [(a, b) for a, b in pairs if {a, b} <= set(retrieved)]
    if len(most) >= len(held):
        more = len(most) - len(held)
        fulfilled = sum(kept(a, b, order, retrieved) for a, b in pairs) + len(relevant_seen) * more
        possible = len(pairs) + len(relevant) * more
    elif is_partial:
        dropped = others[len(relevant) :]
        pairs = [(a, b) for a, b in pairs if a not in dropped and b not in dropped]
        fulfilled = sum(kept(a, b, order, retrieved) for a, b in pairs)
        possible = len(pairs)
    else:
        last = held[: len(most)]
        better = [(a, b) for a, b in pairs if b not in others]
        every = [doc for doc, _ in docs if doc in retrieved or not alone]
        extra = [(a, b) for a in every for b in last]  # those of the last class too
        both = better + extra
        fulfilled = sum(kept(a, b, order, retrieved) for a, b in both)
        possible = len(both)
    return fulfilled / possible if possible else None

"""Slow, obvious twins of the study of recall-paired preference, by Diaz and Ferraro 2022.

Written from the paper; they share no code with irmeta.
"""

import math
from collections.abc import Sequence
from itertools import combinations, permutations

Ranks = list[float]
"""f_1 to f_m of a list; infinity where a doc is not retrieved."""


def level_ranks(ranking: Sequence[str] | None, relevant: set[str]) -> Ranks:
    """f_i for i from 1 to m: Section 2."""
    found = [float(i) for i, doc in enumerate(ranking or (), 1) if doc in relevant]
    return found + [math.inf] * (len(relevant) - len(found))


def level_pairs(lists: list[list[Ranks]]) -> list[tuple[float, float, int]]:
    """(f_i, f'_i, i) of all unordered pairs of lists of each query."""
    return [
        (f, g, i)
        for of_query in lists
        for a, b in combinations(of_query, 2)
        for i, (f, g) in enumerate(zip(a, b, strict=True), 1)
    ]


def term(discount: str, rank: float) -> float:
    """delta(f) of Figure 2; 0 for a doc that is not retrieved."""
    if rank == math.inf:
        return 0.0
    return 0.5 ** (rank - 1) if discount == "RBP" else 1 / math.log2(rank + 1)


def share_up_to(lists: list[list[Ranks]], discount: str, delta: float) -> float:
    """Figure 2: the share of Delta mu_i of at most `delta`, over ordered pairs."""
    values = []
    for of_query in lists:
        for a, b in permutations(of_query, 2):
            for f, g in zip(a, b, strict=True):
                if discount == "sign":
                    values.append(float((f < g) - (f > g)))
                else:
                    values.append(term(discount, f) - term(discount, g))
    rounding = 1e-10 if delta else 0.0
    return sum(v <= delta + rounding for v in values) / len(values)


def contribution(measure: str, i: int, m: int, f: float, g: float, corpus: int) -> float:
    """Delta mu_i of the table in Figure 4; unretrieved docs are the last of the corpus."""
    last = corpus - m + i
    x, y = (last if rank == math.inf else rank for rank in (f, g))
    return {
        "RBP": term("RBP", f) - term("RBP", g),
        "AP": i * (1 / f - 1 / g),
        "DCG": term("DCG", f) - term("DCG", g),
        "RR": 1 / f - 1 / g if i == 1 else 0.0,
        "ISL": y - x if i == 1 else 0.0,
        "TSL": y - x if i == m else 0.0,
        "AvgSL": y - x,
        "RPP": float((x < y) - (x > y)),
    }[measure]


def mc4_scores(
    win_rates: list[list[float]], steps: int = 10, majority: str = "queries"
) -> list[float]:
    """MC4 over queries from win rates [query][system], after some steps of the chain.

    The chain moves where most of all queries rank the other system higher, or more of them than
    rank it lower (decided).
    """
    size = len(win_rates[0])

    def loses(i: int, j: int) -> bool:
        wins = sum(row[j] - row[i] > 1e-12 for row in win_rates)
        losses = sum(row[i] - row[j] > 1e-12 for row in win_rates)
        return wins > (losses if majority == "decided" else len(win_rates) / 2)

    moves = [[loses(i, j) / size for j in range(size)] for i in range(size)]
    for i in range(size):
        moves[i][i] = 1 - sum(moves[i])
    now = [1 / size] * size
    for _ in range(steps):
        now = [math.fsum(now[i] * moves[i][j] for i in range(size)) for j in range(size)]
    return now


def tau_b(a: Sequence[float], b: Sequence[float]) -> float:
    """Kendall's tau-b; values that differ by at most 1e-9 of the larger tie."""

    def sign(x: float, y: float) -> int:
        return 0 if abs(x - y) <= 1e-9 * max(abs(x), abs(y)) else 1 if x > y else -1

    pairs = list(combinations(range(len(a)), 2))
    signs = [(sign(a[i], a[j]), sign(b[i], b[j])) for i, j in pairs]
    untied = [sum(s[k] != 0 for s in signs) for k in (0, 1)]
    product = math.sqrt(untied[0] * untied[1])
    return sum(x * y for x, y in signs) / product if product else math.nan

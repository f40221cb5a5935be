"""Slow, obvious twins of the statistics that compare or merge orderings of systems.

They share no code with irmeta and use no numpy. Scores are lists of floats, greater is better;
verdicts are one list of rows a query, `sign[i][j]` being 1 where i is better than j, -1 where it is
worse and 0 where they tie.
"""

import math
from fractions import Fraction
from itertools import combinations, permutations, product

Signs = list[list[int]]
Ranking = list[list[str]]


def sign(x: float) -> int:
    """1, 0 or -1."""
    return (x > 0) - (x < 0)


def mean(values: list[float]) -> float:
    """The arithmetic mean; NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


# Correlation


def kendall_tau_a(x: list[float], y: list[float]) -> float:
    """(concordant - discordant) / all pairs: Kendall 1948."""
    pairs = list(combinations(range(len(x)), 2))
    if not pairs:
        return math.nan
    return sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in pairs) / len(pairs)


def kendall_tau_b(x: list[float], y: list[float]) -> float:
    """(concordant - discordant) / sqrt(pairs not tied in x times in y): Kendall 1945."""
    pairs = list(combinations(range(len(x)), 2))
    total = sum(sign(x[i] - x[j]) * sign(y[i] - y[j]) for i, j in pairs)
    in_x = sum(x[i] != x[j] for i, j in pairs)
    in_y = sum(y[i] != y[j] for i, j in pairs)
    return total / math.sqrt(in_x * in_y) if in_x and in_y else math.nan


def pearson(x: list[float], y: list[float]) -> float:
    """Product-moment correlation; NaN where either is constant."""
    if len(x) < 2 or min(x) == max(x) or min(y) == max(y):
        return math.nan
    dx = [v - mean(x) for v in x]
    dy = [v - mean(y) for v in y]
    top = math.fsum(a * b for a, b in zip(dx, dy, strict=True))
    return top / math.sqrt(math.fsum(a * a for a in dx) * math.fsum(b * b for b in dy))


def mid_ranks(x: list[float]) -> list[float]:
    """Ranks from 1 for the least; ties share the mean of theirs."""
    return [sum(w < v for w in x) + (sum(w == v for w in x) + 1) / 2 for v in x]


def spearman(x: list[float], y: list[float]) -> float:
    """Pearson of the mid-ranks: Spearman 1904."""
    return pearson(mid_ranks(x), mid_ranks(y))


def rmse(x: list[float], y: list[float]) -> float:
    """Root of the mean squared difference."""
    return math.sqrt(mean([(a - b) ** 2 for a, b in zip(x, y, strict=True)])) if x else math.nan


# AP correlation


def tau_ap_of_order(truth: list[float], order: list[int], tied: float) -> float:
    """2 / (n - 1) sum over i >= 2 of C(i) / (i - 1), minus 1: Yilmaz et al. 2008.

    C(i) counts the items above place i that the truth puts above too; one that the truth ties with
    it counts `tied`.
    """
    n = len(order)
    if n < 2:
        return math.nan
    total = 0.0
    for place in range(1, n):
        below = order[place]
        right = 0.0
        for above in order[:place]:
            if truth[above] > truth[below]:
                right += 1
            elif truth[above] == truth[below]:
                right += tied
        total += right / place
    return 2 * total / (n - 1) - 1


def tie_groups(scores: list[float]) -> list[list[int]]:
    """The places of the scores, greatest first, equal ones together."""
    return [[i for i, s in enumerate(scores) if s == v] for v in sorted(set(scores), reverse=True)]


def orders(scores: list[float]) -> list[list[int]]:
    """Every way to break the ties of the scores, best first."""
    ways = product(*(permutations(group) for group in tie_groups(scores)))
    return [[i for group in way for i in group] for way in ways]


def tau_ap(truth: list[float], estimate: list[float]) -> float:
    """Yilmaz et al. 2008; neither may have ties."""
    if len(set(truth)) < len(truth) or len(set(estimate)) < len(estimate):
        raise ValueError("ties")
    (order,) = orders(estimate)
    return tau_ap_of_order(truth, order, 0.0)


def tau_gap(truth: list[float], estimate: list[float]) -> float:
    """tau_AP with the gaps of the truth as weights: after Gao and Oard 2015.

    For each item that another precedes: its gaps in the truth to those above it, agreed minus
    disagreed, by all gaps. Half of the gap to an item that the estimate ties is above. The mean
    leaves out items without a gap; of t items that tie as first, each is not first in t - 1 of t
    ways to break the tie.
    """
    if len({*truth}) < 2 or len({*estimate}) < 2:
        return math.nan
    ratios, weights = [], []
    for i, own in enumerate(estimate):
        above = [j for j, other in enumerate(estimate) if other > own]
        tied = [j for j, other in enumerate(estimate) if other == own and j != i]
        gaps = [truth[j] - truth[i] for j in above]
        half = [abs(truth[j] - truth[i]) / 2 for j in tied]
        every = math.fsum(map(abs, gaps)) + math.fsum(half)
        if every > 0:
            ratios.append(math.fsum(gaps) / every)
            weights.append(1.0 if above else len(tied) / (len(tied) + 1))
    return sum(r * w for r, w in zip(ratios, weights, strict=True)) / sum(weights)


def tau_ap_a(truth: list[float], estimate: list[float], tied: float = 0.5) -> float:
    """The mean of tau_ap over every way to break the estimate's ties: Urbano and Marrero 2017.

    They give the truth no ties. tied = .5 is the mean over the ways to break the truth's as well;
    tied = 0 takes a pair that the truth ties as wrongly ordered.
    """
    return mean([tau_ap_of_order(truth, order, tied) for order in orders(estimate)])


def tau_ap_b_one_way(x: list[float], y: list[float]) -> float:
    """tau_ap-ties of y's order against x: Urbano and Marrero 2017.

    An item looks only at those above its whole group, p - 1 of them; the first group has none. An
    item of those that x ties with it is not rightly ordered (as in the R package ircor).
    """
    parts = []
    for i in range(len(y)):
        above = [j for j in range(len(y)) if y[j] > y[i]]
        if above:
            parts.append(sum(x[j] > x[i] for j in above) / len(above))
    return 2 * mean(parts) - 1


def tau_ap_b(x: list[float], y: list[float]) -> float:
    """The mean of both directions; NaN where either ties everything: Urbano and Marrero 2017."""
    return (tau_ap_b_one_way(x, y) + tau_ap_b_one_way(y, x)) / 2


# Rank-biased overlap


def parse_ranking(text: str) -> Ranking:
    """`a (b c) d`, ties in brackets, as the oracle writes rankings."""
    groups: Ranking = []
    inside = False
    for word in text.split():
        if inside:
            groups[-1].append(word.strip("()"))
        else:
            groups.append([word.strip("()")])
        inside = (inside or word.startswith("(")) and not word.endswith(")")
    return groups


def ranking_of(scores: dict[str, float]) -> Ranking:
    """Items grouped by score, greatest first."""
    names = list(scores)
    return [[names[i] for i in group] for group in tie_groups(list(scores.values()))]


def shares(ranking: Ranking, depth: int, ties: str) -> dict[str, float]:
    """How much of each item the ranking has at a depth: Corsi and Urbano 2024.

    w: an item is there in full from the first rank of its group. a and b: a share of 1 / (group
    size) more at each rank of the group. Items with nothing are left out.
    """
    found = {}
    top = 1
    for group in ranking:
        for item in group:
            if depth >= top:
                part = min(1.0, (depth - top + 1) / len(group))
                found[item] = 1.0 if ties == "w" else part
        top += len(group)
    return found


def agreement(overlap: float, a: list[float], b: list[float], depth: int, ties: str) -> float:
    """The overlap over what it could be: Corsi and Urbano 2024, w, a and b."""
    if ties == "w":
        return 2 * overlap / (sum(a) + sum(b))
    if ties == "a":
        return overlap / depth
    return overlap / math.sqrt(sum(v * v for v in a)) / math.sqrt(sum(v * v for v in b))


def agreement_at(short: Ranking, long: Ranking, depth: int, ties: str, score: str) -> float:
    """A_d of two prefixes, at a depth that the longer one has; `score` is ext, min or max.

    Past the end of the shorter, its d - s unseen items are: none of the longer's (min); the first
    of the longer's that it has not (max); each one of those with the chance A_s (ext).
    """
    s = sum(len(group) for group in short)
    a, b = shares(short, depth, ties), shares(long, depth, ties)
    overlap = sum(a[item] * b[item] for item in a if item in b)
    norm = list(a.values())
    if depth > s:
        norm += [1.0] * (depth - s)
        unique = [b[item] for item in b if item not in a]  # in the order of the longer
        if score == "max":
            overlap += sum(unique[: depth - s])
        elif score == "ext":
            known = agreement_at(short, long, s, ties, "min") if s else math.nan
            overlap += (depth - s) * known * mean(unique)
    return agreement(overlap, norm, list(b.values()), depth, ties)


def rbo_part(short: Ranking, long: Ranking, p: float, ties: str, score: str) -> float:
    """(1 - p) / p sum over d of p^d A_d, past the longer's end in closed form."""
    s, n = sum(map(len, short)), sum(map(len, long))
    seen = len({i for g in short for i in g} & {i for g in long for i in g})
    parts = [p**d * agreement_at(short, long, d, ties, score) for d in range(1, n + 1)]
    if score == "min":  # A_d = X_l / d for ever, and sum p^d / d = -log(1 - p)
        tail = seen * (-math.log(1 - p) - math.fsum(p**d / d for d in range(1, n + 1)))
    elif score == "max":  # two more in common at each depth, until all are
        full = n + s - seen
        tail = math.fsum(p**d * (2 * d - n - s + seen) / d for d in range(n + 1, full + 1))
        tail += p ** (full + 1) / (1 - p)
    else:  # A_d = A_l for ever
        tail = agreement_at(short, long, n, ties, "ext") * p ** (n + 1) / (1 - p)
    return (1 - p) / p * (math.fsum(parts) + tail)


def rbo(x: Ranking, y: Ranking, p: float, ties: str) -> dict[str, float]:
    """RBO ext, min, max and res of two prefixes: Webber et al. 2010; Corsi and Urbano 2024."""
    short, long = sorted([x, y], key=lambda ranking: sum(len(group) for group in ranking))
    found = {score: rbo_part(short, long, p, ties, score) for score in ("ext", "min", "max")}
    return found | {"res": found["max"] - found["min"]}


# Merging the verdicts of many queries


def win_rate(verdicts: list[Signs]) -> list[float]:
    """The share of (query, opponent) that a system wins, a tie counting one half."""
    n = len(verdicts[0])
    wins = [
        [(1 + signs[i][j]) / 2 for signs in verdicts for j in range(n) if j != i] for i in range(n)
    ]
    return [mean(w) for w in wins]


def borda(verdicts: list[Signs]) -> list[float]:
    """Over queries, the sum of the systems beaten plus half of those tied."""
    n = len(verdicts[0])
    return [
        math.fsum((1 + signs[i][j]) / 2 for signs in verdicts for j in range(n) if j != i)
        for i in range(n)
    ]


def mc4_moves(verdicts: list[Signs], majority: str = "half") -> list[list[Fraction]]:
    """P(i -> j) = 1/n where a strict majority of the queries ranks j above i: Dwork et al. 2001.

    half: more than half of all queries. more: more rank j above i than i above j, which is what
    the code of paper 4 counts; they differ only where queries tie.
    """
    n = len(verdicts[0])
    moves = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            above = sum(signs[j][i] > 0 for signs in verdicts)
            below = sum(signs[j][i] < 0 for signs in verdicts)
            bar = len(verdicts) / 2 if majority == "half" else below
            if i != j and above > bar:
                moves[i][j] = Fraction(1, n)
        moves[i][i] = 1 - sum(moves[i])
    return moves


def mc4_steps(verdicts: list[Signs], steps: int = 10, majority: str = "half") -> list[float]:
    """The uniform start moved a number of steps: paper 4's code takes ten."""
    moves = mc4_moves(verdicts, majority)
    n = len(moves)
    mass = [Fraction(1, n)] * n
    for _ in range(steps):
        mass = [sum((mass[i] * moves[i][j] for i in range(n)), Fraction(0)) for j in range(n)]
    return [float(m) for m in mass]


def solve(left: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Linear equations by elimination, exactly."""
    rows = [[*row, value] for row, value in zip(left, right, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = next(r for r in range(k, n) if rows[r][k] != 0)
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for r in range(n):
            if r != k:
                rows[r] = [a - rows[r][k] * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [row[n] for row in rows]


def limit(moves: list[list[Fraction]]) -> list[Fraction]:
    """Where the uniform start ends: the stationary distribution where there is only one."""
    n = len(moves)
    reach = [{i} for i in range(n)]
    for _ in range(n):
        reach = [set().union(*({*reach[j]} for j in range(n) if moves[i][j])) for i in range(n)]
    closed = {frozenset(reach[i]) for i in range(n) if all(i in reach[j] for j in reach[i])}
    mass = [Fraction(0)] * n
    for group in closed:
        inside = sorted(group)
        # The chance to end in the group: 1 inside, 0 in another, else the mean over one move.
        others = {i for g in closed if g != group for i in g}
        left = [[Fraction(i == j) - moves[i][j] for j in range(n)] for i in range(n)]
        for i in {*group, *others}:
            left[i] = [Fraction(i == j) for j in range(n)]
        ends = sum(solve(left, [Fraction(i in group) for i in range(n)])) / n
        # Within it: pi = pi P, one equation of which gives way to sum = 1.
        left = [[moves[j][i] - Fraction(i == j) for j in inside] for i in inside]
        left[0] = [Fraction(1)] * len(inside)
        within = solve(left, [Fraction(k == 0) for k in range(len(inside))])
        for i, share in zip(inside, within, strict=True):
            mass[i] = ends * share
    return mass


def mc4(verdicts: list[Signs], majority: str = "half") -> list[float]:
    """The limit of MC4 from the uniform start, exactly: Dwork et al. 2001.

    A system that beats all others by majority has all of the mass, and the rest none.
    """
    return [float(m) for m in limit(mc4_moves(verdicts, majority))]

"""Slow, obvious twins of the statistics by which measures are judged, written from the papers.

They share no code with irmeta and use no numpy. Values are rows of floats, one row a query and one
column a system; `direction` is 1 where greater is better and -1 where less is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations

from twins.orders import pearson, sign
from twins.significance import Rows, both, column, mean, paired_t, unpaired_t

Test = Callable[[list[float], list[float]], float]
Subset = list[int]


def t_p(a: list[float], b: list[float]) -> float:
    """p of the paired t-test."""
    return paired_t(a, b)[1]


def unpaired_p(a: list[float], b: list[float]) -> float:
    """p of the unpaired t-test."""
    return unpaired_t(a, b)[1]


def pairs_of(values: Rows) -> list[tuple[int, int]]:
    """The unordered pairs of systems, a < b."""
    return list(combinations(range(len(values[0])), 2))


def difference(values: Rows, a: int, b: int) -> float:
    """The mean of a less that of b, over the queries on which both have a value."""
    return mean([x - y for x, y in both(column(values, a), column(values, b))])


# Discriminative power


@dataclass
class Power:
    """How many pairs a test separates."""

    pairs: int
    separated: int
    share: float
    median: float
    curve: list[float]


def power(p: list[float], alpha: float) -> Power:
    """Pairs with p <= alpha, their share, the median p, p from the greatest down: Sakai 2006.

    `p` has one value a pair; one that is NaN is a pair that is not separated and has no part in the
    median or the curve.
    """
    known = sorted((v for v in p if not math.isnan(v)), reverse=True)
    separated = sum(v <= alpha for v in known)
    half = len(known) // 2
    median = math.nan
    if known:
        median = known[half] if len(known) % 2 else (known[half - 1] + known[half]) / 2
    return Power(len(p), separated, separated / len(p) if p else math.nan, median, known)


# Coverage and inversion


def discriminated(values: Rows, direction: int, alpha: float, test: Test) -> set[tuple[int, int]]:
    """The ordered pairs (i, j) of which i is the better, with p <= alpha: paper 3, D_ref."""
    return {
        (i, j)
        for i, j in permutations(range(len(values[0])), 2)
        if direction * difference(values, i, j) > 0
        and test(column(values, i), column(values, j)) <= alpha
    }


def shared(values: Rows, others: Rows) -> Rows:
    """The rows that both have; NaN where either is NaN."""
    return [
        [math.nan if math.isnan(v) or math.isnan(w) else v for v, w in zip(row, other, strict=True)]
        for row, other in zip(values, others, strict=False)
    ]


def coverage(
    reference: Rows,
    new: Rows,
    directions: tuple[int, int] = (1, 1),
    alpha: float = 0.05,
    test: Test = t_p,
) -> tuple[float, float]:
    """(coverage ratio, observed inversion ratio): paper 3, Eqs. 5, 6; NaN where D_ref is empty.

    Both measures are over the queries that both have, and the values that both define.
    """
    reference, new = shared(reference, new), shared(new, reference)
    known = discriminated(reference, directions[0], alpha, test)
    found = discriminated(new, directions[1], alpha, test)
    inverted = {
        (i, j)
        for i, j in permutations(range(len(new[0])), 2)
        if directions[1] * difference(new, j, i) > 0
    }
    if not known:
        return math.nan, math.nan
    return len(found & known) / len(known), len(inverted & known) / len(known)


# Stability


@dataclass
class Trials:
    """How often the first of a pair won, lost, and tied."""

    wins: int = 0
    losses: int = 0
    ties: int = 0


def added(values: list[float]) -> float:
    """The sum from left to right, as paper 2's code adds; `sum` of Python 3.12 is compensated."""
    total = 0.0
    for value in values:
        total += value
    return total


def trials(
    values: Rows, subsets: list[Subset], fuzziness: float, relative: bool = False
) -> dict[tuple[int, int], Trials]:
    """Every pair's outcomes over subsets of the queries: Buckley and Voorhees 2000.

    A pair ties unless its means differ by more than the fuzziness: an absolute amount (paper 2's
    code), or that share of the greater of the two |means| (Buckley and Voorhees).
    """
    found = {pair: Trials() for pair in pairs_of(values)}
    for subset in subsets:
        means = [added([values[q][s] for q in subset]) / len(subset) for s in range(len(values[0]))]
        for (a, b), outcome in found.items():
            margin = fuzziness * max(abs(means[a]), abs(means[b])) if relative else fuzziness
            if abs(means[a] - means[b]) <= margin:
                outcome.ties += 1
            elif means[a] > means[b]:
                outcome.wins += 1
            else:
                outcome.losses += 1
    return found


def pair_stability(outcome: Trials, ties: str = "against") -> float:
    """The share of the trials in the majority direction: paper 2, Section 4.4.

    Ties are trials that no direction has ("against", as in its code) or none at all ("out"; NaN
    where there is nothing else).
    """
    trials_counted = outcome.wins + outcome.losses
    if ties == "against":
        trials_counted += outcome.ties
    return max(outcome.wins, outcome.losses) / trials_counted if trials_counted else math.nan


def stability(
    values: Rows,
    subsets: list[Subset],
    fuzziness: float = 0.05,
    relative: bool = False,
    ties: str = "against",
) -> float:
    """The mean over pairs of the majority's share, pairs without one left out: paper 2, 4.4."""
    found = trials(values, subsets, fuzziness, relative).values()
    shares = [pair_stability(outcome, ties) for outcome in found]
    return mean([share for share in shares if not math.isnan(share)])


def error_rate(found: dict[tuple[int, int], Trials]) -> float:
    """Minority outcomes over all, ties among them: Buckley and Voorhees 2000."""
    least = sum(min(t.wins, t.losses) for t in found.values())
    return least / sum(t.wins + t.losses + t.ties for t in found.values())


def tie_share(found: dict[tuple[int, int], Trials]) -> float:
    """Ties over all outcomes: Buckley and Voorhees 2000."""
    ties = sum(t.ties for t in found.values())
    return ties / sum(t.wins + t.losses + t.ties for t in found.values())


@dataclass
class Bin:
    """The comparisons whose difference lies in [low, high), and those that the other half swaps."""

    low: float
    high: float
    comparisons: int = 0
    swaps: int = 0


def swap_rates(values: Rows, halves: list[tuple[Subset, Subset]], edges: list[float]) -> list[Bin]:
    """Swaps by the size of the difference: Voorhees and Buckley 2002; Sakai 2006.

    Each trial has two disjoint sets of queries. A pair is put by |difference| on the first; it is
    swapped where the second has the other sign, zero being no sign. The last bin has no end.
    """
    bins = [Bin(*ends) for ends in zip(edges, [*edges[1:], math.inf], strict=True)]
    for first, second in halves:
        for a, b in pairs_of(values):
            d = mean([values[q][a] - values[q][b] for q in first])
            e = mean([values[q][a] - values[q][b] for q in second])
            for part in bins:
                if part.low <= abs(d) < part.high:
                    part.comparisons += 1
                    part.swaps += sign(d) * sign(e) < 0
    return bins


# Reordering


def ratio_in_favour(a: float, b: float, direction: int) -> float:
    """The larger mean over the smaller where a is the better, else 0: paper 1, Section 4.4."""
    if direction * (a - b) <= 0 or min(a, b) < 0:
        return 0.0
    return math.inf if min(a, b) == 0 else max(a, b) / min(a, b)


def better(
    values: Rows,
    a: int,
    b: int,
    direction: int,
    ratio: float = 1.10,
    alpha: float = 0.05,
    test: Test = t_p,
) -> bool:
    """a is better than b: its mean by the ratio, and p <= alpha: paper 1, Section 4.4."""
    two = both(column(values, a), column(values, b))
    means = mean([x for x, _ in two]), mean([y for _, y in two])
    p = test(column(values, a), column(values, b))
    return ratio_in_favour(*means, direction) >= ratio and p <= alpha


def better_counts(values: Rows, direction: int, **rule) -> list[int]:
    """How many systems are better than each: paper 1's n_0 and n_1."""
    systems = range(len(values[0]))
    return [
        sum(better(values, other, s, direction, **rule) for other in systems if other != s)
        for s in systems
    ]


def delta_sorts(old: Rows, new: Rows, directions: tuple[int, int] = (1, 1), **rule) -> list[float]:
    """100 |n_0 - n_1| / |S| of each system; a track's delta-sort is the largest: paper 1, 4.4."""
    before = better_counts(old, directions[0], **rule)
    after = better_counts(new, directions[1], **rule)
    return [100 * abs(n - m) / len(before) for n, m in zip(before, after, strict=True)]


def delta_values(
    old: Rows, new: Rows, directions: tuple[int, int] = (1, 1)
) -> tuple[list[float], int]:
    """(new / old mean of each system in P space, the number left out for old = 0): paper 1, 4.4.

    A measure of which less is better is in 1/P space: 1 / mean.
    """

    def in_p_space(values: Rows, s: int, direction: int) -> float:
        average = mean([v for v in column(values, s) if not math.isnan(v)])
        return average if direction > 0 else 1 / average

    found = [
        (in_p_space(old, s, directions[0]), in_p_space(new, s, directions[1]))
        for s in range(len(old[0]))
    ]
    return [n / o for o, n in found if o != 0], sum(o == 0 for o, _ in found)


# Agreement of measures


@dataclass
class Agreement:
    """How the per-query differences of two measures compare, over queries and pairs of systems."""

    points: int
    agree: int
    oppose: int
    one_ties: int
    both_tie: int
    pearson: float


def deltas(values: Rows, direction: int = 1) -> list[float]:
    """a's value less b's, oriented, query by query and pair by pair: paper 4, Figure 5."""
    return [direction * (row[a] - row[b]) for row in values for a, b in pairs_of(values)]


def verdict(difference: float, tie: float) -> int:
    """Its sign; 0 where it is no more than `tie`."""
    return sign(difference) if abs(difference) > tie else 0


def agreement(
    x: Rows, y: Rows, directions: tuple[int, int] = (1, 1), tie: float = 1e-12
) -> Agreement:
    """Counts by sign, and Pearson of the differences: paper 4, Figure 5.

    A point is one query and one pair a < b on which both measures are defined. The paper does not
    say what of ties: sign agreement is (agree + both_tie) / points if a shared tie is agreement,
    agree / points if not, agree / (agree + oppose) if points with a tie are left out.
    """
    points = both(deltas(x, directions[0]), deltas(y, directions[1]))
    verdicts = [(verdict(a, tie), verdict(b, tie)) for a, b in points]
    return Agreement(
        points=len(points),
        agree=sum(a * b > 0 for a, b in verdicts),
        oppose=sum(a * b < 0 for a, b in verdicts),
        one_ties=sum((a == 0) != (b == 0) for a, b in verdicts),
        both_tie=sum(a == 0 and b == 0 for a, b in verdicts),
        pearson=pearson([a for a, _ in points], [b for _, b in points]),
    )


def unanimity(measures: list[Rows], directions: list[int], tie: float = 1e-12) -> tuple[int, int]:
    """(points on which all measures prefer the same system, points on which all are defined)."""
    every = [deltas(rows, d) for rows, d in zip(measures, directions, strict=True)]
    points = [point for point in zip(*every, strict=True) if not any(map(math.isnan, point))]
    same = sum({verdict(d, tie) for d in point} in ({1}, {-1}) for point in points)
    return same, len(points)

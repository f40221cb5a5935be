"""Slow, obvious twins of the significance tests, written from their definitions.

They share no code with irmeta and use no numpy; scipy gives only the studentized range. Values are
rows of floats, one row a query and one column a system, with no NaN unless it is said.
"""

import math
from itertools import combinations, permutations, product

Rows = list[list[float]]


def mean(values: list[float]) -> float:
    """The arithmetic mean; NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def variance(values: list[float]) -> float:
    """The unbiased variance: exactly 0 where all are equal, NaN of fewer than two."""
    if len(values) < 2:
        return math.nan
    if min(values) == max(values):
        return 0.0
    return math.fsum((v - mean(values)) ** 2 for v in values) / (len(values) - 1)


def both(a: list[float], b: list[float]) -> list[tuple[float, float]]:
    """The queries on which both have a value."""
    return [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) or math.isnan(y))]


def column(values: Rows, system: int) -> list[float]:
    """One system's values."""
    return [row[system] for row in values]


# Student's t


def beta_share(a: float, b: float, x: float, rest: float) -> float:
    """The incomplete beta ratio I_x(a, b), rest = 1 - x, by a continued fraction: DLMF 8.17.22."""
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, rest, x)
    if x == 0:
        return 0.0

    def step(i: int) -> float:
        m = i // 2
        if i % 2 == 0:
            return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))

    fraction = 1.0
    for i in range(400, 0, -1):  # from the far end back
        fraction = 1 + step(i) / fraction
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(log + a * math.log(x) + b * math.log(rest)) / (a * fraction)


def two_tails(t: float, degrees: float) -> float:
    """P(|T| >= |t|) of Student's t."""
    total = degrees + t * t
    return beta_share(degrees / 2, 0.5, degrees / total, t * t / total)


def t_from(difference: float, squared_error: float, degrees: int) -> tuple[float, float]:
    """(t, p); no error gives p = 1 for no difference, else NaN: without spread there is no t."""
    if degrees < 1 or math.isnan(squared_error):
        return math.nan, math.nan
    if squared_error == 0:
        return (0.0, 1.0) if difference == 0 else (math.nan, math.nan)
    t = difference / math.sqrt(squared_error)
    return t, two_tails(t, degrees)


def paired_t(a: list[float], b: list[float]) -> tuple[float, float]:
    """(t, two-tailed p) over the queries on which both have a value: Student 1908."""
    d = [x - y for x, y in both(a, b)]
    return t_from(mean(d), variance(d) / len(d) if d else math.nan, len(d) - 1)


def unpaired_t(a: list[float], b: list[float]) -> tuple[float, float]:
    """(t, two-tailed p) with the variances pooled; each system keeps all of its own values."""
    a = [x for x in a if not math.isnan(x)]
    b = [x for x in b if not math.isnan(x)]
    if len(a) < 2 or len(b) < 2:
        return math.nan, math.nan
    degrees = len(a) + len(b) - 2
    pooled = ((len(a) - 1) * variance(a) + (len(b) - 1) * variance(b)) / degrees
    return t_from(mean(a) - mean(b), pooled * (1 / len(a) + 1 / len(b)), degrees)


# Tests that need no distribution


def sign_test(a: list[float], b: list[float]) -> tuple[int, float]:
    """(wins of a, two-sided binomial p); ties are left out, and all ties give p = 1."""
    d = [x - y for x, y in both(a, b) if x != y]
    wins = sum(v > 0 for v in d)
    less = min(wins, len(d) - wins)
    p = 2 * sum(math.comb(len(d), k) for k in range(less + 1)) / 2 ** len(d)
    return wins, min(1.0, p)


def wilcoxon(a: list[float], b: list[float]) -> tuple[float, float]:
    """(the smaller rank sum, two-sided p) as scipy.stats.wilcoxon does by default.

    Zeros are left out, equal |d| share the mean rank. p is exact up to 50 queries where there is
    neither zero nor tie, and up to 13 otherwise; else normal, corrected for ties and not for
    continuity. All zero: p = 1, where scipy may give NaN.
    """
    every = [x - y for x, y in both(a, b)]
    d = [v for v in every if v != 0]
    if not d:
        return 0.0, 1.0
    size = [abs(v) for v in d]
    ranks = [sum(w < v for w in size) + (size.count(v) + 1) / 2 for v in size]
    plus = sum(r for r, v in zip(ranks, d, strict=True) if v > 0)
    minus = sum(ranks) - plus
    clean = len(set(size)) == len(every)
    if len(every) <= (50 if clean else 13):
        ways = {0.0: 1}  # rank sum to the number of ways to get it
        for r in ranks:
            more: dict[float, int] = dict(ways)
            for total, count in ways.items():
                more[total + r] = more.get(total + r, 0) + count
            ways = more
        tail = sum(count for total, count in ways.items() if total <= min(plus, minus))
        return min(plus, minus), min(1.0, 2 * tail / 2 ** len(d))
    n = len(d)
    ties = sum(size.count(v) ** 3 - size.count(v) for v in set(size))
    error = math.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
    return min(plus, minus), math.erfc(abs(plus - n * (n + 1) / 4) / error / math.sqrt(2))


def sign_flip(a: list[float], b: list[float]) -> float:
    """The share of all 2^n sign changes of d whose |sum| is no less than the observed."""
    d = [x - y for x, y in both(a, b)]
    slack = 1e-12 * math.fsum(abs(v) for v in d)
    bar = abs(math.fsum(d)) - slack
    sums = [
        abs(math.fsum(s * v for s, v in zip(signs, d, strict=True)))
        for signs in product((1, -1), repeat=len(d))
    ]
    return sum(s >= bar for s in sums) / len(sums)


# Tests of a whole family


def range_tail(q: float, systems: int, degrees: int) -> float:
    """P(Q >= q) of the studentized range."""
    from scipy.stats import studentized_range

    return float(studentized_range.sf(q, systems, degrees))


def range_p(values: Rows, squared_error: float, degrees: int) -> Rows:
    """Tukey's p of every pair: q = |mean difference| / sqrt(mean squared error / n)."""
    systems = range(len(values[0]))
    means = [mean(column(values, s)) for s in systems]
    p = [[1.0] * len(means) for _ in systems]
    for i, j in permutations(systems, 2):
        difference = abs(means[i] - means[j])
        if squared_error == 0:
            p[i][j] = float(difference == 0)
        else:
            q = difference / math.sqrt(squared_error / len(values))
            p[i][j] = range_tail(q, len(means), degrees)
    return p


def one_way_error(values: Rows) -> tuple[float, int]:
    """(mean squared error, its degrees of freedom) of systems alone: one-way ANOVA."""
    n, k = len(values), len(values[0])
    within = math.fsum(variance(column(values, s)) * (n - 1) for s in range(k))
    return within / (n * k - k), n * k - k


def two_way_error(values: Rows) -> tuple[float, int]:
    """(mean squared error, its degrees of freedom) of systems and queries: two-way ANOVA."""
    n, k = len(values), len(values[0])
    systems = [mean(column(values, s)) for s in range(k)]
    overall = mean(systems)
    left = [v - mean(row) - systems[s] + overall for row in values for s, v in enumerate(row)]
    return math.fsum(v * v for v in left) / ((n - 1) * (k - 1)), (n - 1) * (k - 1)


def tukey_hsd(values: Rows) -> Rows:
    """p [system][system], queries taken as independent replicates: Tukey 1949."""
    return range_p(values, *one_way_error(values))


def blocked_hsd(values: Rows) -> Rows:
    """p [system][system], the query's effect taken out: Carterette 2012."""
    return range_p(values, *two_way_error(values))


def randomised_hsd(values: Rows) -> Rows:
    """p [system][system] over every permutation within queries: Carterette 2012.

    The share of the (systems!)^queries tables whose range of means is no less than the pair's
    difference. The sampled p tends to it: (1 + count) / (1 + B), or count / B in the simple form.
    """
    n, k = len(values), len(values[0])
    slack = 1e-12 * math.fsum(abs(v) for row in values for v in row) / n
    ranges = []
    for table in product(*(list(permutations(row)) for row in values)):
        means = [mean([row[s] for row in table]) for s in range(k)]
        ranges.append(max(means) - min(means))
    means = [mean(column(values, s)) for s in range(k)]
    return [
        [sum(r >= abs(a - b) - slack for r in ranges) / len(ranges) for b in means] for a in means
    ]


# Corrections of a family of p-values; one that is NaN stays so and is not counted


def bonferroni(p: list[float]) -> list[float]:
    """p times the number of tests, at most 1."""
    tests = sum(not math.isnan(v) for v in p)
    return [v if math.isnan(v) else min(1.0, tests * v) for v in p]


def t_limits(d: list[float], confidence: float) -> tuple[float, float]:
    """The confidence interval of a mean difference, its t found by halving."""
    if len(d) < 2:
        return math.nan, math.nan
    least, most = 0.0, 1e6
    for _ in range(200):
        t = (least + most) / 2
        least, most = (t, most) if two_tails(t, len(d) - 1) > 1 - confidence else (least, t)
    margin = t * math.sqrt(variance(d) / len(d))
    return mean(d) - margin, mean(d) + margin


def bonferroni_limits(
    values: Rows, confidence: float
) -> dict[tuple[int, int], tuple[float, float]]:
    """The intervals of all pairs that hold together: each at 1 - (1 - confidence) / pairs.

    Pairs with fewer than two queries are not counted.
    """
    differences = {
        (i, j): [x - y for x, y in both(column(values, i), column(values, j))]
        for i, j in combinations(range(len(values[0])), 2)
    }
    pairs = sum(len(d) > 1 for d in differences.values())
    each = 1 - (1 - confidence) / pairs
    return {pair: t_limits(d, each) for pair, d in differences.items()}


def holm(p: list[float]) -> list[float]:
    """The greatest (m - k) p_(k) of those no greater, k from 0, at most 1: Holm 1979."""
    known = sorted(v for v in p if not math.isnan(v))
    steps = [(len(known) - k) * v for k, v in enumerate(known)]
    return [
        v
        if math.isnan(v)
        else min(1.0, max(s for s, w in zip(steps, known, strict=True) if w <= v))
        for v in p
    ]


def benjamini_hochberg(p: list[float]) -> list[float]:
    """The least m / k p_(k) of those no less, k from 1: Benjamini and Hochberg 1995."""
    known = sorted(v for v in p if not math.isnan(v))
    steps = [len(known) / (k + 1) * v for k, v in enumerate(known)]
    return [
        v
        if math.isnan(v)
        else min(1.0, min(s for s, w in zip(steps, known, strict=True) if w >= v))
        for v in p
    ]


def max_t(values: Rows, baseline: int) -> list[float]:
    """p of every system against a baseline over all sign flips of the queries: Dunnett, by flips.

    The t of a system without a difference is 0, and of a constant difference infinite.
    """

    def largest(signs: tuple[int, ...]) -> float:
        return max(abs(t(system, signs)) for system in range(len(values[0])))

    def t(system: int, signs: tuple[int, ...]) -> float:
        of_queries = [
            sign * (row[system] - row[baseline]) for sign, row in zip(signs, values, strict=True)
        ]
        error = math.sqrt(variance(of_queries) / len(of_queries))
        if error > 0:
            return mean(of_queries) / error
        return math.inf if any(of_queries) else 0.0

    flips = list(product((1, -1), repeat=len(values)))
    tops = [largest(signs) for signs in flips]
    own = [abs(t(system, flips[0])) for system in range(len(values[0]))]
    return [sum(top >= one * (1 - 1e-9) for top in tops) / len(tops) for one in own]


def sets_without_difference(separated: list[list[bool]]) -> list[list[int]]:
    """Return all largest sets of systems in which no pair differs, by trying every set."""
    size = len(separated)
    free = [
        set(some)
        for number in range(1, size + 1)
        for some in combinations(range(size), number)
        if not any(separated[a][b] for a, b in combinations(some, 2))
    ]
    return sorted(sorted(some) for some in free if not any(some < other for other in free))


# Classes of queries


def welch(groups: Rows) -> float:
    """Sum over classes of n (mean - centre)^2 / variance, the centre weighted likewise."""
    weights = [len(group) / variance(group) for group in groups]
    centre = math.fsum(w * mean(g) for w, g in zip(weights, groups, strict=True)) / sum(weights)
    return math.fsum(w * (mean(g) - centre) ** 2 for w, g in zip(weights, groups, strict=True))


def interaction(differences: list[float], classes: list[int]) -> float:
    """Share of all permutations of the classes with at least Welch's statistic of the sample."""

    def statistic(labels: tuple[int, ...]) -> float:
        groups = [
            [d for d, label in zip(differences, labels, strict=True) if label == c]
            for c in sorted(set(classes))
        ]
        return math.inf if any(variance(g) == 0 for g in groups) else welch(groups)

    bar = statistic(tuple(classes)) * (1 - 1e-9)
    every = [statistic(labels) for labels in permutations(classes)]
    return sum(of >= bar for of in every) / len(every)


def max_t_over_classes(differences: Rows, members: list[list[bool]]) -> Rows:
    """Share of all sign flips whose greatest |t| over classes and pairs is at least each |t|."""

    def t_values(flips: tuple[int, ...]) -> Rows:
        rows = []
        for member in members:
            row = []
            for pair in range(len(differences[0])):
                group = [
                    sign * d[pair]
                    for sign, d, is_in in zip(flips, differences, member, strict=True)
                    if is_in
                ]
                spread = math.sqrt(variance(group) / len(group))
                row.append(abs(mean(group)) / spread if spread else math.inf)
            rows.append(row)
        return rows

    sample = t_values((1,) * len(differences))
    flipped = [max(map(max, t_values(f))) for f in product((1, -1), repeat=len(differences))]
    return [
        [sum(of >= t * (1 - 1e-9) for of in flipped) / len(flipped) for t in row] for row in sample
    ]

"""Slow, obvious twins of the statistics of judges. They share no code with irmeta, use no numpy.

Values are rows of floats, one row a query and one column a system, greater is better.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import permutations

from twins.orders import kendall_tau_b
from twins.significance import Rows, mean, t_limits, variance

# Decisiveness


def win_rate(values: Rows, a: int, b: int) -> float:
    """The share of queries on which a has more than b; a tie is half."""
    return mean([(row[a] > row[b]) + (row[a] == row[b]) / 2 for row in values])


def beta_share(shape: float, x: float, steps: int = 400) -> float:
    """The distribution function of Beta(shape, shape), by Simpson's rule, with x = sin(t) ** 2."""

    def area(end: float) -> float:
        heights = [
            (math.sin(t) * math.cos(t)) ** (2 * shape - 1)
            for t in (end * i / steps for i in range(steps + 1))
        ]
        inner = 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2])
        return (heights[0] + inner + heights[-1]) * end / steps / 3

    return area(math.asin(math.sqrt(x))) / area(math.pi / 2)


def decisiveness(reference: Rows, judge: Rows) -> tuple[float, list[float]]:
    """The shape from 0.5 to 50 whose distribution function fits win rates, and the biases."""
    systems = range(len(reference[0]))
    pairs = [(a, b) for a in systems for b in systems if a != b]
    by_reference = {pair: win_rate(reference, *pair) for pair in pairs}
    by_judge = {pair: win_rate(judge, *pair) for pair in pairs}

    def squares(shape: float) -> float:
        expected = {w: beta_share(shape, w) for w in {*by_reference.values()}}
        return sum((by_judge[pair] - expected[by_reference[pair]]) ** 2 for pair in pairs)

    shapes = [0.5 * 100 ** (i / 100) for i in range(101)]
    for _ in range(4):  # ever finer around the best
        best = min(range(len(shapes)), key=lambda i: squares(shapes[i]))
        low, high = shapes[max(best - 1, 0)], shapes[min(best + 1, len(shapes) - 1)]
        shapes = [low + (high - low) * i / 20 for i in range(21)]
    shape = min(shapes, key=squares)
    residuals = {pair: by_judge[pair] - beta_share(shape, by_reference[pair]) for pair in pairs}
    return shape, [mean([residuals[a, b] for b in systems if b != a]) for a in systems]


# Bias


def contrasts(values: list[float], groups: list[set[int]]) -> list[float]:
    """The mean of all systems; each system, and each group, minus the mean of all others."""
    systems = range(len(values))
    found = [mean(values)]
    for members in [*({s} for s in systems), *groups]:
        others = [values[s] for s in systems if s not in members]
        inside = mean([values[s] for s in members])
        found.append(inside - (mean(others) if others else 0.0))
    return found


def bias(drawn: list[Rows], groups: list[set[int]]) -> tuple[list[Rows], float]:
    """Contrast, standard deviation, z and p of the hypotheses of several judges or measures.

    ``drawn[i]`` has a row for each set of labels, the judge's own first: the means of the systems.
    Each contrast is that of the displacement from the mean over all sets of labels. The second
    result is the greatest |z| that is not significant at 5 %.
    """
    tables = []
    for rows in drawn:
        expected = [mean(list(column)) for column in zip(*rows, strict=True)]
        moved = [[v - e for v, e in zip(row, expected, strict=True)] for row in rows]
        tables.append([contrasts(row, groups) for row in moved])
    sds = [[variance(list(column)) ** 0.5 for column in zip(*rows, strict=True)] for rows in tables]

    def z(value: float, sd: float) -> float:
        return value / sd if sd > 1e-12 else math.nan

    greatest = []
    for d in range(len(drawn[0])):
        rows = [rows[d] for rows in tables]
        every = [
            abs(z(value, sd))
            for row, deviations in zip(rows, sds, strict=True)
            for value, sd in zip(row, deviations, strict=True)
        ]
        greatest.append(max((one for one in every if not math.isnan(one)), default=0.0))
    found = []
    for rows, deviations in zip(tables, sds, strict=True):
        for value, sd in zip(rows[0], deviations, strict=True):
            above = sum(one >= abs(z(value, sd)) - 1e-9 for one in greatest)
            p = above / len(greatest) if sd > 1e-12 else math.nan
            found.append([value, sd if sd > 1e-12 else math.nan, z(value, sd), p])
    ordered, least = sorted(greatest[1:], reverse=True), 0.05 * len(greatest)
    critical = next(one for i, one in enumerate(ordered) if (i + 2) > least + 1e-9)
    return found, critical


def rearranged(labels: list[float], strata: list[object]) -> list[list[float]]:
    """All assignments of labels in which docs of one stratum exchange theirs; None: none does."""
    every = [dict[int, float]()]
    for stratum in {one for one in strata if one is not None}:
        docs = [d for d, one in enumerate(strata) if one == stratum]
        ways = [
            dict(zip(docs, way, strict=True)) for way in permutations([labels[d] for d in docs])
        ]
        every = [{**one, **way} for one in every for way in ways]
    return [[one.get(d, label) for d, label in enumerate(labels)] for one in every]


# Mixtures


def means(values: Rows) -> list[float]:
    """Rounded means of systems, so that equal means tie."""
    return [round(mean(list(column)), 11) for column in zip(*values, strict=True)]


def mixture(human: Rows, judge: Rows, labelled: list[int]) -> dict[str, float]:
    """tau-b of one mixture, and of the labelled queries alone, with the reference."""
    others = [q for q in range(len(human)) if q not in labelled]
    mixed = means([human[q] if q in labelled else judge[q] for q in range(len(human))])
    alone = means([human[q] for q in labelled]) if labelled else None
    full = means(human)
    rest = means([human[q] for q in others]) if others else None

    def tau(x: list[float] | None, y: list[float] | None) -> float:
        return math.nan if x is None or y is None else kendall_tau_b(x, y)

    return {
        "tau": tau(mixed, full),
        "tau_unlabelled": tau(mixed, rest),
        "alone": tau(alone, full),
        "alone_unlabelled": tau(alone, rest),
    }


# Prediction-powered means


def covariance(a: list[float], b: list[float]) -> float:
    pairs = zip(a, b, strict=True)
    return math.fsum((x - mean(a)) * (y - mean(b)) for x, y in pairs) / (len(a) - 1)


def corrected(
    y: list[float], f: list[float], rest: list[float], method: str
) -> tuple[float, float, float]:
    """Estimate, squared standard error and weight of the judge."""
    n, m = len(y), len(rest)
    if m == 0:
        w = 0.0
    elif method == "ppi++":
        spread = variance(f + rest)
        w = covariance(y, f) / ((1 + n / m) * spread) if spread > 0 else 0.0
        w = min(max(w, 0.0), 1.0)
    else:
        w = 1.0
    residual = variance([a - w * b for a, b in zip(y, f, strict=True)])
    if method == "difference":
        estimate = w * mean(f + rest) + mean([a - w * b for a, b in zip(y, f, strict=True)])
        return estimate, (1 - n / (n + m)) * residual / n, w
    estimate = mean(y) + w * (mean(rest) - mean(f) if m else 0.0)
    spread = variance(rest) if m > 1 else variance(f + rest)
    return estimate, residual / n + (w * w * spread / m if m else 0.0), w


@cache
def t_quantile(n: int, confidence: float) -> float:
    """The two-sided quantile of Student's t with n - 1 degrees of freedom."""
    unit = [-1.0, 1.0] + [0.0] * (n - 2)  # any n values: their limits give the quantile
    low, high = t_limits(unit, confidence)
    return (high - low) / 2 / math.sqrt(variance(unit) / n)


def margin(squared_error: float, n: int, confidence: float) -> float:
    """Half the width of Student's interval with n - 1 degrees of freedom."""
    return t_quantile(n, confidence) * math.sqrt(squared_error)


# Adoption: lists are re-ranked by labels

Lists = dict[str, dict[str, list[str]]]
Labels = dict[str, dict[str, float]]


def adopted_list(docs: list[str], labels: dict[str, float], first: int) -> list[str]:
    """The first docs by label, stably; docs without a label, or with 0 or less, last of these."""
    head = sorted(docs[:first], key=lambda doc: -max(labels.get(doc, 0.0), 0.0))
    return head + docs[first:]


def ndcg_at_10(docs: list[str], labels: dict[str, float]) -> float:
    """nDCG at rank 10 with linear gains."""

    def discounted(gains: list[float]) -> float:
        return math.fsum(max(g, 0.0) / math.log2(i + 2) for i, g in enumerate(gains[:10]))

    ideal = discounted(sorted(labels.values(), reverse=True))
    return discounted([labels.get(doc, 0.0) for doc in docs]) / ideal if ideal > 0 else 0.0


def adopted_values(runs: Lists, adopted: Labels | None, labels: Labels, first: int) -> Rows:
    """Values of the systems, by name, on the queries of the labels, by name."""
    rows = []
    for query in sorted(labels):
        row = []
        for system in sorted(runs):
            docs = runs[system].get(query, [])
            if adopted is not None:
                docs = adopted_list(docs, adopted.get(query, {}), first)
            row.append(ndcg_at_10(docs, labels[query]))
        rows.append(row)
    return rows


def adoption(runs: Lists, reference: Labels, judge: Labels, adopted: Labels, first: int) -> dict:
    """The judge's order beside the reference's if all systems, or one, adopt the labels."""
    sets = (reference, judge)
    before = [means(adopted_values(runs, None, labels, first)) for labels in sets]
    after = [means(adopted_values(runs, adopted, labels, first)) for labels in sets]
    gains = [mean(a) - mean(b) for a, b in zip(after, before, strict=True)]
    deviations, won, alone = [], [], []
    for values in after:
        center = mean(values)
        deviations.append(math.sqrt(mean([(value - center) ** 2 for value in values])))
    for s in range(len(before[0])):
        changed = [[*b[:s], a[s], *b[s + 1 :]] for a, b in zip(after, before, strict=True)]
        places = [sum(value > values[s] for value in values) for values in changed]
        won.append(places[0] - places[1])
        alone.append(kendall_tau_b(*changed))
    return {
        "tau": kendall_tau_b(*after),
        "tau_alone": mean(alone),
        "gain_reference": gains[0],
        "gain_judge": gains[1],
        "deviations": deviations,
        "won": won,
    }


# People


def joined(sets: list[Labels]) -> Labels:
    """Labels of several sets; a later set's label of a doc wins."""
    labels: Labels = {}
    for one in sets:
        for query, docs in one.items():
            labels[query] = {**labels.get(query, {}), **docs}
    return labels


def kappa_of_relevance(a: Labels, b: Labels, rels: tuple[float, float]) -> float:
    """Cohen's kappa of relevance on the docs of both."""
    pairs = [
        (a[q][d] >= rels[0], b[q][d] >= rels[1])
        for q in a
        for d in a[q]
        if q in b and d in b[q]
    ]  # fmt: skip
    share = [sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1)]
    chance = share[0] * share[1] + (1 - share[0]) * (1 - share[1])
    agreed = sum(x == y for x, y in pairs) / len(pairs)
    return (agreed - chance) / (1 - chance)


def ndcg_of_ranking(labels: dict[str, float], reference: dict[str, float]) -> float:
    """nDCG at rank 10 of docs ranked by labels, as the mean over all orders of ties."""
    docs = sorted({*labels, *reference})
    groups: dict[float, list[str]] = {}
    for doc in docs:
        groups.setdefault(labels.get(doc, -math.inf), []).append(doc)
    orders: list[list[str]] = [[]]
    for level in sorted(groups, reverse=True):
        orders = [[*order, *way] for order in orders for way in permutations(groups[level])]
    return mean([ndcg_at_10(order, reference) for order in orders])


def alternative_annotator(
    judge: dict[str, float], people: list[dict[str, float]], epsilon: float, alpha: float
) -> tuple[float, float]:
    """Advantage and winning rate by the paper: docs are independent, normal approximation none."""
    from scipy.stats import false_discovery_control, ttest_1samp

    advantages, p = [], []
    for j, person in enumerate(people):
        wins, differences = [], []
        for doc in judge:
            rest = [other[doc] for k, other in enumerate(people) if k != j and doc in other]
            if doc in person and rest:
                of_judge = sum(judge[doc] == label for label in rest) / len(rest)
                of_person = sum(person[doc] == label for label in rest) / len(rest)
                wins.append(float(of_judge >= of_person))
                differences.append(float(of_person >= of_judge) - wins[-1])
        advantages.append(mean(wins))
        p.append(float(ttest_1samp(differences, epsilon, alternative="less").pvalue))
    rejected = false_discovery_control(p, method="by") <= alpha
    return mean(advantages), float(rejected.sum() / len(people))


# Holes: docs that the reference did not label


def human_grades(judge: Labels, people: Labels) -> dict[float, list[float]]:
    """People's grades of the docs of both, by grade of the judge."""
    grades: dict[float, list[float]] = {}
    for query, docs in judge.items():
        for doc, grade in docs.items():
            if doc in people.get(query, {}):
                grades.setdefault(grade, []).append(people[query][doc])
    return grades


def filled(people: Labels, judge: Labels, how: str | dict[float, float]) -> Labels:
    """People's labels, and those of the judge where they have none, on their scale."""
    known = human_grades(judge, people)

    def on_scale(grade: float) -> float:
        if how == "same":
            return grade
        if isinstance(how, dict):
            return how[grade]
        nearest = min(known, key=lambda level: (abs(level - grade), level))
        return mean(known[nearest])

    queries = {*people, *judge}
    return {
        q: {d: on_scale(g) for d, g in judge.get(q, {}).items()} | people.get(q, {})
        for q in queries
    }


def condensed(runs: Lists, labels: Labels) -> Lists:
    """Lists without the docs that have no label."""
    return {
        system: {q: [d for d in docs if d in labels.get(q, {})] for q, docs in lists.items()}
        for system, lists in runs.items()
    }


def smaller_pool(runs: Lists, teams: dict[str, str], new: set[str], people: Labels, depth: int):
    """Labels of the docs in the first ranks of a team that is not new."""
    return {
        q: {
            d: grade
            for d, grade in docs.items()
            if any(d in runs[s][q][:depth] for s in runs if teams[s] not in new)
        }
        for q, docs in people.items()
    }


def order_beside(values: Rows, reference: Rows, new: list[bool]) -> tuple[float, float]:
    """tau-b with the reference, and mean places by which new systems stand higher."""
    both = means(values), means(reference)
    ranks = [[1 + sum(other > value for other in side) for value in side] for side in both]
    won = [b - a for a, b, is_new in zip(*ranks, new, strict=True) if is_new]
    return kendall_tau_b(*both), mean([float(places) for places in won])

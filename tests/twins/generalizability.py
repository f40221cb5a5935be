"""Slow, obvious twin of generalizability studies: sums of squares from their definitions."""

from __future__ import annotations

import math

from scipy import stats

from twins.significance import Rows, mean


def mean_squares(values: Rows) -> tuple[float, float, float]:
    """Mean squares of systems, of queries and of the interaction; rows are queries."""
    queries, systems = len(values), len(values[0])
    overall = mean([v for row in values for v in row])
    of_queries = [mean(row) for row in values]
    of_systems = [mean(list(column)) for column in zip(*values, strict=True)]
    rest = math.fsum(
        (values[q][s] - of_queries[q] - of_systems[s] + overall) ** 2
        for q in range(queries)
        for s in range(systems)
    )
    return (
        queries * math.fsum((m - overall) ** 2 for m in of_systems) / (systems - 1),
        systems * math.fsum((m - overall) ** 2 for m in of_queries) / (queries - 1),
        rest / ((systems - 1) * (queries - 1)),
    )


def components(values: Rows) -> tuple[float, float, float]:
    """Variance components of systems, queries and interaction, at least 0."""
    system, query, rest = mean_squares(values)
    queries, systems = len(values), len(values[0])
    return max((system - rest) / queries, 0.0), max((query - rest) / systems, 0.0), rest


def coefficients(values: Rows, number: int) -> tuple[float, float]:
    """E rho^2 and Phi with `number` queries."""
    system, query, rest = components(values)
    return system / (system + rest / number), system / (system + (query + rest) / number)


def e_rho2_limit(values: Rows, number: int, tail: float) -> float:
    """A limit of E rho^2 by Feldt's interval: `tail` is the quantile of F."""
    queries, systems = len(values), len(values[0])
    system, _, rest = mean_squares(values)
    quantile = float(stats.f.ppf(tail, systems - 1, (systems - 1) * (queries - 1)))
    ratio = max((system / (rest * quantile) - 1) / queries, 0.0)
    return number * ratio / (1 + number * ratio)


def phi_limit(values: Rows, number: int, tail: float) -> float:
    """A limit of Phi by the interval of Arteaga, Jeyaratnam and Franklin."""
    queries, systems = len(values), len(values[0])
    s, q, e = mean_squares(values)
    infinite = float(stats.chi2.ppf(tail, systems - 1)) / (systems - 1)
    rest = float(stats.f.ppf(tail, systems - 1, (systems - 1) * (queries - 1)))
    query = float(stats.f.ppf(tail, systems - 1, queries - 1))
    above = s**2 - infinite * s * e + (infinite - rest) * rest * e**2
    below = (systems - 1) * infinite * s * e + query * s * q
    odds = max(systems * above / below, 0.0) / queries
    one = odds / (1 + odds)  # Phi of one query
    return number * one / (1 + (number - 1) * one)


Cells = dict[tuple[int, ...], float]
"""Values of a fully crossed design, by the level of each facet."""


def crossed_components(cells: Cells) -> dict[tuple[int, ...], float]:
    """Variance components by facets: products of values that share just the levels of some facets.

    The expected product is the squared mean plus the components of all sets of these facets.
    """
    facets = range(len(next(iter(cells))))
    products: dict[tuple[int, ...], list[float]] = {}
    for a, x in cells.items():
        for b, y in cells.items():
            products.setdefault(tuple(i for i in facets if a[i] == b[i]), []).append(x * y)
    expected = {shared: mean(values) for shared, values in products.items()}
    return {
        shared: math.fsum(
            (-1) ** (len(shared) - len(fewer)) * expected[fewer]
            for fewer in expected
            if set(fewer) <= set(shared)
        )
        for shared in expected
        if shared
    }

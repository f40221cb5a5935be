"""Variance components by restricted maximum likelihood: a dense likelihood, and statsmodels."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

import irmeta
from irmeta.stats.replicates import facet_study

Components = tuple[float, ...]
Methods = dict[str, str]
LAYOUTS = [(2, 2, 2), (2, 3, 4, 2), (2, 6, 3, 2)]


def drawn(runs: tuple[int, ...], queries: int, seed: int = 0) -> tuple[irmeta.Matrix, Methods]:
    """Return values of runs with components 0.04, 0.01, 0.09, 0.02, 0.005, and their methods."""
    rng = np.random.default_rng(seed)
    of_query, columns, methods = rng.normal(0, 0.3, queries), [], {}
    for m, number in enumerate(runs):
        cell = rng.normal(0, 0.2) + rng.normal(0, math.sqrt(0.02), queries)
        for r in range(number):
            run = rng.normal(0, 0.1) + rng.normal(0, math.sqrt(0.005), queries)
            columns.append(of_query + cell + run)
            methods[f"{m}.{r}"] = f"m{m}"
    names = tuple(map(str, range(queries)))
    return irmeta.Matrix(np.stack(columns, axis=1), names, tuple(methods), "AP"), methods


def dense(matrix: irmeta.Matrix, methods: Methods, components: Components) -> float:
    """Return -2 log restricted likelihood up to a constant, by the covariance of all values."""
    method, replicate, query, crossed, rest = components
    of_run = [methods[system] for system in matrix.systems]
    cells = [(q, r) for q in range(len(matrix.queries)) for r in range(len(of_run))]
    covariance = np.zeros((len(cells),) * 2)
    for i, (q, r) in enumerate(cells):
        for j, (other_q, other_r) in enumerate(cells):
            is_method, is_query = of_run[r] == of_run[other_r], q == other_q
            covariance[i, j] = (
                method * is_method
                + replicate * (r == other_r)
                + query * is_query
                + crossed * (is_method and is_query)
                + rest * (i == j)
            )
    inverse, ones = np.linalg.inv(covariance), np.ones(len(cells))
    values = matrix.values.ravel()
    information = ones @ inverse @ ones
    residual = values - ones @ inverse @ values / information
    log = np.linalg.slogdet(covariance)[1] + math.log(information)
    return float(log + residual @ inverse @ residual)


@pytest.mark.parametrize("runs", LAYOUTS)
def test_reml__is_the_greatest_dense_likelihood(runs):
    matrix, methods = drawn(runs, 6)
    components = facet_study(matrix, methods, "reml").components
    best = dense(matrix, methods, components)
    for place in range(5):
        for factor in (0.999, 1.001):
            moved = [c * factor if i == place else c for i, c in enumerate(components)]
            if components[place] == 0:
                moved[place] = 1e-5
            assert dense(matrix, methods, tuple(moved)) > best


def test_reml__of_equal_numbers_equals_mean_squares():
    matrix, methods = drawn((3, 3, 3), 40)
    by_squares = facet_study(matrix, methods).components
    assert min(by_squares) > 0
    assert facet_study(matrix, methods, "reml").components == pytest.approx(by_squares, rel=1e-4)


def test_reml__equals_statsmodels():
    matrix, methods = drawn(LAYOUTS[1], 12, seed=2)
    rows = pd.DataFrame(
        [
            (matrix.values[q, r], methods[system], system, str(q))
            for r, system in enumerate(matrix.systems)
            for q in range(len(matrix.queries))
        ],
        columns=["value", "method", "run", "query"],
    )
    rows["cell"] = rows["method"] + rows["query"]
    facets = {name: f"0 + C({name})" for name in ("method", "run", "query", "cell")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its optimiser
        model = MixedLM.from_formula(
            "value ~ 1", groups=np.ones(len(rows)), vc_formula=facets, data=rows
        )
        fitted = model.fit(reml=True)
    found = dict(zip(model.exog_vc.names, fitted.vcomp, strict=True))
    expected = [found[name] for name in ("method", "run", "query", "cell")] + [fitted.scale]
    components = facet_study(matrix, methods, "reml").components
    assert components == pytest.approx(expected, rel=0.01, abs=1e-5)


def test_reml__has_no_negative_component():
    rng = np.random.default_rng(1)
    methods = {f"{m}.{r}": f"m{m}" for m in range(4) for r in range(3)}
    values = rng.normal(size=(9, 12))
    matrix = irmeta.Matrix(values, tuple(map(str, range(9))), tuple(methods), "AP")
    by_squares = facet_study(matrix, methods).components
    assert min(by_squares) < 0
    study = facet_study(matrix, methods, "reml")
    assert min(study.components) == 0
    assert study.frame()["estimator"].to_list() == ["reml"] * 5


def test_needed__is_the_least_number_that_reaches_e_rho2():
    study = facet_study(*drawn((3, 3, 3, 3), 30))
    needed = study.needed(0.9, most=4)
    for replicates, queries in needed.select("replicates", "queries").iter_rows():
        if queries is None:
            assert study.d_study([replicates], [10**9])["e_rho2"].item() < 0.9
            continue
        reached = study.d_study([replicates], [queries, max(1, queries - 1)])["e_rho2"]
        assert reached[0] >= 0.9 - 1e-12
        assert queries == 1 or reached[1] < 0.9
    assert needed["queries"].drop_nulls().len() > 0

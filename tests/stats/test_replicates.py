"""Replicates of methods: averages, variance components (REML: statsmodels), table of compare."""

from __future__ import annotations

import hashlib
import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from statsmodels.regression.mixed_linear_model import MixedLM

import irmeta
from irmeta.errors import DataError, UsageError
from irmeta.stats.replicates import FACETS, averaged, facet_study

TRUTH = (0.04, 0.01, 0.09, 0.02, 0.005)
"""Variances of methods, replicates, queries, their interaction, and the rest."""


def drawn(replicates: tuple[int, ...], queries: int, seed: int) -> tuple[irmeta.Matrix, dict]:
    """Return values of runs with the variances `TRUTH`, and the method of each run."""
    rng = np.random.default_rng(seed)
    method, replicate, query, crossed, rest = (math.sqrt(of) for of in TRUTH)
    of_query = rng.normal(0, query, (queries, 1))
    columns, methods = [], {}
    for m, runs in enumerate(replicates):
        of_method = rng.normal(0, method) + rng.normal(0, crossed, queries)
        for r in range(runs):
            run = of_method + rng.normal(0, replicate) + rng.normal(0, rest, queries)
            columns.append(run[:, None] + of_query)
            methods[f"m{m}.{r}"] = f"m{m}"
    names = tuple(map(str, range(queries)))
    return irmeta.Matrix(np.hstack(columns), names, tuple(methods), "AP"), methods


@pytest.mark.parametrize("replicates", [(3,) * 6, (2, 2, 3, 5, 2, 4)])
def test_facet_study__is_unbiased_with_equal_and_other_numbers_of_replicates(replicates):
    found = [facet_study(*drawn(replicates, 30, seed)).components for seed in range(400)]
    error = 4 * np.std(found, axis=0) / math.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - TRUTH) < error).all()


def test_facet_study__of_equal_numbers_equals_the_textbook():
    matrix, methods = drawn((3, 3), 4, 0)
    x = matrix.values.T.reshape(2, 3, 4)  # method, replicate, query
    mean = x.mean()
    squares = {
        "s": 12 * ((x.mean(axis=(1, 2)) - mean) ** 2).sum(),
        "r": 4 * ((x.mean(axis=2) - x.mean(axis=(1, 2))[:, None]) ** 2).sum() / 4,
        "q": 6 * ((x.mean(axis=(0, 1)) - mean) ** 2).sum() / 3,
    }
    cells = x.mean(axis=1)
    crossed = cells - cells.mean(axis=1)[:, None] - cells.mean(axis=0) + mean
    squares["sq"] = 3 * (crossed**2).sum() / 3
    rest = x - x.mean(axis=2, keepdims=True) - cells[:, None] + cells.mean(axis=1)[:, None, None]
    squares["e"] = (rest**2).sum() / 12
    expected = (
        (squares["s"] - squares["r"] - squares["sq"] + squares["e"]) / 12,
        (squares["r"] - squares["e"]) / 4,
        (squares["q"] - squares["sq"]) / 6,
        (squares["sq"] - squares["e"]) / 3,
        squares["e"],
    )
    assert facet_study(matrix, methods).components == pytest.approx(expected)


def test_d_study__is_the_squared_correlation_with_the_true_means():
    study = facet_study(*drawn((2, 2), 5, 0))
    study = type(study)("AP", "", 2, 4, 5, TRUTH)
    expected = study.d_study([2], [25])["e_rho2"].item()
    rng = np.random.default_rng(0)
    method, replicate, _, crossed, rest = TRUTH
    truth = rng.normal(0, math.sqrt(method), 200_000)
    error = replicate / 2 + crossed / 25 + rest / 50
    seen = truth + rng.normal(0, math.sqrt(error), len(truth))
    assert np.corrcoef(truth, seen)[0, 1] ** 2 == pytest.approx(expected, abs=0.005)


def test_facet_study__is_undefined_for_one_method():
    matrix, methods = drawn((3,), 4, 0)
    assert all(map(math.isnan, facet_study(matrix, methods).components))
    assert facet_study(matrix, methods).frame()["component"].to_list() == list(FACETS)


def test_averaged__are_means_of_runs_by_query():
    values = np.array([[0.2, 0.4, 0.9], [np.nan, 0.5, 0.1]])
    matrix = irmeta.Matrix(values, ("q1", "q2"), ("a1", "a2", "b"), "AP")
    means = averaged(matrix, {"a1": "a", "a2": "a"})
    assert means.systems == ("a", "b")
    np.testing.assert_allclose(means.values, [[0.3, 0.9], [np.nan, 0.1]])
    with pytest.raises(UsageError, match="'b' is a method and a run that is in no method"):
        averaged(matrix, {"a1": "b"})


def test_compare__tests_averages_of_methods(tmp_path: Path):
    matrix, methods = drawn((2, 3), 20, 1)
    rows = "".join(f"{run},{method}\n" for run, method in methods.items())
    (tmp_path / "methods.csv").write_text(f"system,method\n{rows}")
    (compared,) = results = irmeta.compare(matrix, replicates=str(tmp_path / "methods.csv"))
    (expected,) = irmeta.compare(averaged(matrix, methods))
    assert compared.systems.equals(expected.systems)
    assert results.replicates is not None
    table = results.replicates.methods
    assert table["replicates"].to_list() == [2, 3]
    means = dict(zip(matrix.systems, matrix.means.tolist(), strict=True))
    assert table["best_mean"].to_list() == [
        max(means[run] for run in means if methods[run] == method) for method in table["method"]
    ]
    assert table["sd"][0] == pytest.approx(np.std([means["m0.0"], means["m0.1"]], ddof=1))


def test_command__prints_replicates_and_names_a_run_that_is_none(
    made_store: irmeta.Store, run, tmp_path: Path
):
    systems = irmeta.matrices(made_store, "AP", track="news")[0].systems[:4]
    file = tmp_path / "methods.csv"
    pl.DataFrame({"system": systems, "method": ["x", "x", "y", "y"]}).write_csv(file)
    arguments = (made_store.path, "-m", "AP", "--track", "news", "--replicates", file)
    chosen = [option for system in systems for option in ("--system", system)]
    ran = run("compare", *arguments, *chosen, "--format", "table")
    assert ran.status == 0, ran.err
    assert "Spread of the replicates of each method" in ran.out
    file.write_text("system,method\nnone,x\n")
    ran = run("compare", *arguments)
    assert ran.status == 2
    assert "no system 'none'" in ran.err


def test_compare__records_the_file_and_refuses_an_empty_one(tmp_path: Path):
    matrix, methods = drawn((2, 2), 6, 1)
    file = tmp_path / "methods.csv"
    pl.DataFrame([*methods.items()], schema=["system", "method"], orient="row").write_csv(file)
    (compared,) = irmeta.compare(matrix, replicates=str(file))
    assert compared.settings["replicates_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert "replicates" not in compared.settings
    file.write_text("system,method\n")
    with pytest.raises(DataError, match="has no row below its header"):
        irmeta.compare(matrix, replicates=str(file))


def test_compare__names_the_qrels_set_of_replicates_where_there_are_several(tmp_path: Path):
    matrix, methods = drawn((2, 2), 6, 1)
    file = tmp_path / "methods.csv"
    pl.DataFrame([*methods.items()], schema=["system", "method"], orient="row").write_csv(file)
    sets = [replace(matrix, qrels=name) for name in ("people", "judge")]
    tables = irmeta.compare(sets, replicates=str(file)).replicates
    assert tables is not None
    assert tables.methods["qrels"].to_list() == ["people"] * 2 + ["judge"] * 2
    assert tables.components["qrels"].unique().sort().to_list() == ["judge", "people"]


def test_gate__has_unjudged_shares_of_methods(made_store: irmeta.Store, tmp_path: Path):
    systems = irmeta.matrices(made_store, "AP", track="news")[0].systems[:4]
    file = tmp_path / "methods.csv"
    pl.DataFrame({"system": systems, "method": ["x", "x", "y", "y"]}).write_csv(file)
    choices = {"track": "news", "system": list(systems)}
    gate = irmeta.compare(made_store, "AP", replicates=str(file), baseline="y", **choices).gate(0.5)
    judged = made_store.evaluate("Judged@10", **choices)
    shares = dict(judged.select("system", 1 - pl.col("value")).rows())
    assert gate.rows["unjudged"].item() == pytest.approx(
        (shares[systems[0]] + shares[systems[1]]) / 2
    )


Components = tuple[float, ...]
LAYOUTS = [(2, 2, 2), (2, 3, 4, 2), (2, 6, 3, 2)]


def dense(matrix: irmeta.Matrix, methods: dict, components: Components) -> float:
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
    matrix, methods = drawn(runs, 6, 0)
    components = facet_study(matrix, methods, "reml").components
    best = dense(matrix, methods, components)
    for place in range(5):
        for factor in (0.999, 1.001):
            moved = [c * factor if i == place else c for i, c in enumerate(components)]
            if components[place] == 0:
                moved[place] = 1e-5
            assert dense(matrix, methods, tuple(moved)) > best


def test_reml__of_equal_numbers_equals_mean_squares():
    matrix, methods = drawn((3, 3, 3), 40, 0)
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
    study = facet_study(*drawn((3, 3, 3, 3), 30, 0))
    needed = study.needed(0.9, most=4)
    for replicates, queries in needed.select("replicates", "queries").iter_rows():
        if queries is None:
            assert study.d_study([replicates], [10**9])["e_rho2"].item() < 0.9
            continue
        reached = study.d_study([replicates], [queries, max(1, queries - 1)])["e_rho2"]
        assert reached[0] >= 0.9 - 1e-12
        assert queries == 1 or reached[1] < 0.9
    assert needed["queries"].drop_nulls().len() > 0

"""`reproduce`: reruns beside the original experiment, against naive twins."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

import irmeta
from irmeta.stats import reproducibility as ours
from twins import reproducing as naive

NAMES = ["aldBM25", "aldBM25fb", "doumMan1", "doumMan2"]
LISTS = st.lists(st.sampled_from("abcdefgh"), unique=True)
VALUES = st.lists(st.tuples(*[st.integers(1, 100)] * 4), min_size=1)


@given(LISTS, LISTS, st.integers(1, 10))
def test_lists__equal_twins(original: list[str], rerun: list[str], depth: int):
    found, expected = ours.tau_union(original, rerun), naive.tau_union(original, rerun)
    assert found == pytest.approx(expected, nan_ok=True)
    for p in (0.5, 0.95):
        overlap = ours.overlap_to(original, rerun, p, depth)
        assert overlap == pytest.approx(naive.overlap(original, rerun, p, depth))


@given(VALUES)
def test_values__equal_twins(rows: list[tuple[int, ...]]):
    values = np.array(rows) / 100
    base, advanced, rerun_base, rerun_advanced = values.T
    errors = ours.error(base, rerun_base), ours.relative_error(base, rerun_base)
    assert errors == pytest.approx(naive.errors(base, rerun_base))
    if abs(advanced.mean() - base.mean()) > 1e-9:
        effects = ours.effect_ratio(values), ours.delta_relative_improvement(values)
        runs = (base, advanced, rerun_base, rerun_advanced)
        assert effects == pytest.approx(naive.effects(*runs), abs=1e-9)


@pytest.fixture(scope="module")
def found(made_store: irmeta.Store):
    reruns = ["doumMan1,doumMan2", ("aldBM25", "aldBM25fb")]
    chosen = {"track": "news", "list_depth": 10, "resamples": 200}
    return irmeta.reproduce(made_store, "AP,nDCG@10", original=NAMES[:2], rerun=reruns, **chosen)


def test_reproduce__values_of_a_store(made_store: irmeta.Store, found):
    matrix = irmeta.matrices(made_store, "AP", track="news")[0]
    a, b, c, d = (matrix.values[:, matrix.systems.index(name)] for name in NAMES)
    (row,) = found.effects.filter(measure="AP", advanced="doumMan2").iter_rows(named=True)
    assert (row["effect_ratio"], row["delta_ri"]) == pytest.approx(naive.effects(a, b, c, d))
    assert row["effect_ratio_low"] < row["effect_ratio"] < row["effect_ratio_high"]
    runs = found.runs.filter(measure="AP", rerun="doumMan1", role="baseline")
    (row,) = runs.iter_rows(named=True)
    assert (row["rmse"], row["nrmse"]) == pytest.approx(naive.errors(a, c))
    assert row["rmse_low"] < row["rmse"] < row["rmse_high"]
    assert row["p_paired"] == pytest.approx(scipy_stats.ttest_rel(a, c).pvalue)
    assert row["p_unpaired"] == pytest.approx(scipy_stats.ttest_ind(a, c).pvalue)
    ranked = made_store.runs("news").filter(pl.col("rank") <= 10).sort("rank").collect()
    lists = [
        [ranked.filter(system=name, query=query)["doc"].to_list() for query in matrix.queries]
        for name in ("aldBM25", "doumMan1")
    ]
    taus = [naive.tau_union(*pair) for pair in zip(*lists, strict=True)]
    overlaps = [naive.overlap(*pair, 0.95, 10) for pair in zip(*lists, strict=True)]
    assert row["tau_union"] == pytest.approx(np.mean([t for t in taus if not math.isnan(t)]))
    assert row["rbo"] == pytest.approx(np.mean(overlaps))


def test_reproduce__rerun_of_the_same_runs_is_perfect(found):
    runs = found.runs.filter(pl.col("original") == pl.col("rerun"))
    columns = ("rmse", "p_paired", "p_unpaired", "tau_union", "rbo")
    assert runs.select(columns).unique().rows() == [(0.0, 1.0, 1.0, 1.0, pytest.approx(1.0))]
    effects = found.effects.filter(baseline="aldBM25")
    assert effects.select("effect_ratio", "delta_ri").unique().rows() == [(1.0, 0.0)]


def test_reproduce__single_runs_in_memory_have_no_effects():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"old": {"q1": ["a", "x"], "q2": ["b"]}, "new": {"q1": ["x", "a"], "q2": ["b"]}}
    found = irmeta.reproduce(qrels, runs, "RR", original="old", rerun="new")
    (row,) = found.runs.iter_rows(named=True)
    assert (row["role"], row["original_mean"], row["rerun_mean"]) == ("run", 1.0, 0.75)
    assert (row["tau_union"], found.effects.height) == (-1.0, 0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"original": "aldBM25", "rerun": "doumMan"}, "no system 'doumMan'. Did you mean"),
        ({"original": "aldBM25", "rerun": "doumMan1,doumMan2"}, "is no rerun of aldBM25"),
        ({"original": "a,b,c", "rerun": "a"}, "neither a run nor a baseline and another run"),
        ({"original": "aldBM25", "rerun": []}, "no rerun is named"),
        ({"original": "aldBM25", "rerun": "doumMan1", "persistence": 1.5}, "persistence"),
    ],
)
def test_reproduce__wrong_calls_are_refused(made_store: irmeta.Store, given: dict, said: str):
    with pytest.raises(irmeta.UsageError, match=said):
        irmeta.reproduce(made_store, "AP", track="news", **given)


def test_reproduce_command__prints_effects_or_runs(run, made_store: irmeta.Store):
    asked = ("reproduce", made_store.path, "-m", "AP", "--track", "news")
    done = run(*asked, "--original", "aldBM25,aldBM25fb", "--rerun", "doumMan1,doumMan2")
    assert done.out.splitlines()[0].startswith("track,measure,baseline,advanced,improvement")
    done = run(*asked, "--original", "aldBM25", "--rerun", "doumMan1", "--rerun", "doumMan2")
    assert [line.split(",")[4] for line in done.out.splitlines()] == ["rerun", *NAMES[2:]]

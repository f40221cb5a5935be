"""`reproduce`: reruns beside the original experiment, against naive twins."""

from __future__ import annotations

import importlib
import math
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
    original, rerun = values[:, :2], values[:, 2:]
    base, advanced, rerun_base, rerun_advanced = values.T
    errors = ours.error(base, rerun_base), ours.relative_error(base, rerun_base)
    assert errors == pytest.approx(naive.errors(base, rerun_base))
    if abs(advanced.mean() - base.mean()) > 1e-9:
        effects = (
            ours.effect_ratio(original, rerun),
            ours.delta_relative_improvement(original, rerun),
        )
        runs = (base, advanced, rerun_base, rerun_advanced)
        assert effects == pytest.approx(naive.effects(*runs), abs=1e-9)


@pytest.fixture(scope="module")
def found(made_store: irmeta.Store):
    reruns = ["doumMan1,doumMan2", ("aldBM25", "aldBM25fb")]
    chosen = {"track": "news", "list_depth": 10, "resamples": 200}
    return irmeta.reproduce(made_store, "AP,nDCG@10", original=NAMES[:2], rerun=reruns, **chosen)


@pytest.mark.exhaustive
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
    for value in ("nrmse", "tau_union", "rbo"):
        assert row[f"{value}_low"] < row[value] < row[f"{value}_high"]
    ranked = made_store.runs("news").filter(pl.col("rank") <= 10).sort("rank").collect()
    lists = [
        [ranked.filter(system=name, query=query)["doc"].to_list() for query in matrix.queries]
        for name in ("aldBM25", "doumMan1")
    ]
    taus = [naive.tau_union(*pair) for pair in zip(*lists, strict=True)]
    overlaps = [naive.overlap(*pair, 0.95, 10) for pair in zip(*lists, strict=True)]
    assert row["tau_union"] == pytest.approx(np.mean([t for t in taus if not math.isnan(t)]))
    assert row["rbo"] == pytest.approx(np.mean(overlaps))


@pytest.fixture(scope="module")
def repro_eval() -> Any:
    """The modules of repro_eval, which import deprecated names of scipy."""
    names = ("document_order", "effectiveness", "overall_effects", "statistics")
    with warnings.catch_warnings(action="ignore"):
        pytest.importorskip("repro_eval.measure", reason="pip install repro_eval==0.5.0")
        modules = {one: importlib.import_module(f"repro_eval.measure.{one}") for one in names}
    return SimpleNamespace(**modules)


@given(st.permutations("abcdefghij"), st.permutations("abcdefghij"), st.integers(2, 8))
def test_lists__equal_repro_eval(repro_eval: Any, first: list[str], second: list[str], depth: int):
    lists = first[:8], second[:8]
    runs = [{"q": {doc: -float(i) for i, doc in enumerate(docs)}} for docs in lists]
    tau = repro_eval.document_order.KTU(*runs, trim_thresh=depth)
    overlap = repro_eval.document_order.RBO(*runs, 0.9, depth, False, False)
    assert ours.tau_union(lists[0][:depth], lists[1][:depth]) == pytest.approx(tau)
    assert ours.overlap_to(*lists, 0.9, depth) == pytest.approx(overlap)


@given(st.lists(st.tuples(*[st.integers(1, 100)] * 4), min_size=2))
@pytest.mark.filterwarnings("ignore")  # repro_eval divides by 0 where an effect is 0
def test_values__equal_repro_eval(repro_eval: Any, rows: list[tuple[int, ...]]):
    values = np.array(rows) / 100
    base, advanced, rerun, rerun_advanced = (
        {f"q{q}": {"AP": value} for q, value in enumerate(column)} for column in values.T.tolist()
    )
    found = {
        "rmse": ours.error(values[:, 0], values[:, 2]),
        "nrmse": ours.relative_error(values[:, 0], values[:, 2]),
        "delta_ri": ours.delta_relative_improvement(values[:, :2], values[:, 2:]),
    }
    effects = advanced, base, rerun_advanced, rerun
    expected = {
        "rmse": repro_eval.effectiveness.RMSE(base, rerun)["AP"],
        "nrmse": repro_eval.effectiveness.nRMSE(base, rerun)["AP"],
        "delta_ri": repro_eval.overall_effects.DRI(*effects)["AP"],
    }
    if abs(values[:, 1].mean() - values[:, 0].mean()) > 1e-9:
        found["effect_ratio"] = ours.effect_ratio(values[:, :2], values[:, 2:])
        expected["effect_ratio"] = repro_eval.overall_effects.ER(*effects)["AP"]
    if values[:, [0, 2]].std(axis=0).max() > 0:
        found["p_unpaired"] = ours.unpaired_p(values[:, 0], values[:, 2])
        expected["p_unpaired"] = repro_eval.statistics.ttest(base, rerun, rpd=False)["AP"]
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_reproduce__differs_from_repro_eval_as_documented(repro_eval: Any):
    tied, other = ({"q": dict.fromkeys(docs, 1.0)} for docs in ("abc", "cba"))
    assert repro_eval.document_order.KTU(tied, other) == 1.0  # ordered by doc
    with pytest.raises(ValueError, match=r"shapes|sizes?"):
        repro_eval.document_order.KTU(tied, {"q": {"a": 1.0, "b": 0.5}})
    same = {"q1": {"AP": 0.5, "P@5": 0.2}, "q2": {"AP": 0.5, "P@5": 0.4}}
    changed = {"q1": {"AP": 0.5, "P@5": 0.4}, "q2": {"AP": 0.5, "P@5": 0.4}}
    assert math.isnan(repro_eval.statistics.ttest(same, changed)["AP"])
    assert ours.unpaired_p(np.array([0.5, 0.5]), np.array([0.5, 0.5])) == 1.0


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", [None, "file"])
def test_reproduce__lists_are_in_the_tie_order_of_the_values(order: Any):
    qrels = {"q": {"a": 1}}
    runs = {"old": {"q": {"a": 1.0, "b": 1.0}}, "new": {"q": {"b": 2.0, "a": 1.0}}}
    given = {"original": "old", "rerun": "new", **({"tie_order": order} if order else {})}
    found = irmeta.reproduce(qrels, runs, "RR", **given).runs
    assert found.select("original_mean", "tau_union").row(0) == ((0.5, 1), (1, -1))[order == "file"]
    store = irmeta.from_data(qrels, runs)
    assert irmeta.reproduce(store, "RR", **given).runs.equals(found)


@pytest.mark.exhaustive
def test_reproduce__another_track_has_effects_and_unpaired_tests(tmp_path: Path):
    drawn = np.random.default_rng(3)
    for track, queries in (("old", 12), ("new", 9)):
        folder = tmp_path / "tracks" / track
        (folder / "runs").mkdir(parents=True)
        named = [f"{track}{q}" for q in range(queries)]
        lines = [f"{query} 0 d{i} 1\n" for query in named for i in (1, 2)]
        (folder / "qrels.txt").write_text("".join(lines))
        for system in ("base", "better"):
            lines = [
                f"{query} Q0 d{doc} 0 {-rank} {system}\n"
                for query in named
                for rank, doc in enumerate(drawn.permutation(5))
            ]
            (folder / "runs" / system).write_text("".join(lines))
    store = irmeta.ingest(tmp_path / "tracks", tmp_path / "store")
    chosen = {"original": "base,better", "rerun": "base,better", "resamples": 100}
    found = irmeta.reproduce(store, "AP", track="old", rerun_track="new", **chosen)
    old, new = (irmeta.matrices(store, "AP", track=track)[0].values for track in ("old", "new"))
    (row,) = found.effects.iter_rows(named=True)
    assert (row["effect_ratio"], row["delta_ri"]) == pytest.approx(naive.effects(*old.T, *new.T))
    assert row["effect_ratio_low"] < row["effect_ratio"] < row["effect_ratio_high"]
    (row, _) = found.runs.iter_rows(named=True)
    assert row["p_unpaired"] == pytest.approx(scipy_stats.ttest_ind(old[:, 0], new[:, 0]).pvalue)
    assert (row["original_mean"], row["rerun_mean"]) == (old[:, 0].mean(), new[:, 0].mean())
    columns = ("rmse", "nrmse", "p_paired", "tau_union", "rbo", "rbo_low")
    assert all(math.isnan(row[name]) for name in columns)
    assert found.settings["rerun_track"] == "new"


def test_reproduce__rerun_of_the_same_runs_is_perfect(found):
    runs = found.runs.filter(pl.col("original") == pl.col("rerun"))
    columns = ("rmse", "p_paired", "p_unpaired", "tau_union", "rbo")
    assert runs.select(columns).unique().rows() == [(0.0, 1.0, 1.0, 1.0, pytest.approx(1.0))]
    effects = found.effects.filter(baseline="aldBM25")
    assert effects.select("effect_ratio", "delta_ri").unique().rows() == [(1.0, 0.0)]


@pytest.mark.exhaustive
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


def test_show__draws_a_value_of_all_reruns(found):
    spec = found.show().to_dict()
    assert "effect ratio" in spec["title"]["text"]
    rows = [row for data in spec["datasets"].values() for row in data if "row" in row]
    names = {(row["row"], row["value"]) for row in rows}
    expected = found.effects.filter(measure="AP", advanced="doumMan2")["effect_ratio"][0]
    assert ("doumMan1, doumMan2 AP", expected) in names
    assert len(names) == found.effects.height
    assert "rmse" in found.show("rmse").to_json()
    with pytest.raises(irmeta.UsageError, match=r"value = .rms. is not a choice"):
        found.show("rms")


def test_reproduce_command__draws_a_figure(run, made_store: irmeta.Store, tmp_path: Path):
    figure = tmp_path / "reruns.svg"
    asked = ("reproduce", made_store.path, "-m", "AP", "--track", "news", "--figure", figure)
    done = run(*asked, "--original", "aldBM25", "--rerun", "doumMan1", "--rerun", "doumMan2")
    assert f"figure in {figure}" in done.err
    assert "doumMan2" in figure.read_text(encoding="utf-8")

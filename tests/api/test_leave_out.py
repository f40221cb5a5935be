"""Scores without a contributor to the pool, and orders at all pairs of cutoffs: paper 3."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

import irmeta
from irmeta.errors import MeasureError, UsageError
from support.examples import scaled
from support.making import Track, down, tracks, with_smaller_pool
from twins.orders import kendall_tau_b

CASES = {
    "pool d=k=7": ("pool", 7),
    "pool d=7, k=20": ("pool", 7),
    "real qrels, d=7, k=20": ("all", None),
}
MEASURES = "AP(norm=min)@2,nDCG,RR,ASL"


@pytest.mark.real
@pytest.mark.parametrize("others", ["rescored", "original"])
@pytest.mark.parametrize("case", CASES)
def test_leave_out__equals_the_oracle_of_runs(
    shared: Path, real_store: irmeta.Store, case: str, others: str
):
    oracle = pl.read_csv(shared / "oracles" / "depth_study" / "leave_one_run_out.csv")
    oracle = oracle.filter(case=case)
    judgments, depth = CASES[case]
    made = real_store.pools.leave_out(
        oracle["measure"].unique(maintain_order=True),
        judgments=judgments,
        pool_depth=depth,
        others=others,
        track="trec-covid-r1",
        tie_order="score-file",
    )
    column = {"rescored": "all_rescored", "original": "others_original"}[others]
    oracle = oracle.drop("rank_left_out", strict=False).rename(
        {f"rank_left_out_{column}": "rank_left_out"}
    )
    assert_equal_rows(made, oracle)
    assert made.height == 56 * 4


@pytest.mark.real
def test_leave_out__equals_the_oracle_of_groups(
    shared: Path, tmp_path: Path, real_store: irmeta.Store
):
    """The oracle takes all 143 runs as contributors, in groups of three."""
    oracle = pl.read_csv(shared / "oracles" / "depth_study" / "leave_one_group_out.csv")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "t").symlink_to(shared / "tracks" / "trec-covid-r1")
    facts = pl.read_csv(shared / "tracks" / "trec-covid-r1" / "leaderboard.csv").select(
        "run", "team"
    )
    facts.write_csv(tmp_path / "c" / "groups.csv")
    (tmp_path / "c" / "collection.toml").write_text(
        "[tracks.trec-covid-r1]\n"
        'runs = "t/runs/*"\nqrels = "t/qrels.txt"\n'
        'systems = { file = "groups.csv", name = "run", group = "team" }\n'
    )
    store = irmeta.read(tmp_path / "c")
    names = oracle["measure"].unique(maintain_order=True)
    made = store.pools.leave_out(names, unit="group", pool_depth=5, tie_order="score-file")
    rows = oracle.rename({"group": "left_out"})
    assert_equal_rows(made.filter(pl.col("left_out").is_in(rows["left_out"].unique())), rows)


def assert_equal_rows(made: pl.DataFrame, oracle: pl.DataFrame) -> None:
    rows = made.join(oracle, on=["system", "measure"], suffix="_expected")
    assert rows.height == oracle.height == made.height
    for column in ("rank", "rank_left_out", "judged_lost", "relevant_lost"):
        assert rows[column].to_list() == rows[f"{column}_expected"].to_list(), column
    for column in ("value", "value_left_out", "delta_percent"):
        difference = (rows[column] - rows[f"{column}_expected"]).abs().max()
        assert difference is not None
        assert difference < 1e-11, column


@pytest.mark.exhaustive
@settings(max_examples=scaled(8))
@given(tracks(), st.none() | st.integers(1, 3))
def test_leave_out__equals_ingesting_rewritten_qrels(track: Track, depth: int | None):
    assume(len(track.runs) > 1)
    store = track.read()
    judgments = "all" if depth is None else "pool"
    choices = {"judgments": judgments, "pool_depth": depth, "tie_order": "score-file"}
    made = store.pools.leave_out(MEASURES, **choices)
    lost = {row["left_out"]: row for row in made.iter_rows(named=True)}
    assert set(lost) == set(store.systems()["system"])
    whole = track if depth is None else with_smaller_pool(track, depth, None)
    for system, row in lost.items():
        lesser = with_smaller_pool(track, depth, system)
        assert row["judged_lost"] == docs_of(whole) - docs_of(lesser)
        for measure in MEASURES.split(","):
            (found,) = made.filter(left_out=system, measure=measure).iter_rows(named=True)
            means = [mean_of(one, track, system, measure) for one in (whole, lesser)]
            assert found["value"] == pytest.approx(means[0], abs=1e-12, nan_ok=True)
            assert found["value_left_out"] == pytest.approx(means[1], abs=1e-12, nan_ok=True)


def docs_of(track: Track) -> int:
    """The judged docs; negative grades are in the pool, but unjudged."""
    return sum(grade >= 0 for docs in track.qrels.values() for grade in docs.values())


def mean_of(judged: Track, track: Track, system: str, measure: str) -> float:
    """The mean over all judged queries of the track; those without a judged doc score as before."""
    spare = {query: docs or {"unretrieved": 0} for query, docs in judged.qrels.items()}
    store = replace(track, qrels=spare).read()
    means = store.means(measure, tie_order="score-file").filter(system=system)
    return means["value"].item()


@pytest.fixture
def store(tmp_path: Path) -> irmeta.Store:
    runs = {
        "a1": {"1": down("x", "y"), "2": down("p", "q")},
        "a2": {"1": down("x", "y"), "2": down("p", "q")},
        "b": {"1": down("z", "x"), "2": down("q", "r")},
    }
    qrels = {"1": {"x": 1, "y": 0, "z": 1}, "2": {"p": 1, "q": 0, "r": 1}}
    folder = Track(runs, qrels).write(tmp_path)
    (folder / "f.csv").write_text("run,team\na1,alpha\na2,alpha\nb,beta\n")
    (folder / "collection.toml").write_text(
        '[tracks.t]\nruns = "t/runs/*"\nqrels = "t/qrels"\n'
        'systems = { file = "f.csv", name = "run", group = "team" }\n'
    )
    return irmeta.read(folder)


def test_leave_out__twin_runs_lose_nothing_but_their_group_does(store: irmeta.Store):
    runs = store.pools.leave_out("P@1")
    assert runs.filter(system="a1").select("depth", "judged_lost", "delta_percent").row(0) == (
        2,
        0,
        0.0,
    )
    lone = runs.filter(system="b")
    assert lone.select("judged_lost", "relevant_lost").row(0) == (2, 2)
    assert lone.select("value", "value_left_out", "delta_percent").row(0) == (0.5, 0.0, -100.0)
    assert lone.select("rank", "rank_left_out").row(0) == (3, 3)
    groups = store.pools.leave_out("P@1", unit="group")
    assert groups.select("left_out", "system").rows() == [
        ("alpha", "a1"), ("alpha", "a2"), ("beta", "b"),
    ]  # fmt: skip
    assert groups.filter(left_out="alpha")["value_left_out"].to_list() == [0.5, 0.5]


def test_leave_out__zero_means_have_no_change_in_percent():
    runs = {"a": {"1": down("x")}, "b": {"1": down("y")}}
    made = Track(runs, {"1": {"x": 0, "y": 1}}).read().pools.leave_out("AP", pool_depth=1)
    assert math.isnan(made.filter(system="a")["delta_percent"].item())
    assert made.filter(system="b").select("value_left_out", "delta_percent").row(0) == (0.0, -100.0)


@pytest.mark.exhaustive
def test_leave_out__does_not_depend_on_workers_or_blocks(made_store: irmeta.Store, monkeypatch):
    asked = {"track": "news", "pool_depth": 10}
    whole = made_store.pools.leave_out("AP,nDCG@10", workers=1, **asked)
    monkeypatch.setattr(type(made_store.reader), "block_rows", 1 << 10)
    assert made_store.pools.leave_out("AP,nDCG@10", workers=3, **asked).equals(whole)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("measure", "choices", "error"),
    [
        ("AP", {"unit": "team"}, "unit = 'team' is not a choice. Known: group, run, type"),
        ("AP", {"unit": "type"}, "does not state the type of any system"),
        ("AP", {"judgments": "some"}, "judgments = 'some' is not a choice"),
        ("AP", {"others": "old"}, "others = 'old' is not a choice"),
        ("AP(average=geometric)", {}, "needs arithmetic means"),
    ],
)
def test_leave_out__rejects_bad_arguments(
    store: irmeta.Store, measure: str, choices: dict, error: str
):
    with pytest.raises((UsageError, MeasureError), match=error):
        store.pools.leave_out(measure, **choices)


def test_leave_out__value_is_that_of_evaluate_by_the_pool_of_its_depth(store: irmeta.Store):
    row = store.pools.leave_out("AP", pool_depth=2).row(0, named=True)
    means = store.means("AP", pool_depth=row["depth"]).filter(system=row["system"])
    assert row["value"] == pytest.approx(means["value"].item(), abs=1e-15)


def test_leave_out__needs_a_depth_where_no_pool_is_complete():
    runs = {"a": {"1": down("x", "y")}, "b": {"1": down("y", "x")}}
    store = Track(runs, {"1": {"x": 1}}).read()
    with pytest.raises(UsageError, match=r"not complete at any depth; give `pool_depth=`"):
        store.pools.leave_out("AP")
    assert store.pools.leave_out("AP", pool_depth=1).height == 2
    alone = Track({"a": {"1": down("x")}}, {"1": {"x": 1}}).read()
    with pytest.raises(UsageError, match="no system is left to contribute"):
        alone.pools.leave_out("AP")


@pytest.mark.real
def test_volatility__equals_the_oracle(shared: Path, real_store: irmeta.Store):
    oracle = pl.read_csv(shared / "oracles" / "depth_study" / "volatility.csv")
    oracle = oracle.with_columns(pl.col("measure_1", "measure_2").str.replace("disc=", "discount="))
    compared = 0
    for first, second in oracle.select("measure_1", "measure_2").unique().sort(pl.all()).rows():
        rows = oracle.filter(measure_1=first, measure_2=second)
        ks = rows["k1"].unique().sort().to_list()
        made = real_store.stability.volatility(
            first, None if first == second else second,
            ks=ks, pool_depth=7, track="trec-covid-r1", tie_order="score-file",
        )  # fmt: skip
        both = made.join(rows, left_on=["k_a", "k_b"], right_on=["k1", "k2"])
        assert both.height == rows.height == made.height
        assert (both["value"] - both["tau_b"]).abs().max() < 1e-12, (first, second)
        compared += both.height
    assert compared == oracle.height


MEANS = arrays(float, (3, 5), elements=st.sampled_from([0.0, 0.125, 0.25, 0.5]))


@given(MEANS, MEANS)
def test_volatility__equals_kendalltau_of_scipy(means: np.ndarray, others: np.ndarray):
    for x, y in ((means, None), (means, others)):
        made = irmeta.stats.volatility(x, y)
        expected = [[kendalltau(a, b).statistic for b in (x if y is None else y)] for a in x]
        np.testing.assert_allclose(made, expected, atol=1e-12)


@pytest.mark.exhaustive
@settings(max_examples=scaled(10))
@given(tracks())
def test_volatility__orders_systems_by_means_at_each_cutoff(track):
    store = track.read()
    for measure in ("P", "ASL"):
        prefix = "g" if measure == "ASL" else ""
        made = store.stability.volatility(measure, ks=[1, 3])
        sign = -1 if measure == "ASL" else 1
        means = [sign * store.means(f"{measure}@{prefix}{k}")["value"].to_numpy() for k in (1, 3)]
        expected = irmeta.stats.volatility(np.array(means)).ravel()
        np.testing.assert_allclose(made["value"].to_numpy(), expected, atol=1e-12)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::irmeta.errors.PoolDepthWarning")
@settings(max_examples=scaled(15))
@given(tracks(), st.sampled_from(["judged", "retrieved"]))
def test_volatility__two_measures_use_the_queries_where_both_are_defined(track, queries: str):
    ks, pair = [1, 2, 3], ("AP(norm=min)", "AP(norm=pool)")
    store = track.read()
    made = store.stability.volatility(*pair, ks=ks, systems="all", queries=queries)
    scores = store.scores([f"{m}@{k}" for m in pair for k in ks], track=track.name, queries=queries)
    for k_a, k_b, value, number in made.select("k_a", "k_b", "value", "queries").iter_rows():
        a, b = (scores.matrix(f"{m}@{k}").values.T for m, k in zip(pair, (k_a, k_b), strict=True))
        shared = ~np.isnan(a) & ~np.isnan(b)
        orders = [
            [
                round(float(v[own].mean()), 12)
                for v, own in zip(side, shared, strict=True)
                if own.any()
            ]
            for side in (a, b)
        ]
        assert number == shared.sum(axis=1).min()
        assert value == pytest.approx(kendall_tau_b(*orders), abs=1e-12, nan_ok=True)


@pytest.mark.exhaustive
def test_volatility__other_measure_and_systems(made_store: irmeta.Store):
    asked = {"ks": [5, 10], "track": "news", "method": "rbo"}
    made = made_store.stability.volatility("AP", "nDCG", **asked)
    assert made.select("measure_a", "measure_b", "method").unique().row(0) == ("AP", "nDCG", "rbo")
    assert made["value"].is_between(0, 1).all()
    flipped = made_store.stability.volatility("nDCG", "AP", **asked).sort("k_b", "k_a")
    assert flipped["value"].to_list() == pytest.approx(made["value"].to_list())
    assert made_store.stability.volatility("AP", systems="all", **asked).height == 4


@pytest.mark.parametrize(
    ("measure", "choices", "error"),
    [
        ("AP@5", {}, "name the measure of a curve without a cutoff"),
        ("AP", {"systems": "some"}, "systems = 'some' is not a choice"),
        ("AP", {"method": "tau"}, "'tau' is not a choice|method"),
        ("AP", {"ks": [2, 1]}, "ks must be ascending"),
    ],
)
def test_volatility__rejects_bad_arguments(made_store, measure: str, choices: dict, error: str):
    with pytest.raises((UsageError, MeasureError), match=error):
        made_store.stability.volatility(measure, track="news", **choices)


def test_stats_volatility__rejects_other_shapes():
    with pytest.raises(UsageError, match=r"are not \[cutoff, system\]"):
        irmeta.stats.volatility(np.zeros((2, 3)), np.zeros((2, 4)))

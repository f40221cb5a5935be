"""Orderings of systems at all pairs of cutoffs: `Store.stability.volatility`, paper 3, Fig. 5-7."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

import irmeta
from irmeta.errors import MeasureError, UsageError
from support.examples import scaled
from support.making import tracks
from twins.orders import kendall_tau_b


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

"""Mixtures of the reference's labels and a judge's."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import irmeta
from irmeta.stats import least_labelled, mixtures
from support.judged import JUDGE, judged_matrices, numbered_matrix
from twins import judges as twin

TAUS = ("tau", "tau_unlabelled", "alone", "alone_unlabelled")


@given(
    arrays.arrays(
        float,
        st.tuples(st.just(3), st.integers(1, 5), st.integers(2, 5)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    st.integers(0, 9),
)
def test_mixtures__equal_twin(values: np.ndarray, seed: int):
    human, *judges = (numbered_matrix(one) for one in values)
    named = {"b": judges[0], "a": judges[1]}
    found = mixtures(human, named, repeats=2, rng=seed)
    number = values.shape[1]
    assert found["judge"].to_list() == ["b"] * (number + 1) + ["a"] * (number + 1)
    orders = np.random.default_rng(seed).permuted(np.tile(np.arange(number), (2, 1)), axis=1)
    for row in found.iter_rows(named=True):
        both = [
            twin.mixture(
                human.values.tolist(),
                named[row["judge"]].values.tolist(),
                order[: row["labelled"]].tolist(),
            )
            for order in orders
        ]
        expected = {name: (both[0][name] + both[1][name]) / 2 for name in TAUS}
        assert {name: row[name] for name in TAUS} == pytest.approx(expected, nan_ok=True)
        deviation = abs(both[0]["tau"] - both[1]["tau"]) / math.sqrt(2)
        assert row["tau_sd"] == pytest.approx(deviation, nan_ok=True, abs=1e-12)


def made(seed: int, noise: float = 1.0) -> irmeta.Matrix:
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(0).normal(size=(40, 12)) + np.linspace(0, 2, 12)
    return numbered_matrix(truth + noise * rng.normal(size=truth.shape))


def test_mixtures__ends_and_draws_are_shared():
    human = made(0, 0.0)
    sizes = [40, 0, 20]
    found = mixtures(human, {"noisy": made(1), "same": human}, sizes=sizes, repeats=5, rng=3)
    assert found["labelled"].to_list() == [0, 20, 40] * 2
    same = found.filter(judge="same")
    assert same["tau"].to_list() == [1.0] * 3
    assert found.filter(labelled=40)["tau"].to_list() == [1.0, 1.0]
    assert found.filter(labelled=0)["alone"].is_nan().all()
    columns = ["labelled", "alone", "alone_sd"]
    assert found.filter(judge="noisy").select(columns).equals(same.select(columns))
    alone = mixtures(human, {"noisy": made(1)}, sizes=[20], repeats=5, rng=3)
    assert alone.row(0) == found.filter(judge="noisy", labelled=20).row(0)
    assert alone.row(0) != mixtures(human, {"noisy": made(1)}, sizes=[20], repeats=5, rng=4).row(0)


def test_mixtures__direction_does_not_matter():
    human, judge = made(0, 0.0), made(1)
    turned = [numbered_matrix(-one.values, direction=-1) for one in (human, judge)]
    found = mixtures(human, {"j": judge}, sizes=[0, 5], repeats=4)
    assert found.equals(mixtures(turned[0], {"j": turned[1]}, sizes=[0, 5], repeats=4))


def test_least_labelled__from_that_size_on():
    rows = {"judge": "j", "queries": 4, "labelled": [0, 1, 2, 3, 4]}
    lows = [0.95, 0.8, 0.9, 0.97, 1.0], [math.nan, 0.5, 0.7, 0.8, 0.9]
    taus = dict(zip(("tau_low", "alone_low"), lows, strict=True))
    found = least_labelled(pl.DataFrame(rows | taus), [0.9, 0.95, 0.5, 0.99])
    assert found.select("wanted", "mixture", "alone").rows() == [
        (0.9, 2, 4),
        (0.95, 3, None),
        (0.5, 0, 1),
        (0.99, 4, None),
    ]


def test_least_labelled__all_but_a_twentieth_of_the_orders_reach_the_tau():
    """A mean above the wanted tau does not suffice: half of the orders are below it."""
    human, judges = made(0, 0.0), {"j": made(1, 3.0)}
    found = mixtures(human, judges, repeats=40, rng=2)
    orders = np.random.default_rng(2).permuted(np.tile(np.arange(40), (40, 1)), axis=1)
    sides = human.values.tolist(), judges["j"].values.tolist()
    for size in (5, 20, 35):
        taus = [twin.mixture(*sides, order[:size].tolist())["tau"] for order in orders]
        assert found.row(size, named=True)["tau_low"] == pytest.approx(sorted(taus)[2])
    (least,) = least_labelled(found, [0.9])["mixture"]
    by_mean = found.filter(pl.col("tau") >= 0.9)["labelled"].min()
    assert least > by_mean


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": [41]}, "from 0 to 40, the number"),
        ({"sizes": [-1]}, "size"),
        ({"repeats": 0}, "rep"),
    ],
)
def test_mixtures__wrong_arguments(arguments: dict[str, object], message: str):
    with pytest.raises(irmeta.UsageError, match=message):
        mixtures(made(0), {"j": made(1)}, **arguments)  # pyright: ignore[reportArgumentType]


@pytest.mark.real
def test_mixtures__of_a_real_judge(shared: Path):
    values = judged_matrices(shared)
    judges = {JUDGE: values[JUDGE]}
    found = mixtures(values["reference"], judges, sizes=[0, 11, 27, 53], repeats=1000)
    assert found["tau"][0] == pytest.approx(0.939487, abs=5e-7)
    assert found["alone"][1] == pytest.approx(0.810, abs=0.003)
    assert found["alone"][2] == pytest.approx(0.906, abs=0.002)
    assert (found["tau"].to_numpy() >= found["alone"].fill_nan(0).to_numpy()).all()

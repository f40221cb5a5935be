"""Stability and swap rates: code of paper 2, naive implementations and worked examples."""

from __future__ import annotations

import json
import math
import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats.ranking_stability import Stability, stability, swap_rates
from irmeta.stats.resampling import draw_query_sets
from support.examples import scaled
from twins import stats as naive

# Multiples of 1/64: sums over 2 or 4 queries, and their halves and quarters, are exact.
TABLE = arrays.arrays(
    np.float64,
    st.tuples(st.integers(4, 7), st.integers(1, 5)),
    elements=st.integers(0, 64).map(lambda v: v / 64),
)


def matrix(values: object, direction: int = 1) -> Matrix:
    table = np.asarray(values, np.float64)
    queries, systems = (tuple(map(str, range(n))) for n in table.shape)
    return Matrix(table, queries, systems, "P", "t", -1 if direction < 0 else 1)


def made(queries: int = 20, systems: int = 6) -> Matrix:
    rng = np.random.default_rng(3)
    return matrix(rng.beta(2, 4, (queries, systems)) + np.linspace(0, 0.2, systems))


def drawn(queries: int, size: int, trials: int = 30) -> np.ndarray:
    rng = np.random.default_rng(9)
    return np.array([rng.permutation(queries)[:size] for _ in range(trials)])


# Stability


@pytest.mark.parametrize("fuzziness", [0.05, 0.0])
@pytest.mark.parametrize(
    "measure", [f"{m}_rareness@10,alpha={a}" for m in ("P", "AP") for a in ("0", "1.0")]
)
def test_stability__equals_code_of_paper_2(shared: Path, measure: str, fuzziness: float):
    """The code seeds Python's random with 7 and draws each trial with random.sample."""
    told = json.loads((shared / "oracles/case3_innov/out.ecir2023.json").read_text())
    scores = told[measure]
    topics = [topic for topic in scores["sysA"] if topic != "all"]
    table = [[scores[s][topic] for s in scores] for topic in topics]
    source = random.Random(7)
    subsets = np.array([source.sample(range(8), k=4) for _ in range(1000)])
    found = stability(matrix(table), fuzziness=fuzziness, subsets=subsets, tolerance=0.0)
    expected = told[f"stability {measure},seed=7,iter=1000,fuzz={fuzziness},subset=4"]
    assert round(found.mean, 3) == expected


def test_stability__difference_of_fuzziness_is_a_tie_despite_rounding():
    """0.65 - 0.6 is greater than 0.05 in floating point."""
    values = matrix([[0.65, 0.6], [0.65, 0.6]])
    assert stability(values, trials=10).tie_rate == 1.0
    assert stability(values, trials=10, tolerance=0.0).tie_rate == 0.0


@pytest.mark.parametrize("kind", ["absolute", "relative"])
@given(TABLE, st.sampled_from([0.0, 1 / 16, 0.25]))
@settings(max_examples=scaled(40))
def test_stability__equals_naive_implementation(kind, values: np.ndarray, fuzziness: float):
    rows, subsets = values.tolist(), drawn(len(values), 4 if len(values) > 5 else 2)
    told = naive.trials(rows, subsets.tolist(), fuzziness, kind == "relative")
    found = {
        ties: stability(matrix(values), fuzziness=fuzziness, kind=kind, ties=ties, subsets=subsets)
        for ties in ("against", "out", "half")
    }
    whole = found["against"]
    for (a, b), outcome in told.items():
        assert whole.wins[a, b] == outcome.wins
        assert whole.wins[b, a] == outcome.losses
        assert whole.ties[a, b] == whole.ties[b, a] == outcome.ties
        for ties in ("against", "out"):
            expected = naive.pair_stability(outcome, ties)
            assert found[ties].shares[a, b] == pytest.approx(expected, nan_ok=True)
        half = (max(outcome.wins, outcome.losses) + outcome.ties / 2) / len(subsets)
        assert found["half"].shares[a, b] == pytest.approx(half)
    if told:
        assert whole.error_rate == pytest.approx(naive.error_rate(told))
        assert whole.tie_rate == pytest.approx(naive.tie_share(told))
        relative = kind == "relative"
        expected = naive.stability(rows, subsets.tolist(), fuzziness, relative, "against")
        assert whole.mean == pytest.approx(expected)


def test_stability__worked_example():
    """Four trials of one query: a wins two, b wins one, one is a tie."""
    values = matrix([[0.9, 0.1], [0.8, 0.5], [0.1, 0.4], [0.2, 0.2]])
    found = stability(values, subsets=np.arange(4)[:, None])
    assert found.wins.tolist() == [[0, 2], [1, 0]]
    assert found.ties.tolist() == [[4, 1], [1, 4]]
    assert (found.mean, found.error_rate, found.tie_rate) == (0.5, 0.25, 0.25)
    out = stability(values, subsets=np.arange(4)[:, None], ties="out")
    half = stability(values, subsets=np.arange(4)[:, None], ties="half")
    assert (out.mean, half.mean) == (pytest.approx(2 / 3), 0.625)
    assert found.frame().to_dicts() == [
        {
            "track": "t",
            "measure": "P",
            "system_a": "0",
            "system_b": "1",
            "better": 2,
            "worse": 1,
            "ties": 1,
            "share": 0.5,
        }
    ]
    told = found.summary().row(0, named=True)
    assert (told["stability"], told["queries"], told["size"], told["trials"]) == (0.5, 4, 1, 4)


def test_stability__direction_swaps_wins_only():
    values = made().values
    up, down = (stability(matrix(values, d), kind="relative") for d in (1, -1))
    assert (up.wins == down.wins.T).all()
    assert up.mean == down.mean


def test_stability__draws_are_uniform_and_reproducible():
    found = stability(made(45, 4), trials=50)
    assert (found.trials, found.size, found.queries) == (50, 22, 45)
    subsets = draw_query_sets(9, 4, 1, 20_000, 0)[:, 0]
    assert (np.diff(np.sort(subsets, axis=1)) > 0).all()
    shares = np.bincount(subsets.ravel(), minlength=9) / 20_000
    assert np.abs(shares - 4 / 9).max() < 0.015
    again = [stability(made(), rng=rng).wins for rng in (4, np.random.default_rng(4), 5)]
    assert (again[0] == again[1]).all()
    assert (again[0] != again[2]).any()


@pytest.mark.exhaustive
def test_stability_and_swap_rates__independent_of_batch_size(monkeypatch: pytest.MonkeyPatch):
    whole, swaps = stability(made()), swap_rates(made())
    monkeypatch.setattr(sys.modules[stability.__module__], "_BATCH", 6 * 7)
    assert (stability(made()).wins == whole.wins).all()
    assert swap_rates(made()).equals(swaps)


def test_stability_and_swap_rates__exclude_queries_with_missing_values():
    values = made().values.copy()
    kept = np.delete(values, 3, axis=0)
    values[3, 2] = np.nan
    found = stability(matrix(values), size=5)
    assert found.queries == 19
    assert (found.wins == stability(matrix(kept), size=5).wins).all()
    assert swap_rates(matrix(values), size=5).equals(swap_rates(matrix(kept), size=5))


@pytest.mark.parametrize("queries", [0, 1])
def test_stability_and_swap_rates__undefined_for_too_few_queries(queries: int):
    found = stability(matrix(np.ones((queries, 3))))
    assert (found.trials, found.size, found.queries) == (0, 0, queries)
    assert np.isnan([found.mean, found.error_rate, found.tie_rate]).all()
    assert np.isnan(found.shares).all()
    frame = swap_rates(matrix(np.ones((queries, 3))))
    assert frame["comparisons"].sum() == 0
    assert frame["rate"].is_nan().all()


@pytest.mark.parametrize("systems", [0, 1])
def test_stability_and_swap_rates__undefined_for_too_few_systems(systems: int):
    found = stability(matrix(np.ones((6, systems))))
    assert np.isnan([found.mean, found.error_rate, found.tie_rate]).all()
    assert found.frame().height == 0
    assert swap_rates(matrix(np.ones((6, systems))))["comparisons"].sum() == 0


def test_stability_and_swap_rates__identical_systems_always_tie():
    values = np.repeat(made().values[:, :1], 3, axis=1)
    for ties, mean in (("against", 0.0), ("half", 0.5), ("out", math.nan)):
        found = stability(matrix(values), ties=ties, fuzziness=0.0)
        assert found.mean == pytest.approx(mean, nan_ok=True)
        assert (found.tie_rate, found.error_rate) == (1.0, 0.0)
    assert swap_rates(matrix(values))["swaps"].sum() == 0
    beside = np.hstack([values[:, :2], values[:, :1] + 0.5])
    assert stability(matrix(beside), ties="out").mean == 1.0
    assert stability(matrix(beside)).mean == pytest.approx(2 / 3)


def test_stability__two_queries_and_two_systems():
    found = stability(matrix([[0.9, 0.1], [0.2, 0.6]]), trials=2000)
    assert (found.size, found.ties[0, 1]) == (1, 0)
    assert found.mean == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 21}, "cannot be drawn"),
        ({"size": 0}, "size = 0 is not a whole number of at least 1"),
        ({"size": 3.0}, "size = 3.0 is not"),
        ({"trials": 0}, "trials = 0 is not"),
        ({"trials": 10.5}, "trials = 10.5 is not"),
        ({"ties": "for"}, "against, out, half"),
        ({"kind": "odd"}, "absolute, relative"),
        ({"fuzziness": -0.1}, "negative"),
        ({"fuzziness": math.nan}, "negative"),
        ({"tolerance": -0.1}, "negative"),
        ({"subsets": np.array([[0, 20]])}, "below 20"),
        ({"subsets": np.array([[-1, 2]])}, "below 20"),
        ({"subsets": np.array([0, 2])}, r"arrays \[trial, query\]"),
        ({"subsets": np.array([[0, 1], [2, 2]])}, "duplicate query"),
    ],
)
def test_stability__rejects_invalid_arguments(options: dict, message: str):
    with pytest.raises(UsageError, match=message):
        stability(made(), **options)


def test_stability_and_swap_rates__reject_infinite_values():
    values = made().values.copy()
    values[1, 1] = np.inf
    for function in (stability, swap_rates):
        with pytest.raises(UsageError, match="infinite"):
            function(matrix(values))


# Swap rates


@given(TABLE)
@settings(max_examples=scaled(40))
def test_swap_rates__equal_naive_implementation(values: np.ndarray):
    halves = drawn(len(values), 4).reshape(-1, 2, 2)
    pairs = [(one.tolist(), two.tolist()) for one, two in halves]
    edges = [i / 16 for i in range(7)]
    told = naive.swap_rates(values.tolist(), pairs, edges)
    found = swap_rates(matrix(values), width=1 / 16, bins=7, halves=halves)
    assert found["comparisons"].to_list() == [part.comparisons for part in told]
    assert found["swaps"].to_list() == [part.swaps for part in told]
    assert found["low"].to_list() == [part.low for part in told]
    assert found["high"].to_list() == [part.high for part in told]


def test_swap_rates__worked_example():
    """a leads by 0.3 on the first query and trails by 0.1 on the second."""
    halves = np.array([[[0], [1]], [[1], [0]], [[0], [2]]])
    values = matrix([[0.7, 0.4], [0.2, 0.3], [0.5, 0.5]])
    found = swap_rates(values, width=0.1, bins=4, halves=halves)
    assert found["comparisons"].to_list() == [0, 1, 0, 2]
    assert found["swaps"].to_list() == [0, 1, 0, 1]
    assert found["rate"].to_list() == [
        pytest.approx(r, nan_ok=True) for r in (math.nan, 1, math.nan, 0.5)
    ]
    assert found["high"][3] == math.inf
    assert found["queries"].to_list() == [3] * 4


def test_swap_rates__fall_with_the_difference_of_systems():
    found = swap_rates(made(40, 12), trials=300)
    assert found.height == 21
    assert found["comparisons"].sum() == 300 * 66
    assert found["rate"][0] > 0.35
    assert found["rate"][0] > found["rate"][10]
    assert found["rate"][10] > found["rate"][20]


def test_swap_rates__halves_are_disjoint_and_arguments_validated():
    halves = draw_query_sets(9, 4, 2, 500, 0).reshape(500, 8)
    assert (np.diff(np.sort(halves, axis=1)) > 0).all()
    for options, message in (
        ({"size": 11}, "two sets"),
        ({"halves": np.array([[[0, 1], [1, 2]]])}, "duplicate query"),
        ({"halves": np.array([[0, 1], [1, 2]])}, "trial, 2, query"),
        ({"width": 0.0}, "width must be above 0"),
        ({"bins": 0}, "bins"),
    ):
        with pytest.raises(UsageError, match=message):
            swap_rates(made(), **options)


def test_swap_rates__independent_of_direction():
    assert swap_rates(matrix(made().values, -1)).equals(swap_rates(made()))


def test_stability_frame__complete_without_trials():
    empty = Stability("t", "P", ("a", "b"), np.zeros((2, 2), np.int32), 0, 0, 1)
    assert empty.frame()["share"].is_nan().all()

"""Prediction-powered means and differences, and the simulation of their width and coverage."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

import irmeta
from irmeta.stats import corrected_differences, corrected_means, correction_gain
from irmeta.stats.prediction_powered import METHODS, Method, equivalent_queries
from support.judged import JUDGE, judged_matrices, numbered_matrix
from twins import judges as twin
from twins.significance import t_from, variance


@st.composite
def labelled(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Values of the reference on some queries, and of the judge on these and others."""
    n, m, systems = draw(st.integers(3, 6)), draw(st.integers(0, 4)), draw(st.integers(2, 3))
    levels = st.sampled_from([0.0, 0.25, 0.5, 0.625, 1.0])
    human = draw(arrays.arrays(float, (n, systems), elements=levels))
    return human, draw(arrays.arrays(float, (n + m, systems), elements=levels))


@given(labelled(), st.sampled_from(METHODS))
def test_corrected__equal_twin(values: tuple[np.ndarray, np.ndarray], method: Method):
    human, judge = values
    n, systems = human.shape
    means = corrected_means(
        numbered_matrix(human), numbered_matrix(judge), method=method, confidence=0.9
    )
    pairs = corrected_differences(
        numbered_matrix(human), numbered_matrix(judge), method=method, confidence=0.9
    )
    rows = [(row, human[:, i], judge[:, i]) for i, row in enumerate(means.iter_rows(named=True))]
    both = [(i, j) for i in range(systems) for j in range(i + 1, systems)]
    for row, (i, j) in zip(pairs.iter_rows(named=True), both, strict=True):
        assert (row["system_a"], row["system_b"]) == (f"s{i}", f"s{j}")
        rows.append((row, human[:, i] - human[:, j], judge[:, i] - judge[:, j]))
    for row, y, f in rows:
        sides = y.tolist(), f[:n].tolist(), f[n:].tolist()
        estimate, squared, weight = twin.corrected(*sides, method)
        margin = twin.margin(squared, n, 0.9)
        fixed = 1 - n / len(f) if method == "difference" else 1
        alone = 2 * twin.margin(fixed * variance(sides[0]) / n, n, 0.9)
        close = pytest.approx((estimate, weight, 2 * margin, alone), abs=1e-9)
        found = tuple(row[k] for k in ("estimate", "weight", "width", "width_reference"))
        assert found == close
        assert row["low"] == pytest.approx(estimate - margin, abs=1e-9)
        assert (row["labelled"], row["unlabelled"]) == (n, len(f) - n)
        if "p" in row and squared > 1e-12:
            assert row["p"] == pytest.approx(t_from(estimate, squared, n - 1)[1], abs=1e-9)
        if margin > 1e-9 and alone > 1e-9 and method != "difference":
            number = row["equivalent"]
            if 2 < number < 1e6:
                ours = 2 * stats.t.ppf(0.95, number - 1) * math.sqrt(variance(sides[0]) / number)
                assert ours == pytest.approx(2 * margin, rel=1e-4)


def test_corrected_differences__equal_differences_cannot_be_tested():
    """Two systems differ by .5 on every query by both: no spread, so no t."""
    values = np.tile([0.1, 0.6, 0.1], (9, 1)) + np.linspace(0, 0.3, 9)[:, None]
    found = corrected_differences(numbered_matrix(values[:5]), numbered_matrix(values))
    assert found["p"].is_nan().to_list() == [True, False, True]
    assert found["p"][1] == 1


def made(judge_noise: float, queries: int = 30) -> tuple[irmeta.Matrix, irmeta.Matrix]:
    rng = np.random.default_rng(4)
    human = rng.random((queries, 4))
    return numbered_matrix(human), numbered_matrix(
        human + judge_noise * rng.random((queries, 4)) + 0.2
    )


def test_corrected_means__perfect_judge_and_judge_without_information():
    human, lenient = made(0.0)
    few = human.only_queries(np.arange(10))
    found = corrected_means(few, lenient, method="difference")
    assert found["estimate"].to_list() == pytest.approx(human.means.tolist())
    assert found["width"].to_list() == pytest.approx([0] * 4, abs=1e-9)
    constant = numbered_matrix(np.full((30, 4), 0.5))
    found = corrected_means(few, constant)
    assert found["estimate"].to_list() == pytest.approx(few.means.tolist())
    assert found["weight"].to_list() == [0.0] * 4
    assert found["equivalent"].to_list() == pytest.approx([10.0] * 4)
    assert corrected_means(human, lenient)["unlabelled"].to_list() == [0] * 4


def test_equivalent__takes_the_quantile_of_its_own_number():
    """15 queries as wide as 19 alone: t has 18 degrees of freedom there, and not 14."""
    widths = [2 * stats.t.ppf(0.975, n - 1) / math.sqrt(n) for n in (15, 19)]
    found = equivalent_queries(15, *(np.array([one]) for one in widths), 0.95)
    assert found == pytest.approx(19, rel=1e-6)
    fixed = [2 * stats.t.ppf(0.975, n - 1) * math.sqrt(1 / n - 1 / 53) for n in (15, 40)]
    found = equivalent_queries(15, *(np.array([one]) for one in fixed), 0.95, 53)
    assert found == pytest.approx(40, rel=1e-6)
    nothing = equivalent_queries(15, np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.95, 53)
    assert nothing.tolist() == pytest.approx([math.nan, 53], nan_ok=True)


def test_corrected_means__other_direction_and_other_order_of_systems():
    human, judge = made(0.5)
    few = human.only_queries(np.arange(3, 12))
    found = corrected_means(few, judge.only_systems(np.array([2, 0, 3, 1])))
    assert found.equals(corrected_means(few, judge))
    turned = [
        irmeta.Matrix(one.values, one.queries, one.systems, "M", "t", -1) for one in (few, judge)
    ]
    other = corrected_means(turned[0], turned[1])
    for name in ("estimate", "low", "high", "mean_judge"):
        assert other[name].to_list() == pytest.approx(found[name].to_list())


def test_corrected_means__wrong_arguments():
    human, judge = made(0.5)
    wrong: Any = "ppi+"
    with pytest.raises(irmeta.UsageError, match=r"Did you mean 'ppi(\+\+)?'"):
        corrected_means(human, judge, method=wrong)
    with pytest.raises(irmeta.UsageError, match="2 queries have values by both"):
        corrected_means(human.only_queries(np.arange(2)), judge)
    with pytest.raises(irmeta.UsageError, match="no value of query q20"):
        corrected_means(human, judge.only_queries(np.arange(20)))


def naive_gain(
    human: np.ndarray, judge: np.ndarray, size: int, method: str, draws: int
) -> tuple[float, float, list[float]]:
    """Mean width, mean width of the reference alone, and coverage of each system."""
    number, systems = human.shape
    rng = np.random.default_rng(0)
    sampled = rng.integers(0, number, (draws, number))
    fixed = rng.permuted(np.tile(np.arange(number), (draws, 1)), axis=1)
    widths, alone, covered = [], [], [0] * systems
    for order in fixed if method == "difference" else sampled:
        for s in range(systems):
            y, f = human[order[:size], s].tolist(), judge[order[:size], s].tolist()
            estimate, squared, _ = twin.corrected(y, f, judge[order[size:], s].tolist(), method)
            margin = twin.margin(squared, size, 0.95)
            share = 1 - size / number if method == "difference" else 1
            widths.append(2 * margin)
            alone.append(2 * twin.margin(share * variance(y) / size, size, 0.95))
            covered[s] += abs(estimate - human[:, s].mean()) <= margin
    return float(np.mean(widths)), float(np.mean(alone)), [one / draws for one in covered]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("method", METHODS)
def test_correction_gain__equals_twin(method: Method):
    human, judge = made(0.5, 12)
    found = correction_gain(
        human, {"j": judge}, [5, 11], targets=["systems"], methods=[method], draws=20
    )
    assert found["labelled"].to_list() == [5, 11]
    for row in found.iter_rows(named=True):
        width, alone, covered = naive_gain(human.values, judge.values, row["labelled"], method, 20)
        assert row["width"] == pytest.approx(width)
        assert row["width_reference"] == pytest.approx(alone)
        assert row["coverage"] == pytest.approx(np.mean(covered))
        assert row["least_coverage"] == min(covered)
        assert row["least_a"] == f"s{covered.index(min(covered))}"


def test_correction_gain__pairs_are_systems_of_differences():
    human, judge = made(0.5, 12)
    first, second = np.triu_indices(4, 1)
    names = tuple(f"{i}{j}" for i, j in zip(first, second, strict=True))
    flat = [
        irmeta.Matrix(one.values[:, first] - one.values[:, second], one.queries, names)
        for one in (human, judge)
    ]
    pairs = correction_gain(human, {"j": judge}, [5], targets=["pairs"], pair_draws=30)
    same = correction_gain(flat[0], {"j": flat[1]}, [5], targets=["systems"], draws=30)
    assert pairs.drop("target", "least_a", "least_b").equals(
        same.drop("target", "least_a", "least_b")
    )
    assert (pairs["least_a"][0][1] + pairs["least_b"][0][1]) == same["least_a"][0]


def test_correction_gain__perfect_judge_and_judges_share_draws():
    human, judge = made(0.5)
    both = correction_gain(human, {"b": judge, "a": human}, [10], draws=50, pair_draws=20)
    assert both["judge"].unique(maintain_order=True).to_list() == ["b", "a"]
    assert both.filter(judge="b").equals(
        correction_gain(human, {"b": judge}, [10], draws=50, pair_draws=20)
    )
    perfect = both.filter(judge="a", method="difference", target="systems").row(0, named=True)
    assert (perfect["width"], perfect["coverage"], perfect["equivalent"]) == (0, 1, 30)
    assert perfect["width_all"] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": []}, "from 3 to 29"),
        ({"sizes": [30]}, "from 3 to 29"),
        ({"sizes": [2]}, "from 3 to 29"),
        ({"targets": ["pair"]}, "pairs"),
        ({"methods": ["pp"]}, "ppi"),
        ({"draws": 0}, "draws"),
        ({"confidence": 1}, "confidence"),
    ],
)
def test_correction_gain__wrong_arguments(arguments: dict[str, Any], message: str):
    human, judge = made(0.5)
    given: dict[str, Any] = {"sizes": [10]} | arguments
    with pytest.raises(irmeta.UsageError, match=message):
        correction_gain(human, {"j": judge}, **given)


@pytest.mark.real
def test_correction_gain__of_a_real_judge(shared: Path):
    values = judged_matrices(shared)
    found = correction_gain(
        values["reference"], {JUDGE: values[JUDGE]}, [15, 20, 25, 30], draws=4000, methods=["ppi++"]
    )
    systems = found.filter(target="systems")
    expected = [(0.234, 0.191), (0.199, 0.168), (0.176, 0.153)]
    for (alone, width), row in zip(expected, systems.iter_rows(named=True), strict=False):
        assert row["width_reference"] == pytest.approx(alone, abs=0.0015)
        assert row["width"] == pytest.approx(width, abs=0.0015)
        assert row["width_all"] == pytest.approx(0.120, abs=5e-4)
    coverage = systems["coverage"].to_list()
    assert coverage[0] == pytest.approx(0.935, abs=0.005)
    assert coverage[3] == pytest.approx(0.948, abs=0.005)
    assert all(0.93 <= one <= 0.97 for one in found["coverage"])
    assert not any(math.isnan(one) for one in found["least_coverage"])

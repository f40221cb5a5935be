"""Bias of judges: residuals of systems and groups after shift and slope of the scale."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import irmeta
from irmeta.stats import judge_bias
from support.judged import JUDGE, judged_matrices, numbered_matrix
from twins import judges as twin
from twins.significance import holm


def made(queries: int = 30, systems: int = 8, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    spread = rng.normal(size=(queries, 1)) + 2 * rng.normal(size=systems)
    return spread + rng.normal(size=(queries, systems))


SHAPES = st.tuples(st.integers(2, 7), st.integers(3, 6))
LEVELS = st.sampled_from([0.0, 0.25, 0.5, 0.625, 1.0])


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    shape = draw(SHAPES)
    values = arrays.arrays(float, shape, elements=LEVELS)
    return draw(values), draw(values)


@given(two_sides(), st.sampled_from([0.8, 0.95]))
def test_judge_bias__equals_twin(sides: tuple[np.ndarray, np.ndarray], confidence: float):
    human, judge = sides
    found = judge_bias(numbered_matrix(human), numbered_matrix(judge), confidence=confidence)
    shifts = (judge.mean(axis=1) - human.mean(axis=1)).tolist()
    shift, low, high, _ = twin.tested(shifts, confidence)
    close = pytest.approx((shift, low, high), abs=1e-9)
    assert (found.shift, found.shift_low, found.shift_high) == close
    if np.ptp(np.round(human.mean(axis=0), 12)) == 0:
        assert math.isnan(found.slope)
        assert found.systems()["residual"].is_nan().all()
        return
    slopes, residuals = twin.contributions(human.tolist(), judge.tolist())
    assert found.slope == pytest.approx(sum(slopes) / len(slopes), abs=1e-5)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-5)
    # The twin's finite differences are rounded: p and limits are compared by our contributions.
    expected = [twin.tested(list(c), confidence) for c in found.residuals.T.tolist()]
    adjusted = holm([row[3] for row in expected])
    systems = found.systems().sort("system")
    varied = [abs(one[0]) + abs(one[2] - one[1]) > 1e-9 for one in expected]
    for row, one, p, is_varied in zip(systems.to_dicts(), expected, adjusted, varied, strict=True):
        if is_varied:  # p of residuals that are all 0 is that of rounding errors
            values = [row[name] for name in ("residual", "low", "high", "p")]
            assert values == pytest.approx(one, abs=1e-6)
        if all(varied):
            assert row["p_adjusted"] == pytest.approx(p, abs=1e-6)
            assert row["flagged"] == (row["p_adjusted"] <= round(1 - confidence, 12))


def test_groups__equal_twin():
    human, judge = made(seed=2), made(seed=3)
    found = judge_bias(numbered_matrix(human), numbered_matrix(judge))
    groups = {"s0": "a", "s1": "b", "s2": "a", "s3": None, "s4": "b", "s5": "b"}
    frame = found.groups(groups)
    assert frame.select("group", "systems").rows() == [("a", 2), ("b", 3)]
    expected = []
    for name in "ab":
        members = [groups.get(system) == name for system in found.names]
        expected.append(twin.tested(twin.contrast(found.residuals.tolist(), members), 0.95))
    for row, one in zip(frame.iter_rows(named=True), expected, strict=True):
        assert [row[k] for k in ("contrast", "low", "high", "p")] == pytest.approx(one)
    assert frame["p_adjusted"].to_list() == pytest.approx(holm([one[3] for one in expected]))


def test_judge_bias__any_scale_of_the_reference_has_no_residual():
    human = made()
    found = judge_bias(numbered_matrix(human), numbered_matrix(0.25 - 0.5 * (1 - human)))
    assert (round(found.slope, 12), found.systems()["flagged"].sum()) == (0.5, 0)
    assert found.systems()["residual"].abs().max() == 0
    shifted = judge_bias(
        numbered_matrix(human), numbered_matrix(0.25 - 0.5 * (1 - human)), slope=False
    )
    assert shifted.systems()["flagged"].sum() > 0


def test_judge_bias__judge_equal_to_the_reference_and_constant_judge():
    human = numbered_matrix(made())
    for judge, slope in ((human, 1.0), (numbered_matrix(np.full((30, 8), 0.5)), 0.0)):
        found = judge_bias(human, judge)
        assert (found.slope, found.slope_low, found.slope_high) == (slope, slope, slope)
        assert found.systems()["p"].to_list() == [1.0] * 8
    assert "0 flagged systems" in repr(found)


@pytest.mark.parametrize("direction", [1, -1])
def test_judge_bias__favoured_group_is_named(direction: Literal[1, -1]):
    human = made(systems=20)
    judge = human + np.random.default_rng(5).normal(scale=0.3, size=human.shape)
    judge[:, :5] += direction * 0.8
    found = judge_bias(numbered_matrix(human, direction), numbered_matrix(judge, direction))
    groups = found.groups({f"s{i}": "llm" if i < 5 else "bm25" for i in range(10)})
    llm = groups.row(by_predicate=pl.col("group") == "llm", named=True)
    assert llm["flagged"]
    assert 0.4 < llm["low"] < llm["high"] < 1.1
    flagged = found.systems().filter("flagged")
    assert set(flagged.filter(pl.col("residual") > 0)["system"]) == {f"s{i}" for i in range(5)}
    best = int((direction * human.mean(axis=0)).argmax())
    assert found.systems()["system"][0] == f"s{best}"
    assert found.shift == pytest.approx(float((judge - human).mean()))


@pytest.mark.exhaustive
def test_groups__systems_with_a_common_part_are_rejected_no_oftener_than_the_level():
    rng, rejected = np.random.default_rng(1), 0
    groups = {f"s{i}": "a" for i in range(5)}
    for _ in range(400):
        human = rng.normal(size=(25, 20))
        noise = rng.normal(size=(25, 20))
        noise[:, :5] = noise[:, :1]  # one retriever: the judge errs alike for all of them
        found = judge_bias(numbered_matrix(human), numbered_matrix(human + noise)).groups(groups)
        rejected += int(found["flagged"].sum())
    assert 0.025 < rejected / 400 < 0.08


def test_judge_bias__too_few_systems_or_queries():
    two = numbered_matrix(made(systems=2))
    assert judge_bias(two, two).systems()["residual"].is_nan().all()
    assert judge_bias(two, two).shift == 0
    one = judge_bias(numbered_matrix(made(queries=1)), numbered_matrix(made(queries=1, seed=2)))
    assert math.isnan(one.shift_low)
    assert one.systems()["low"].is_nan().all()
    assert not one.systems()["flagged"].any()
    everyone = judge_bias(numbered_matrix(made()), numbered_matrix(made(seed=2))).groups(
        dict.fromkeys(one.names, "a")
    )
    assert math.isnan(everyone["contrast"][0])


def test_judge_bias__queries_with_undefined_values_are_excluded():
    human, judge = made(), made(seed=2)
    human[3, 1], judge[4, 2] = math.nan, math.inf
    rest = [i for i in range(30) if i not in (3, 4)]
    found = judge_bias(numbered_matrix(human), numbered_matrix(judge)).systems()
    assert found.equals(
        judge_bias(numbered_matrix(human[rest]), numbered_matrix(judge[rest])).systems()
    )


def test_judge_bias__refuses_what_is_missing():
    human = numbered_matrix(made())
    with pytest.raises(irmeta.UsageError, match="no value of query q0"):
        judge_bias(human, human.only_queries(np.arange(1, 30)))
    with pytest.raises(irmeta.UsageError, match="no value of system s7"):
        judge_bias(human, human.only_systems(np.arange(7)))
    with pytest.raises(irmeta.UsageError, match="differ in which values are better"):
        judge_bias(human, numbered_matrix(made(), -1))
    with pytest.raises(irmeta.UsageError, match="no system 's9'"):
        judge_bias(human, human).groups({"s9": "a"})


@pytest.mark.real
def test_judge_bias__of_a_real_judge_with_a_narrow_scale(shared: Path):
    """With the shift alone, 26 systems of one judge are flagged, with the slope none."""
    values = judged_matrices(shared)
    counts = {}
    for name, judge in values.items():
        found = judge_bias(values["reference"], judge)
        alone = judge_bias(values["reference"], judge, slope=False)
        counts[name] = [int(one.systems()["flagged"].sum()) for one in (alone, found)]
    assert counts["gpt4o-nuggets-vital-strict"] == [26, 0]
    assert max(counts.values()) == [26, 0]
    assert counts[JUDGE] == counts["reference"] == [0, 0]

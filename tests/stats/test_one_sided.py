"""One-sided tests against a baseline: scipy, a twin of max-t, limits, verdicts and refusals."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import irmeta
from irmeta.errors import UsageError
from irmeta.policies import Alternative
from irmeta.results.matrix import Matrix
from irmeta.stats.baselines import ONE_SIDED
from irmeta.stats.pairs import BASELINE_TESTS, TESTS, pairwise
from support.examples import scaled
from support.judged import numbered_matrix

SIDES: tuple[Alternative, ...] = ("greater", "less")
GRID = st.integers(0, 8).map(lambda n: n / 8)


@pytest.fixture
def some() -> Matrix:
    values = np.random.default_rng(3).random((20, 5)) + np.linspace(0, 0.6, 5)
    values[3, 1] = values[7, 2] = np.nan
    return numbered_matrix(values)


def of_scipy(test: str, a: np.ndarray, b: np.ndarray, side: Alternative) -> float:
    known = ~(np.isnan(a) | np.isnan(b))
    a, b = a[known], b[known]
    if test == "t":
        return stats.ttest_rel(a, b, alternative=side).pvalue
    if test == "t-unpaired":
        return stats.ttest_ind(a, b, alternative=side).pvalue
    if test == "wilcoxon":
        return stats.wilcoxon(a, b, alternative=side).pvalue
    wins, losses = int((a > b).sum()), int((a < b).sum())
    return stats.binomtest(wins, wins + losses, alternative=side).pvalue


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("test", ["t", "t-unpaired", "wilcoxon", "sign"])
@pytest.mark.parametrize("base", [0, 2, 4])
@pytest.mark.parametrize("steps", [0, 4])
@pytest.mark.parametrize("queries", [10, 20])
def test_pairwise__one_sided_equals_scipy(
    some: Matrix, test: str, side: Alternative, base: int, steps: int, queries: int
):
    values = some.values[:queries]
    values = np.round(values * steps) / steps if steps else values  # ties and zeros
    found = pairwise(numbered_matrix(values), test, baseline=f"s{base}", alternative=side)
    for system in set(range(5)) - {base}:
        right = of_scipy(test, values[:, system], values[:, base], side)
        np.testing.assert_allclose(found.p_adjusted[system, base], right, rtol=1e-10)
        assert found.p_adjusted[base, system] == found.p_adjusted[system, base]


@pytest.mark.parametrize("side", SIDES)
def test_pairwise__one_sided_permutation_equals_all_flips(side: Alternative):
    values = np.random.default_rng(1).integers(0, 5, (9, 3)) / 4
    found = pairwise(numbered_matrix(values), "permutation", baseline="s1", alternative=side)
    for system in (0, 2):
        gains = (values[:, system] - values[:, 1]) * (1 if side == "greater" else -1)
        sums = [np.dot(one, gains) for one in product((1, -1), repeat=9)]
        right = np.mean([one >= gains.sum() - 1e-9 for one in sums])
        assert found.p_adjusted[system, 1] == pytest.approx(right, abs=1e-12)


@pytest.mark.parametrize("side", SIDES)
def test_pairwise__random_flips_approach_all(side: Alternative):
    values = np.random.default_rng(5).random((17, 4)) + np.arange(4) / 10
    for test in ("permutation", "max-t"):
        exact, drawn = (
            pairwise(
                numbered_matrix(values), test, baseline="s1", alternative=side, resamples=number
            ).p_adjusted
            for number in (2**17, 20_000)
        )
        np.testing.assert_allclose(drawn[:, 1], exact[:, 1], atol=0.012)


@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 4)), elements=GRID),
    st.sampled_from(SIDES),
)
@settings(max_examples=scaled(40), deadline=None)
def test_pairwise__one_sided_max_t_equals_naive_maxima(values: np.ndarray, side: Alternative):
    sign = 1 if side == "greater" else -1
    found = pairwise(numbered_matrix(values), "max-t", baseline="s1", alternative=side)
    gains = [[sign * (row[i] - row[1]) for row in values.tolist()] for i in range(values.shape[1])]
    size = [sum(g * g for g in one) ** 0.5 for one in gains]
    live = [i for i, one in enumerate(size) if one > 0]

    def t(i: int, flip: tuple[int, ...]) -> float:
        return sum(f * g for f, g in zip(flip, gains[i], strict=True)) / size[i]

    flips = list(product((1, -1), repeat=len(values)))
    largest = [max(t(i, flip) for i in live) for flip in flips] if live else []
    for i in live:
        own = t(i, flips[0])
        right = sum(one >= own - 1e-9 for one in largest) / len(flips)
        assert found.p_adjusted[i, 1] == pytest.approx(right, abs=1e-12)
    assert all(found.p_adjusted[i, 1] == 1 for i in range(len(gains)) if i not in live)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("test", ["t", "t-unpaired"])
def test_pairwise__one_sided_limits_of_t_are_those_of_scipy(
    some: Matrix, test: str, side: Alternative
):
    found = pairwise(some, test, baseline="s2", alternative=side, confidence=0.9)
    assert found.low is not None
    assert found.high is not None
    a, b = some.values[:, 4], some.values[:, 2]
    known = ~np.isnan(b)
    of = stats.ttest_rel if test == "t" else stats.ttest_ind
    right = of(a[known], b[known], alternative=side).confidence_interval(0.9)
    np.testing.assert_allclose((found.low[4, 2], found.high[4, 2]), right)
    np.testing.assert_allclose((-found.high[2, 4], -found.low[2, 4]), right)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize(
    ("test", "correction"), [("t", "none"), ("t", "bonferroni"), ("max-t", "none")]
)
def test_pairwise__one_sided_limit_excludes_0_where_p_is_small(
    some: Matrix, test: str, correction: str, side: Alternative
):
    found = pairwise(some, test, baseline="s2", alternative=side, correction=correction)
    assert found.low is not None
    assert found.high is not None
    others = [0, 1, 3, 4]
    limit = found.low[others, 2] if side == "greater" else -found.high[others, 2]
    assert ((limit > 0) == (found.p_adjusted[others, 2] <= 0.05)).all()
    assert (limit > 0).any()


@pytest.mark.parametrize("test", ONE_SIDED)
@pytest.mark.parametrize("side", SIDES)
def test_pairwise__one_sided_system_equal_to_the_baseline_has_p_1(test: str, side: Alternative):
    values = np.random.default_rng(0).random((15, 3))
    values[:, 2] = values[:, 0]
    p = pairwise(numbered_matrix(values), test, baseline="s0", alternative=side).p_adjusted[2, 0]
    assert p == (0.5 if test == "t-unpaired" else 1)  # which ignores that queries are the same


@pytest.mark.parametrize("test", sorted({*TESTS, *BASELINE_TESTS} - {*ONE_SIDED}))
def test_pairwise__tests_without_one_sided_form_are_refused(some: Matrix, test: str):
    with pytest.raises(UsageError, match=f"{test} has no one-sided form: use t, t-unpaired"):
        pairwise(some, test, baseline="s0", alternative="less")


def test_pairwise__one_sided_needs_a_baseline(some: Matrix):
    with pytest.raises(UsageError, match="needs a baseline"):
        pairwise(some, alternative="less")
    with pytest.raises(UsageError, match="greater"):
        pairwise(some, baseline="s0", alternative="greatr")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("side", "direction", "shown"),
    [("greater", 1, "better"), ("less", 1, "worse"), ("greater", -1, "worse")],
)
def test_compare__one_sided_verdicts_follow_the_direction(
    some: Matrix, side: Alternative, direction: int, shown: str
):
    one = numbered_matrix(some.values, direction=direction)
    (found,) = irmeta.compare([one], baseline="s2", alternative=side)
    verdicts = dict(found.systems.select("system", "verdict").iter_rows())
    tested = pairwise(one, baseline="s2", alternative=side, correction="holm")
    for place, system in enumerate(one.systems):
        is_shown = tested.p_adjusted[place, 2] <= 0.05
        expected = "baseline" if place == 2 else shown if is_shown else f"not shown {shown}"
        assert verdicts[system] == expected
    number = list(verdicts.values()).count(shown)
    share = f"{number} of 4 systems ({25 * number:.1f}%)"
    assert number
    assert f"{share} significantly {shown} at 0.05" in repr(found)
    assert found.pairs.frame()["alternative"].unique().to_list() == [side]
    assert f"t one-sided ({side}), holm" in found.pairs.test_text
    assert found.settings["alternative"] == side
    other = "worse" if shown == "better" else "better"
    text = irmeta.compare([one], baseline="s2", alternative=side).made_text()
    assert f"significantly {shown} than s2" in text
    assert other not in text
    assert "confidence limits of one side" in str(found.show().to_dict())


def test_gate__level_with_a_test_that_shows_no_worse_is_refused(some: Matrix):
    with pytest.raises(UsageError, match="one-sided"):
        irmeta.compare([some], baseline="s2", alternative="greater").gate(1, significant=True)
    found = irmeta.compare([some], baseline="s2", alternative="less").gate(
        10, significant=True, lost=9
    )
    worse = (
        pairwise(some, baseline="s2", alternative="less", correction="holm").p_adjusted[:, 2]
        <= 0.05
    )
    assert found.rows.filter(~pl.col("passed"))["system"].to_list() == [
        system for system, is_worse in zip(some.systems, worse, strict=True) if is_worse
    ]


def test_compare_command__one_sided(run, tmp_path: Path):
    table = tmp_path / "ap.csv"
    values = np.random.default_rng(3).random((20, 3)) + np.linspace(0, 0.6, 3)
    pl.DataFrame(values, ["a", "b", "c"]).with_columns(
        query=pl.Series([f"q{i}" for i in range(20)])
    ).select("query", "a", "b", "c").write_csv(table)
    given = ("compare", table, "--baseline", "b", "--alternative", "greater")
    done = run(*given, "--format", "csv")
    assert pl.read_csv(done.out.encode())["alternative"].unique().to_list() == ["greater"]
    assert "1 of 2 systems (50.0%) significantly better at 0.05" in done.err
    assert run("compare", table, "--alternative", "less").status == 2

"""Relative differences from a baseline: a twin of Fieller's interval, coverage, reasons, output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

import irmeta
from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats.baselines import relative_differences


def by_hand(own: list[float], base: list[float], confidence: float) -> list[float]:
    """Find the ratios whose paired t-test of ``own - R base`` has p = 1 - confidence."""
    mid = sum(own) / sum(base)

    def excess(ratio: float) -> float:
        found = stats.ttest_1samp([a - ratio * b for a, b in zip(own, base, strict=True)], 0.0)
        return float(found.pvalue) - (1 - confidence)

    return [
        float(optimize.brentq(excess, *ends, xtol=1e-13))
        for ends in ((mid - 50.0, mid), (mid, mid + 50.0))
    ]


@pytest.mark.parametrize("confidence", [0.8, 0.95])
@pytest.mark.parametrize("seed", range(8))
def test_relative_differences__are_the_ratios_that_a_t_test_accepts(seed: int, confidence: float):
    values = np.random.default_rng(seed).random((12, 3)) + 0.4
    values[2, 0] = np.nan
    found = relative_differences(values, 1, confidence)
    for place in (0, 2):
        known = ~np.isnan(values[:, place])
        own, base = values[known, place].tolist(), values[known, 1].tolist()
        row = found.row(place, named=True)
        assert row["relative"] == pytest.approx(sum(own) / sum(base) - 1)
        limits = [row["relative_low"] + 1, row["relative_high"] + 1]
        np.testing.assert_allclose(limits, by_hand(own, base, confidence), rtol=1e-9)
        assert row["relative_interval"] == "uncorrected"
    assert found.row(1) == (None,) * 4


def test_relative_differences__is_covered_at_its_level():
    rng, trials = np.random.default_rng(7), 2_000
    shared = rng.normal(1.0, 0.4, (8, trials))
    own, base = (shared * size + rng.normal(0, 0.2, shared.shape) for size in (1.3, 1.0))
    covered = 0
    for i in range(trials):
        row = relative_differences(np.stack([own[:, i], base[:, i]], axis=1), 1, 0.9).row(0)
        covered += row[1] <= 0.3 <= row[2]
    assert abs(covered / trials - 0.9) < 4 * (0.9 * 0.1 / trials) ** 0.5


@pytest.mark.parametrize(
    ("own", "base", "reason"),
    [
        ([1.0, 2.0], [-1.0, -2.0], "the baseline's mean is not above 0"),
        ([0.0, 0.0], [0.0, 0.0], "the baseline's mean is not above 0"),
        ([0.5], [0.25], "one query"),
        ([np.nan, 1.0], [1.0, np.nan], "no shared query"),
        ([0.2, 0.4, 0.6], [0.1, 0.2, 0.3], "no spread"),
        ([0.5, 0.4, 0.3], [0.9, 0.0, 0.0], "the interval of the baseline's mean holds 0"),
    ],
)
def test_relative_differences__undefined_interval_has_a_reason(own, base, reason: str):
    row = relative_differences(np.array([own, base]).T, 1, 0.95).row(0)
    assert row[3] == f"undefined: {reason}"
    assert np.isnan(row[1])
    assert np.isnan(row[2])


def test_relative_differences__interval_is_defined_where_the_baseline_differs_from_0():
    rng = np.random.default_rng(0)
    for _ in range(200):
        own, base = rng.random(5), rng.random(5) ** 4
        limits = relative_differences(np.stack([own, base], 1), 1, 0.95)["relative_low"]
        low = base.mean() - stats.t.ppf(0.975, 4) * base.std(ddof=1) / 5**0.5
        assert limits.is_finite()[0] == (low > 0)


def test_relative_differences__equal_system_gains_nothing():
    values = np.random.default_rng(0).random((5, 1))[:, [0, 0]]
    assert relative_differences(values, 1, 0.95).row(0) == (0.0, 0.0, 0.0, "uncorrected")


@pytest.fixture
def some() -> Matrix:
    values = np.random.default_rng(3).random((20, 3)) + np.linspace(0, 0.6, 3)
    return Matrix(values, tuple(f"q{i}" for i in range(20)), ("a", "b", "c"), "AP")


def test_compare__relative_differences_beside_the_tests(some: Matrix):
    (found,) = irmeta.compare([some], baseline="b", relative=True, alpha=0.1)
    right = relative_differences(some.values, 1, 0.9)
    shown = found.systems.sort("system").select(right.columns)
    assert shown.equals(right)
    assert "90% intervals by Fieller's method" in found.relative_text
    (plain,) = irmeta.compare([some], baseline="b")
    assert "relative" not in plain.systems.columns
    assert not plain.relative_text
    with pytest.raises(UsageError, match="needs a baseline"):
        irmeta.compare([some], relative=True)


def test_compare_command__relative(run, tmp_path: Path, some: Matrix):
    table = tmp_path / "ap.csv"
    columns = dict(zip(some.systems, some.values.T, strict=True))
    pl.DataFrame({"query": list(some.queries), **columns}).write_csv(table)
    given = ("compare", table, "--baseline", "b", "--relative")
    done = run(*given, "--format", "json")
    (row,) = [one for one in json.loads(done.out)["tables"]["systems"] if one["system"] == "c"]
    right = relative_differences(some.values, 1, 0.95).row(2, named=True)
    assert row["relative_high"] == pytest.approx(right["relative_high"])
    assert "mean of b - 1 over their shared queries" in done.err
    assert "Fieller's method" in run(*given, "--format", "table").out
    for other in (("--table", "pairs"), ("--format", "latex")):
        assert run(*given, *other).status == 2
    assert run("compare", table, "--relative").status == 2

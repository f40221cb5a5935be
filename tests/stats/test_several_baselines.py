"""Tests of all systems against several baselines, corrected together."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

import irmeta
from irmeta.errors import UsageError

BASELINES = ["b", "d"]


def drawn(missing: int = 0) -> irmeta.Matrix:
    rng = np.random.default_rng(3)
    values = rng.random((12, 5)) + np.array([0.0, 0.3, 0.8, 0.2, 0.5])
    values.ravel()[rng.choice(values.size, missing, replace=False)] = np.nan
    return irmeta.Matrix(values, tuple(map(str, range(12))), tuple("abcde"), "RR")


def p_of(matrix: irmeta.Matrix, system: str, baseline: str, alternative: str) -> float:
    mine, other = (matrix.values[:, matrix.systems.index(one)] for one in (system, baseline))
    both = ~np.isnan(mine) & ~np.isnan(other)
    return scipy_stats.ttest_rel(mine[both], other[both], alternative=alternative).pvalue


def plain_holm(p: dict[object, float]) -> dict[object, float]:
    """Multiply the k-th smallest of m p-values by m - k + 1, and never let them fall."""
    out, last = {}, 0.0
    for place, (key, value) in enumerate(sorted(p.items(), key=lambda item: item[1])):
        last = max(last, min(1.0, value * (len(p) - place)))
        out[key] = last
    return out


@pytest.mark.parametrize("missing", [0, 9])
def test_two_sided__holm_counts_each_pair_once(missing: int):
    matrix = drawn(missing)
    pairs = [pair for pair in combinations(matrix.systems, 2) if set(pair) & set(BASELINES)]
    assert len(pairs) == 7
    expected = plain_holm({frozenset(pair): p_of(matrix, *pair, "two-sided") for pair in pairs})
    found = irmeta.stats.against_baselines(matrix, BASELINES, correction="holm")
    for one in found:
        assert one.beside == tuple(name for name in BASELINES if name != one.baseline)
        for system in set(matrix.systems) - {one.baseline}:
            p = one.p_adjusted[matrix.systems.index(system), matrix.systems.index(one.baseline)]
            assert p == pytest.approx(expected[frozenset((system, one.baseline))], abs=1e-9)


def test_one_sided__both_directions_of_two_baselines_count():
    matrix = drawn()
    tests = [(a, b) for b in BASELINES for a in matrix.systems if a != b]
    expected = plain_holm({pair: p_of(matrix, *pair, "greater") for pair in tests})
    found = irmeta.stats.against_baselines(
        matrix, BASELINES, correction="holm", alternative="greater"
    )
    for one in found:
        column = one.p_adjusted[:, matrix.systems.index(one.baseline)]
        for system in set(matrix.systems) - {one.baseline}:
            p = column[matrix.systems.index(system)]
            assert p == pytest.approx(expected[system, one.baseline], abs=1e-9)


def test_bonferroni__intervals_agree_with_p():
    found = irmeta.stats.against_baselines(drawn(), BASELINES, correction="bonferroni")
    for one in found:
        assert one.interval == "simultaneous"
        excluded = (one.low > 0) | (one.high < 0)
        tested = one.upper
        assert (excluded[tested] == (one.p_adjusted[tested] <= 0.05)).all()
        assert excluded[tested].any()
        assert not excluded[tested].all()


def test_one_baseline_equals_pairwise_and_order_does_not_matter():
    (alone,) = irmeta.stats.against_baselines(drawn(), ["b"], "wilcoxon", correction="holm")
    same = irmeta.stats.pairwise(drawn(), "wilcoxon", correction="holm", baseline="b")
    np.testing.assert_array_equal(alone.p_adjusted, same.p_adjusted)
    b, d = irmeta.stats.against_baselines(drawn(), BASELINES, correction="holm")
    again, first = irmeta.stats.against_baselines(drawn(), BASELINES[::-1], correction="holm")
    for one, other in ((b, first), (d, again)):
        np.testing.assert_array_equal(one.p_adjusted, other.p_adjusted)
    joint = irmeta.stats.against_baselines(drawn(), BASELINES, "hsd")
    np.testing.assert_array_equal(
        joint[1].p_adjusted, irmeta.stats.pairwise(drawn(), "hsd", baseline="d").p_adjusted
    )


@pytest.mark.parametrize(
    ("baselines", "test", "correction", "said"),
    [
        (["b", "b"], "t", "holm", "each once"),
        ([], "t", "holm", "name one baseline or several"),
        (["b", "x"], "t", "holm", "'x'"),
        (["b", "d"], "max-t", "none", "holds for one baseline"),
        (["b", "d"], "bootstrap", "bonferroni", "holds for one baseline"),
    ],
)
def test_refusals(baselines: list[str], test: str, correction: str, said: str):
    with pytest.raises(UsageError, match=said):
        irmeta.stats.against_baselines(drawn(), baselines, test, correction=correction)


def test_compare__has_a_comparison_for_each_baseline():
    compared = irmeta.compare(drawn(), baseline=BASELINES)
    assert [one.pairs.baseline for one in compared] == BASELINES
    frame = compared.frame()
    assert frame.columns[:4] == ["track", "measure", "baseline", "test"]
    assert frame["baseline"].to_list() == ["b"] * 5 + ["d"] * 5
    assert compared.pair_frame()["baseline"].to_list() == ["b"] * 4 + ["d"] * 4
    text = compared.to_markdown()
    assert "than b (1), d (2)" in text
    assert "2 baselines" in text
    assert "†1" in text or "†2" in text
    assert text.count("| a |") <= 1
    assert "corrected for the pairs with 2 baselines" in compared[0].pairs.family_text
    one_of_several = irmeta.compare(replace(drawn(), measure="RR"), baseline=["b"])
    assert "baseline" not in one_of_several.frame().columns


def test_compare__gate_leaves_baselines_out():
    compared = irmeta.compare(drawn(), baseline=BASELINES)
    rows = compared.gate(1.0).rows
    assert set(rows["system"]) == {"a", "c", "e"}
    assert rows.height == 6
    assert set(rows["baseline"]) == set(BASELINES)


def test_command__baseline_is_repeatable(run, tmp_path: Path):
    file = tmp_path / "mine.csv"
    lines = ["query,a,b,c", "1,.5,.4,.9", "2,.3,.1,.8", "3,.2,.6,.7", "4,.1,.3,.9"]
    file.write_text("\n".join(lines))
    done = run("compare", file, "--baseline", "a", "--baseline", "b", "--format", "json")
    made = json.loads(done.out)
    assert made["provenance"]["compare"]["baseline"] == ["a", "b"]
    assert {row["baseline"] for row in made["tables"]["systems"]} == {"a", "b"}
    out = tmp_path / "out"
    assert run("compare", file, "--baseline", "a", "--baseline", "b", "--out", out).status == 0
    assert {file.name for file in out.glob("*.svg")} == {"mine.a.svg", "mine.b.svg"}
    differences = tmp_path / "by_query.csv"
    refused = run(
        "compare", file, "--baseline", "a", "--baseline", "b", "--differences", differences
    )
    assert refused.status == 2
    assert "one baseline" in refused.err

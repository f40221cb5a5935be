"""Naive statistics of measures: code of paper 2 and worked examples."""

from __future__ import annotations

import json
import math
import random

import pytest
import scipy.stats

from twins import significance as tests
from twins import stats

NAN = math.nan


def close(x, tolerance=1e-12):
    return pytest.approx(x, rel=tolerance, abs=tolerance, nan_ok=True)


@pytest.fixture(scope="module")
def ecir(shared):
    return json.loads((shared / "oracles/case3_innov/out.ecir2023.json").read_text())


def ecir_values(ecir, measure: str) -> tests.Rows:
    systems = [dict(values) for values in ecir[measure].values()]
    return [[values[query] for values in systems] for query in systems[0] if query != "all"]


@pytest.mark.parametrize("measure", ["P", "AP"])
@pytest.mark.parametrize("alpha", ["0", "1.0"])
def test_naive_power__paper_2_publishes_the_unpaired_t_test(ecir, measure, alpha):
    name = f"{measure}_rareness@10,alpha={alpha}"
    values = ecir_values(ecir, name)
    p = [
        stats.unpaired_p(tests.column(values, a), tests.column(values, b))
        for a, b in stats.pairs_of(values)
    ]
    for level in (0.05, 0.01):
        expected = ecir[f"HSD {name},level={level}"]
        every = expected["pair: [tukey2 p, reject, ttest_ind p, ttest_rel p]"]
        assert p == close([row[2] for row in every.values()])
        assert stats.power(p, level).separated == expected["published_pairs"]


def test_naive_power__worked_examples():
    found = stats.power([0.3, 0.05, NAN, 0.01], 0.05)
    assert found == stats.Power(4, 2, 0.5, 0.05, [0.3, 0.05, 0.01])
    assert stats.power([0.3, 0.1], 0.05).median == close(0.2)


def test_naive_coverage__worked_example():
    """Reference: a > b, a > c. New: a > b, c slightly above a, c > b (not in the reference)."""
    reference = [[0.9, 0.1, 0.2], [0.8, 0.1, 0.1], [0.9, 0.2, 0.1], [0.8, 0.0, 0.1]]
    new = [[0.9, 0.1, 1.0], [0.8, 0.1, 0.8], [0.9, 0.2, 0.9], [0.8, 0.0, 0.8]]
    assert stats.discriminated(reference, 1, 0.05, stats.t_p) == {(0, 1), (0, 2)}
    assert stats.discriminated(new, 1, 0.05, stats.t_p) == {(0, 1), (2, 1)}
    assert stats.coverage(reference, new) == (0.5, 0.5)
    assert stats.coverage(reference, reference) == (1.0, 0.0)
    # A reversed significant difference is an inversion, unless lower values are better.
    turned = [[-v for v in row] for row in reference]
    assert stats.coverage(reference, turned) == (0.0, 1.0)
    assert stats.coverage(reference, turned, (1, -1)) == (1.0, 0.0)
    assert all(map(math.isnan, stats.coverage([[0.5, 0.5]] * 3, [[0.1, 0.9]] * 3)))


@pytest.mark.parametrize("fuzziness", [0.05, 0.0])
@pytest.mark.parametrize("alpha", ["0", "1.0"])
@pytest.mark.parametrize("measure", ["P", "AP"])
def test_naive_stability__equals_code_of_paper_2(ecir, measure, alpha, fuzziness):
    name = f"{measure}_rareness@10,alpha={alpha}"
    generator = random.Random(7)
    subsets = [generator.sample(range(8), 4) for _ in range(1000)]
    found = stats.stability(ecir_values(ecir, name), subsets, fuzziness)
    expected = ecir[f"stability {name},seed=7,iter=1000,fuzz={fuzziness},subset=4"]
    assert round(found, 3) == expected


def test_naive_stability__worked_example():
    values = [[1.0, 0.0, 1.0], [0.0, 0.5, 0.0], [1.0, 1.0, 1.0]]
    subsets = [[0], [1], [2], [0, 2]]
    found = stats.trials(values, subsets, 0.0)
    assert found == {
        (0, 1): stats.Trials(2, 1, 1), (0, 2): stats.Trials(0, 0, 4), (1, 2): stats.Trials(1, 2, 1)
    }  # fmt: skip
    assert stats.stability(values, subsets, 0.0) == close((1 / 2 + 0 + 1 / 2) / 3)
    assert stats.stability(values, subsets, 0.0, ties="out") == close(2 / 3)
    assert stats.error_rate(found) == close(2 / 12)
    assert stats.tie_share(found) == close(6 / 12)


def test_naive_trials__fuzziness_is_absolute_or_relative():
    values = [[0.50, 0.40]]
    for fuzziness, relative, ties in ((0.05, False, 0), (0.125, False, 1), (0.125, True, 0),
                                      (0.25, True, 1)):  # fmt: skip
        assert stats.trials(values, [[0]], fuzziness, relative)[0, 1].ties == ties
    # A difference equal to the margin is a tie.
    assert stats.trials([[1.0, 0.75]], [[0]], 0.25, True)[0, 1].ties == 1
    assert stats.trials([[1.0, 0.75]], [[0]], 0.25)[0, 1].ties == 1


def test_naive_swap_rates__worked_example():
    values = [[1.0, 0.5], [0.0, 0.25], [0.5, 0.5], [1.0, 0.0]]
    halves = [([0], [1]), ([1], [3]), ([2], [0]), ([3], [2])]
    found = stats.swap_rates(values, halves, [0.0, 0.25, 0.5])
    counts = [(b.low, b.high, b.comparisons, b.swaps) for b in found]
    assert counts == [(0.0, 0.25, 1, 0), (0.25, 0.5, 1, 1), (0.5, math.inf, 2, 1)]


def test_naive_reordering__worked_example():
    """Old measure: a and b beat c. New search length: c beats both, and b beats a."""
    old = [[0.80, 0.82, 0.10], [0.70, 0.69, 0.20], [0.80, 0.81, 0.15], [0.75, 0.74, 0.10]]
    new = [[20.0, 10.0, 2.0], [22.0, 11.0, 3.0], [21.0, 10.0, 2.0], [19.0, 12.0, 3.0]]
    assert stats.better_counts(old, 1) == [0, 0, 2]
    assert stats.better_counts(new, -1) == [2, 1, 0]
    assert stats.delta_sorts(old, new, (1, -1)) == close([200 / 3, 100 / 3, 200 / 3])
    found, left_out = stats.delta_values(old, new, (1, -1))
    assert left_out == 0
    assert found == close([4 / 82 / 0.7625, 4 / 43 / 0.765, 4 / 10 / 0.1375])
    assert stats.delta_values([[0.0, 1.0]], [[1.0, 3.0]]) == ([3.0], 1)


def test_naive_better__requires_ratio_and_significance():
    sure = [[0.50, 0.46], [0.50, 0.46], [0.51, 0.46]]  # significant, but the ratio is below 1.10
    assert not stats.better(sure, 0, 1, 1)
    assert stats.better(sure, 0, 1, 1, ratio=1.05)
    unsure = [[0.9, 0.1], [0.1, 0.2], [0.5, 0.4]]
    assert not stats.better(unsure, 0, 1, 1)
    assert stats.ratio_in_favour(0.5, 0.0, 1) == math.inf
    assert stats.ratio_in_favour(0.0, 0.0, 1) == 0.0
    # Reciprocals of the means have the same ratio.
    assert stats.ratio_in_favour(2.0, 4.0, -1) == stats.ratio_in_favour(1 / 2, 1 / 4, 1) == 2.0


def test_naive_agreement__worked_example():
    x = [[0.5, 0.25], [0.5, 0.5], [0.0, 1.0], [1.0, 1.0], [1.0, NAN]]
    y = [[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [2.0, 2.0], [1.0, 2.0]]
    found = stats.agreement(x, y)
    assert (found.points, found.agree, found.oppose) == (4, 1, 1)
    assert (found.one_ties, found.both_tie) == (1, 1)
    r = scipy.stats.pearsonr([0.25, 0, -1, 0], [-1, -1, -1, 0]).statistic
    assert found.pearson == close(r)
    assert stats.agreement(x, y, (1, -1)).pearson == close(-r)
    assert stats.unanimity([x, y], [1, 1]) == (1, 4)
    assert stats.unanimity([x, y], [1, -1]) == (1, 4)
    assert stats.unanimity([x, x, x], [1, 1, 1]) == (2, 4)

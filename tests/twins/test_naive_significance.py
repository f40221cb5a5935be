"""Naive significance tests: scipy, statsmodels and reference outputs."""

from __future__ import annotations

import json
import math
from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats

from twins import significance as tests

pytestmark = pytest.mark.exhaustive

NAN = math.nan


def close(x, tolerance=1e-12):
    return pytest.approx(x, rel=tolerance, abs=tolerance, nan_ok=True)


def draw(seed: int, queries: int, systems: int, decimals: int | None = None) -> tests.Rows:
    """Return random values; few decimals make ties."""
    values = np.random.default_rng(seed).beta(2, 4, (queries, systems))
    return (values if decimals is None else values.round(decimals)).tolist()


@pytest.fixture(scope="module")
def oracle(shared):
    return json.loads((shared / "oracles/case3_innov/out.stats_scipy.json").read_text())


@pytest.fixture(scope="module")
def ecir(shared):
    return json.loads((shared / "oracles/case3_innov/out.ecir2023.json").read_text())


def by_query(oracle) -> tests.Rows:
    return [list(row) for row in zip(*oracle["per-topic P@10 matrix"], strict=True)]


def ecir_values(ecir, measure: str) -> tests.Rows:
    systems = [dict(values) for values in ecir[measure].values()]
    return [[values[query] for values in systems] for query in systems[0] if query != "all"]


def test_naive_two_tails__equals_scipy():
    for degrees, t in product([1, 2, 7, 49, 200], [0.0, 1e-9, 0.3, 1.0, 2.5, 10.0, 60.0]):
        expected = 2 * scipy.stats.t.sf(t, degrees)
        if degrees == 1:  # scipy is off by 6e-10 for t near 0
            expected = 2 / math.pi * math.atan2(1, t)
        assert tests.two_tails(t, degrees) == pytest.approx(expected, rel=1e-11)
        assert tests.two_tails(-t, degrees) == tests.two_tails(t, degrees)


def test_naive_paired_tests__equal_reference_output(oracle):
    columns = dict(zip(oracle["systems"], oracle["per-topic P@10 matrix"], strict=True))
    for names, expected in oracle["pairwise"].items():
        a, b = (columns[name] for name in names.split("|"))
        assert tests.paired_t(a, b)[1] == close(expected["ttest_rel"])
        assert tests.unpaired_t(a, b)[1] == close(expected["ttest_ind(pooled)"])
        assert tests.sign_test(a, b)[1] == close(expected["sign test binom"])
        assert tests.wilcoxon(a, b)[1] == close(expected["wilcoxon(default zero=wilcox)"])
        assert tests.sign_flip(a, b) == close(expected["exact sign-flip permutation"])


@pytest.mark.parametrize(
    ("queries", "decimals"), [(9, None), (13, 1), (14, 1), (40, None), (60, 1)]
)
def test_naive_paired_tests__equal_scipy(queries, decimals):
    for seed in range(1 if queries == 13 else 5):  # scipy enumerates 2^13 sign flips in a second
        a, b = (list(c) for c in zip(*draw(seed, queries, 2, decimals), strict=True))
        found = scipy.stats.ttest_rel(a, b)
        assert tests.paired_t(a, b) == close((found.statistic, found.pvalue), 1e-10)
        found = scipy.stats.ttest_ind(a, b)
        assert tests.unpaired_t(a, b) == close((found.statistic, found.pvalue), 1e-10)
        found = scipy.stats.wilcoxon(a, b)
        assert tests.wilcoxon(a, b) == close((found.statistic, found.pvalue), 1e-10)
        wins, untied = sum(x > y for x, y in zip(a, b, strict=True)), sum(map(float.__ne__, a, b))
        assert tests.sign_test(a, b) == (wins, close(scipy.stats.binomtest(wins, untied).pvalue))


def test_naive_sign_flip__equals_scipy():
    for seed, decimals in product(range(4), (None, 1)):
        a, b = (np.array(c) for c in zip(*draw(seed, 7, 2, decimals), strict=True))
        found = scipy.stats.permutation_test(
            (a - b,), np.mean, permutation_type="samples", n_resamples=200
        )
        assert tests.sign_flip(list(a), list(b)) == close(found.pvalue)


def test_naive_tests__values_without_variance():
    assert tests.paired_t([0.5, 0.5], [0.5, 0.5]) == (0.0, 1.0)
    assert all(map(math.isnan, tests.paired_t([1.0, 0.5], [0.5, 0.0])))
    assert tests.unpaired_t([0.5, 0.5], [0.5, 0.5]) == (0.0, 1.0)
    assert all(map(math.isnan, tests.unpaired_t([0.0, 0.0], [0.5, 0.5])))
    assert tests.sign_test([1.0, 2.0], [1.0, 2.0]) == (0, 1.0)
    assert tests.wilcoxon([1.0, 2.0], [1.0, 2.0]) == (0.0, 1.0)
    assert tests.sign_flip([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert all(map(math.isnan, tests.paired_t([1.0], [0.0])))
    assert all(map(math.isnan, tests.paired_t([1.0, NAN], [0.0, 1.0])))
    same = [[0.5, 0.5, 0.7], [0.5, 0.5, 0.7]]
    assert tests.tukey_hsd(same) == [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def test_naive_tests__exclude_queries_with_undefined_values():
    a, b = [0.1, NAN, 0.5, 0.9], [0.2, 0.4, 0.3, 0.1]
    left = [0.1, 0.5, 0.9], [0.2, 0.3, 0.1]
    for test in (tests.paired_t, tests.sign_test, tests.wilcoxon, tests.sign_flip):
        assert test(a, b) == test(*left)
    assert tests.unpaired_t(a, b) == tests.unpaired_t(left[0], b)


def test_naive_tukey_hsd__equals_reference_output(oracle, ecir):
    values = by_query(oracle)
    expected = oracle["scipy tukey_hsd (one-way, unblocked) pvalues"]
    assert np.array(tests.tukey_hsd(values)) == close(np.array(expected), 1e-8)
    expected = oracle["two-way (system+topic) Tukey HSD pvalues"]
    assert np.array(tests.blocked_hsd(values)) == close(np.array(expected), 1e-8)
    for measure in ("P_rareness@10,alpha=1.0", "AP_rareness@10,alpha=0"):
        found = tests.tukey_hsd(ecir_values(ecir, measure))
        expected = ecir[f"HSD {measure},level=0.05"]["true_one_way_HSD_over_all"]
        names = list(ecir[measure])
        for pair, p in expected.items():
            a, b = (names.index(name) for name in pair.split("|"))
            assert found[a][b] == found[b][a] == close(p, 1e-8)


def test_naive_mean_square_errors__equal_statsmodels():
    from pandas import DataFrame
    from statsmodels.formula import api

    values = draw(3, 6, 4)
    rows = [(v, f"s{s}", f"q{q}") for q, row in enumerate(values) for s, v in enumerate(row)]
    long = DataFrame(rows, columns=["y", "s", "q"])
    for twin, formula in ((tests.one_way_error, "y ~ s"), (tests.two_way_error, "y ~ s + q")):
        fit = api.ols(formula, long).fit()
        assert twin(values) == close((fit.mse_resid, fit.df_resid))


def test_naive_randomised_hsd__equals_sign_flip_for_two_systems():
    """With two systems the range of the means is |mean d|, and permuting within a query flips d."""
    for seed, decimals in product(range(3), (None, 1)):
        values = draw(seed, 6, 2, decimals)
        p = tests.randomised_hsd(values)
        assert p[0][1] == p[1][0] == tests.sign_flip(*map(list, zip(*values, strict=True)))
        assert p[0][0] == p[1][1] == 1.0


def test_naive_randomised_hsd__worked_examples():
    """With one query every range is 3; with two, 6 of 36 tables have a range of 6."""
    assert tests.randomised_hsd([[0.0, 1.0, 3.0]])[0] == [1.0, 1.0, 1.0]
    assert tests.randomised_hsd([[0.0, 1.0, 3.0]] * 2)[0][2] == close(6 / 36)


def test_naive_randomised_hsd__close_to_sampled_permutations():
    values = np.array(draw(5, 3, 3))
    rng = np.random.default_rng(1)
    means = rng.permuted(np.tile(values, (20_000, 1, 1)), axis=2).mean(axis=1)
    spans = np.ptp(means, axis=1)
    p = tests.randomised_hsd(values.tolist())
    for a, b in combinations(range(3), 2):
        sampled = (spans >= abs(values[:, a].mean() - values[:, b].mean()) - 1e-12).mean()
        assert p[a][b] == pytest.approx(sampled, abs=0.015)


def test_naive_corrections__equal_statsmodels():
    from statsmodels.stats.multitest import multipletests

    twins = {
        "bonferroni": tests.bonferroni,
        "holm": tests.holm,
        "fdr_bh": tests.benjamini_hochberg,
    }
    for seed, decimals in product(range(5), (None, 2)):
        p = [v**3 for v in draw(seed, 1, 25, decimals)[0]]
        for method, twin in twins.items():
            assert twin(p) == close(multipletests(p, method=method)[1].tolist())
            assert twin([NAN, *p, NAN])[1:-1] == twin(p)
            assert math.isnan(twin([NAN, *p])[0])

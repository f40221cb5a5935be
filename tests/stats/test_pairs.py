"""`pairwise`: results of every test, columns and invalid arguments."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats import hsd
from irmeta.stats.corrections import CORRECTIONS
from irmeta.stats.paired import paired_differences, unpaired_differences
from irmeta.stats.pairs import COMPLETE_TESTS, FAMILY_TESTS, PLAIN_TESTS, TESTS, pairwise
from support.judged import numbered_matrix
from twins import significance as naive

COLUMNS = {
    "track": pl.String,
    "measure": pl.String,
    "system_a": pl.String,
    "system_b": pl.String,
    "difference": pl.Float64,
    "effect": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "interval": pl.String,
    "p_uncorrected": pl.Float64,
    "p_adjusted": pl.Float64,
    "queries": pl.Int32,
}
every_test = pytest.mark.parametrize("test", TESTS)


@pytest.fixture
def some() -> Matrix:
    values = np.random.default_rng(3).random((20, 5)) + np.linspace(0, 0.6, 5)
    return numbered_matrix(values, track="made", direction=-1)


@pytest.fixture(scope="module")
def innovation(shared) -> dict:
    path = shared / "oracles" / "case3_innov" / "out.stats_scipy.json"
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("test", "column"),
    [
        ("t", "ttest_rel"),
        ("t-unpaired", "ttest_ind(pooled)"),
        ("sign", "sign test binom"),
        ("wilcoxon", "wilcoxon(default zero=wilcox)"),
        ("permutation", "exact sign-flip permutation"),
    ],
)
def test_pairwise__equals_reference_output(test, column, innovation):
    values = np.array(innovation["per-topic P@10 matrix"]).T.copy()
    queries, systems = tuple(str(i) for i in range(len(values))), innovation["systems"]
    found = pairwise(Matrix(values, queries, tuple(systems)), test).frame()
    assert found.height == len(innovation["pairwise"]) == 15
    hits = np.rint(10 * values).T  # scipy's ranks of equal differences of P@10 differ
    for a, b, p in found.select("system_a", "system_b", "p_adjusted").iter_rows():
        if test == "wilcoxon":
            right = stats.wilcoxon(hits[systems.index(a)], hits[systems.index(b)]).pvalue
        else:
            right = innovation["pairwise"][f"{a}|{b}"][column]
        assert p == pytest.approx(right, rel=1e-9)


def test_pairwise__unpaired_t_equals_hsd_of_the_ecir_code(innovation, shared):
    path = shared / "oracles" / "case3_innov" / "out.ecir2023.json"
    recorded = json.loads(path.read_text())["HSD P_rareness@10,alpha=0,level=0.05"]
    values = np.array(innovation["per-topic P@10 matrix"]).T.copy()
    queries = tuple(str(i) for i in range(len(values)))
    pairs = pairwise(Matrix(values, queries, tuple(innovation["systems"])), "t-unpaired")
    theirs = recorded["pair: [tukey2 p, reject, ttest_ind p, ttest_rel p]"]
    for a, b, p in pairs.frame().select("system_a", "system_b", "p_adjusted").iter_rows():
        assert p == pytest.approx(theirs[f"{a}|{b}"][0], rel=1e-9)
        assert (p <= 0.05) == theirs[f"{a}|{b}"][1]
    assert pairs.separated(0.05).sum() / 2 == recorded["published_pairs"]


@every_test
def test_pairs_frame__columns_and_values(test, some):
    pairs = pairwise(some, test, resamples=200)
    frame = pairs.frame()
    assert dict(frame.schema) == COLUMNS
    assert frame.height == 10
    order = list(zip(frame["system_a"], frame["system_b"], strict=True))
    assert order == [(f"s{a}", f"s{b}") for a in range(5) for b in range(a + 1, 5)]
    assert set(frame["track"]) == {"made"}
    assert set(frame["measure"]) == {"A"}
    means = some.values.mean(axis=0)
    for a, b, row in [(0, 1, 0), (0, 4, 3), (3, 4, 9)]:
        assert frame["difference"][row] == pytest.approx(means[a] - means[b])
        assert frame["p_adjusted"][row] == pairs.p_adjusted[a, b] == pairs.p_adjusted[b, a]
        assert frame["effect"][row] == -pairs.effect[b, a]
    assert (pairs.test, pairs.direction, pairs.systems) == (test, -1, some.systems)
    assert (frame["queries"] == 20).all()
    assert (np.diag(pairs.p_adjusted) == 1).all()
    if test in ("wilcoxon", "sign", "permutation"):
        assert pairs.low is pairs.high is pairs.interval is None
        assert frame.select(pl.col("low", "high").is_nan().all()).row(0) == (True, True)
    else:
        assert (frame["low"] <= frame["difference"]).all()
        assert (frame["high"] >= frame["difference"]).all()


@pytest.mark.parametrize("test", ["t", "t-unpaired", "hsd", "hsd-blocked", "hsd-randomised"])
def test_pairwise__interval_excludes_zero_where_significant(test, some):
    pairs = pairwise(some, test, confidence=0.9, resamples=999)
    assert pairs.low is not None
    assert pairs.high is not None
    outside = (pairs.low > 0) | (pairs.high < 0)
    np.testing.assert_array_equal(outside, pairs.separated(0.1))
    assert 0 < outside.sum() < 20


def test_pairwise__family_tests_equal_hsd_functions(some):
    values = some.values
    for test, right in [
        ("hsd", hsd.tukey_hsd(values)),
        ("hsd-blocked", hsd.tukey_hsd(values, "blocked")),
        ("hsd-randomised", hsd.range_p(values, hsd.mean_ranges(values, 300, 5))),
    ]:
        np.testing.assert_array_equal(pairwise(some, test, resamples=300, rng=5).p_adjusted, right)


def test_pairwise__effect_is_paired_unless_the_test_is_unpaired(some):
    for test in TESTS:
        pool = test in ("t-unpaired", "hsd")
        right = (unpaired_differences if pool else paired_differences)(some.values).effect()
        np.testing.assert_array_equal(pairwise(some, test, resamples=9).effect, right)


@pytest.mark.parametrize("test", PLAIN_TESTS)
def test_pairwise__pair_uses_queries_defined_for_both_systems(test, some):
    values = some.values.copy()
    values[:6, 0] = values[4:7, 2] = np.nan
    pairs = pairwise(numbered_matrix(values), test, rng=1)
    for a, b, number in [(0, 1, 14), (0, 2, 13), (2, 3, 17), (3, 4, 20)]:
        known = ~np.isnan(values[:, [a, b]]).any(axis=1)
        alone = pairwise(numbered_matrix(values[known][:, [a, b]]), test, rng=1)
        assert pairs.queries[a, b] == number
        assert pairs.difference[a, b] == pytest.approx(alone.difference[0, 1], rel=1e-12)
        assert pairs.effect[a, b] == pytest.approx(alone.effect[0, 1], rel=1e-12)
        loose = test in ("permutation", "bootstrap")  # different random draws
        assert pairs.p_adjusted[a, b] == pytest.approx(
            alone.p_adjusted[0, 1], rel=1e-9, abs=0.03 if loose else 0
        )


@pytest.mark.parametrize("test", FAMILY_TESTS)
def test_pairwise__family_uses_queries_defined_for_all_systems(test, some):
    values = some.values.copy()
    values[3, 0] = values[9, 2] = np.nan
    whole = numbered_matrix(np.delete(values, [3, 9], axis=0))
    found = pairwise(numbered_matrix(values), test, resamples=50).frame()
    assert found.equals(pairwise(whole, test, resamples=50).frame())
    assert (found["queries"] == 18).all()


@pytest.mark.parametrize("correction", ["bonferroni", "holm", "benjamini-hochberg"])
def test_pairwise__corrections_count_unordered_pairs(correction, some):
    values = some.values.copy()
    values[:, 4] = np.nan  # four pairs have no p-value, six remain
    upper = np.triu_indices(4, 1)
    plain = pairwise(numbered_matrix(values), "t").p_adjusted
    pairs = pairwise(numbered_matrix(values), "t", correction=correction)
    method = {"benjamini-hochberg": "fdr_bh"}.get(correction, correction)
    right = multipletests(plain[upper], method=method)[1]
    np.testing.assert_allclose(pairs.p_adjusted[upper], right, rtol=1e-12)
    np.testing.assert_array_equal(pairs.p_uncorrected, plain)
    assert pairs.frame()["p_uncorrected"].equals(
        pairwise(numbered_matrix(values), "t").frame()["p_adjusted"]
    )
    assert pairs.correction == correction
    assert np.isnan(pairs.p_adjusted[4, :4]).all()
    assert (np.diag(pairs.p_adjusted) == 1).all()
    np.testing.assert_array_equal(pairs.p_adjusted, pairs.p_adjusted.T)


@pytest.mark.parametrize("test", ["t", "t-unpaired"])
@pytest.mark.parametrize("baseline", [None, "s2"])
def test_pairwise__bonferroni_interval_excludes_zero_where_significant(test, baseline, some):
    values = some.values.copy()
    values[2:9, 1] = np.nan
    values[1:, 4] = np.nan  # pairs with this system have no p-value, and do not count
    settings = {"confidence": 0.9, "baseline": baseline}
    pairs = pairwise(numbered_matrix(values), test, correction="bonferroni", **settings)
    assert pairs.low is not None
    assert pairs.high is not None
    outside = (pairs.low > 0) | (pairs.high < 0)
    np.testing.assert_array_equal(outside[pairs.upper], pairs.separated(0.1)[pairs.upper])
    assert outside[pairs.upper].any()
    assert set(pairs.frame()["interval"]) == {"simultaneous"}


def test_pairwise__bonferroni_intervals_equal_naive_implementation(some):
    values = some.values[:, :4].copy()
    values[3:7, 1] = np.nan
    pairs = pairwise(numbered_matrix(values), correction="bonferroni", confidence=0.8)
    for (a, b), (low, high) in naive.bonferroni_limits(values.tolist(), 0.8).items():
        assert (pairs.low[a, b], pairs.high[a, b]) == pytest.approx((low, high), rel=1e-9)
        assert (pairs.low[b, a], pairs.high[b, a]) == pytest.approx((-high, -low), rel=1e-9)


def test_pairwise__bonferroni_bootstrap_needs_enough_resamples():
    some = numbered_matrix(np.random.default_rng(3).random((100, 5)))
    joint = pairwise(some, "bootstrap", correction="bonferroni", resamples=399)
    draws = np.random.default_rng(0).random((399, 100), np.float32)
    rows = (draws.astype(float) * 100).astype(int)
    means = (some.values[:, 0] - some.values[:, 1])[rows].mean(axis=1)
    # 10 pairs, 1 - 0.05 / 10: the outermost of 399 resamples and the sample
    ends = (joint.low[0, 1], joint.high[0, 1])
    assert ends == pytest.approx((means.min(), means.max()), rel=1e-12)
    few = pairwise(some, "bootstrap", correction="bonferroni", resamples=398)
    assert np.isinf(few.low[few.upper]).all()
    assert few.high.diagonal().tolist() == [0.0] * 5


@pytest.mark.parametrize("test", [*TESTS, "max-t"])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_pairs_interval__simultaneous_only_where_it_holds_for_all_pairs(test, correction, some):
    if test in COMPLETE_TESTS and correction != "none":
        return
    if test == "bootstrap":  # with bonferroni it needs 100 queries
        some = numbered_matrix(np.random.default_rng(3).random((100, 5)))
    baseline = "s0" if test == "max-t" else None
    pairs = pairwise(some, test, correction=correction, baseline=baseline, resamples=99)
    if test in ("wilcoxon", "sign", "permutation"):
        assert pairs.interval is None
    else:
        joint = test in COMPLETE_TESTS or correction == "bonferroni"
        assert pairs.interval == ("simultaneous" if joint else "uncorrected")


def test_separated__includes_p_equal_to_alpha():
    # the same system wins all six queries: the sign test's p is exactly 2 / 2^6
    pairs = pairwise(numbered_matrix(np.tile([1.0, 0.0, np.nan], (6, 1))), "sign")
    assert pairs.separated(2 / 64).tolist() == [
        [False, True, False],
        [True, *[False] * 2],
        [False] * 3,
    ]
    assert not pairs.separated(0.031).any()
    assert not pairwise(numbered_matrix(np.ones((6, 2))), "t").separated(1.0).diagonal().any()


@every_test
def test_pairwise__identical_and_constant_systems(test):
    pairs = pairwise(numbered_matrix(np.tile([0.1, 0.1, 0.5, 0.5], (30, 1))), test, resamples=99)
    assert pairs.p_adjusted[0, 1] == pairs.p_adjusted[2, 3] == 1
    assert pairs.difference[0, 1] == pairs.effect[0, 1] == 0
    assert pairs.effect[2, 0] == np.inf
    if test in ("wilcoxon", "sign", "permutation", "hsd-randomised"):
        assert pairs.p_adjusted[0, 2] <= 0.01
        assert not pairs.untested_text
    else:
        assert np.isnan(pairs.p_adjusted[0, 2])
        assert pairs.low is not None
        assert np.isnan(pairs.low[0, 2])
        assert pairs.untested_text == "4 pairs cannot be tested: no spread"
        assert "of 6 pairs (0.0%) differ significantly" in pairs.separated_text(0.05)


@every_test
@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 0), (5, 1), (0, 0), (1, 2)])
def test_pairwise__undefined_for_too_few_queries_or_systems(test, shape):
    pairs = pairwise(numbered_matrix(np.ones(shape)), test, resamples=9)
    frame = pairs.frame()
    assert dict(frame.schema) == COLUMNS
    assert frame.height == shape[1] * (shape[1] - 1) // 2
    says = shape[0] == 1 and test in ("wilcoxon", "sign", "permutation", "hsd-randomised")
    assert all(p == 1 if says else np.isnan(p) for p in frame["p_adjusted"])
    assert (frame["queries"] == shape[0]).all()
    assert not pairs.separated(0.9).any()


@every_test
def test_pairwise__reproducible_by_seed(test, some):
    one = pairwise(some, test, resamples=50, rng=3)
    assert one.frame().equals(pairwise(some, test, resamples=50, rng=3).frame())
    if test in ("permutation", "bootstrap", "hsd-randomised"):
        assert not one.frame().equals(pairwise(some, test, resamples=50, rng=4).frame())


def test_pairwise__rejects_invalid_arguments(some):
    with pytest.raises(UsageError, match=r"'wilcoxen'.*'wilcoxon'"):
        pairwise(some, "wilcoxen")
    with pytest.raises(UsageError, match="unknown correction"):
        pairwise(some, correction="sidak")
    with pytest.raises(UsageError, match="use correction"):
        pairwise(some, "hsd", correction="holm")
    with pytest.raises(UsageError, match="confidence"):
        pairwise(some, confidence=95)
    with pytest.raises(UsageError, match="resamples"):
        pairwise(some, "bootstrap", resamples=0)
    with pytest.raises(UsageError, match="query 'q1' has an infinite value for 's0'"):
        pairwise(numbered_matrix(np.array([[0.0, 1.0], [np.inf, 2.0]])))

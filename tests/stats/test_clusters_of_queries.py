"""Clusters of queries: naive twins of the tests, their texts, and variants of queries."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import irmeta
from irmeta.errors import UsageError
from irmeta.stats.means import cluster_intervals
from irmeta.stats.paired import CLUSTERED_TESTS
from irmeta.stats.pairs import pairwise
from irmeta.stats.replicates import grouped, over_clusters, variant_rows
from irmeta.stats.resampling import draw_counts

SIZES = (1, 4, 2, 3, 2, 1, 5)


def drawn(sizes: tuple[int, ...], seed: int = 0) -> tuple[irmeta.Matrix, dict[str, str]]:
    """Return values of three systems, and the cluster of each query."""
    rng = np.random.default_rng(seed)
    number = sum(sizes)
    of_query = {f"q{i}": f"c{c}" for i, c in enumerate(np.repeat(range(len(sizes)), sizes))}
    values = rng.random((number, 3)) + np.array([0.0, 0.1, 0.2])
    return irmeta.Matrix(values, tuple(of_query), ("a", "b", "c"), "AP"), of_query


def by_cluster(matrix: irmeta.Matrix, of_query: dict[str, str]) -> list[list[float]]:
    """Return the differences of the first two systems, a list for each cluster."""
    parts: dict[str, list[float]] = {}
    for query, row in zip(matrix.queries, matrix.values.tolist(), strict=True):
        parts.setdefault(of_query[query], []).append(row[0] - row[1])
    return list(parts.values())


def test_permutation__flips_whole_clusters():
    matrix, of_query = drawn(SIZES)
    parts = by_cluster(matrix, of_query)
    total = abs(math.fsum(math.fsum(part) for part in parts))
    far = 0
    for signs in product((1, -1), repeat=len(parts)):
        flipped = (sign * d for sign, part in zip(signs, parts, strict=True) for d in part)
        far += abs(math.fsum(flipped)) >= total - 1e-12
    whole = over_clusters(matrix, of_query, once=False)
    found = pairwise(whole, "permutation", clusters="clusters")
    assert found.p_adjusted[0, 1] == pytest.approx(far / 2 ** len(parts))
    assert found.difference[0, 1] == pytest.approx(np.mean([d for part in parts for d in part]))


def test_max_t__flips_whole_clusters():
    matrix, of_query = drawn(SIZES)
    sums = np.array([math.fsum(part) for part in by_cluster(matrix, of_query)])
    others = by_cluster(matrix.only_systems([2, 1]), of_query)
    both = np.array([sums, [math.fsum(part) for part in others]])

    def greatest(flipped: np.ndarray) -> np.ndarray:
        return np.abs(stats.ttest_1samp(flipped, 0, axis=1).statistic)

    observed = greatest(both)
    flips = [greatest(both * signs).max() for signs in product((1, -1), repeat=len(SIZES))]
    expected = [np.mean(np.array(flips) >= t - 1e-9) for t in observed]
    whole = over_clusters(matrix, of_query, once=False)
    found = pairwise(whole, "max-t", baseline="b", clusters="clusters").p_adjusted[:, 1]
    assert [found[0], found[2]] == pytest.approx(expected)


def test_bootstrap__draws_whole_clusters():
    matrix, of_query = drawn(SIZES)
    parts = by_cluster(matrix, of_query)
    draws = np.random.default_rng(3).random((400, len(parts)), np.float32)
    means = []
    for row in draws.astype(float):
        taken = [d for of in row for d in parts[int(of * len(parts))]]
        means.append(math.fsum(taken) / len(taken))
    observed = math.fsum(d for part in parts for d in part) / sum(SIZES)
    far = sum(abs(mean - observed) >= abs(observed) - 1e-12 for mean in means)
    whole = over_clusters(matrix, of_query, once=False)
    found = pairwise(whole, "bootstrap", resamples=400, rng=3, clusters="clusters")
    assert found.p_adjusted[0, 1] == pytest.approx((1 + far) / 401)
    assert found.low is not None
    assert found.low[0, 1] == pytest.approx(np.quantile(means, 0.025))


@pytest.mark.parametrize("test", CLUSTERED_TESTS)
def test_clusters__of_one_size_are_tests_of_their_means(test):
    matrix, of_query = drawn((3,) * 9)
    means = by_cluster(matrix, of_query)
    choices = {"resamples": 200, "baseline": "b" if test == "max-t" else None}
    found = pairwise(over_clusters(matrix, of_query, once=False), test, clusters="x", **choices)
    expected = pairwise(over_clusters(matrix, of_query, once=True), test, **choices)
    np.testing.assert_allclose(found.p_adjusted, expected.p_adjusted)
    np.testing.assert_allclose(found.difference, expected.difference, atol=1e-15)
    if test == "t":
        of_means = stats.ttest_1samp([np.mean(part) for part in means], 0)
        assert found.p_adjusted[0, 1] == pytest.approx(of_means.pvalue)


@pytest.mark.parametrize("test", ["t-unpaired", "wilcoxon", "sign", "hsd", "hsd-blocked"])
def test_clusters__other_tests_refuse_and_name_those_with_a_form(test):
    matrix, of_query = drawn((2,) * 20)
    clusters = pl.DataFrame([*of_query.items()], ["query", "cluster"], orient="row")
    with pytest.raises(UsageError, match=f"{test} has no form for clusters of queries: use t, "):
        irmeta.compare(matrix, resample_by=clusters, test=test)


def test_compare__resamples_clusters_and_compares_the_means_of_few():
    matrix, of_query = drawn((2,) * 20)
    clusters = pl.DataFrame([*of_query.items()], ["query", "cluster"], orient="row")
    (many,) = comparisons = irmeta.compare(matrix, resample_by=clusters, test="permutation")
    assert many.pairs.test == "permutation"
    assert many.lines()[1] == "20 clusters (resample_by) of 40 queries"
    assert many.systems.sort("system")["mean"].to_list() == pytest.approx(matrix.means.tolist())
    assert many.rank_sets is not None
    assert "20 clusters" in comparisons.test_in_full()
    few = clusters.with_columns(cluster=pl.col("cluster").replace("c19", "c0"))
    (compared,) = irmeta.compare(matrix, resample_by=few, test="hsd-randomised")
    assert (compared.pairs.test, compared.pairs.correction) == ("t", "holm")
    assert compared.rank_sets is None
    assert "19 clusters (resample_by) of 40 queries, fewer than 20: a t-test" in compared.lines()[1]
    for choice in ({"robust": True}, {"relative": True, "baseline": "a"}):
        with pytest.raises(UsageError, match="has no form for clusters"):
            irmeta.compare(matrix, resample_by=clusters, **choice)
    unknown = pl.DataFrame({"query": ["q0", "x"], "cluster": ["c", "c"]})
    with pytest.raises(UsageError, match="there is no query 'x'"):
        irmeta.compare(matrix, resample_by=unknown)


def test_variants__spread_within_their_query():
    values = np.array([[0.2, 0.5], [0.4, 0.5], [0.6, 0.8], [0.1, 0.9]])
    matrix = irmeta.Matrix(values, ("q", "q.1", "q.2", "alone"), ("a", "b"), "AP", "t")
    rows = [*variant_rows(matrix, {"q.1": "q", "q.2": "q"})]
    assert rows[0] == ("t", "AP", "a", 1, 3, *map(pytest.approx, (0.4, 0.04, 0.6, 0.4, 0.2)))
    means = over_clusters(matrix, {"q.1": "q", "q.2": "q"}, once=True)
    assert means.queries == ("q", "alone")
    np.testing.assert_allclose(means.values, [[0.4, 0.6], [0.1, 0.9]])
    assert means.weights is None


def test_cluster_intervals__draw_whole_clusters_or_are_of_their_means():
    matrix, of_query = drawn((2, 3) * 12)
    members = grouped(matrix.queries, of_query)[1]
    low, high = cluster_intervals(matrix.values, members, "bootstrap", rng=4)
    means = []
    for counts in draw_counts(len(members), 10_000, 4):
        rows = np.concatenate([np.repeat(of, n) for of, n in zip(members, counts, strict=True)])
        means.append(matrix.values[rows, 1].mean())
    assert [low[1], high[1]] == pytest.approx(np.quantile(means, [0.025, 0.975]))
    matrix, of_query = drawn((3,) * 10)
    members = grouped(matrix.queries, of_query)[1]
    of_means = [matrix.values[places, 0].mean() for places in members]
    expected = stats.t.interval(0.95, 9, np.mean(of_means), stats.sem(of_means))
    for method in ("t", "bootstrap"):  # of fewer than 20
        low, high = cluster_intervals(matrix.values, members, method)
        assert (low[0], high[0]) == pytest.approx(expected)


def test_evaluate__has_intervals_by_clusters():
    qrels = {f"q{i}": {"d": 1} for i in range(6)}
    run = {f"q{i}": {"x": 2.0 - i % 3, "d": 1.5} for i in range(6)}
    clusters = pl.DataFrame({"query": list(qrels), "cluster": ["a", "a", "a", "b", "b", "c"]})
    plain = irmeta.evaluate(qrels, run, "RR", interval="t")
    whole = irmeta.evaluate(qrels, run, "RR", interval="t", resample_by=clusters)
    assert whole["value"].item() == plain["value"].item()
    assert whole["low"].item() != plain["low"].item()
    with pytest.raises(UsageError, match="is of intervals: name one by `interval`"):
        irmeta.evaluate(qrels, run, "RR", resample_by=clusters)


@pytest.mark.study
def test_permutation__of_clusters_keeps_its_level_where_that_of_queries_does_not():
    of_query = {str(q): str(c) for q, c in enumerate(np.repeat(range(30), 3))}
    rng, hits = np.random.default_rng(0), []
    for _ in range(600):
        values = np.repeat(rng.normal(size=(30, 2)), 3, axis=0) + rng.normal(size=(90, 2)) / 2
        matrix = irmeta.Matrix(values, tuple(of_query), ("a", "b"))
        whole = over_clusters(matrix, of_query, once=False)
        both = (pairwise(whole, "permutation", resamples=300, clusters="x"), pairwise(matrix, "t"))
        hits.append([pairs.p_adjusted[0, 1] <= 0.05 for pairs in both])
    by_cluster, by_query = np.mean(hits, axis=0)
    assert by_cluster == pytest.approx(0.05, abs=0.03)
    assert by_query > 0.15

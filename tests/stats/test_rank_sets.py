"""Confidence sets of ranks, and intervals of all differences at once, by one bootstrap."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import irmeta
from irmeta.errors import UsageError
from irmeta.stats.pairs import pairwise
from irmeta.stats.rank_confidence import RankSets, rank_sets
from twins import rank_sets as naive

AP = Path(os.environ.get("IRMETA_SHARED", "../shared"), "score-matrices", "adhoc8_ap.csv")


def matrix(values: object, direction: int = 1) -> irmeta.Matrix:
    array = np.asarray(values, float)
    queries, systems = (
        tuple(f"{letter}{i:03}" for i in range(size))
        for letter, size in zip("qs", array.shape, strict=True)
    )
    return irmeta.Matrix(array, queries, systems, "AP", direction=direction)


def drawn(seed: int, resamples: int, queries: int) -> list[list[int]]:
    draws = np.random.default_rng(seed).random((resamples, queries), np.float32)
    return (draws.astype(float) * queries).astype(int).tolist()


def ends(found: RankSets) -> list[tuple[int, int]]:
    return found.systems.sort("system").select("rank_low", "rank_high").rows()


def noise(rng: np.random.Generator, queries: int, systems: int, kind: str) -> np.ndarray:
    size = (queries, systems)
    return rng.standard_normal(size) if kind == "normal" else rng.exponential(1.0, size) - 1.0


@given(
    st.integers(0, 999),
    st.sampled_from([3, 8, 26]),
    st.sampled_from(["simultaneous", "marginal"]),
    st.booleans(),
    st.sampled_from([None, "renewed"]),
    st.sampled_from([0.0, 0.1]),
)
def test_rank_sets__equal_naive_twin(seed, queries, sets, step_down, errors, missing):
    rng = np.random.default_rng(seed)
    values = rng.normal([0, 0.1, 0.7, 1.2, 1.3], 0.4, (queries, 5)).round(1)
    values[:, 4] = values[:, 3] + (seed % 2)  # a constant difference, or the same values
    values[rng.random(values.shape) < missing] = np.nan
    found = rank_sets(
        matrix(values), sets=sets, errors=errors, step_down=step_down, confidence=0.8,
        resamples=60, rng=seed,
    )  # fmt: skip
    used = values[~np.isnan(values).all(axis=1)]
    is_fixed = len(used) >= 25 and errors is None
    assert found.errors == ("fixed" if is_fixed else "renewed")
    expected = naive.rank_sets(
        used.tolist(), drawn(seed, 60, len(used)), confidence=0.8, marginal=sets == "marginal",
        renewed=not is_fixed, step_down=step_down, least=25 if is_fixed else 2,
    )  # fmt: skip
    if not np.isnan(values).all(axis=0).any():
        assert ends(found) == expected
        ordered = found.systems.select("rank_low", "rank_high").rows()
        assert found.systems["tier"].to_list() == naive.tiers(ordered)


def test_rank_sets__less_is_better_reverses_the_order():
    values = np.random.default_rng(0).normal([3, 2, 1], 0.1, (30, 3))
    assert ends(rank_sets(matrix(values, -1))) == [(3, 3), (2, 2), (1, 1)]
    assert rank_sets(matrix(values, -1)).systems["mean"].is_sorted()


@pytest.mark.parametrize("errors", ["fixed", "renewed"])
def test_rank_sets__equal_differences_are_never_sure_unless_stated_constants(errors):
    base = np.random.default_rng(1).normal(0, 1, 40)
    values = np.column_stack([base + 5.0, base, base - 1e-3, base + 5.0])
    found = rank_sets(matrix(values), errors=errors)
    assert ends(found) == [(1, 4)] * 4
    assert (found.unresolvable, found.resolved, found.could_be_first) == (6, 0, 4)
    stated = rank_sets(matrix(values), errors=errors, constants=True)
    assert ends(stated) == [(1, 2), (3, 3), (4, 4), (1, 2)]
    assert (stated.unresolvable, stated.resolved, stated.could_be_first) == (0, 5, 2)


def test_rank_sets__renewed_errors_of_a_sparse_pair_are_never_sure():
    # They differ on 2 of 40 queries: 13% of the resamples have neither.
    values = np.random.default_rng(2).normal(0, 1, (40, 1)) + np.zeros((40, 2))
    values[:2, 0] += [5.0, 4.0]
    assert rank_sets(matrix(values), errors="renewed").unresolvable == 1
    assert rank_sets(matrix(values), errors="fixed").unresolvable == 0


def test_rank_sets__pairs_of_few_shared_queries_are_never_sure():
    values = np.random.default_rng(3).normal([9, 5, 0], 0.1, (60, 3))
    values[:36, 0], values[:24, 1], values[40:, 2] = np.nan, np.nan, np.nan
    found = rank_sets(matrix(values))  # they share 24, 4 and 16 queries
    assert (found.errors, found.unresolvable) == ("fixed", 3)
    assert ends(found) == [(1, 3)] * 3
    assert "3 unresolvable" in found.text


def test_rank_sets__few_systems_queries_and_values():
    one = rank_sets(matrix([[1, 2]]))
    assert one.systems["rank"].to_list() == [1, 2]
    assert ends(one) == [(1, 2)] * 2
    assert rank_sets(matrix([[1], [2]])).systems.select(pl.exclude("mean")).rows() == [
        ("s000", 1, 1, 1, 1, None)
    ]
    none = rank_sets(matrix(np.full((2, 2), np.nan)))
    assert ends(none) == [(None, None)] * 2
    assert none.pairs == 0
    part = rank_sets(matrix([[1, 2, np.nan], [2, 4, np.nan]]))
    assert part.systems["rank_high"].to_list() == [2, 2, None]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"resamples": 0}, "resamples"),
        ({"confidence": 0}, "confidence"),
        ({"sets": "each"}, "sets = 'each' is not a choice"),
        ({"errors": "new"}, "errors = 'new' is not a choice"),
        ({"errors": "fixed"}, "needs 25 queries, more than 1 query: use 'renewed'"),
    ],
)
def test_rank_sets__invalid_argument_is_an_error(choices, message):
    with pytest.raises(UsageError, match=message):
        rank_sets(matrix([[1, 2]]), **choices)


def test_rank_sets__queries_to_next_give_the_stated_power():
    values = np.random.default_rng(4).normal([0.02, 0], 0.1, (50, 2))
    found = rank_sets(matrix(values))
    number = found.systems["queries_to_next"].to_list()
    difference = values[:, 0] - values[:, 1]
    ratio = difference.mean() / difference.std(ddof=1)
    draws = np.array(drawn(0, 1000, 50))
    error = difference.std(ddof=1) / np.sqrt(50)
    largest = np.sort(np.abs(difference[draws].mean(axis=1) - difference.mean()) / error)
    assert number == [np.ceil(((largest[950] + ndtri(0.8)) / ratio) ** 2), None]
    assert found.resolved == 0
    same = rank_sets(matrix(np.repeat(values[:, :1], 2, axis=1)))
    assert same.systems["queries_to_next"].to_list() == [None, None]


def test_rank_sets__many_systems_in_bounded_memory():
    values = np.random.default_rng(5).normal(0, 1, (26, 700))
    found = rank_sets(matrix(values), resamples=40)  # several tasks
    alone = rank_sets(matrix(values[:, :3]), resamples=40, sets="marginal")
    assert found.pairs == 700 * 699 // 2
    assert found.systems["rank"].to_list() == list(range(1, 701))
    assert alone.errors == "fixed"


@pytest.mark.skipif(not AP.exists(), reason="needs the score matrices of the shared folder")
@pytest.mark.parametrize(
    ("sets", "width", "first"), [("simultaneous", 70.9, 13), ("marginal", 57.0, None)]
)
def test_rank_sets__widths_of_trec_8(sets, width, first):
    frame = pl.read_csv(AP)
    found = rank_sets(matrix(frame.to_numpy()), sets=sets, errors="fixed", resamples=1000)
    spans = found.systems["rank_high"] - found.systems["rank_low"] + 1
    assert spans.mean() == pytest.approx(width, abs=0.6)
    assert first is None or abs(found.could_be_first - first) <= 1


def coverage(
    tables: int, queries: int, spread: float, kind: str, resamples: int, errors: object = None
) -> tuple[float, float]:
    """The share of tables whose sets hold all true ranks, and the mean of high - low."""
    rng = np.random.default_rng(6)
    means = spread * ndtri((np.arange(20) + 0.5) / 20)
    truth = np.arange(20, 0, -1)
    held, width = 0, 0.0
    for seed in range(tables):
        values = means + 0.1 * noise(rng, queries, 20, kind) + 0.2 * rng.normal(0, 1, (queries, 1))
        found = ends(rank_sets(matrix(values), resamples=resamples, rng=seed, errors=errors))
        low, high = np.array(found).T
        held += bool(((low <= truth) & (truth <= high)).all())
        width += (high - low).mean()
    return held / tables, width / tables


@pytest.mark.exhaustive
@pytest.mark.parametrize("queries", [25, 50])
def test_rank_sets__cover_clusters_of_nearly_equal_systems(queries):
    # Here nearly every wrong order of two systems is a wrong rank.
    rng = np.random.default_rng(10)
    means = np.repeat(np.arange(10.0), 2) + np.tile([0.0, 1e-6], 10)
    held = 0
    for seed in range(500):
        found = rank_sets(matrix(means + rng.normal(0, 0.1, (queries, 20))), rng=seed)
        low, high = np.array(ends(found)).T
        assert (high - low).max() <= 1
        held += bool(((low <= np.arange(20, 0, -1)) & (np.arange(20, 0, -1) <= high)).all())
    assert held / 500 >= 0.93


@pytest.mark.parametrize("kind", ["normal", "exponential"])
def test_rank_sets__cover_all_true_ranks_at_once(kind):
    assert coverage(100, 25, 0.001, kind, 199)[0] >= 0.93


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["normal", "exponential"])
@pytest.mark.parametrize("queries", [10, 25, 50])
@pytest.mark.parametrize("spread", [0.001, 0.05])
def test_rank_sets__simultaneous_coverage_of_1000_tables(kind, queries, spread):
    share, width = coverage(1000, queries, spread, kind, 399)
    assert share >= 0.93
    if queries == 50 and spread == 0.05:
        assert width <= 17


@pytest.mark.exhaustive
def test_rank_sets__fixed_errors_of_ten_queries_would_not_cover(monkeypatch):
    monkeypatch.setattr("irmeta.stats.hsd.LEAST_FIXED", 10)
    assert coverage(300, 10, 0.001, "normal", 399, "fixed")[0] < 0.85


# intervals of all differences at once


@given(st.integers(0, 999), st.sampled_from([4, 30, 50]))
def test_bootstrap_max_t__equals_naive_twin(seed, queries):
    values = np.random.default_rng(seed).normal([0, 0.1, 0.5], 0.3, (queries, 3)).round(2)
    found = pairwise(matrix(values), "bootstrap-max-t", confidence=0.8, resamples=60, rng=seed)
    draws = drawn(seed, 60, queries)
    limits = naive.joint_limits(values.tolist(), draws, 0.8, queries < 50)
    for (a, b), expected in limits.items():
        if np.isinf(expected).all() and np.isnan(found.p_adjusted[a, b]):
            continue
        assert (found.low[a, b], found.high[a, b]) == pytest.approx(expected, rel=1e-9)
        assert (found.p_adjusted[a, b] <= 0.2) == (expected[0] > 0 or expected[1] < 0)
    assert found.interval == "simultaneous"


def test_bootstrap_max_t__equal_differences_cannot_be_tested():
    base = np.random.default_rng(7).normal(0, 1, 30)
    found = pairwise(matrix(np.column_stack([base, base, base + 1])), "bootstrap-max-t")
    assert found.p_adjusted[0].tolist()[:2] == [1.0, 1.0]
    assert np.isnan(found.p_adjusted[0, 2])
    assert (found.low[0, 1], found.high[0, 1]) == (0.0, 0.0)
    assert np.isnan([found.low[0, 2], found.high[0, 2]]).all()
    assert found.untested[0].tolist() == ["", "", "no spread"]
    base[2:] = 0.0  # 2 of 30 queries: some of the resamples have neither
    found = pairwise(matrix(np.column_stack([base, 0 * base])), "bootstrap-max-t")
    assert found.untested[0].tolist() == ["", "no spread in some resample"]


@pytest.mark.parametrize("queries", [10, 50, 99])
def test_bootstrap__bonferroni_of_few_queries_is_an_error(queries):
    values = matrix(np.random.default_rng(8).random((queries, 4)))
    with pytest.raises(UsageError, match=r"needs 100 queries.*'t' with.*or 'bootstrap-max-t'"):
        pairwise(values, "bootstrap", correction="bonferroni", resamples=99)


def null_share(
    test: str, correction: str, queries: int, systems: int, tables: int, resamples: int
) -> float:
    """The share of null tables with an interval without 0: values permuted within queries."""
    rng = np.random.default_rng(9)
    skewed = rng.beta(0.5, 1.5, (queries, systems)) + rng.beta(1, 3, (queries, 1))
    outside = 0
    for seed in range(tables):
        table = matrix(rng.permuted(skewed, axis=1))
        found = pairwise(table, test, correction=correction, resamples=resamples, rng=seed)
        outside += bool(((found.low > 0) | (found.high < 0))[found.upper].any())
    return outside / tables


@pytest.mark.parametrize(("queries", "tables"), [(10, 150), (50, 150)])
def test_bootstrap_max_t__intervals_hold_at_once_on_null_tables(queries, tables):
    assert null_share("bootstrap-max-t", "none", queries, 8, tables, 299) <= 0.09


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("test", "correction", "queries", "resamples"),
    [
        ("bootstrap-max-t", "none", 5, 999),
        ("bootstrap-max-t", "none", 10, 999),
        ("bootstrap-max-t", "none", 20, 999),
        ("bootstrap-max-t", "none", 25, 999),
        ("bootstrap-max-t", "none", 50, 999),
        ("bootstrap-max-t", "none", 100, 999),
        ("bootstrap", "bonferroni", 100, 2000),
    ],
)
def test_joint_intervals__of_1000_null_tables(test, correction, queries, resamples):
    assert null_share(test, correction, queries, 8, 1000, resamples) <= 0.07

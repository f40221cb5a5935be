"""Discriminative power and its curve: naive implementation and two TREC tracks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import scipy.stats

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix, read_matrices
from irmeta.stats.discriminative_power import asp, detectable_difference, power, separation
from irmeta.stats.pairs import TESTS, Pairs, pairwise
from support.judged import judged_matrices
from twins import stats as naive


def made(p: list[float]) -> Pairs:
    """Return the three pairs of three systems with these p-values."""
    matrix = Matrix(np.random.default_rng(0).random((9, 3)), tuple("123456789"), tuple("abc"), "AP")
    square = np.ones((3, 3))
    square[np.triu_indices(3, 1)] = p
    return replace(pairwise(matrix), p_adjusted=np.minimum(square, square.T))


@pytest.mark.parametrize(
    "p", [[0.01, 0.05, 0.2], [0.5, 0.05, np.nan], [0.0, 0.0, 0.0], [np.nan] * 3]
)
@pytest.mark.parametrize("level", [0.05, 0.01])
def test_separation__equals_naive_power(p, level):
    right = naive.power(p, level)
    row = separation([made(p)], alpha=[level]).row(0, named=True)
    assert (row["pairs"], row["separated"]) == (right.pairs, right.separated)
    is_undefined = np.isnan(p).all()
    assert row["share"] == pytest.approx(np.nan if is_undefined else right.share, nan_ok=True)
    assert row["median_p"] == pytest.approx(right.median, nan_ok=True)
    curve = asp(made(p))
    assert curve["p"].to_list() == right.curve
    assert curve["rank"].to_list() == list(range(1, len(right.curve) + 1))


def test_power__columns_and_values():
    rng = np.random.default_rng(2)
    values = rng.random((25, 6)) + np.linspace(0, 0.5, 6)
    values[0, 0] = np.nan
    matrix = Matrix(
        values, tuple(map(str, range(25))), tuple("abcdef"), "nDCG@10", "robust", direction=1
    )
    frame = power(matrix, ["t", "hsd-blocked"], correction="holm")
    assert frame.select("track", "measure").unique().rows() == [("robust", "nDCG@10")]
    said = frame.select("test", "correction", "level", "pairs", "queries").rows()
    assert said == [
        ("t", "holm", 0.05, 15, 24),
        ("t", "holm", 0.01, 15, 24),
        ("hsd-blocked", "none", 0.05, 15, 24),
        ("hsd-blocked", "none", 0.01, 15, 24),
    ]
    pairs = pairwise(matrix, correction="holm")
    assert frame["separated"][0] == pairs.frame().filter(pl.col("p_adjusted") <= 0.05).height
    assert power(matrix, "t", correction="holm").equals(frame[:2])


@pytest.mark.parametrize("shape", [(5, 1), (5, 0), (0, 2), (0, 0)])
def test_power__without_queries_or_pairs(shape):
    names = tuple(map(str, range(5)))
    matrix = Matrix(np.ones(shape), names[: shape[0]], names[: shape[1]])
    frame = power(matrix, TESTS, resamples=9)
    assert (frame["separated"] == 0).all()
    assert frame["median_p"].is_nan().all()
    assert frame["share"].is_nan().all()
    why = "1 pair cannot be tested: no shared query" if shape == (0, 2) else None
    assert frame["untested"].unique().to_list() == [why]
    assert asp(pairwise(matrix)).height == 0


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "adhoc8_ap",
            {
                "t": (5981, 5216),
                "t-unpaired": (4164, 3437),
                "wilcoxon": (6058, 5335),
                "sign": (5480, 4758),
                "hsd": (1786, 1543),
                "hsd-blocked": (3423, 3188),
            },
        ),
        (
            "adhoc5_ap",
            {
                "t": (1164, 969),
                "t-unpaired": (667, 442),
                "wilcoxon": (1259, 1076),
                "sign": (1152, 964),
                "hsd": (115, 83),
                "hsd-blocked": (537, 444),
            },
        ),
    ],
)
def test_power__counts_on_two_trec_tracks(name, expected, shared):
    (matrix,) = read_matrices(shared / "score-matrices" / f"{name}.csv")
    frame = power(matrix, list(expected))
    found = frame.group_by("test", maintain_order=True).agg("separated").rows()
    assert {test: tuple(counts) for test, counts in found} == expected


def test_detectable_difference__is_detected_with_that_power():
    values = np.random.default_rng(3).random((12, 3))
    values[2, 1] = np.nan
    matrix = Matrix(values, tuple("123456789abc"), tuple("xyz"), "AP")
    expected = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        differences = values[:, a] - values[:, b]
        differences = differences[~np.isnan(differences)]
        number = len(differences)
        critical = scipy.stats.t.ppf(0.975, number - 1)
        low, high = 0.0, 20.0
        for _ in range(80):  # by halving: the noncentrality of which 70 % exceed the critical value
            middle = (low + high) / 2
            exceeds = scipy.stats.nct.sf(critical, number - 1, middle)
            low, high = (middle, high) if exceeds < 0.7 else (low, middle)
        expected.append(low * differences.std(ddof=1) / number**0.5)
    found = detectable_difference(matrix, power=0.7)
    assert found == pytest.approx(np.mean(expected))
    assert detectable_difference(matrix, queries=48) == pytest.approx(found / 2, rel=0.2)


def test_detectable_difference__undefined_and_wrong_arguments():
    matrix = Matrix(np.ones((1, 3)), ("1",), tuple("xyz"), "AP")
    assert np.isnan(detectable_difference(matrix))
    with pytest.raises(UsageError, match="power"):
        detectable_difference(matrix, power=80)
    with pytest.raises(UsageError, match="queries"):
        detectable_difference(matrix, queries=1)


@pytest.mark.real
def test_detectable_difference__of_trec_deep_learning(shared):
    """About .08 with 53 queries."""
    found = detectable_difference(judged_matrices(shared)["reference"])
    assert found == pytest.approx(0.08, abs=0.005)

"""Interaction of systems and segments of queries: level, power, twins, tables of compare."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import irmeta
from irmeta.stats.interactions import (
    class_moments,
    interaction_test,
    max_t_over_classes,
    reversal_p,
)
from irmeta.stats.pairs import pairwise
from twins import significance as naive

RESAMPLES = 4000
ERROR = 4 * math.sqrt(0.25 / RESAMPLES)
"""Four standard errors of a share of resamples."""


def members_of(classes: np.ndarray) -> np.ndarray:
    return np.arange(classes.max() + 1)[:, None] == classes


@pytest.mark.parametrize("seed", range(4))
def test_interaction_test__equals_all_permutations(seed: int):
    rng = np.random.default_rng(seed)
    classes = np.array([0, 0, 0, 1, 1, 1, 1]) if seed % 2 else np.array([0, 0, 1, 1, 1, 2, 2])
    differences = rng.normal(size=(7, 2)) + classes[:, None] * rng.random(2)
    statistic, p = interaction_test(differences, classes, RESAMPLES, rng=1)
    for pair in range(2):
        of_pair = differences[:, pair].tolist()
        groups = [
            [d for d, c in zip(of_pair, classes, strict=True) if c == k] for k in set(classes)
        ]
        assert statistic[pair] == pytest.approx(naive.welch(groups), rel=1e-9)
        assert p[pair] == pytest.approx(naive.interaction(of_pair, classes.tolist()), abs=ERROR)


def test_interaction_test__of_two_classes_is_the_square_of_welchs_t():
    rng = np.random.default_rng(5)
    differences, classes = rng.normal(size=(30, 1)), np.repeat([0, 1], [22, 8])
    welch = stats.ttest_ind(differences[:22], differences[22:], equal_var=False)
    found = interaction_test(differences, classes, 10)
    assert found.statistic == pytest.approx(welch.statistic**2)


def test_interaction_test__keeps_its_level_with_unequal_classes_and_finds_a_planted_interaction():
    rng, classes = np.random.default_rng(1), np.repeat([0, 1], [80, 20])
    null = rng.normal(size=(100, 5000)) * np.where(classes == 0, 0.1, 0.3)[:, None]
    rejected = interaction_test(null, classes, 500, rng=2).p <= 0.05
    assert rejected.mean() == pytest.approx(0.05, abs=0.01)
    planted = null[:, :300] + 0.25 * classes[:, None]
    assert (interaction_test(planted, classes, 500, rng=2).p <= 0.05).mean() > 0.8


def test_interaction_test__is_undefined_without_spread_or_a_second_class():
    differences = np.array([[0.1, 0.1], [0.1, 0.3], [0.2, 0.4], [0.5, 0.1]])
    p = interaction_test(differences, np.array([0, 0, 1, 1]), 50).p
    assert np.isnan(p).tolist() == [True, False]
    assert np.isnan(interaction_test(differences, np.zeros(4, int), 50).p).all()


def test_reversal_p__of_two_classes_is_the_greater_one_sided_p():
    rng = np.random.default_rng(2)
    differences, classes = rng.normal(size=(20, 3)), np.repeat([0, 1], [12, 8])
    differences[:12] += 0.6
    differences[12:] -= 0.8
    p = reversal_p(class_moments(differences, members_of(classes)))
    up = stats.ttest_1samp(differences[:12], 0, alternative="greater").pvalue
    down = stats.ttest_1samp(differences[12:], 0, alternative="less").pvalue
    np.testing.assert_allclose(p, np.maximum(up, down), rtol=1e-9)


def test_reversal_p__has_the_published_critical_values():
    # Gail and Simon, Table 1: at level .05 the critical value of G = 2, 3, 5 is 2.71, 4.23, 6.50.
    for number, critical in ((2, 2.71), (3, 4.23), (5, 6.50)):
        steps = np.arange(1, number)
        p = (stats.binom.pmf(steps, number - 1, 0.5) * stats.chi2.sf(critical, steps)).sum()
        z = np.zeros(number)
        z[:2] = math.sqrt(critical), -10
        queries = np.full((number, 1), 1e9)  # so many that t is normal
        moments = irmeta.stats.interactions.ClassMoments(queries, z[:, None], queries)
        assert reversal_p(moments)[0] == pytest.approx(p, rel=1e-6)
        assert p == pytest.approx(0.05, abs=5e-4)


def test_reversal_p__is_1_where_no_sign_differs():
    differences = np.array([[0.3], [0.1], [0.2], [0.4]])
    assert reversal_p(class_moments(differences, members_of(np.array([0, 0, 1, 1])))) == [1.0]


def test_max_t_over_classes__equals_all_flips():
    rng = np.random.default_rng(4)
    differences = rng.normal(size=(8, 2)) + 0.5
    members = np.array([[True] * 5 + [False] * 3, [False] * 4 + [True] * 4])  # they overlap
    p = max_t_over_classes(differences, members, RESAMPLES, rng=1)
    expected = naive.max_t_over_classes(differences.tolist(), members.tolist())
    np.testing.assert_allclose(p, expected, atol=ERROR)


@pytest.fixture
def reversed_pair() -> irmeta.Matrix:
    """Return systems on 40 queries: b better than a on nav, worse on info; c as a."""
    rng = np.random.default_rng(3)
    first = 0.5 + rng.normal(scale=0.05, size=40)
    second = first + np.repeat([0.1, -0.1], 20) + rng.normal(scale=0.02, size=40)
    third = first + rng.normal(scale=0.02, size=40)
    values = np.stack([first, second, third], axis=1)
    return irmeta.Matrix(values, tuple(f"q{i}" for i in range(40)), ("a", "b", "c"), "AP")


CLASSES = pl.DataFrame(
    {"query": [f"q{i}" for i in range(40)], "segment": ["nav"] * 20 + ["info"] * 20}
)


def test_compare__names_a_reversal_only_where_both_directions_are_significant(reversed_pair):
    compared = irmeta.compare(reversed_pair, segments=CLASSES)
    assert compared.by_segment is not None
    interactions, tests = compared.by_segment
    verdicts = dict(
        interactions.select(pl.format("{}{}", "system_a", "system_b"), "verdict").rows()
    )
    assert verdicts["ab"] == "reversal: better in info, worse in nav"
    assert verdicts["ac"].startswith("no dependence on the segment shown")
    assert tests.height == 3 * 2
    by_segment = {c.pairs.segment: c for c in compared}
    row = tests.row(0, named=True)
    at_hand = by_segment[row["segment"]].pairs
    assert row["difference"] == pytest.approx(at_hand.difference[0, 1])
    assert row["p_uncorrected"] == pytest.approx(at_hand.p_uncorrected[0, 1])


def test_compare__does_not_depend_on_the_order_of_segments(reversed_pair):
    one = irmeta.compare(reversed_pair, segments=CLASSES).by_segment
    two = irmeta.compare(reversed_pair, segments=CLASSES.reverse()).by_segment
    assert one is not None
    assert two is not None
    assert one.interactions.equals(two.interactions)
    assert one.segment_tests.equals(two.segment_tests)


def test_compare__overlapping_segments_cannot_be_tested(reversed_pair):
    twice = pl.concat([CLASSES, pl.DataFrame({"query": ["q0"], "segment": ["info"]})])
    compared = irmeta.compare(reversed_pair, segments=twice, baseline="a", test="t")
    assert compared.by_segment is not None
    assert set(compared.by_segment.interactions["verdict"]) == {
        "cannot be tested: a query is in several segments"
    }
    assert compared.by_segment.segment_tests["p_adjusted"].is_not_nan().all()


def test_compare_command__prints_and_writes_what_depends_on_the_segment(
    made_store: irmeta.Store, run, tmp_path: Path
):
    queries = irmeta.matrices(made_store, "AP", track="news")[0].queries
    classes = pl.DataFrame({"query": queries, "segment": ["a", "b"] * (len(queries) // 2) + ["a"]})
    classes.write_csv(tmp_path / "classes.csv")
    arguments = (made_store.path, "-m", "AP", "--track", "news", "--baseline", "aldBM25")
    out = tmp_path / "out"
    by_class = ("--segment", tmp_path / "classes.csv", "--format", "table")
    ran = run("compare", *arguments, *by_class, "--out", f"{out}/")
    assert ran.status == 0
    assert "0 of 19 pairs shown to depend on the segment, 0 of them reversed" in ran.out
    assert pl.read_parquet(out / "interactions.parquet").height == 19
    assert run("compare", *arguments, "--out", f"{out}/").status == 0
    assert not (out / "interactions.parquet").exists()


def test_segment_tables__of_a_test_of_all_systems_are_corrected_by_holm(reversed_pair):
    compared = irmeta.compare(reversed_pair, segments=CLASSES, test="hsd-blocked")
    assert compared.by_segment is not None
    rows = compared.by_segment.interactions
    expected = irmeta.stats.adjusted(rows["p_uncorrected"].to_numpy(), "holm")
    np.testing.assert_allclose(rows["p_adjusted"], expected)
    assert pairwise(reversed_pair, "hsd-blocked").correction == "none"


def test_segment_tables__of_one_system_are_empty(reversed_pair):
    compared = irmeta.compare(reversed_pair.only_systems(["a"]), segments=CLASSES)
    assert compared.by_segment is not None
    assert [frame.height for frame in compared.by_segment] == [0, 0]

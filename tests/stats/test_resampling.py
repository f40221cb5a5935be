"""Stability of system orders under resampled queries, systems and labels, and its samples."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from polars.testing import assert_frame_equal

import irmeta
from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix, read_matrices
from irmeta.results.scores import Scores
from irmeta.stats.orders import kendall_tau_b, round_means
from irmeta.stats.resampling import Plan, Sample, query_subsets, resample, spread, system_subsets
from twins import orders as naive

NAN = math.nan
NAMES = tuple(f"s{i}" for i in range(12))


def matrix(values: np.ndarray, direction: int = 1, measure: str = "M") -> Matrix:
    values = np.asarray(values, float)
    queries = tuple(f"q{i}" for i in range(len(values)))
    return Matrix(values, queries, NAMES[: values.shape[1]], measure, "t", direction)


def made(queries: int = 20, systems: int = 8, seed: int = 1) -> Matrix:
    rng = np.random.default_rng(seed)
    return matrix(rng.normal(size=systems) + rng.normal(size=(queries, systems)))


# Fewer queries: paper 4, Figure 6


@pytest.mark.exhaustive
def test_query_subsets__expected_tau_of_two_systems():
    # a is better on 7 of 10 queries and in the mean: tau is 1 with probability .7, else -1.
    values = np.array([[1.0, 0.0]] * 7 + [[0.0, 1.0]] * 3)
    found = query_subsets(matrix(values), [1, 10], 4000, rng=2)
    one, all_ = spread(found).rows(named=True)
    assert one["mean"] == pytest.approx(0.4, abs=4 * math.sqrt(0.84 / 4000))
    assert one["sd"] == pytest.approx(math.sqrt(0.84), abs=0.03)
    assert (one["low"], one["median"], one["high"]) == (-1, 1, 1)
    assert (all_["mean"], all_["sd"]) == (1, 0)
    assert found.filter(size=1)["tau"].unique().sort().to_list() == [-1, 1]


@pytest.mark.parametrize("direction", [1, -1])
def test_query_subsets__tau_of_means_over_drawn_queries(direction):
    whole = matrix(made().values.round(1), direction)
    found = query_subsets(whole, [1, 4, 20], 30, rng=5)
    assert found.columns == ["size", "replicate", "measure", "systems", "tau"]
    plan = Plan("queries", (1, 4, 20), 30, 20, 8)
    columns = [(direction * whole.values[:, s]).tolist() for s in range(8)]
    full = [naive.mean(c) for c in columns]
    for row, sample in zip(found.rows(), plan.samples(5), strict=True):
        means = [naive.mean([c[q] for q in sample.queries]) for c in columns]
        tau = naive.kendall_tau_b([round(x, 12) for x in full], [round(x, 12) for x in means])
        assert row == (sample.size, sample.replicate, "M", 8, pytest.approx(tau, nan_ok=True))


@pytest.mark.parametrize("holes", [False, True])
def test_resample__equals_query_subsets_for_queries(holes):
    whole = made()
    if holes:
        whole.values[np.random.default_rng(3).random(whole.values.shape) < 0.7] = NAN
    plan = Plan("queries", (1, 3, 10), 20, *whole.values.shape)
    slow = resample(lambda sample: whole.only_queries(sample.queries), plan, rng=8)
    assert_frame_equal(slow, query_subsets(whole, [1, 3, 10], 20, rng=8), check_exact=True)
    assert (slow["systems"].n_unique() > 1) == holes


def test_query_subsets__excludes_systems_undefined_on_drawn_queries():
    values = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, NAN]])
    found = query_subsets(matrix(values), [1], 20).unique(["systems", "tau"])
    assert set(found.select("systems", "tau").iter_rows()) == {(2, 1.0), (3, 1.0)}


@pytest.mark.parametrize(
    "values",
    [
        [[1.0, 1.0, 1.0]] * 3,
        [[1.0]] * 3,
        [[NAN, NAN]] * 3,
        [[1.0, NAN]] * 3,
        np.zeros((3, 0)),
    ],
)
def test_query_subsets__tau_undefined_without_an_order(values):
    found = query_subsets(matrix(np.asarray(values)), [2], 3)
    assert found["tau"].is_nan().all()
    (row,) = spread(found).rows(named=True)
    assert (row["replicates"], row["undefined"]) == (0, 3)
    assert all(math.isnan(row[n]) for n in ("mean", "sd", "low", "median", "high"))


def test_query_subsets__identical_systems_tie_in_every_draw():
    values = np.random.default_rng(1).random((30, 4))
    values[:, 3] = values[:, 0]
    found = query_subsets(matrix(values), [7], 50)
    # 5 of 6 pairs are untied in both orders.
    assert {round(t * 5) / 5 for t in found["tau"]} <= {k / 5 for k in range(-5, 6)}
    assert found["tau"].max() == 1


def test_query_subsets__equal_means_tie_despite_rounding():
    """Both systems have the mean 0.15, but 0.1 + 0.2 is not 0.3 in floating point."""
    values = np.array([[0.1, 0.3, 0.0], [0.2, 0.0, 0.1]])
    found = query_subsets(matrix(values), [2], 1)
    assert found["tau"].to_list() == [1.0]
    assert query_subsets(matrix(values[:, :2]), [2], 1)["tau"].is_nan().all()


def test_query_subsets__rejects_sizes_above_the_number_of_queries():
    with pytest.raises(UsageError, match="there are 0 queries"):
        query_subsets(matrix(np.zeros((0, 2))), [1])
    assert query_subsets(matrix(np.zeros((0, 2))), []).height == 0


@given(
    arrays.arrays(
        float,
        st.tuples(st.integers(1, 4), st.integers(2, 9)),
        elements=st.sampled_from([0.0, 0.25, 0.5, 1.0, NAN]),
    )
)
def test_query_subsets__tau_equals_kendall_tau_b(values):
    """Samples of one query, against `orders` and the naive implementation."""
    whole = matrix(values)
    found = query_subsets(whole, [1], 3)
    means = whole.means
    for row, sample in zip(
        found.rows(named=True), Plan("queries", (1,), 3, *values.shape).samples(), strict=True
    ):
        other = values[sample.queries[0]]
        both = ~np.isnan(means) & ~np.isnan(other)
        x, y = round_means(means[both]), other[both]
        assert row["systems"] == both.sum()
        assert row["tau"] == pytest.approx(naive.kendall_tau_b(x.tolist(), y.tolist()), nan_ok=True)
        expected = kendall_tau_b(x[None], y[None])[0, 0]
        assert row["tau"] == pytest.approx(expected, nan_ok=True)


@pytest.mark.exhaustive
def test_query_subsets__tau_grows_with_size_on_trec_8(shared: Path):
    (whole,) = read_matrices(shared / "score-matrices" / "adhoc8_ap.csv")
    found = spread(query_subsets(whole, [5, 25, 45, 50], 100))
    assert found["mean"].is_sorted()
    assert found["sd"].is_sorted(descending=True)
    assert found["mean"].to_list() == pytest.approx([0.70, 0.89, 0.96, 1.0], abs=0.02)


# Fewer systems: paper 2, Algorithm 1


FOUND = np.random.default_rng(5).random((6, 15, 8)) < 0.3  # [query, doc, system]


def rare(systems: np.ndarray) -> Matrix:
    """Return a synthetic measure: each doc counts 1 plus its rarity among these systems."""
    found = FOUND[:, :, systems]
    rarity = 1 - found.mean(axis=2)
    values = (found * (1 + rarity)[:, :, None]).sum(axis=1)
    return Matrix(values, tuple("uvwxyz"), tuple(NAMES[s] for s in systems), "rare")


def test_resample__system_subsets_equal_algorithm_1_of_paper_2():
    plan = Plan("systems", (2, 5, 8), 25, queries=6, systems=8)
    found = resample(lambda sample: rare(sample.systems), plan, rng=3)
    # Algorithm 1, line by line.
    before = rare(np.arange(8)).means
    for row, sample in zip(found.rows(named=True), plan.samples(3), strict=True):
        now = rare(sample.systems).means
        then = before[sample.systems]
        expected = naive.kendall_tau_b(then.round(12).tolist(), now.round(12).tolist())
        assert row["tau"] == pytest.approx(expected, nan_ok=True)
        assert row["systems"] == sample.size
    assert found.filter(size=8)["tau"].to_list() == [1.0] * 25
    # The measure depends on the participating systems.
    assert (found.filter(size=5)["tau"] < 1).any()


# Missing labels: paper 4, Figure 7


RANKS = np.random.default_rng(9).integers(1, 100, (5, 12, 7))  # [query, relevant doc, system]


def mean_rank(labels: tuple[np.ndarray, ...]) -> Matrix:
    values = np.array([RANKS[q][own].mean(axis=0) for q, own in enumerate(labels)])
    return Matrix(values, tuple("abcde"), NAMES[:7], "MeanRank", direction=-1)


def labels_of(sample: Sample) -> Matrix:
    every = tuple(np.arange(12) for _ in range(5))
    return mean_rank(every if sample.labels is None else sample.labels)


def test_resample__label_subsets_equal_naive_means():
    plan = Plan("labels", (0.1, 0.5, 1.0), 20, queries=5, systems=7, labels=(12,) * 5)
    found = resample(labels_of, plan, rng=1)
    assert found["size"].to_list() == [0.1] * 20 + [0.5] * 20 + [1.0] * 20
    for row, sample in zip(found.rows(named=True), plan.samples(1), strict=True):
        assert sample.labels is not None
        means = [
            -naive.mean(
                [naive.mean([float(RANKS[q, d, s]) for d in sample.labels[q]]) for q in range(5)]
            )
            for s in range(7)
        ]
        full = (-RANKS.mean(axis=(0, 1))).tolist()
        x, y = [round(v, 9) for v in full], [round(v, 9) for v in means]
        assert row["tau"] == pytest.approx(naive.kendall_tau_b(x, y))
    low, middle, full_ = spread(found)["mean"].to_list()
    assert low < middle < full_ == 1


# resample


@pytest.mark.parametrize("workers", [2, 5])
def test_resample__independent_of_workers(workers):
    def noisy(sample: Sample) -> Matrix:
        return matrix(made().values[sample.queries] + sample.rng.normal(size=8))

    plan = Plan("queries", (3, 9), 10, 20, 8)
    alone = resample(noisy, plan, rng=6)
    assert_frame_equal(alone, resample(noisy, plan, rng=6, workers=workers), check_exact=True)
    with ThreadPoolExecutor(workers) as executor:
        assert_frame_equal(alone, resample(noisy, plan, rng=6, executor=executor))
    again = resample(noisy, plan, rng=np.random.default_rng(6))
    assert not alone.equals(again)
    assert again.equals(resample(noisy, plan, rng=np.random.default_rng(6)))


def test_resample__row_for_each_measure_of_scores_or_matrices():
    values = np.stack([made(seed=1).values, made(seed=2).values])

    def scores(sample: Sample) -> Scores:
        some = values[:, sample.queries]
        return Scores(
            track="t",
            measures=("A", "B"),
            queries=tuple(f"q{i}" for i in sample.queries),
            systems=NAMES[:8],
            values=some,
            included=np.ones(some.shape, bool),
            no_list=np.zeros(some.shape[1:], bool),
            directions={"A": 1, "B": -1},
        )

    plan = Plan("queries", (4,), 3, 20, 8)
    found = resample(scores, plan)
    assert found["measure"].to_list() == ["A", "B"] * 3
    several = resample(
        lambda s: [matrix(values[0][s.queries], 1, "A"), matrix(values[1][s.queries], -1, "B")],
        plan,
    )
    assert_frame_equal(found, several, check_exact=True)
    for i, measure in enumerate("AB"):
        alone = query_subsets(matrix(values[i], measure=measure), [4], 3)
        assert found.filter(measure=measure)["tau"].to_list() == pytest.approx(alone["tau"])


def test_resample__rejects_measures_and_systems_not_in_full_collection():
    plan = Plan("queries", (1,), 1, 20, 8)

    def other(sample: Sample) -> Matrix:
        return matrix(made().values, measure="M" if sample.replicate < 0 else "N")

    with pytest.raises(UsageError, match="'N', which is not in the full collection"):
        resample(other, plan)

    def more(sample: Sample) -> Matrix:
        return matrix(made(systems=8 if sample.replicate < 0 else 9).values)

    with pytest.raises(UsageError, match="'s8', which is not in the full collection"):
        resample(more, plan)


def test_spread__single_replicate_has_no_standard_deviation():
    (row,) = spread(query_subsets(made(), [5], 1)).rows(named=True)
    assert row["replicates"] == 1
    assert row["low"] == row["mean"] == row["high"]
    assert math.isnan(row["sd"])


def test_plan__samples_ordered_by_size_with_all_systems():
    plan = Plan("queries", (3, 5), 2, queries=6, systems=4)
    found = list(plan.samples(7))
    assert [(s.size, s.replicate) for s in found] == [(3, 0), (3, 1), (5, 0), (5, 1)]
    for sample in found:
        assert len(sample.queries) == sample.size
        assert len(set(sample.queries)) == sample.size
        assert (np.diff(sample.queries) > 0).all()
        assert sample.queries.max() < 6
        assert sample.systems.tolist() == [0, 1, 2, 3]
        assert sample.labels is None


def test_plan__system_samples_keep_all_queries():
    (sample,) = Plan("systems", (2,), 1, queries=3, systems=9).samples(1)
    assert sample.queries.tolist() == [0, 1, 2]
    assert len(sample.systems) == 2
    assert sample.systems.max() < 9


@pytest.mark.parametrize(
    ("share", "kept"), [(0.5, [2, 5, 1, 0]), (0.29, [1, 2, 1, 0]), (1, [4, 10, 1, 0])]
)
def test_plan__labels_are_a_share_per_query_and_at_least_1(share, kept):
    plan = Plan("labels", (share,), 3, queries=4, systems=2, labels=(4, 10, 1, 0))
    for sample in plan.samples(3):
        assert sample.labels is not None
        assert [len(own) for own in sample.labels] == kept
        assert all((np.diff(own) > 0).all() for own in sample.labels)
        assert sample.queries.tolist() == [0, 1, 2, 3]


def test_plan__share_of_labels_despite_rounding():
    (sample,) = Plan("labels", (0.29,), 1, queries=1, systems=2, labels=(100,)).samples()
    assert sample.labels is not None
    assert len(sample.labels[0]) == 29


def test_plan__whole_keeps_all_queries_and_systems():
    whole = Plan("systems", (2,), 1, queries=3, systems=4).whole()
    assert (whole.size, whole.replicate, whole.labels) == (4, -1, None)
    assert whole.queries.tolist() == [0, 1, 2]
    assert whole.systems.tolist() == [0, 1, 2, 3]


@pytest.mark.exhaustive
def test_plan__every_subset_equally_likely():
    plan = Plan("queries", (2,), 6000, queries=4, systems=1)
    seen = Counter(tuple(s.queries.tolist()) for s in plan.samples(11))
    assert set(seen) == set(combinations(range(4), 2))
    assert min(seen.values()) > 1000 - 4 * math.sqrt(1000)
    assert max(seen.values()) < 1000 + 4 * math.sqrt(1000)


def same(a: Sample, b: Sample) -> bool:
    return (
        (a.size, a.replicate) == (b.size, b.replicate)
        and a.queries.tolist() == b.queries.tolist()
        and a.rng.random() == b.rng.random()
    )


def test_plan__samples_reproducible_by_seed():
    plan = Plan("queries", (10,), 5, queries=30, systems=2)
    for rng in (4, np.random.SeedSequence(4)):
        assert all(map(same, plan.samples(rng), plan.samples(rng)))
    of = [[s.queries.tolist() for s in plan.samples(r)] for r in (4, 5, np.random.default_rng(4))]
    assert of[0] != of[1]
    assert of[0] != of[2]
    again = [s.queries.tolist() for s in plan.samples(np.random.default_rng(4))]
    assert of[2] == again


def test_plan__more_replicates_and_sizes_keep_the_first_samples():
    short = list(Plan("queries", (5,), 3, queries=30, systems=2).samples(9))
    long = list(Plan("queries", (5, 7), 6, queries=30, systems=2).samples(9))
    assert all(map(same, short, long[:3]))


def test_plan__independent_generator_for_each_sample():
    plan = Plan("queries", (5,), 3, queries=30, systems=2)
    first = [s.rng.random() for s in plan.samples(1)]
    assert len({*first, plan.whole(1).rng.random()}) == 4
    sample = next(plan.samples(1))
    assert sample.rng.random() == sample.rng.random()
    # The generator that drew the queries would start with the same numbers.
    assert sorted(sample.rng.permutation(30)[:5]) != sample.queries.tolist()
    assert same(sample, pickle.loads(pickle.dumps(sample)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sizes": (0,)}, "size 0 cannot be drawn: sizes are integers from 1"),
        ({"sizes": (3, 7)}, "size 7 cannot be drawn"),
        ({"sizes": (2.5,)}, "size 2.5"),
        ({"sizes": (math.nan,)}, "size nan"),
        ({"sizes": (math.inf,)}, "size inf"),
        ({"part": "systems", "sizes": (5,)}, "there are 4 systems"),
        ({"part": "labels", "sizes": (0.0,), "labels": (1,) * 6}, "above 0 and at most 1"),
        ({"part": "labels", "sizes": (1.5,), "labels": (1,) * 6}, "above 0 and at most 1"),
        ({"part": "labels", "sizes": (0.5,)}, "labels has 0 counts for 6 queries"),
        ({"part": "label"}, "Did you mean 'labels'"),
        ({"replicates": 0}, "replicates = 0"),
    ],
)
def test_plan__rejects_invalid_arguments(change, said):
    given_ = {"part": "queries", "sizes": (3,), "replicates": 2, "queries": 6, "systems": 4}
    with pytest.raises(UsageError, match=said):
        Plan(**(given_ | change))


VALUES = np.array([3.0, 1.0, 2.0, 2.0, 5.0, 4.0])


def by_size(members: np.ndarray) -> np.ndarray:
    """Two measures: fixed values, and values that turn round in sets of less than four systems."""
    turned = np.where(members.sum(axis=1) < 4, -1.0, 1.0)[:, None] * VALUES
    return np.stack([np.broadcast_to(VALUES, members.shape), turned])


def test_system_subsets__all_sets_of_few_systems():
    frame = system_subsets(by_size, ["fixed", "turned"], 6, [2, 5])
    assert frame.columns == ["size", "replicate", "measure", "systems", "tau"]
    counts = frame.group_by("size", "measure").len().sort("size", "measure").rows()
    assert counts == [(2, "fixed", 15), (2, "turned", 15), (5, "fixed", 6), (5, "turned", 6)]
    tau = {key: rows["tau"] for key, rows in frame.group_by("size", "measure")}
    assert tau[2, "fixed"].is_nan().sum() == 1  # the systems that tie
    assert tau[2, "fixed"].drop_nans().unique().to_list() == [1.0]
    assert tau[2, "turned"].drop_nans().unique().to_list() == [-1.0]
    assert tau[5, "turned"].unique().to_list() == [1.0]


def test_system_subsets__draws_of_a_size_depend_on_nothing_else():
    """Sets are told by the values of their systems, which only their members have."""
    drawn: dict[int, list[list[int]]] = {}

    def remember(members: np.ndarray) -> np.ndarray:
        for row in members:
            drawn.setdefault(int(row.sum()), []).append(np.flatnonzero(row).tolist())
        return by_size(members)[:1]

    def sets(sizes: list[int], draws: int, seed: int = 1) -> list[list[int]]:
        drawn.clear()
        system_subsets(remember, ["fixed"], 6, sizes, draws, rng=seed)
        return drawn[3]

    first = sets([3], 10)
    assert len(first) == 10
    assert all(len({*of}) == 3 for of in first)
    assert sets([2, 3, 4], 10) == first
    assert sets([3], 15)[:10] == first
    assert sets([3], 10, seed=2) != first
    assert len(sets([3], 20)) == len({*map(tuple, sets([3], 20))}) == 20  # all sets, each once


@pytest.mark.parametrize("sizes", [[], [7], [2, 7]])
def test_system_subsets__refuses_sizes_that_cannot_be_drawn(sizes: list[int]):
    with pytest.raises(UsageError, match="from 1 to all 6"):
        irmeta.stats.system_subsets(by_size, ["a", "b"], 6, sizes)
    with pytest.raises(UsageError, match="size = 0"):
        system_subsets(by_size, ["a", "b"], 6, [0])
    with pytest.raises(UsageError, match="draws = 0"):
        system_subsets(by_size, ["a", "b"], 6, [2], 0)


@pytest.mark.parametrize(
    ("values", "order"),
    [
        (np.ones((1, 1)), [0]),
        (np.full((2, 2), np.nan), [0, 1]),
        (np.array([[1, 0.2, 0.8, 0.1], [0.2, 1, 0.1, 0.9], [0.8, 0.1, 1, 0], [0.1, 0.9, 0, 1]]),
         [2, 0, 1, 3]),
    ],
)  # fmt: skip
def test_cluster_order__neighbours_are_alike(values: np.ndarray, order: list[int]):
    found = irmeta.stats.cluster_order(values).tolist()
    assert found in (order, order[::-1])

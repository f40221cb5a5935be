"""Samples of queries, systems and labels drawn by a resampling plan."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from irmeta.errors import UsageError
from irmeta.stats.resampling import Plan, Sample


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

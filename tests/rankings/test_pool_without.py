"""Pools without systems: arrays equal those computed anew from all docs that remain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks, judged_under
from irmeta.rankings.pool import NOT_POOLED, PooledLists, pool_depths
from support.examples import scaled
from support.making import Track, tracks
from support.viewing import NEEDS, view_of

DEPTHS = st.none() | st.integers(1, 4)


def assert_pool_is_current(view: JudgedRanks, has_current_lists: bool) -> None:
    lists, systems = view.pooled_lists, view.facts.contributors
    np.testing.assert_array_equal(view.pool_depth, pool_depths(lists.ranks, systems))
    anew = PooledLists.of(view.facts, lists.ranks, view.offsets, lists.lengths)
    if has_current_lists:
        np.testing.assert_array_equal(lists.judged, anew.judged)
        complete = np.minimum(anew.complete(view.facts, view.queries), view.pooled_to or NOT_POOLED)
        np.testing.assert_array_equal(view.complete_depth, complete)


@settings(max_examples=scaled(30))
@given(tracks(), DEPTHS, DEPTHS, st.integers(0, 2**4 - 1))
def test_with_pool__arrays_equal_those_of_the_docs_that_remain(
    track: Track, earlier: int | None, depth: int | None, chosen: int
):
    view = view_of(track.read(), *NEEDS)
    names = [name for i, name in enumerate(view.systems) if chosen >> i & 1]
    assume(len(names) < len(view.systems))
    # An earlier cut leaves lists whose judged depths are those of the deeper pool.
    made = view.with_pool(earlier).with_pool(depth, names)
    assert_pool_is_current(made, depth is None and (bool(names) or earlier is None))
    if depth is not None:
        # A doc must be in both pools: the first of all systems, the second of those that remain.
        ranks, of_all = view.pooled_lists.ranks, view.facts.contributors
        is_kept = pool_depths(ranks, made.facts.contributors) <= depth
        is_kept &= pool_depths(ranks, of_all) <= (earlier or NOT_POOLED)
        assert len(made.grades) == is_kept.sum()


@pytest.mark.exhaustive
@settings(max_examples=scaled(10))
@given(tracks(), st.sampled_from([1, 4, 100]))
def test_judged_under__equals_one_order_at_a_time(track: Track, rows: int):
    opened = track.read()
    orders = ("trec_eval", "file", "score-file", "trec_eval10")
    policies = [EvalPolicy(tie_order=one, pool_order=one) for one in orders]
    asked = [
        (policy, {"pool", "ties"} if one == "file" else {"pool"})
        for one, policy in zip(orders, policies, strict=True)
    ]
    together = list(judged_under(opened.track("t"), asked, rows))
    for place, (policy, needs) in enumerate(asked):
        alone = list(judged_ranks(opened.track("t", policy), rows, needs))
        for one, several in zip(alone, together, strict=True):
            other = several[place]
            assert one.queries == other.queries
            for name in ("ranks", "grades", "lengths", "pool_depth", "complete_depth"):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
            assert (one.ties is None) == (other.ties is None) == (needs == {"pool"})
            if one.ties is not None:
                np.testing.assert_array_equal(one.ties, other.ties)

"""Measures of docs of a grade above 0, and scores by pools that evaluate these docs alone."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings

from irmeta.measures import pools as module
from irmeta.measures.evaluate import evaluate_block, reads_gained_only
from irmeta.measures.names import parse_measures, registry
from irmeta.measures.pools import reduced_pools
from irmeta.policies import EvalPolicy
from irmeta.rankings.derive.select import keep_gained
from irmeta.testing.samples import samples, view_for
from support.examples import scaled
from support.making import Track, tracks
from support.viewing import NEEDS, view_of

GAINED = [name for name, measure in registry().items() if measure.gained_only]


def test_gained_only__measures_of_the_depth_study():
    assert {"AP", "nDCG", "Q", "ERR", "RR", "RBP"} <= set(GAINED)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", GAINED)
def test_gained_only__other_judged_docs_change_no_bit(name: str):
    specs = [
        spec
        for spec in samples(registry()[name])
        if reads_gained_only(spec) and spec.settings.get("gmax") is None
    ]
    assert specs
    for spec in specs:
        for negative in ("unjudged", "nonrelevant"):
            view = view_for(spec, negative)
            every, gained = (
                evaluate_block(one, [spec], EvalPolicy(negative=negative)).values
                for one in (view, keep_gained(view))
            )
            np.testing.assert_array_equal(every, gained, spec.name)


@pytest.mark.parametrize("name", ["nDCG(gain=0:1)", "AP(unjudged=condensed)", "AP(norm=pool)@5"])
def test_gained_only__not_of_names_that_read_other_docs(name: str):
    assert not any(map(reads_gained_only, parse_measures(name)))


SPECS = parse_measures("AP(norm=min)@3,nDCG,Q@2,ERR@3,RR,RBP(p=0.8),P@2,AP(rel=2)")


@pytest.mark.exhaustive
@settings(max_examples=scaled(25))
@given(tracks())
def test_reduced_pools__same_bits_as_by_all_judged_docs(track: Track):
    view = view_of(track.read(), *NEEDS)
    assume(len(view.systems) > 1)
    parts = {name: (name,) for name in view.systems}
    for depth in (None, 1, 3):
        for queries, rel in (("judged", 1), ("relevant", 1), ("judged", 2)):
            policy = EvalPolicy(queries=queries)
            contributors = list(view.systems)
            made = list(reduced_pools([view], SPECS, policy, parts, depth, rel=rel))
            scored = partial(evaluate_block, specs=SPECS, policy=policy)
            anew = map(
                module._of_judged([view], scored, contributors, depth, rel),
                [("", ()), *parts.items()],
            )
            for one, other in zip(made, anew, strict=True):
                facts = ("part", "left_out", "judged", "relevant")
                assert [getattr(one, n) for n in facts] == [getattr(other, n) for n in facts]
                for array in ("values", "included", "no_list"):
                    left, right = (getattr(side.scores, array) for side in (one, other))
                    np.testing.assert_array_equal(left, right)
                np.testing.assert_array_equal(one.means, other.scores.mean_values())

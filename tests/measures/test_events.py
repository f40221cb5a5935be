"""Events, the steps of a measure as its cutoff grows: they add up to its values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

import irmeta
from irmeta.measures.curve import add_curve
from irmeta.measures.evaluate import seen_by
from irmeta.measures.names import Spec, parse_measure
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import judged_ranks
from support.examples import scaled
from support.making import Track, tracks
from twins.registry import FAMILIES

KS = np.array([1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 40, 1000])
STEPS = {
    "DCG": [name for name in FAMILIES["DCG"].twins if "@" not in name and "ties" not in name],
    "ERR": [
        *("ERR", "ERR(stop=linear,gmax=6)", "ERR(stop=ntcir,unjudged=condensed)", "nERR"),
        *("ERR(unjudged=upper)", "ERR(unjudged=upper-gmax)", "nERR(stop=linear)"),
    ],
    "Q": ["Q", "Q(norm=min)@1", "Q(beta=3,gain=exp,rel=2)", "Q(norm=min,unjudged=condensed)@1"],
    "RBP": [n for n in FAMILIES["RBP"].twins if n.startswith("RBP(") and "ties" not in n],
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("names", STEPS.values(), ids=STEPS)
@settings(max_examples=scaled(20))
@given(track=tracks())
def test_events__sum_to_value_on_random_tracks(names: list[str], track: Track):
    assert_steps_add_up(track.read(), "t", names)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", ["ERR", "Q"])
def test_events__sum_to_value_on_synthetic_tracks(family: str, made_store: irmeta.Store):
    for track in made_store.tracks:
        assert_steps_add_up(made_store, track, STEPS[family])


@pytest.mark.parametrize(
    "name",
    [
        *("DCG(ties=share)", "nDCG(ties=share)", "RBP(ties=share)"),
        *("nDCG(ideal=pool)@5", "Q(norm=pool)@5", "Q(ideal=pool)@5"),
    ],
)
def test_events__none_with_shared_ties_or_pool(name: str, made_store: irmeta.Store):
    (view,) = judged_ranks(made_store.track("web"), needs={"pool"})
    spec = parse_measure(name)
    assert spec.measure.events(view, spec.settings) is None


def assert_steps_add_up(store: irmeta.Store, track: str, names: Iterable[str]) -> None:
    """What each doc adds up to k, over the divisor there, is each measure's value at k.

    And a curve sums these values.
    """
    specs = [parse_measure(name) for name in names]
    assert specs
    for view in judged_ranks(store.track(track)):
        for spec in specs:
            _assert_adds_up(view, spec)
            _assert_curve(view, spec)


def _assert_adds_up(view: JudgedRanks, spec: Spec) -> None:
    seen = seen_by(view, spec)
    values = spec.measure.compute(seen, spec.settings, KS.tolist())
    assert spec.measure.events is not None
    events = spec.measure.events(seen, spec.settings)
    assert events is not None
    assert events.amounts.dtype == np.float64
    assert len(events.offsets) == len(view.queries) + 1
    divisors = np.broadcast_to(events.divisors(KS), values.shape[:2])
    expected = np.empty_like(values)
    for q, (start, stop) in enumerate(pairwise(events.offsets)):
        for c, k in enumerate(KS):
            within = events.ranks[start:stop] <= k
            total = np.where(within, events.amounts[start:stop], 0.0).sum(axis=0)
            over = divisors[c, q]
            expected[c, q] = total * events.scale / over if over > 0 else events.undefined
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12, err_msg=spec.name)


def _assert_curve(view: JudgedRanks, spec: Spec) -> None:
    whole = replace(spec, cutoff=int(KS[-1]))
    values = spec.measure.compute(seen_by(view, whole), spec.settings, KS.tolist())
    sums, counts = np.zeros((2, len(KS), len(view.systems)))
    add_curve(view, spec, KS, EvalPolicy(), sums, counts)
    expected = values.sum(axis=1)
    np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12, err_msg=spec.name)

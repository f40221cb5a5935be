"""Measures over a store: calls grouped by family, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irmeta.measures.search_length import irrelevant_retrieved
from irmeta.measures.spec import Spec
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks, judged_ranks
from irmeta.results.scores import Scores
from irmeta.store.layout import Layout


def evaluate(layout: Layout, track: str, specs: Sequence[Spec], policy: EvalPolicy) -> Scores:
    """The values of `specs` for every judged query and every system of a track."""
    blocks = judged_ranks(layout, track, policy)
    return Scores.concat([evaluate_block(view, specs, policy) for view in blocks])


def evaluate_block(view: JudgedRanks, specs: Sequence[Spec], policy: EvalPolicy) -> Scores:
    """The values of `specs` for one block."""
    values = np.empty((len(specs), *view.lengths.shape))
    for places in _by_call(specs):
        first = specs[places[0]]
        cutoffs = [specs[i].cutoff for i in places]
        values[places] = first.measure.compute(view, first.settings, cutoffs)
    return Scores(
        track=view.facts.track,
        measures=tuple(spec.name for spec in specs),
        queries=view.queries,
        systems=view.systems,
        values=values,
        included=_included(view, specs, policy),
        no_list=view.lengths == 0,
        no_irrelevant={
            s.name: _no_irrelevant(view, s) for s in specs if s.measure.counts_irrelevant
        },
        directions={spec.name: spec.measure.direction for spec in specs},
    )


def _by_call(specs: Sequence[Spec]) -> list[list[int]]:
    """Places of the specs that differ in their cutoff alone: one call of `compute` each."""
    calls: dict[tuple[object, ...], list[int]] = {}
    for place, spec in enumerate(specs):
        calls.setdefault((spec.measure.name, spec.params), []).append(place)
    return list(calls.values())


def _included(view: JudgedRanks, specs: Sequence[Spec], policy: EvalPolicy) -> np.ndarray:
    shape = (len(specs), *view.lengths.shape)
    if policy.queries == "retrieved":
        return np.broadcast_to(view.lengths > 0, shape)
    if policy.queries == "relevant":
        found = np.stack([view.counts(spec.rel) > 0 for spec in specs])
        return np.broadcast_to(found[..., None], shape)
    return np.ones(shape, bool)


def _no_irrelevant(view: JudgedRanks, spec: Spec) -> np.ndarray:
    return (view.lengths > 0) & (irrelevant_retrieved(view, spec.rel) == 0)

"""Measures over a store: calls grouped by family, a block of queries at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irmeta._version import __version__
from irmeta.measures.search_length import irrelevant_retrieved
from irmeta.measures.spec import Spec
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks, judged_ranks
from irmeta.results.scores import Scores
from irmeta.store.layout import Layout
from irmeta.store.scan import track_facts


def evaluate(layout: Layout, track: str, specs: Sequence[Spec], policy: EvalPolicy) -> Scores:
    """The values of `specs` for every judged query and every system of a track."""
    blocks = judged_ranks(layout, track, policy)
    return Scores.concat([evaluate_block(view, specs, policy) for view in blocks])


def how_made(
    layout: Layout, specs: Sequence[Spec], policy: EvalPolicy, tracks: Sequence[str]
) -> dict[str, Any]:
    """What values of these measures were computed from and how, as JSON values.

    For each track the choices that were left to it: the qrels set, how its runs were read, and the
    highest grade, which graded gains are divided by.
    """
    facts = [track_facts(layout, track, policy.qrels) for track in tracks]
    return {
        "irmeta": __version__,
        "measures": {s.name: {**s.settings, "revision": s.measure.revision} for s in specs},
        "eval_policy": policy.record(),
        "tracks": {
            f.track: {
                "fingerprint": layout.fingerprint(f.track),
                "qrels": f.qrels,
                "read_policy": dict(f.policy),
                "tie_order": policy.tie_order or f.policy["tie_order"],
                "highest_grade": f.highest_grade,
            }
            for f in facts
        },
    }


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

"""Means of all systems by the pools that remain without some of the contributing systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from irmeta.errors import MeasureError, UsageError, check_choice
from irmeta.measures.evaluate import evaluate_block, needs_of
from irmeta.measures.spec import Spec
from irmeta.parallel import ordered_map
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks, Need
from irmeta.rankings.load import over_blocks
from irmeta.rankings.pool import complete_depths_of
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.averages import sum_over_queries
from irmeta.store.scan import StoreReader, undisturbed

LEVELS = ("run", "group", "type")


@dataclass(frozen=True)
class ReducedPools:
    """Means by the whole pool and by the pools without each part of the contributors.

    Attributes
    ----------
    parts
        Contributing systems by the name of the part that is left out.
    means
        float64 [1 + parts, measure, system]; index 0 is the whole pool.
    judged, relevant
        int64 [1 + parts]: judged and relevant (grade 1 and above) docs of all queries.
    depth
        Depth of the pools; None: all judgments.
    """

    parts: Mapping[str, tuple[str, ...]]
    means: np.ndarray
    judged: np.ndarray
    relevant: np.ndarray
    depth: int | None


def parts_of(facts: TrackFacts, level: str) -> dict[str, tuple[str, ...]]:
    """Return the contributing systems by run, group or type.

    Raises
    ------
    UsageError
        If the level is unknown, or the track does not state the groups or types.
    """
    check_choice("level", level, LEVELS)
    systems = [facts.systems[i] for i in facts.contributors]
    if level == "run":
        return {system: (system,) for system in systems}
    names = facts.groups if level == "group" else facts.types
    parts: dict[str, tuple[str, ...]] = {}
    for i, system in zip(facts.contributors, systems, strict=True):
        if (name := names[i]) is not None:
            parts[name] = (*parts.get(name, ()), system)
    if not parts:
        fix = f"name the column {level!r} of its systems in collection.toml"
        raise UsageError(f"track {facts.track!r} does not state the {level} of any system: {fix}.")
    return dict(sorted(parts.items()))


def complete_depth(store: StoreReader, track: str, policy: EvalPolicy) -> int:
    """Return the depth to which the pools of all queries are complete: the least over queries."""
    blocks = over_blocks(complete_depths_of, store, track, policy, {"pool"})
    depths = np.concatenate([np.empty(0, np.int64), *blocks])
    return int(depths.min(initial=np.iinfo(np.int64).max)) if len(depths) else 0


def reduced_pools(
    store: StoreReader,
    facts: TrackFacts,
    specs: Sequence[Spec],
    policy: EvalPolicy,
    parts: Mapping[str, tuple[str, ...]],
    depth: int | None,
    workers: int | None = 1,
) -> ReducedPools:
    """Compute the means of all systems, with and without each part of the contributors.

    Parameters
    ----------
    parts
        See `parts_of`.
    depth
        Depth of the pools: see `JudgedRanks.with_pool`. None: all judgments, less the docs that
        a part alone ranks within the depth to which the pool is complete.
    workers
        Threads over parts, default the usable cores; no value depends on the number.

    Raises
    ------
    MeasureError
        If a measure is not averaged arithmetically.
    UsageError
        If a part is the whole pool.
    """
    for spec in specs:
        if spec.average != "arithmetic":
            raise MeasureError(f"{spec.name}: leaving out systems needs arithmetic means.")
    without: list[tuple[str, ...]] = [(), *parts.values()]
    sums = np.zeros((len(without), len(specs), len(facts.systems)))
    counts = np.zeros(sums.shape, np.int64)
    docs = np.zeros((2, len(without)), np.int64)

    def add(view: JudgedRanks, index: int) -> None:
        pool = view.with_pool(depth, without[index])
        scores = evaluate_block(pool, specs, policy)
        counted = scores.included & ~np.isnan(scores.values)
        sum_over_queries(scores.values, counted, sums[index])
        counts[index] += counted.sum(axis=1)
        docs[:, index] += len(pool.grades), int(pool.counts(1).sum())

    needs: list[Need] = [*needs_of(specs), "pool"]
    with undisturbed(store, facts.track):
        # One block at a time, so that sums over queries add up in order.
        for view in over_blocks(lambda view: view, store, facts.track, policy, needs):
            for _ in ordered_map(partial(add, view), range(len(without)), workers=workers):
                pass
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return ReducedPools(parts, means, docs[0], docs[1], depth)

"""Scores by the pools that remain without some of the contributing systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from irmeta.errors import MeasureError, UsageError, check_choice
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec
from irmeta.parallel import ordered_map
from irmeta.policies import EvalPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.pool import complete_depths_of
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.scores import Scores
from irmeta.store.scan import StoreReader

LEVELS = ("run", "group", "type")


@dataclass(frozen=True)
class ReducedPool:
    """Scores by the judgments of a pool without some of its contributors.

    Attributes
    ----------
    part
        Name of the part that is left out; empty: none is.
    left_out
        Systems of that part.
    scores
        Scores of the contributing systems, those of the part included.
    judged, relevant
        Judged and relevant (grade 1 and above) docs of all queries.
    """

    part: str
    left_out: tuple[str, ...]
    scores: Scores
    judged: int
    relevant: int


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
    views: Sequence[JudgedRanks],
    specs: Sequence[Spec],
    policy: EvalPolicy,
    parts: Mapping[str, tuple[str, ...]],
    depth: int | None,
    workers: int | None = 1,
) -> Iterator[ReducedPool]:
    """Yield the scores by the whole pool, then by the pool without each part of the contributors.

    Parameters
    ----------
    views
        All blocks of a track, with the pool. They are kept, since every part needs all of them.
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
    facts = views[0].facts
    contributors = [facts.systems[i] for i in facts.contributors]

    def reduced(part: tuple[str, tuple[str, ...]]) -> ReducedPool:
        name, systems = part
        pools = [view.with_pool(depth, systems) for view in views]
        blocks = [evaluate_block(pool, specs, policy) for pool in pools]
        judged = sum(int(pool.is_judged.sum()) for pool in pools)
        relevant = sum(int(pool.counts(1).sum()) for pool in pools)
        return ReducedPool(name, systems, _of(blocks, contributors), judged, relevant)

    asked: list[tuple[str, tuple[str, ...]]] = [("", ()), *parts.items()]
    with closing(ordered_map(reduced, asked, workers=workers)) as pools:
        yield from pools


def _of(blocks: Sequence[Scores], systems: Sequence[str]) -> Scores:
    return Scores.concat(blocks).only(systems)

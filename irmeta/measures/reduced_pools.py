"""Scores by the pools of fewer contributors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from irmeta.errors import MeasureError, UsageError, check_choice
from irmeta.measures.evaluate import evaluate_block, reads_gained_only
from irmeta.measures.names import Spec
from irmeta.parallel import ordered_map
from irmeta.policies import EvalPolicy
from irmeta.rankings.completeness import complete_depths_of
from irmeta.rankings.derive.drop import pool_cut
from irmeta.rankings.derive.select import keep_gained, take_queries, take_rows
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.load import over_blocks
from irmeta.rankings.pool import POOL_ARRAYS
from irmeta.rankings.track_facts import TrackFacts
from irmeta.rankings.view import replace_arrays
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
        Scores of the contributing systems, those of the part included. Where no value can differ,
        they are those of the whole pool.
    judged, relevant
        Judged and relevant (`rel` and above) docs of all queries.
    """

    part: str
    left_out: tuple[str, ...]
    scores: Scores
    judged: int
    relevant: int

    @cached_property
    def means(self) -> np.ndarray:
        """Means of the scores: float64 [measure, system]."""
        return self.scores.mean_values()


def parts_of(facts: TrackFacts, unit: str) -> dict[str, tuple[str, ...]]:
    """Return the contributing systems by run, group or type."""
    check_choice("unit", unit, LEVELS)
    systems = [facts.systems[i] for i in facts.contributors]
    if unit == "run":
        return {system: (system,) for system in systems}
    names = facts.groups if unit == "group" else facts.types
    parts: dict[str, tuple[str, ...]] = {}
    for i, system in zip(facts.contributors, systems, strict=True):
        if (name := names[i]) is not None:
            parts[name] = (*parts.get(name, ()), system)
    if not parts:
        fix = f"name the column {unit!r} of its systems in collection.toml"
        raise UsageError(f"track {facts.track!r} does not state the {unit} of any system: {fix}.")
    return dict(sorted(parts.items()))


def complete_depth(store: StoreReader, track: str, policy: EvalPolicy) -> int:
    """Return the depth to which the pools of all queries are complete: the least over queries."""
    blocks = over_blocks(complete_depths_of, store, track, policy, {"pool"})
    depths = np.concatenate([np.empty(0, np.int64), *blocks])
    return int(depths.min(initial=np.iinfo(np.int64).max)) if len(depths) else 0


Part = tuple[str, tuple[str, ...]]
"""Name and systems of a part of the contributors."""
Evaluate = Callable[[JudgedRanks], Scores]


def reduced_pools(
    views: Sequence[JudgedRanks],
    specs: Sequence[Spec],
    policy: EvalPolicy,
    parts: Mapping[str, tuple[str, ...]],
    depth: int | None,
    workers: int | None = 1,
    rel: int = 1,
    evaluate: Evaluate | None = None,
    gained_only: bool = True,
) -> Iterator[ReducedPool]:
    """Yield the scores by the whole pool, then by the pool without each part of it.

    All blocks are kept, since every part needs all of them. `depth` None means all judgments, less
    the docs that a part alone ranks within the depth to which the pool is complete. No value
    depends on the number of workers. With `gained_only`, `evaluate` reads only docs with a gain,
    which is faster.
    """
    for spec in specs:
        if spec.average != "arithmetic":
            raise MeasureError(f"{spec.name}: leaving out systems needs arithmetic means.")
    facts = views[0].facts
    contributors = [facts.systems[i] for i in facts.contributors]
    asked: list[Part] = [("", ()), *parts.items()]
    scored = evaluate or partial(evaluate_block, specs=specs, policy=policy)
    if gained_only and all(map(reads_gained_only, specs)) and all(map(_is_plain, views)):
        reduced = _of_gained(views, scored, contributors, depth, rel)
    else:
        reduced = _of_judged(views, scored, contributors, depth, rel)
    with closing(ordered_map(reduced, asked, workers=workers)) as pools:
        yield from pools


def _of_judged(
    views: Sequence[JudgedRanks],
    evaluate: Evaluate,
    contributors: Sequence[str],
    depth: int | None,
    rel: int,
) -> Callable[[Part], ReducedPool]:
    """Return a function of a part that evaluates the views of the reduced pool."""

    def reduced(part: Part) -> ReducedPool:
        name, systems = part
        pools = [view.with_pool(depth, systems) for view in views]
        blocks = [evaluate(pool) for pool in pools]
        judged = sum(int(pool.is_judged.sum()) for pool in pools)
        relevant = sum(int(pool.counts(rel).sum()) for pool in pools)
        scores = Scores.concat(blocks).only(contributors)
        return ReducedPool(name, systems, scores, judged, relevant)

    return reduced


def _is_plain(view: JudgedRanks) -> bool:
    return view.diversity is None and not view.condensed and view.assumed is None


def _of_gained(
    views: Sequence[JudgedRanks],
    evaluate: Evaluate,
    contributors: Sequence[str],
    depth: int | None,
    rel: int,
) -> Callable[[Part], ReducedPool]:
    """Return a function of a part that evaluates only queries that lose a relevant doc.

    A part ranks few docs that no other does. Only relevant docs are copied.
    """
    is_gained = [view.grades > 0 for view in views]
    gained = [keep_gained(replace_arrays(view, **dict.fromkeys(POOL_ARRAYS))) for view in views]
    kept_rows = [_kept(view, depth, ()) for view in views]
    whole_blocks = [
        take_rows(one, np.flatnonzero(rows[gain]))
        for one, rows, gain in zip(gained, kept_rows, is_gained, strict=True)
    ]
    scores = [evaluate(one) for one in whole_blocks]
    whole_scores = Scores.concat(scores).only(contributors)

    def reduced(part: Part) -> ReducedPool:
        name, systems = part
        judged = relevant = 0
        changes = list[Scores]()
        is_changed = False
        for i, view in enumerate(views):
            rows = _kept(view, depth, systems)
            judged += int((rows & view.is_judged).sum())
            relevant += int((rows & (view.grades >= rel)).sum())
            lost = np.flatnonzero((kept_rows[i] & ~rows)[is_gained[i]])
            queries = np.unique(gained[i].query_of(lost))
            changes.append(_updated(scores[i], gained[i], rows[is_gained[i]], queries, evaluate))
            is_changed = is_changed or len(queries) > 0
        found = Scores.concat(changes).only(contributors) if is_changed else whole_scores
        return ReducedPool(name, systems, found, judged, relevant)

    return reduced


def _kept(view: JudgedRanks, depth: int | None, without: Sequence[str]) -> np.ndarray:
    """Return the rows that `JudgedRanks.with_pool` keeps."""
    cut = pool_cut(view, depth, without)
    return np.ones(len(view.grades), bool) if cut is None else cut.is_kept


def _updated(
    scores: Scores,
    view: JudgedRanks,
    rows: np.ndarray,
    queries: np.ndarray,
    evaluate: Evaluate,
) -> Scores:
    """Return the scores of a block with those of some queries by fewer docs of the view."""
    if not len(queries):
        return scores
    is_asked = np.zeros(len(view.queries), bool)
    is_asked[queries] = True
    asked_rows = rows & is_asked[view.query_of(np.arange(len(rows)))]
    found = evaluate(take_queries(take_rows(view, np.flatnonzero(asked_rows)), queries))
    values, included = scores.values.copy(), scores.included.copy()
    values[:, queries], included[:, queries] = found.values, found.included
    return replace(scores, values=values, included=included)

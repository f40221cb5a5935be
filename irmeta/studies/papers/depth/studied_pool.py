"""The blocks of a track, and the depths of the pool at which the study computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from irmeta.errors import PoolDepthWarning, UsageError, warn
from irmeta.measures.evaluate import evaluate_block, reads_gained_only
from irmeta.measures.names import Spec, parse_measures
from irmeta.rankings.derive.changes import changed, keep_gained
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import needs_of
from irmeta.rankings.pool import comprehensive_depth, evident_depth, judged_by_rank
from irmeta.rankings.track_facts import TrackFacts
from irmeta.results.scores import Scores
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.depth.options import CUTOFFS, DEEPEST, DepthOptions

LEAST_USEFUL = 5
"""A comprehensive depth below this is too small for the study."""
DEFAULT_DEPTH = 10


@dataclass(frozen=True)
class StudiedPool:
    """A track with its pool.

    Attributes
    ----------
    views
        All blocks of the track. Each table needs all of them, and reading is slower than computing.
    depths
        Depths of the pool, ascending.
    source
        Source of the depths: comprehensive, given, estimated or default.
    comprehensive
        Comprehensive depth; None: no doc of the contributing lists is unjudged.
    options
        Options of the study.
    """

    views: Sequence[JudgedRanks]
    depths: tuple[int, ...]
    source: str
    comprehensive: int | None
    options: DepthOptions

    @classmethod
    def of(cls, track: TrackView, options: DepthOptions) -> StudiedPool:
        """Read a track and choose the depths of its pool."""
        check_cutoffs(track.facts, options)
        views = list(track.blocks({"pool", *needs_of(parse_measures(options.scored()))}))
        depth = comprehensive_depth(views)
        by_query = track.facts.pool_depth_by_query.values()
        stated = [one for one in (track.facts.pool_depth, *by_query) if one is not None]
        if given := tuple(sorted(set(options.pool_depths or sorted(stated)[:1]))):
            as_deep = [complete_to(view, given[-1], depth) for view in views]
            return cls(as_deep, given, "given", depth, options)
        if depth is not None and depth >= LEAST_USEFUL:
            as_deep = [complete_to(view, depth, depth) for view in views]
            return cls(as_deep, (depth,), "comprehensive", depth, options)
        return _without_depth(cls(views, (1,), "default", depth, options), track.name)

    @property
    def states_all(self) -> bool:
        """Whether it is known which judgments stem from the lists of each contributor."""
        return self.source != "default" or self.comprehensive is None

    @property
    def facts(self) -> TrackFacts:
        """Facts of the track."""
        return self.views[0].facts

    @property
    def contributors(self) -> list[int]:
        """Indices of the contributing systems."""
        return self.facts.contributors

    @cached_property
    def systems(self) -> list[int]:
        """Indices of the compared systems."""
        everyone = list(range(len(self.facts.systems)))
        return everyone if self.options.systems == "all" else self.contributors

    @property
    def names(self) -> list[str]:
        """Names of the compared systems."""
        return [self.facts.systems[i] for i in self.systems]

    @cached_property
    def longest(self) -> int:
        """Length of the longest contributing list of a judged query."""
        lengths = (
            view.require("pooled_lists").lengths[:, self.contributors] for view in self.views
        )
        return max(int(one.max(initial=0)) for one in lengths)

    @cached_property
    def judged_by_rank(self) -> tuple[np.ndarray, np.ndarray]:
        """Docs of the contributing lists at each rank, and those of them that are judged."""
        return judged_by_rank(self.views)

    @property
    def deepest_k(self) -> int:
        """The deepest cutoff of score curves, and of orders by complete lists."""
        return min(DEEPEST, self.facts.policy["depth"] or DEEPEST)

    def reference_k(self, depth: int) -> int:
        """Return the cutoff of the reference measure."""
        return self.options.reference_k or depth

    def ks(self, depth: int) -> list[int]:
        """Return the cutoffs of Tables 7 to 9, with that of the reference."""
        known = [k for k in CUTOFFS if k <= self.deepest_k]
        return sorted({*(self.options.ks or known), self.reference_k(depth)})

    @cached_property
    def _pools(self) -> dict[int, list[JudgedRanks]]:
        return {depth: [view.with_pool(depth) for view in self.views] for depth in self.depths}

    def pooled(self, depth: int | None) -> Sequence[JudgedRanks]:
        """Return the blocks with judgments cut to a depth of the study; None: all judgments."""
        return self.views if depth is None else self._pools[depth]

    @cached_property
    def _gained(self) -> list[JudgedRanks]:
        return [keep_gained(view) for view in self.views]

    def cut(self, depth: int | None, specs: Sequence[Spec]) -> Sequence[JudgedRanks]:
        """Return the blocks with judgments cut to any depth, with what the measures read."""
        is_gained = all(map(reads_gained_only, specs))
        views = self._gained if is_gained else self.views
        return views if depth is None else [view.with_pool(depth) for view in views]

    def judged(self, depth: int) -> int:
        """Count the judged docs in the pool of a depth."""
        return sum(
            int((view.is_judged & (view.require("pool_depth") <= depth)).sum())
            for view in self.views
        )

    def scores(self, measures: Sequence[str], depth: int | None) -> Scores:
        """Compute measures of all systems by a depth of the pool."""
        specs = parse_measures(measures)
        policy = self.options.policy
        return Scores.concat([evaluate_block(v, specs, policy) for v in self.pooled(depth)])

    @cached_property
    def has_nonrelevant(self) -> bool:
        """Whether a doc is judged non-relevant; if none is, unjudged docs mean nothing."""
        rel = self.options.rel
        return any(view.counts(*view.nonrelevant(rel)).any() for view in self.views)

    def by_row(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield query, least rank in the contributing lists, is judged, is relevant of each doc.

        Queries are counted over all blocks.
        """
        first, rel = 0, self.options.rel
        for view in self.views:
            query = view.query_of(np.arange(len(view.grades)))
            yield first + query, view.require("pool_depth"), view.is_judged, view.grades >= rel
            first += len(view.queries)

    @property
    def judged_queries(self) -> list[str]:
        """The queries of the qrels set."""
        return list(chain.from_iterable(view.judged_queries for view in self.views))


def _without_depth(pool: StudiedPool, track: str) -> StudiedPool:
    """Return the pool with an estimated or the default depth, and warn."""
    depth, share = pool.comprehensive, pool.options.least_judged
    estimated = 0 if depth is None else evident_depth(*pool.judged_by_rank, share)
    reason = "no doc of its lists is unjudged" if depth is None else f"it is {depth}"
    if estimated >= LEAST_USEFUL:
        chosen, source = estimated, "estimated"
        found = (
            f"so {chosen} is taken as an estimate: at each rank up to it, at least {share:.3g} of "
            "the docs of contributing lists are judged"
        )
    else:
        chosen, source = max(1, min(DEFAULT_DEPTH, pool.longest)), "default"
        found = f"so pools are cut at {chosen}"
    warn(
        f"track {track}: the depth to which its pool is complete cannot be used ({reason}), "
        f"{found}; give `pool_depths=`, or pool_depth in collection.toml.",
        PoolDepthWarning,
    )
    views = [complete_to(view, chosen, depth) for view in pool.views]
    return replace(pool, views=views, depths=(chosen,), source=source)


def complete_to(view: JudgedRanks, depth: int, comprehensive: int | None) -> JudgedRanks:
    """Return a view whose pools count as complete to a depth.

    Up to the comprehensive depth, queries keep the greater depths of their own. Beyond it, all have
    this depth, also after contributors are left out.
    """
    complete = view.require("complete_depth")
    if comprehensive is None or depth <= comprehensive:
        return changed(view, complete_depth=np.maximum(complete, depth))
    facts = replace(view.facts, pool_depth=depth, pool_depth_by_query={})
    return changed(view, facts=facts, complete_depth=np.full_like(complete, depth))


def judged_only(view: JudgedRanks, by_query: np.ndarray) -> np.ndarray:
    """Return the entries of the queries of the qrels set."""
    return by_query if view.in_qrels is None else by_query[view.in_qrels]


def check_cutoffs(facts: TrackFacts, options: DepthOptions) -> None:
    """Check that no given cutoff is deeper than the lists of a store that were cut at reading."""
    cut = facts.policy["depth"]
    cutoffs = [*options.ks, *options.leave_out_ks, options.reference_k or 1]
    if cut is not None and max(cutoffs) > cut:
        raise UsageError(
            f"track {facts.track!r} was cut at depth {cut}, so there is no cutoff {max(cutoffs)}. "
            f"Ask for cutoffs up to {cut}, or ingest it again without a depth."
        )

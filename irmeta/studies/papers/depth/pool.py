"""The pool of a track: its depths, growth and outcomes, and systems left out of it (RQ1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import PoolDepthWarning, UsageError, warn
from irmeta.measures.evaluate import reads_gained_only
from irmeta.measures.names import Spec, merged, parse_measure, parse_measures
from irmeta.measures.pools import LEVELS, ReducedPool, parts_of, reduced_pools
from irmeta.rankings.completeness import comprehensive_depth, evident_depth
from irmeta.rankings.completeness import judged_by_rank as count_judged
from irmeta.rankings.derive.select import keep_gained
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.pool import NOT_POOLED
from irmeta.rankings.track_facts import TrackFacts
from irmeta.rankings.view import needs_of, replace_arrays
from irmeta.results.scores import Scores
from irmeta.stats.contributors import left_out_rows
from irmeta.stats.correlation import volatility
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.orders import round_means
from irmeta.stats.paired import PairedT
from irmeta.studies.framework.study import Row, TableRows, Tables
from irmeta.studies.framework.track_view import StudiedTrack, TrackView
from irmeta.studies.papers.depth import study
from irmeta.studies.papers.depth.study import DepthOptions, cut

LEAST_USEFUL = 5
"""A comprehensive depth below this is too small for the study."""
DEFAULT_DEPTH = 10


spec_of: Callable[[str], Spec] = cache(parse_measure)  # tracks and depths have the same measures


def on_parts(options: DepthOptions, tables: Tables) -> DepthOptions:
    """Return the options for a sample of a track's queries, with the pool depths of all queries.

    Depths that were estimated, or that differ between queries, are kept too.
    """
    depths = tables["collections"]["depth"].item().split(", ")
    return replace(options, pool_depths=tuple(map(int, depths)))


@dataclass(frozen=True)
class StudiedPool(StudiedTrack):
    """A track with its pool."""

    options: DepthOptions
    depths: tuple[int, ...]  # depths of the pool, ascending
    source: str  # source of the depths: comprehensive, given, estimated or default
    # comprehensive depth; None: no doc of the contributing lists is unjudged
    comprehensive: int | None

    @classmethod
    def of(cls, track: TrackView, options: DepthOptions) -> StudiedPool:
        """Read a track and choose the depths of its pool."""
        check_cutoffs(track.facts, options)
        views = list(track.blocks({"pool", *needs_of(parse_measures(options.scored()))}))
        depth = comprehensive_depth(views)
        by_query = track.facts.pool_depth_by_query.values()
        stated = [d for d in (track.facts.pool_depth, *by_query) if d is not None]
        if asked := tuple(sorted(set(options.pool_depths or sorted(stated)[:1]))):
            as_deep = [complete_to(view, asked[-1], depth) for view in views]
            return cls(as_deep[0].facts, as_deep, options, asked, "given", depth)
        if depth is not None and depth >= LEAST_USEFUL:
            as_deep = [complete_to(view, depth, depth) for view in views]
            return cls(as_deep[0].facts, as_deep, options, (depth,), "comprehensive", depth)
        pool = cls(views[0].facts, views, options, (1,), "default", depth)
        return _without_depth(pool, track.name)

    @property
    def states_all(self) -> bool:
        """Whether it is known which judgments stem from the lists of each contributor."""
        return self.source != "default" or self.comprehensive is None

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
        return max(int(of_block.max(initial=0)) for of_block in lengths)

    @cached_property
    def judged_by_rank(self) -> tuple[np.ndarray, np.ndarray]:
        """Docs of the contributing lists at each rank, and those of them that are judged."""
        return count_judged(self.views)

    @property
    def deepest_k(self) -> int:
        """The deepest cutoff of score curves, and of orders by complete lists."""
        return min(study.DEEPEST, self.facts.policy["depth"] or study.DEEPEST)

    @property
    def plotted_depths(self) -> list[int]:
        """The depths of Figure 1 up to the longest contributing list, with those of the study."""
        deepest = max(self.longest, 1)
        return sorted({d for d in (*study.PLOTTED_DEPTHS, *self.depths) if d <= deepest})

    def reference_k(self, depth: int) -> int:
        """Return the cutoff of the reference measure."""
        return self.options.reference_k or depth

    def ks(self, depth: int) -> list[int]:
        """Return the cutoffs of Tables 7 to 9, with that of the reference."""
        known = [k for k in study.CUTOFFS if k <= self.deepest_k]
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
        return self.evaluate(merged(map(spec_of, measures)), self.pooled(depth))

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
        consequence = (
            f"so {chosen} is taken as an estimate: at each rank up to it, at least {share:.3g} of "
            "the docs of contributing lists are judged"
        )
    else:
        chosen, source = max(1, min(DEFAULT_DEPTH, pool.longest)), "default"
        consequence = f"so pools are cut at {chosen}"
    warn(
        f"track {track}: the depth to which its pool is complete cannot be used ({reason}), "
        f"{consequence}; give `pool_depths=`, or pool_depth in collection.toml.",
        PoolDepthWarning,
    )
    views = [complete_to(view, chosen, depth) for view in pool.views]
    return replace(pool, facts=views[0].facts, views=views, depths=(chosen,), source=source)


def complete_to(view: JudgedRanks, depth: int, comprehensive: int | None) -> JudgedRanks:
    """Return a view whose pools count as complete to a depth.

    Queries keep greater depths of their own up to the comprehensive depth, and none beyond it.
    """
    complete = view.require("complete_depth")
    if comprehensive is None or depth <= comprehensive:
        return replace_arrays(view, complete_depth=np.maximum(complete, depth))
    facts = replace(view.facts, pool_depth=depth, pool_depth_by_query={})
    return replace_arrays(view, facts=facts, complete_depth=np.full_like(complete, depth))


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


def collection(pool: StudiedPool, systems: pl.DataFrame, by_order: Mapping[str, int | None]) -> Row:
    """Return the row of the table `collections`.

    Parameters
    ----------
    systems
        The table `systems` of the track, skipped runs included.
    by_order
        Comprehensive depth by tie order; an order that the store cannot give is missing.
    """
    facts, contributors = pool.facts, pool.contributors
    depths = np.concatenate([depth[judged] for _, depth, judged, _ in pool.by_row()])
    groups = {facts.groups[i] for i in contributors} - {None} if facts.groups else set()
    missing = facts.pool_known and systems.filter("pooled")["skip_reason"].is_not_null().any()
    at_least = pool.pooled(pool.depths[0])
    counts = np.concatenate([judged_only(v, v.counts(pool.options.rel)) for v in at_least])
    retrieved = depths[depths != NOT_POOLED]
    by_rank = [row for row in judged_by_rank(pool) if row["rank"] <= pool.depths[-1]]
    return {
        "depth": ", ".join(map(str, pool.depths)),
        "depth_source": pool.source,
        "least_judged": min((row["share"] for row in by_rank), default=np.nan),
        "comprehensive_depth": pool.comprehensive,
        "depth_bound": "at least" if not facts.pool_known else "at most" if missing else "exact",
        **{
            f"depth_{order.replace('-', '_')}": by_order.get(order)
            for order in ("trec_eval", "trec_eval10", "score-file", "file")
        },
        "deepest_judged": int(retrieved.max()) if len(retrieved) else None,
        "contributors": len(contributors),
        "groups": len(groups) or None,
        "queries": len(counts),
        "queries_without_relevant": int((counts == 0).sum()),
        "judged": len(depths),
        "relevant": sum(int(relevant.sum()) for *_, relevant in pool.by_row()),
        "judged_unretrieved": int((depths == NOT_POOLED).sum()),
    }


def judged_by_rank(pool: StudiedPool) -> Iterator[Row]:
    for rank, (lists, judged) in enumerate(zip(*pool.judged_by_rank, strict=True), 1):
        if rank <= study.DEEPEST:
            yield {"rank": rank, "lists": lists, "judged": judged, "share": judged / lists}


def pool_growth(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `pool_growth` (Figure 1)."""
    points, queries = pool.plotted_depths, sum(len(view.queries) for view in pool.views)
    new = np.zeros((2, queries, len(points) + 1), np.int64)
    for query, depth, judged, relevant in pool.by_row():
        step = np.searchsorted(points, depth)
        for counted, is_counted in zip(new, (judged, relevant), strict=True):
            np.add.at(counted, (query[is_counted], step[is_counted]), 1)
    asked = len(pool.judged_queries)
    total = new.sum(axis=1)
    complete = pool.longest if pool.comprehensive is None else pool.comprehensive
    for step, point in enumerate(points):
        judged, relevant = new[0, :, step], new[1, :, step]
        has_new = judged > 0
        judged_to, relevant_to = (int(sums[: step + 1].sum()) for sums in total)
        yield {
            "depth": point,
            "judged": judged_to,
            "relevant": relevant_to,
            "relevant_per_query": relevant_to / asked if asked else np.nan,
            "new_relevant_rate": relevant.sum() / judged.sum() if has_new.any() else np.nan,
            "new_relevant_rate_mean": (
                float((relevant[has_new] / judged[has_new]).mean()) if has_new.any() else np.nan
            ),
            "comprehensive": point <= complete,
        }


def table_4(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `table_4`, one per depth and quantity.

    NumRelPast has the paper's sum with RelInPool, the relevant docs per query, only if it counts
    all other relevant docs of the pool. NumRelListed counts those that the list holds below d.
    """
    rel = pool.options.rel
    for depth in (*pool.depths, None):
        if pool.has_nonrelevant:
            ranks = pool.scores(["FirstUnjudged"], depth)
            first = ranks.values[0][ranks.included[0].any(axis=1)][:, pool.systems]
            yield _spread(depth, "RankUnj", first)
        if depth is None:
            continue
        top, listed = (_listed(pool, pool.pooled(depth), at) for at in (depth, None))
        relevant = np.concatenate([judged_only(v, v.counts(rel)) for v in pool.pooled(depth)])
        yield _spread(depth, "RelInPool", top)
        yield _spread(depth, "NumRelPast", relevant[:, None] - top)
        yield _spread(depth, "NumRelListed", listed - top)
        every, in_top = (_listed(pool, pool.views, at) for at in (None, depth))
        yield _spread(depth, "AllRelListed", every - in_top)


def _listed(
    pool: StudiedPool, views: Sequence[JudgedRanks], depth: int | None = None
) -> np.ndarray:
    """Count the relevant docs in each list, or in its first `depth` docs: [query, system]."""
    blocks = []
    for view in views:
        rows = view.grades >= pool.options.rel
        ranks = view.ranks[rows][:, pool.systems]
        is_listed = (
            ranks != view.missing if depth is None else ranks <= min(depth, view.missing - 1)
        )
        sums = np.concatenate(
            [np.zeros((1, len(pool.systems)), np.int64), is_listed.cumsum(axis=0)]
        )
        blocks.append(judged_only(view, np.diff(sums[view.offsets_of(rows)], axis=0)))
    return np.concatenate(blocks)


def _spread(depth: int | None, quantity: str, values: np.ndarray) -> Row:
    return {
        "depth": depth,
        "quantity": quantity,
        "mean": float(values.mean()) if values.size else np.nan,
        "sd": float(values.std(ddof=1)) if values.size > 1 else np.nan,
        "sd_population": float(values.std()) if values.size else np.nan,
    }


def left_out(track: TrackView, pool: StudiedPool) -> TableRows:
    """Yield the tables `leave_out`, `table_5` and `reusability`."""
    depths: tuple[int | None, ...] = (*pool.depths, None) if pool.states_all else pool.depths
    if not pool.states_all:
        track.note(
            "the depth of the pool is unknown, so systems are left out of pools of the given depth "
            "only, not of all judgments"
        )
    for level in LEVELS:
        try:
            parts = parts_of(pool.facts, level)
        except UsageError:
            track.note(f"the {level} of no system is stated, so none is left out by {level}")
            continue
        everyone = set(pool.contributors)
        complete = [n for n, systems in parts.items() if len(systems) == len(everyone)]
        if complete:
            track.note(f"{level} {complete[0]} is the complete pool, so it is not left out")
        parts = {name: systems for name, systems in parts.items() if name not in complete}
        for depth in depths if parts else ():
            yield from _at_depth(pool, level, parts, depth)


def _at_depth(
    pool: StudiedPool, level: str, parts: Mapping[str, tuple[str, ...]], depth: int | None
) -> TableRows:
    """Yield the rows of one level and depth of the pool (None: all judgments)."""
    options, rows = pool.options, list[Row]()
    ks = options.leave_out_ks or (depth or pool.depths[0],)
    specs = merged(spec_of(cut(name, k)) for name in options.compared for k in ks)
    pools = reduced_pools(pool.views, specs, options.policy, parts, depth, rel=options.rel)
    full_pool = next(pools)
    orders = {name: _Order(full_pool, name, options) for name in full_pool.scores.measures}
    for reduced in pools:
        rows += left_out_rows(full_pool, reduced, options.others)
        for order in orders.values():
            order.add(reduced)
    about = {"level": level, "judgments": "all" if depth is None else "pool", "depth": depth}
    yield "leave_out", ({**row, **about} for row in rows)
    by_measure = {name: [row for row in rows if row["measure"] == name] for name in orders}
    yield "table_5", [{"measure": name, **about, **_means(by_measure[name])} for name in orders]
    if depth is None or depth == pool.depths[0]:
        yield (
            "reusability",
            [
                {
                    "measure": name,
                    "level": level,
                    "judgments": about["judgments"],
                    **order.reusability(by_measure[name]),
                }
                for name, order in orders.items()
            ],
        )


def _means(rows: list[Row]) -> Row:
    """Return the means of `table_5`."""
    delta = np.array([row["delta_percent"] for row in rows])
    moved = [abs(row["rank_left_out"] - row["rank"]) for row in rows if row["rank"] is not None]
    lost = {row["left_out"]: (row["judged_lost"], row["relevant_lost"]) for row in rows}
    judged, relevant = np.mean(list(lost.values()), axis=0)
    return {
        "k": rows[0]["k"],
        "systems": len(rows),
        "delta_percent": _mean(delta),
        "delta_rank": float(np.mean(moved)) if moved else np.nan,
        "undefined": int(np.isnan(delta).sum()),
        "judged_lost": float(judged),
        "relevant_lost": float(relevant),
    }


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


class _Order:
    """Orders of the contributors by one measure, before and after each part is left out."""

    def __init__(self, full_pool: ReducedPool, measure: str, options: DepthOptions) -> None:
        self._measure, self._options, self._full_pool = measure, options, full_pool
        self._means, self._pairs = self._of(full_pool)
        self._after = list[np.ndarray]()
        self._flipped, self._kept = list[float](), list[float]()

    def _of(self, pool: ReducedPool) -> tuple[np.ndarray, PairedT]:
        matrix = pool.scores.matrix(self._measure)
        return round_means(matrix.means) * matrix.direction, PairedT(matrix)

    def add(self, pool: ReducedPool) -> None:
        """Compare the order by a reduced pool with the order by the whole pool."""
        is_same = pool.scores is self._full_pool.scores
        means, pairs = (self._means, self._pairs) if is_same else self._of(pool)
        self._after.append(means)
        before, after = (values[:, None] - values[None, :] for values in (self._means, means))
        flipped = ((before > TIE) & (after < -TIE)).sum()
        self._flipped.append(float(flipped / max(self._pairs.upper.sum(), 1)))
        size, _, covered, _ = covered_pairs(self._pairs, pairs, self._options.alpha)
        self._kept.append(covered / size if size else np.nan)

    def reusability(self, rows: list[Row]) -> Row:
        """Return the row of the table `reusability` from the rows of `leave_out`."""
        delta = np.array([row["delta_percent"] for row in rows])
        known = delta[~np.isnan(delta)]
        moves = [abs(row["rank_left_out"] - row["rank"]) for row in rows if row["rank"] is not None]
        taus = volatility(self._means[None], np.stack(self._after))
        least = np.nan if np.isnan(taus).all() else float(np.nanmin(taus))
        row = {
            "mean_delta_percent": _mean(delta),
            "max_delta_percent": float(known[np.abs(known).argmax()]) if len(known) else np.nan,
            "share_moved": float(np.mean(np.array(moves) > study.MOST_RANKS_MOVED))
            if moves
            else 0.0,
            "pairs_flipped": float(np.mean(self._flipped)),
            "significant_kept": _mean(np.array(self._kept)),
            "least_tau": least,
        }
        return row | {"verdict": verdict(row)}


def verdict(row: Row) -> str:
    """Return whether judgments can evaluate systems that did not contribute.

    An undefined change or tau-b is neither small nor large: with care.
    """
    drop, tau = -row["mean_delta_percent"], row["least_tau"]
    if drop > study.UNUSABLE_DROP or tau < study.UNUSABLE_TAU:
        return "not for new systems"
    if drop < study.REUSABLE_DROP and tau >= study.REUSABLE_TAU:
        return "reusable"
    return "with care"

"""The tables of one track: scores and orders by cutoff, residuals, ties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.measures.curve import CELLS, SharedValues, curves_of, paired_curves, spec_without_cutoff
from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import Spec, parse_measures
from irmeta.measures.pools import unjudged_docs, unjudged_measures
from irmeta.policies import TieOrder
from irmeta.rankings.completeness import ComprehensiveDepth
from irmeta.rankings.load import LEAST_ROWS, other_order
from irmeta.rankings.view import Need
from irmeta.results.averages import Curve
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats.correlation import correlate, in_common, volatility
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.orders import kendall_tau_b, over_common, pearson, round_means, round_rows
from irmeta.stats.paired import PairedT
from irmeta.studies.framework.part_tables import JoinedTables
from irmeta.studies.framework.study import Row, TableRows, Tables, declared_rows
from irmeta.studies.framework.track_groups import over_tracks
from irmeta.studies.framework.track_view import TrackView
from irmeta.studies.papers.depth import study
from irmeta.studies.papers.depth.pool import (
    StudiedPool,
    collection,
    judged_only,
    left_out,
)
from irmeta.studies.papers.depth.study import DepthOptions, cut
from irmeta.trec.tie_orders import TIE_RULES


def pool_budget(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `pool_budget`: the contributors by complete lists."""
    points, deepest = pool.plotted_depths, [pool.deepest_k]
    measures = list(pool.options.compared)
    specs = [*map(spec_without_cutoff, measures)]
    by_depth = {
        depth: curves_of(pool.cut(depth, specs), specs, deepest, [None], pool.options.policy)
        for depth in (*points, None)
    }
    judged = [pool.judged(depth) for depth in points]
    for i, measure in enumerate(measures):
        means = [curves[i].values[0, 0, pool.contributors] for curves in by_depth.values()]
        orders = round_rows(np.array(means))
        by_all = np.broadcast_to(orders[-1], orders[:-1].shape)
        taus = over_common(kendall_tau_b, orders[:-1], by_all, True).tolist()
        for depth, number, tau in zip(points, judged, taus, strict=True):
            yield {"measure": measure, "depth": depth, "judged": number, "tau_b": tau}


def least_depths(budget: list[Row]) -> dict[str, int | None]:
    """Return for each measure the least depth from which all orders agree with all judgments."""
    depths: dict[str, int | None] = {}
    for row in budget:
        measure = row["measure"]
        if not row["tau_b"] >= study.LEAST_TAU:
            depths[measure] = None
        elif depths.get(measure) is None:
            depths[measure] = row["depth"]
    return depths


RESIDUALS = {
    "RBP(p=0.95)": "RBPResidual(p=0.95)",
    "RBP(p=0.8)": "RBPResidual(p=0.8)",
    "ERR": "ERRResidual(form=unjudged)",
}
KINDS = {"full": False, "condensed": True}


def table_7(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `table_7`, for every measure, depth, kind of lists and cutoff."""
    for measure in dict.fromkeys([*pool.options.compared, pool.options.drawn]):
        for depth in pool.depths:
            yield from _by_cutoff(pool, measure, depth)


def _by_cutoff(pool: StudiedPool, measure: str, depth: int) -> Iterator[Row]:
    reference_k = pool.reference_k(depth)
    ks: list[int | None] = [*pool.ks(depth)]
    if measure == pool.options.at("RR"):  # the paper's RR has no cutoff
        ks.append(None)
    measures = {(kind, k): cut(measure, k, KINDS[kind]) for kind in KINDS for k in ks}
    scores = pool.scores([*measures.values()], depth).only(pool.names)
    reference = _Tested(scores.matrix(measures["full", reference_k]))
    pairs = []
    for name in measures.values():
        ours, theirs = in_common(scores.matrix(name), reference.matrix)
        pairs.append((_Tested(ours), reference.over(theirs)))
    means = np.array([[tested.means for tested in pair] for pair in pairs])
    orders = round_rows(means.reshape(-1, means.shape[-1])).reshape(means.shape)
    taus = over_common(kendall_tau_b, orders[:, 0], orders[:, 1], True)
    correlations = over_common(pearson, means[:, 0], means[:, 1], True)
    for i, ((lists, k), (tested, with_reference)) in enumerate(zip(measures, pairs, strict=True)):
        yield {
            "measure": measure,
            "depth": depth,
            "lists": lists,
            "k": k,
            "reference_k": reference_k,
            **tested.against(with_reference, pool.options.alpha),
            "tau_b": float(taus[i]),
            "pearson": float(correlations[i]),
        }


class _Tested:
    """A measure's test of all pairs of systems, and the means of the systems."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix: Matrix = matrix

    @cached_property
    def pairs(self) -> PairedT:
        """The tests of all pairs."""
        return PairedT(self.matrix)

    @cached_property
    def means(self) -> np.ndarray:
        """Means of the systems, greater is better."""
        return self.matrix.means * self.matrix.direction

    def over(self, matrix: Matrix) -> _Tested:
        """Return the measure over the values of `matrix`, or itself if these are all of its own."""
        if np.array_equal(np.isnan(matrix.values), np.isnan(self.matrix.values)):
            return self
        return _Tested(matrix)

    def against(self, reference: _Tested, alpha: float) -> Row:
        """Return the columns of `table_7` that compare the tests with those of the reference."""
        defined = (~np.isnan(self.matrix.values)).sum(axis=0)
        upper = self.pairs.upper
        p = self.pairs.p_adjusted[upper]
        p = p[~np.isnan(p)]
        size, separated, covered, inverted = covered_pairs(reference.pairs, self.pairs, alpha)
        pairs = int(upper.sum())
        return {
            "pairs": pairs,
            "queries": int(defined.min(initial=len(self.matrix.queries))),
            "separated": separated,
            "separated_reference": size,
            "covered": covered,
            "inverted": inverted,
            "discrimination": separated / pairs if pairs else np.nan,
            "coverage": covered / size if size else np.nan,
            "inversion": inverted / size if size else np.nan,
            "median_p": float(np.median(p)) if len(p) else np.nan,
        }


def guidance(
    rows: Sequence[Row], pool: StudiedPool, least_depths: Mapping[str, int | None]
) -> Iterator[Row]:
    """Yield the rows of the table `guidance`, from those of `table_7`.

    By measure, `least_depths` are of the pools that order the contributors as all judgments do.
    """
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        if row["k"] is not None and row["measure"] in pool.options.compared:
            key = row["measure"], row["depth"], row["lists"]
            groups.setdefault(key, []).append(row)
    for (measure, depth, lists), group in groups.items():
        low, high = _around(group)
        yield {
            "measure": measure,
            "depth": depth,
            "lists": lists,
            "k_low": low,
            "k_high": high,
            "least_depth": least_depths.get(measure),
        }


def _around(rows: Sequence[Row]) -> tuple[int | None, int | None]:
    """Return the ends of the largest run of agreeing cutoffs around the reference's."""
    agrees = [
        row["tau_b"] >= study.LEAST_TAU
        and row["inverted"] == 0
        # without a significantly different pair in the reference, there is none to cover
        and (np.isnan(row["coverage"]) or row["coverage"] >= study.LEAST_COVERAGE)
        for row in rows
    ]
    at = next(i for i, row in enumerate(rows) if row["k"] == row["reference_k"])
    if not agrees[at]:
        return None, None
    low = high = at
    while low > 0 and agrees[low - 1]:
        low -= 1
    while high + 1 < len(rows) and agrees[high + 1]:
        high += 1
    return rows[low]["k"], rows[high]["k"]


def condensed_lengths(pool: StudiedPool) -> Iterator[Row]:
    for depth in pool.depths:
        views = (view.condense() for view in pool.pooled(depth))
        lengths = np.concatenate([judged_only(v, v.lengths[:, pool.systems]) for v in views])
        mean, longest = (lengths.mean(), lengths.max()) if lengths.size else (np.nan, 0)
        yield {"depth": depth, "mean": float(mean), "longest": int(longest)}


def table_9(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `table_9`: means over systems and queries."""
    if not pool.has_nonrelevant:
        return
    for depth in pool.depths:
        for measure, residual in RESIDUALS.items():
            ks = pool.ks(depth)
            measure = pool.options.at(measure)
            measures = [cut(name, k) for k in ks for name in (measure, residual)]
            scores = pool.scores(measures, depth).only(pool.names)
            for k, pair in zip(ks, np.array(measures).reshape(-1, 2), strict=True):
                score, residuals = (float(np.nanmean(scores.matrix(name).values)) for name in pair)
                named = cut(measure, None)
                yield {
                    "measure": named,
                    "depth": depth,
                    "k": k,
                    "score": score,
                    "residual": residuals,
                }


POINTS = 60  # cutoffs of score curves
HIGH = 0.9
"""Correlation of orders from which they are equivalent."""


class Curves:
    """Means of all measures at all cutoffs, for every depth of the pool in the study."""

    def __init__(self, pool: StudiedPool) -> None:
        self.pool = pool
        spaced = np.geomspace(1, pool.deepest_k, POINTS).round().astype(int)
        self.grid: np.ndarray = np.unique(spaced)
        self.square: np.ndarray = np.array([k for k in study.SQUARE if k <= pool.deepest_k])

    @cached_property
    def full(self) -> dict[str, list[Curve]]:
        """The curves of full lists by measure, one per depth."""
        return self._of(list(self.pool.options.compared), condensed=False)

    @cached_property
    def condensed(self) -> dict[str, list[Curve]]:
        """The curves of condensed lists."""
        return self._of(list(self.pool.options.compared), condensed=True)

    def _of(self, measures: list[str], condensed: bool) -> dict[str, list[Curve]]:
        named = [cut(name, 1, condensed).rpartition("@")[0] for name in measures]
        specs = [*map(spec_without_cutoff, named)]
        policy, ks = self.pool.options.policy, self.grid.tolist()
        by_depth = [
            curves_of(self.pool.pooled(depth), specs, ks, [None], policy)
            for depth in self.pool.depths
        ]
        return {name: [curves[i] for curves in by_depth] for i, name in enumerate(measures)}


def score_curves(curves: Curves) -> Iterator[pl.DataFrame]:
    pool = curves.pool
    systems = pl.Series(pool.names, dtype=pl.String)
    for measure in pool.options.compared:
        for lists, curves_of_lists in (("condensed", curves.condensed), ("full", curves.full)):
            for depth, curve in zip(pool.depths, curves_of_lists[measure], strict=True):
                values = curve.values[0][:, pool.systems]
                system, k = (axis.ravel() for axis in np.indices(values.T.shape))
                yield pl.DataFrame(
                    {
                        "system": systems.gather(system),
                        "k": curves.grid[k],
                        "value": values.T.ravel(),
                    }
                ).with_columns(measure=pl.lit(measure), lists=pl.lit(lists), depth=pl.lit(depth))


def orders(curves: Curves) -> TableRows:
    """Yield the tables `volatility` and `stability`."""
    options, pool = curves.pool.options, curves.pool
    ks = curves.square.tolist()
    k_a, k_b = (axis.ravel() for axis in np.meshgrid(ks, ks, indexing="ij"))
    stable = list[Row]()
    size = len(ks) * len(pool.systems) * sum(len(view.queries) for view in pool.views)
    shared = {depth: SharedValues() if size <= CELLS else None for depth in pool.depths}
    for (a, b), figure in options.matrices.items():
        specs = spec_without_cutoff(a), spec_without_cutoff(b)
        for depth in pool.depths:
            means = paired_curves(
                pool.pooled(depth), specs, ks, options.policy, pool.systems, shared[depth]
            )
            same = a == b and means.a.ndim == 2
            values = volatility(means.a, None if same else means.b, options.method)
            named = {"depth": depth, "measure_a": a, "measure_b": b}
            constant = {name: pl.lit(value) for name, value in named.items()}
            columns = {"value": values.ravel(), "queries": means.queries.ravel()}
            cells = pl.DataFrame({"k_a": k_a, "k_b": k_b, **columns})
            yield "volatility", cells.with_columns(method=pl.lit(options.method), **constant)
            at_same = np.arange(len(ks))
            row = across_cutoffs(values) if a != b else {}
            if a == b:
                orders = means.a if means.a.ndim == 2 else means.a[at_same, at_same]
                row = by_one_measure(values, ks, orders)
            queries = int(means.queries.min())
            stable.append({**named, "figure": figure, "queries": queries, **row})
    yield "stability", stable


def by_one_measure(values: np.ndarray, ks: Sequence[int], means: np.ndarray) -> Row:
    """Return the columns of `stability` from the orders of systems by one measure.

    `values` are correlations [cutoff, cutoff], symmetric, and `means` the means [cutoff, system]. A
    correlation of a cutoff with itself says nothing; an undefined one does not exceed 0.9.
    """
    row, _ = pairs = np.triu_indices(len(ks), 1)
    known = values[pairs][~np.isnan(values[pairs])]
    theta, tied = np.nan, None
    if len(known):
        theta = float(max((ks[i] for i in row[~(values[pairs] > HIGH)]), default=0))
        below = round_rows(means)[sum(k <= theta for k in ks) :]
        a, b = np.triu_indices(means.shape[1], 1)
        tied = int((below[:, a] == below[:, b]).sum(axis=1).max(initial=0))
    return {
        "stable": float((known >= HIGH).mean()) if len(known) else np.nan,
        "least": float(known.min()) if len(known) else np.nan,
        "theta": None if len(ks) > 1 and theta == ks[-2] else theta,
        "tied": tied,
    }


def across_cutoffs(values: np.ndarray) -> Row:
    """Return the columns of `stability` from the orders of systems by two measures."""
    known = values[~np.isnan(values)]
    upper = np.triu_indices(len(values), 1)
    deeper = (values - values.T)[upper]
    same, deeper = (part[~np.isnan(part)] for part in (np.diag(values), deeper))
    return {
        "stable": float((known >= HIGH).mean()) if len(known) else np.nan,
        "least": float(known.min()) if len(known) else np.nan,
        "same_cutoff": float(same.mean()) if len(same) else np.nan,
        "deeper": float(deeper.mean()) if len(deeper) else np.nan,
        "asymmetry": float(np.abs(deeper).mean()) if len(deeper) else np.nan,
    }


def volatility_tracks(tables: Tables, options: DepthOptions) -> list[Row] | None:
    """Return the rows of the table `volatility_tracks`, of the first depth of each track."""
    if not isinstance(tables, JoinedTables):  # without the files of tracks
        return None
    rows = tables.scan("volatility").filter(pl.col("measure_a") == pl.col("measure_b"))
    first = pl.col("depth") == (options.pool_depths or (pl.col("depth").min().over("track"),))[0]
    return over_tracks(study.VOLATILITY_TRACKS, tables, options, frame=rows.filter(first).collect())


TOP = 20
ORDERS: tuple[TieOrder, ...] = ("trec_eval", "file", "score-file", "trec_eval10")
RBP = "RBP(p=0.8)"
SHARED = "share"


def under_orders(
    track: TrackView, options: DepthOptions
) -> tuple[dict[str, np.ndarray], dict[str, int | None]]:
    """Return the means of RBP and the comprehensive depth under each tie order.

    Orders that the store cannot give, since its lists were cut at reading, are missing.
    """
    needs, specs = dict[TieOrder, set[Need]](), dict[TieOrder, list[Spec]]()
    for order in ORDERS:
        try:
            other_order(track.facts, order)
        except UsageError as error:
            track.note(str(error).rstrip("."))
            continue
        shares, rbp = order == options.tie_order, options.at(RBP)
        needs[order] = {"pool", "ties"} if shares else {"pool"}
        specs[order] = parse_measures([rbp, f"{rbp[:-1]},ties=share)"] if shares else rbp)
    depths = {order: ComprehensiveDepth() for order in needs}
    scores: dict[str, list[Scores]] = {order: [] for order in needs}
    for views in track.blocks_under(needs, LEAST_ROWS):
        for order, view in views.items():
            depths[order].add(view)
            scores[order].append(evaluate_block(view, specs[order], options.policy))
    means = dict[str, np.ndarray]()
    for order, blocks in scores.items():
        labels = (order, SHARED) if order == options.tie_order else (order,)
        for name, values in zip(labels, Scores.concat(blocks).mean_values(), strict=True):
            means[name] = round_means(values)
    return means, {order: depth.value for order, depth in depths.items()}


def ties(track: TrackView, options: DepthOptions, means: Mapping[str, np.ndarray]) -> TableRows:
    """Yield the tables `ties`, `table_6` and `ties_tau`."""
    lists = tied_shares(track, options)
    by_system = lists.group_by("system", maintain_order=True).agg(
        mean_percent_tied=pl.col("percent").mean(), median_percent_tied=pl.col("percent").median()
    )
    yield "ties", by_system
    taus = {row["order_b"]: row["tau_b"] for row in ties_tau(means)}
    yield "ties_tau", list(ties_tau(means))
    medians = by_system.select(pl.exclude("system").median().fill_null(float("nan"))).row(0)
    yield "table_6", [{
        "systems": len(track.facts.systems),
        "median_of_means": medians[0],
        "median_of_medians": medians[1],
        "pooled_median": lists["percent"].median() if lists.height else np.nan,
        "tau_b": taus.get("file"),
    }]  # fmt: skip


def tied_shares(track: TrackView, options: DepthOptions) -> pl.DataFrame:
    """Return system, query and the percentage of tied docs among the 20 greatest scores.

    The lists are those of the judged queries.
    """
    score = pl.col("score")
    if options.scores_compared == "float32":
        score = score.cast(pl.Float32)
    keys = ["system", "query"]
    top = _candidates(track).with_columns(score).group_by(keys).agg(pl.col("score").top_k(TOP))
    tied = top.explode("score").with_columns(same=pl.len().over(*keys, "score"))
    shares = tied.group_by(keys).agg(percent=100.0 * (pl.col("same") > 1).mean())
    return shares.sort(keys)


def _candidates(track: TrackView) -> pl.DataFrame:
    """Return rows of all lists that include the 20 greatest scores of each."""
    keys = ["system", "query"]
    rows = track.rows([*keys, "rank", "score"])
    rule = TIE_RULES[track.facts.policy["tie_order"]]
    if rule.column != "score":  # lists are not sorted by score
        return rows.select(*keys, "score").collect()
    near = rows.filter(pl.col("rank") <= TOP + 1).collect()
    if not rule.float32:
        return near
    # Scores are sorted as float32: at the boundary, a tie may hide a greater float64.
    single = pl.col("score").cast(pl.Float32)
    ends = near.filter(pl.col("rank") >= TOP).with_columns(single=single)
    open_ended = ends.group_by(keys).agg(
        pl.col("single").min(), tied=pl.col("single").is_duplicated().any()
    )
    hidden = rows.filter(pl.col("rank") > TOP + 1).join(open_ended.filter("tied").lazy(), on=keys)
    candidates = hidden.filter(single == pl.col("single")).select(near.columns).collect()
    return pl.concat([near, candidates])


def ties_tau(means: Mapping[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """Yield the rows of `ties_tau`: the order by trec_eval's rule with each other order."""
    base = "trec_eval"
    for order in (*(order for order in ORDERS if order != base), SHARED):
        if base in means and order in means:
            both = np.stack([means[base], means[order]])
            tau = float(correlate(both, "tau-b").values[0, 1])
            yield {"order_a": base, "order_b": order, "tau_b": tau}


def _over_tracks(tables: Tables, options: DepthOptions, name: str) -> list[Row] | None:
    """Return the rows of a table over tracks; without given depths, each track has its own.

    Tracks of unknown depth or contributors are left out where the table depends on them.
    """
    tracks, frame = tables["collections"], tables[name]
    if name != "table_9":
        tracks = tracks.filter(pl.col("depth_source") != "default")
    if name == "table_5":
        tracks = tracks.filter(pl.col("depth_bound") != "at least")
        frame = frame.filter(judgments="pool")
    frame = frame.join(tracks, on="track", how="semi", maintain_order="left")
    if name == "table_5" and not options.leave_out_ks:  # k = d
        frame = frame.with_columns(pl.col("measure").str.replace(r"@\d+$", ""))
    if not options.pool_depths:
        frame = frame.with_columns(depth=pl.lit(None, pl.Int32))
    return over_tracks(study.OVER_TRACKS[name], tables, options, frame=frame)


OverTracks = Callable[[Tables, DepthOptions], "list[Row] | None"]
table_5_tracks: OverTracks = partial(_over_tracks, name="table_5")
table_7_tracks: OverTracks = partial(_over_tracks, name="table_7")
table_9_tracks: OverTracks = partial(_over_tracks, name="table_9")


def compute(track: TrackView, options: DepthOptions) -> TableRows:
    """Yield the tables of one track."""
    if track.is_sampled:
        track.leave_out("the judgments are a sample of the pool, so no pool has a depth")
        return
    pool = StudiedPool.of(track, options)
    _describe(track, pool)
    means, depths = under_orders(track, options)
    yield "collections", [collection(pool, track.systems, depths)]
    yield from declared_rows(study.TABLES, pool)
    yield from ties(track, options, means)
    rows = list(table_7(pool))
    yield "table_7", rows
    curves = Curves(pool)
    for piece in score_curves(curves):
        yield "score_curves", piece
    yield from orders(curves)
    budget = list(pool_budget(pool))
    yield "pool_budget", budget
    yield "guidance", guidance(rows, pool, least_depths(budget))
    yield from left_out(track, pool)
    if pool.has_nonrelevant:
        yield from _unjudged(pool)


def _describe(track: TrackView, pool: StudiedPool) -> None:
    """Count saturated lists, and add notes on what the tables of a track do not say."""
    track.saturation = pool.saturation(pool.options.rel)
    if not pool.facts.pool_known:
        track.note("the contributing systems are unknown, so all systems count as contributors")
    if not pool.has_nonrelevant:
        track.note(
            "no doc is judged non-relevant, so first unjudged ranks and residuals mean nothing here"
        )
    if (cut := pool.facts.policy["depth"]) is not None:
        track.note(f"lists were cut at {cut} when they were read, so no cutoff is deeper")


def _unjudged(pool: StudiedPool) -> TableRows:
    """Yield the tables `unjudged`, `judged_by_contribution` and `undecided`."""
    k = pool.depths[0]
    rel = pool.options.rel
    docs = unjudged_docs(pool.scores(unjudged_measures(k, rel), None), pool.facts, k, rel)
    yield "unjudged", docs.unjudged
    yield "undecided", docs.undecided
    few = pl.col("judged_at_10") < study.HARDLY_JUDGED
    yield (
        "judged_by_contribution",
        docs.unjudged.group_by("pooled")
        .agg(
            systems=pl.len(),
            judged_at_10=pl.col("judged_at_10").mean(),
            judged_at_k=pl.col("judged_at_k").mean(),
            hardly_judged=few.sum(),
        )
        .sort("pooled"),
    )

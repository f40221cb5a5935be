"""Scores, orders and guidance by the cutoff: Tables 7 to 9, Figures 2 to 7."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from irmeta.measures.curve import curves_of, spec_without_cutoff
from irmeta.measures.paired_curves import paired_curves
from irmeta.results.curve_means import Curve
from irmeta.results.matrix import Matrix
from irmeta.stats.correlation import correlate, in_common, volatility
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.orders import round_means
from irmeta.stats.paired_t import PairedT
from irmeta.studies.framework.study import TableRows
from irmeta.studies.papers.depth.options import SQUARE, cut
from irmeta.studies.papers.depth.pool_facts import growth_points
from irmeta.studies.papers.depth.studied_pool import StudiedPool, judged_only

POINTS = 60
HIGH = 0.9

Row = dict[str, Any]


class Curves:
    """Means of all measures at all cutoffs, for every depth of the pool in the study."""

    def __init__(self, pool: StudiedPool) -> None:
        self.pool = pool
        spaced = np.geomspace(1, pool.deepest_k, POINTS).round().astype(int)
        self.grid: np.ndarray = np.unique(spaced)
        self.square: np.ndarray = np.array([k for k in SQUARE if k <= pool.deepest_k])

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
        return {name: [made[i] for made in by_depth] for i, name in enumerate(measures)}


def score_curves(curves: Curves) -> Iterator[pl.DataFrame]:
    """Yield pieces of the table `score_curves`."""
    pool = curves.pool
    names = pl.Series(pool.names, dtype=pl.String)
    for measure in pool.options.compared:
        for lists, made in (("condensed", curves.condensed), ("full", curves.full)):
            for depth, curve in zip(pool.depths, made[measure], strict=True):
                values = curve.values[0][:, pool.systems]
                system, k = (axis.ravel() for axis in np.indices(values.T.shape))
                yield pl.DataFrame(
                    {"system": names.gather(system), "k": curves.grid[k], "value": values.T.ravel()}
                ).with_columns(measure=pl.lit(measure), lists=pl.lit(lists), depth=pl.lit(depth))


def orders(curves: Curves) -> TableRows:
    """Yield the tables `volatility` and `stability`."""
    options, pool = curves.pool.options, curves.pool
    ks = curves.square.tolist()
    k_a, k_b = (axis.ravel() for axis in np.meshgrid(ks, ks, indexing="ij"))
    for (a, b), figure in options.matrices.items():
        specs = spec_without_cutoff(a), spec_without_cutoff(b)
        for depth in pool.depths:
            views = pool.pooled(depth)
            means = paired_curves(views, specs, ks, options.policy, pool.systems)
            same = a == b and means.a.ndim == 2
            values = volatility(means.a, None if same else means.b, options.method)
            named = {"depth": depth, "measure_a": a, "measure_b": b}
            constant = {name: pl.lit(value) for name, value in named.items()}
            columns = {"value": values.ravel(), "queries": means.queries.ravel()}
            cells = pl.DataFrame({"k_a": k_a, "k_b": k_b, **columns})
            yield "volatility", cells.with_columns(method=pl.lit(options.method), **constant)
            known = values[~np.isnan(values)]
            yield "stability", [{
                **named,
                "figure": figure,
                "stable": float((known >= HIGH).mean()) if len(known) else np.nan,
                "least": float(known.min()) if len(known) else np.nan,
                "queries": int(means.queries.min()),
            }]  # fmt: skip


def pool_budget(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `pool_budget`: the contributors by complete lists."""
    points, deepest = growth_points(pool), [pool.deepest_k]
    measures = list(pool.options.compared)
    specs = [*map(spec_without_cutoff, measures)]
    made = {
        depth: curves_of(pool.cut(depth, specs), specs, deepest, [None], pool.options.policy)
        for depth in (*points, None)
    }
    for i, measure in enumerate(measures):
        orders = [
            round_means(curves[i].values[0, 0, pool.contributors]) for curves in made.values()
        ]
        for depth, order in zip(points, orders[:-1], strict=True):
            yield {
                "measure": measure,
                "depth": depth,
                "judged": pool.judged(depth),
                "tau_b": float(correlate(np.stack([order, orders[-1]]), "tau-b").values[0, 1]),
            }


def least_depths(budget: list[Row], least_tau: float) -> dict[str, int | None]:
    """Return for each measure the least depth from which all orders agree with all judgments."""
    found: dict[str, int | None] = {}
    for row in budget:
        measure = row["measure"]
        if not row["tau_b"] >= least_tau:
            found[measure] = None
        elif found.get(measure) is None:
            found[measure] = row["depth"]
    return found


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
    names = {(kind, k): cut(measure, k, KINDS[kind]) for kind in KINDS for k in ks}
    scores = pool.scores([*names.values()], depth).only(pool.names)
    reference = _Tested(scores.matrix(names["full", reference_k]))
    for (lists, k), name in names.items():
        compared = _Tested(scores.matrix(name))
        yield {
            "measure": measure,
            "depth": depth,
            "lists": lists,
            "k": k,
            "reference_k": reference_k,
            **compared.against(reference, pool.options.alpha),
        }


class _Tested:
    """A measure's test of all pairs of systems, and its order of systems."""

    def __init__(self, matrix: Matrix) -> None:
        self.matrix: Matrix = matrix

    @cached_property
    def pairs(self) -> PairedT:
        """The tests of all pairs."""
        return PairedT(self.matrix)

    def over(self, matrix: Matrix) -> _Tested:
        """Return the measure over the values of `matrix`, or itself if these are all of its own."""
        if np.array_equal(np.isnan(matrix.values), np.isnan(self.matrix.values)):
            return self
        return _Tested(matrix)

    def against(self, reference: _Tested, alpha: float) -> Row:
        """Return the columns of `table_7` that compare the measure with the reference.

        Both use the queries where both are defined.
        """
        both = in_common(self.matrix, reference.matrix)
        own, other = self.over(both[0]), reference.over(both[1])
        defined = (~np.isnan(both[0].values)).sum(axis=0)
        upper = own.pairs.upper
        p = own.pairs.p[upper]
        p = p[~np.isnan(p)]
        size, separated, covered, inverted = covered_pairs(other.pairs, own.pairs, alpha)
        means = np.stack([matrix.means * matrix.direction for matrix in both])
        orders = np.stack([round_means(row) for row in means])
        pairs = int(upper.sum())
        return {
            "pairs": pairs,
            "queries": int(defined.min(initial=len(both[0].queries))),
            "separated": separated,
            "separated_reference": size,
            "covered": covered,
            "inverted": inverted,
            "discrimination": separated / pairs if pairs else np.nan,
            "coverage": covered / size if size else np.nan,
            "inversion": inverted / size if size else np.nan,
            "median_p": float(np.median(p)) if len(p) else np.nan,
            "tau_b": float(correlate(orders, "tau-b").values[0, 1]),
            "pearson": float(correlate(means, "pearson").values[0, 1]),
        }


def guidance(
    rows: Sequence[Row], pool: StudiedPool, least_depths: Mapping[str, int | None]
) -> Iterator[Row]:
    """Yield the rows of the table `guidance`, from those of `table_7`.

    `least_depths` has, for each measure, the least depth of a pool that orders the contributors as
    all judgments do.
    """
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        if row["k"] is not None and row["measure"] in pool.options.compared:
            key = row["measure"], row["depth"], row["lists"]
            groups.setdefault(key, []).append(row)
    for (measure, depth, lists), group in groups.items():
        low, high = _around(group, pool)
        yield {
            "measure": measure,
            "depth": depth,
            "lists": lists,
            "k_low": low,
            "k_high": high,
            "least_depth": least_depths.get(measure),
        }


def _around(rows: Sequence[Row], pool: StudiedPool) -> tuple[int | None, int | None]:
    """Return the ends of the largest run of agreeing cutoffs around the reference's."""
    agrees = [_agrees(row, pool) for row in rows]
    at = next(i for i, row in enumerate(rows) if row["k"] == row["reference_k"])
    if not agrees[at]:
        return None, None
    low = high = at
    while low > 0 and agrees[low - 1]:
        low -= 1
    while high + 1 < len(rows) and agrees[high + 1]:
        high += 1
    return rows[low]["k"], rows[high]["k"]


def _agrees(row: Row, pool: StudiedPool) -> bool:
    options = pool.options
    # Without a significantly different pair in the reference, there is none to cover.
    covers = np.isnan(row["coverage"]) or row["coverage"] >= options.least_coverage
    return bool(row["tau_b"] >= options.least_tau and row["inverted"] == 0 and covers)


def condensed_lengths(pool: StudiedPool) -> Iterator[Row]:
    """Yield the rows of the table `condensed_lengths`."""
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
            names = [cut(one, k) for k in ks for one in (measure, residual)]
            scores = pool.scores(names, depth).only(pool.names)
            for k, pair in zip(ks, np.array(names).reshape(-1, 2), strict=True):
                score, rest = (float(np.nanmean(scores.matrix(name).values)) for name in pair)
                named = cut(measure, None)
                yield {"measure": named, "depth": depth, "k": k, "score": score, "residual": rest}

"""Scores and orders of systems at many cutoffs and depths of the pool: Figures 2, 3 and 5 to 7."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from irmeta.measures.curve import curves_of, spec_without_cutoff
from irmeta.measures.paired_curves import paired_curves
from irmeta.results.curve_means import Curve
from irmeta.stats.correlation import correlate, volatility
from irmeta.stats.orders import round_means
from irmeta.studies.framework.study import TableRows
from irmeta.studies.papers.depth.options import SQUARE, cut
from irmeta.studies.papers.depth.pool_facts import growth_points
from irmeta.studies.papers.depth.studied_pool import StudiedPool

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
        depth: curves_of(pool.pooled(depth), specs, deepest, [None], pool.options.policy)
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
                "judged": sum(int(view.is_judged.sum()) for view in pool.pooled(depth)),
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

"""Scores and orders of systems at many cutoffs: the tables of Figures 2, 3 and 5 to 7."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from irmeta.measures.curve import CELLS, SharedValues, curves_of, paired_curves, spec_without_cutoff
from irmeta.results.averages import Curve
from irmeta.stats.correlation import volatility
from irmeta.stats.orders import round_rows
from irmeta.studies.framework.part_tables import JoinedTables
from irmeta.studies.framework.study import TableRows, Tables
from irmeta.studies.framework.track_groups import over_tracks
from irmeta.studies.papers.depth.pool import StudiedPool
from irmeta.studies.papers.depth.study import SQUARE, VOLATILITY_TRACKS, DepthOptions, cut

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
        return {name: [curves[i] for curves in by_depth] for i, name in enumerate(measures)}


def score_curves(curves: Curves) -> Iterator[pl.DataFrame]:
    """Yield pieces of the table `score_curves`."""
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
    return over_tracks(VOLATILITY_TRACKS, tables, options, frame=rows.filter(first).collect())

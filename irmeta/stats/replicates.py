"""Replicates of a method: runs that differ by seed, fold, prompt or query variant alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_positive
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.schema.result_tables import COMPONENTS, METHODS
from irmeta.summaries import Result, Summary

FACETS = ("method", "replicate", "query", "method x query", "rest")
"""Variance components of `FacetStudy`, in order."""


def averaged(matrix: Matrix, methods: Mapping[str, str]) -> Matrix:
    """Return the means over the replicates of each method by query.

    Runs that `methods` do not name are methods of their own. A mean of replicates is NaN where one
    of them is, so that it is always of the same runs.

    Raises
    ------
    UsageError
        If a method has the name of another run.
    """
    named = [methods.get(system, system) for system in matrix.systems]
    for system in matrix.systems:
        if system not in methods and named.count(system) > 1:
            raise UsageError(f"{system!r} is a method and a run that is in no method.")
    order = tuple(dict.fromkeys(named))
    members = [np.flatnonzero([method == of for of in named]) for method in order]
    values = np.stack([matrix.values[:, places].mean(axis=1) for places in members], axis=1)
    no_list = matrix.no_list
    if no_list is not None:
        no_list = np.stack([no_list[:, places].all(axis=1) for places in members], axis=1)
    # A mean of printed values is no longer printed with fixed digits.
    return replace(matrix, values=values, systems=order, no_list=no_list, units=())


@dataclass(frozen=True, repr=False)
class FacetStudy(Result):
    """Variance components of methods, their replicates, and queries.

    Attributes
    ----------
    measure, track : str
        Names of the measure and of the track.
    methods, runs, queries : int
        Numbers of methods with two replicates or more, of their runs, and of queries.
    components : tuple of float
        Variances of methods, of replicates within methods, of queries, of the interaction of
        methods and queries, and the rest: see `FACETS`. Negative estimates are kept: they say that
        the component is small. NaN for fewer than two methods or queries.
    """

    measure: str
    track: str
    methods: int
    runs: int
    queries: int
    components: tuple[float, ...]

    def _summary(self) -> Summary:
        facts = [f"{self.methods} methods", f"{self.runs} runs", f"{self.queries} queries"]
        return Summary(f"{self.measure}{f' on {self.track}' if self.track else ''}", facts)

    def frame(self) -> pl.DataFrame:
        """Return one row per component: track, measure, component, variance, share.

        Shares are of the sum of the positive components.
        """
        positive = math.fsum(max(of, 0.0) for of in self.components) or math.nan
        rows = [
            (self.track, self.measure, facet, variance, max(variance, 0.0) / positive)
            for facet, variance in zip(FACETS, self.components, strict=True)
        ]
        return COMPONENTS.frame(rows)

    def d_study(self, replicates: Sequence[int], queries: Sequence[int]) -> pl.DataFrame:
        """Estimate how reliable means of methods are with other numbers of replicates and queries.

        Parameters
        ----------
        replicates, queries : sequence of int
            Numbers of replicates of each method, and of queries.

        Returns
        -------
        DataFrame
            One row for each pair of them: replicates, queries, e_rho2, the expected squared
            correlation of the means with those over all replicates and queries: s / (s + r / n_r +
            sq / n_q + e / (n_r n_q)) for the components s, r, sq and e. Negative ones count as 0.
        """
        method, replicate, _, interaction, residual = (max(of, 0.0) for of in self.components)
        rows = []
        for runs in replicates:
            for number in queries:
                check_positive("replicates", runs)
                check_positive("queries", number)
                error = replicate / runs + interaction / number + residual / (runs * number)
                rows.append(
                    (runs, number, method / (method + error) if method + error else math.nan)
                )
        return pl.DataFrame(rows, schema=["replicates", "queries", "e_rho2"], orient="row")


def facet_study(matrix: Matrix, methods: Mapping[str, str]) -> FacetStudy:
    """Estimate the variance that methods, replicates and queries have in the values of runs.

    Replicates are nested in methods, and both are crossed with queries, each of which counts once,
    also where queries have weights. Components are estimated
    from mean squares (the analysis of variance, or Henderson's first method, whose expected mean
    squares allow other numbers of replicates of each method [1]_).

    Parameters
    ----------
    matrix : Matrix
        Values of runs; only queries on which all runs of `methods` have a value count.
    methods : mapping of str to str
        Method of each run; runs without one, and methods with a single run, do not count.

    Returns
    -------
    FacetStudy
        Variance components, also as a frame, and `d_study`.

    References
    ----------
    .. [1] Searle, S. R., Casella, G. and McCulloch, C. E. (1992). Variance components, Chapter 5.
       doi:10.1002/9780470316856

    Examples
    --------
    >>> methods = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
    >>> values = [[0.5, 0.6, 0.2, 0.3], [0.7, 0.7, 0.4, 0.6], [0.9, 0.8, 0.5, 0.5]]
    >>> matrix = irmeta.Matrix(values, ("q1", "q2", "q3"), tuple(methods), "AP")
    >>> study = irmeta.stats.facet_study(matrix, methods)
    >>> study.d_study([1, 5], [3, 50])["e_rho2"].round(3).to_list()
    [0.936, 0.976, 0.984, 0.995]
    """
    named = [methods.get(system, "") for system in matrix.systems]
    every = [method for method in dict.fromkeys(named) if method and named.count(method) > 1]
    members = [np.flatnonzero([of == method for of in named]) for method in every]
    runs = np.array([len(places) for places in members], np.float64)
    used = np.concatenate([np.zeros(0, int), *members])
    values = matrix.values[:, used]
    values = values[~np.isnan(values).any(axis=1)]
    sizes = (len(every), int(runs.sum()), len(values))
    components = (math.nan,) * len(FACETS)
    if len(every) > 1 and len(values) > 1:
        components = _components(values, runs)
    return FacetStudy(matrix.measure, matrix.track, *sizes, components)


def _components(values: np.ndarray, runs: np.ndarray) -> tuple[float, ...]:
    """Return the components of values [query, run], runs sorted by method, `runs` of each."""
    queries, total = values.shape
    methods = len(runs)
    method_of = np.repeat(np.arange(methods), runs.astype(int))
    of_cells = np.stack([values[:, method_of == i].mean(axis=1) for i in range(methods)], axis=1)
    of_method, of_run, of_query = of_cells.mean(axis=0), values.mean(axis=0), values.mean(axis=1)
    mean = values.mean()
    crossed = of_cells - of_method - of_query[:, None] + mean
    within = values - of_run - of_cells[:, method_of] + of_method[method_of]
    square_method = queries * (runs * (of_method - mean) ** 2).sum() / (methods - 1)
    square_run = queries * ((of_run - of_method[method_of]) ** 2).sum() / (total - methods)
    square_query = total * ((of_query - mean) ** 2).sum() / (queries - 1)
    square_crossed = (runs * crossed**2).sum() / ((methods - 1) * (queries - 1))
    residual = (within**2).sum() / ((total - methods) * (queries - 1))
    typical = (total - (runs**2).sum() / total) / (methods - 1)
    interaction = (square_crossed - residual) / typical
    return (
        float((square_method - square_run - square_crossed + residual) / (typical * queries)),
        float((square_run - residual) / queries),
        float((square_query - residual - (runs**2).sum() / total * interaction) / total),
        float(interaction),
        float(residual),
    )


class ReplicateTables(NamedTuple):
    """The frames `methods`, a row per method, and `components`, one per variance component."""

    methods: pl.DataFrame
    components: pl.DataFrame


def method_rows(matrix: Matrix, methods: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table `methods`, in the order of the runs.

    The best of k replicates is the better the greater k is: it is no estimate of a method, and is
    never tested against a mean.
    """
    means = matrix.means
    named = np.array([methods.get(system, system) for system in matrix.systems])
    for method in dict.fromkeys(named.tolist()):
        places = np.flatnonzero(named == method)
        of_runs = means[places]
        order = places[np.argsort(-of_runs * matrix.direction, kind="stable")]
        middle = float(np.median(of_runs))
        spread = float(of_runs.std(ddof=1)) if len(places) > 1 else math.nan
        variance = math.nan
        if len(places) > 1:
            variances = matrix.values[:, places].var(axis=1, ddof=1)
            variance = float(mean_over_queries(variances[:, None])[0])
        yield (
            *(matrix.track, matrix.measure, method, len(places), float(of_runs.mean()), spread),
            *(variance, matrix.systems[order[0]], float(means[order[0]]), middle),
            *(matrix.systems[order[-1]], float(means[order[-1]])),
        )


def replicate_tables(
    matrices: Sequence[Matrix], methods: Mapping[str, str], sets: Sequence[str]
) -> ReplicateTables:
    """Return the tables of the replicates of methods, over all matrices.

    `sets` are the qrels set of each matrix, empty where one is compared; then no column names it.
    """
    parts = [
        (METHODS.frame(method_rows(matrix, methods)), facet_study(matrix, methods).frame())
        for matrix in matrices
    ]
    if any(sets):
        parts = [
            tuple(frame.insert_column(1, pl.lit(name).alias("qrels")) for frame in of)
            for of, name in zip(parts, sets, strict=True)
        ]
    return ReplicateTables(*(pl.concat(of) for of in zip(*parts, strict=True)))

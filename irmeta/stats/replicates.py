"""Replicates of a method, which differ by seed, fold or prompt, and variants of a query.

One mechanism serves both: the names of systems, or of queries, are grouped by a factor.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice, check_positive, check_share
from irmeta.policies import VarianceEstimator
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.schema.result_tables import COMPONENTS, METHODS, NEEDED, VARIANTS
from irmeta.summaries import Result, Summary

FACETS = ("method", "replicate", "query", "method x query", "rest")
"""Variance components of `FacetStudy`, in order."""


def averaged(matrix: Matrix, methods: Mapping[str, str]) -> Matrix:
    """Return the means over the replicates of each method by query.

    Runs that `methods` do not name are methods of their own; UsageError: a method has the name of
    another run. A mean is NaN where one replicate is, so that it is always of the same runs.
    """
    for system in set(matrix.systems).difference(methods):
        if system in methods.values():
            raise UsageError(f"{system!r} is a method and a run that is in no method.")
    order, members = grouped(matrix.systems, methods)
    values = np.stack([matrix.values[:, places].mean(axis=1) for places in members], axis=1)
    no_list = matrix.no_list
    if no_list is not None:
        no_list = np.stack([no_list[:, places].all(axis=1) for places in members], axis=1)
    # A mean of printed values is no longer printed with fixed digits.
    return replace(matrix, values=values, systems=order, no_list=no_list, units=())


def grouped(
    names: Sequence[str], groups: Mapping[str, str]
) -> tuple[tuple[str, ...], list[np.ndarray]]:
    """Return the groups of names, in their order, and the places of each; others are alone."""
    places = dict[str, list[int]]()
    for place, name in enumerate(names):
        places.setdefault(groups.get(name, name), []).append(place)
    return tuple(places), [np.array(of_group) for of_group in places.values()]


def over_clusters(matrix: Matrix, clusters: Mapping[str, str], *, once: bool) -> Matrix:
    """Return the means over the queries of each cluster, a row for each; NaN where one query is.

    Queries without a cluster are one of their own, together with those whose cluster has their
    name. With `once`, each cluster counts once, as variants of a query do; else its weight is the
    number of its queries, so that means over clusters are those over queries. Weights of queries
    count within a cluster, and its weight is their sum.
    """
    order, members = grouped(matrix.queries, clusters)
    weights = np.ones(len(matrix.queries)) if matrix.weights is None else matrix.weights
    values = np.stack(
        [np.average(matrix.values[places], axis=0, weights=weights[places]) for places in members]
    )
    sums = np.array([weights[places].sum() for places in members])
    no_list = matrix.no_list
    if no_list is not None:
        no_list = np.stack([no_list[places].all(axis=0) for places in members])
    judgments = matrix.judgments
    if judgments is not None:
        judgments = np.array([judgments[places].sum(axis=0) for places in members])
    counted = None if once and matrix.weights is None else sums
    units = matrix.units if len(order) == len(matrix.queries) else ()
    by_cluster = {"values": values, "no_list": no_list, "judgments": judgments}
    return replace(matrix, queries=order, weights=counted, units=units, **by_cluster)


def variant_rows(matrix: Matrix, clusters: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table `variants`: how the values of each system vary over variants.

    The mean and the variance over the variants of a query, on average over the queries with several
    (Zuccon, Palotti and Hanbury 2016, doi:10.1145/2983323.2983875), and the means over these of the
    best, median and worst variant of each. The best of k variants is the better the greater k is:
    it is never tested against a mean.
    """
    members = [places for places in grouped(matrix.queries, clusters)[1] if len(places) > 1]
    if not members:
        return
    number = sum(map(len, members))
    of_queries = [matrix.values[places] * matrix.direction for places in members]
    spread = [of_query.var(axis=0, ddof=1) for of_query in of_queries]
    statistics = [
        np.stack([of(of_query, axis=0) for of_query in of_queries]) * matrix.direction
        for of in (np.mean, np.max, np.median, np.min)
    ]
    mean, *ends = (mean_over_queries(of_queries) for of_queries in statistics)
    columns = (mean, mean_over_queries(np.stack(spread)), *ends)
    for system, values in zip(matrix.systems, np.stack(columns, axis=1).tolist(), strict=True):
        yield matrix.track, matrix.measure, system, len(members), number, *values


class VariantTables(NamedTuple):
    """The frame `variants`, a row per system: see `variant_rows`."""

    variants: pl.DataFrame


def variant_tables(
    matrices: Sequence[Matrix], clusters: Sequence[Mapping[str, str]], sets: Sequence[str]
) -> VariantTables:
    """Return the tables of the variants of queries; for `sets` see `replicate_tables`."""
    frames = [VARIANTS.frame(variant_rows(*of)) for of in zip(matrices, clusters, strict=True)]
    return VariantTables(by_set(frames, sets))


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
        methods and queries, and the rest: see `FACETS`. NaN for fewer than two methods or queries.
    estimator : {'anova', 'reml'}
        Negative estimates by mean squares are kept: they say that the component is small. Those of
        REML are 0 there.
    """

    measure: str
    track: str
    methods: int
    runs: int
    queries: int
    components: tuple[float, ...]
    estimator: VarianceEstimator = "anova"

    def _summary(self) -> Summary:
        facts = [f"{self.methods} methods", f"{self.runs} runs", f"{self.queries} queries"]
        return Summary(f"{self.measure}{f' on {self.track}' if self.track else ''}", facts)

    def frame(self) -> pl.DataFrame:
        """Return one row per component: track, measure, component, estimator, variance, share.

        Shares are of the sum of the positive components.
        """
        positive = math.fsum(max(of, 0.0) for of in self.components) or math.nan
        key = (self.track, self.measure)
        rows = [
            (*key, facet, self.estimator, variance, max(variance, 0.0) / positive)
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
            sq / n_q + e / (n_r n_q)) for the components s, r, sq and e (negative ones count as 0);
            and as_queries, the number of queries with which one replicate is as reliable (null: no
            number, since its own component is greater than this error).
        """
        method, replicate, _, interaction, residual = (max(of, 0.0) for of in self.components)
        rows = []
        for runs in replicates:
            for number in queries:
                check_positive("replicates", runs)
                check_positive("queries", number)
                error = replicate / runs + interaction / number + residual / (runs * number)
                e_rho2 = method / (method + error) if method + error else math.nan
                beyond = error - replicate
                as_queries = (interaction + residual) / beyond if beyond > 0 else None
                rows.append((runs, number, e_rho2, as_queries))
        schema = {"replicates": pl.Int64, "queries": pl.Int64} | dict.fromkeys(
            ("e_rho2", "as_queries"), pl.Float64
        )
        return pl.DataFrame(rows, schema=schema, orient="row")

    def needed(self, e_rho2: float = 0.95, most: int = 10) -> pl.DataFrame:
        """Return how many queries each number of replicates needs for means as reliable as asked.

        Parameters
        ----------
        e_rho2 : float, default 0.95
            Expected squared correlation of means of methods with those over all replicates and
            queries: see `d_study`.
        most : int, default 10
            Greatest number of replicates.

        Returns
        -------
        DataFrame
            track, measure, e_rho2, replicates from 1, queries: the least number; null where no
            number of queries suffices, or the variance of methods is not positive.
        """
        check_share("e_rho2", e_rho2)
        check_positive("most", most)
        method, replicate, _, interaction, residual = (max(of, 0.0) for of in self.components)
        rows = []
        for runs in range(1, most + 1):
            # e_rho2 is reached where the error is at most this share of the methods' variance.
            room = method * (1 - e_rho2) / e_rho2 - replicate / runs
            error = interaction + residual / runs
            # The share guards the ceiling against rounding of, say, 0.06 / 0.002.
            queries = max(1, math.ceil(error / room * (1 - 1e-12))) if room > 0 else None
            rows.append((self.track, self.measure, e_rho2, runs, queries))
        return NEEDED.frame(rows)


def facet_study(
    matrix: Matrix, methods: Mapping[str, str], estimator: VarianceEstimator = "anova"
) -> FacetStudy:
    """Estimate the variance that methods, replicates and queries have in the values of runs.

    Replicates are nested in methods, and both are crossed with queries, each of which counts once,
    also where queries have weights. The means of systems and queries alone, without replicates,
    are the case of `irmeta.stats.g_study`.

    Parameters
    ----------
    matrix : Matrix
        Values of runs; only queries on which all runs of `methods` have a value count.
    methods : mapping of str to str
        Method of each run; runs without one, and methods with a single run, do not count.
    estimator : {'anova', 'reml'}, default 'anova'
        ``anova``: from mean squares (the analysis of variance, or Henderson's first method, whose
        expected mean squares allow other numbers of replicates of each method [1]_); unbiased, and
        negative for small components. ``reml``: restricted maximum likelihood of normal values,
        with no component below 0: the same for equal numbers of replicates where none is negative,
        and more precise for others.

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
    check_choice("estimator", estimator, get_args(VarianceEstimator))
    members = [places for places in grouped(matrix.systems, methods)[1] if len(places) > 1]
    runs = np.array([len(places) for places in members], np.float64)
    used = np.concatenate([np.zeros(0, int), *members])
    values = matrix.values[:, used]
    values = values[~np.isnan(values).any(axis=1)]
    sizes = (len(members), int(runs.sum()), len(values))
    components = (math.nan,) * len(FACETS)
    if len(members) > 1 and len(values) > 1:
        components = _components(values, runs)
        if estimator == "reml":
            from irmeta.stats.random_effects import (
                reml_components,  # only this estimator needs an optimiser
            )

            components = reml_components(values, runs, components)
    return FacetStudy(matrix.measure, matrix.track, *sizes, components, estimator)


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
    """The frames `methods`, a row each, `components`, one per variance component, and `needed`."""

    methods: pl.DataFrame
    components: pl.DataFrame
    needed: pl.DataFrame


def method_rows(matrix: Matrix, methods: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table `methods`, in the order of the runs.

    The best of k replicates is the better the greater k is: it is no estimate of a method, and is
    never tested against a mean.
    """
    means = matrix.means
    for method, places in zip(*grouped(matrix.systems, methods), strict=True):
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
    matrices: Sequence[Matrix],
    methods: Sequence[Mapping[str, str]],
    sets: Sequence[str],
    estimator: VarianceEstimator = "anova",
) -> ReplicateTables:
    """Return the tables of the replicates of methods, over all matrices.

    `sets` are the qrels set of each matrix, empty where one is compared; then no column names it.
    """
    parts = list[tuple[pl.DataFrame, ...]]()
    for matrix, of_systems in zip(matrices, methods, strict=True):
        study = facet_study(matrix, of_systems, estimator)
        rows = METHODS.frame(method_rows(matrix, of_systems))
        parts.append((rows, study.frame(), study.needed()))
    return ReplicateTables(*(by_set(of, sets) for of in zip(*parts, strict=True)))


def by_set(frames: Sequence[pl.DataFrame], sets: Sequence[str]) -> pl.DataFrame:
    """Return frames below one another, with a column of the qrels sets where there are several."""
    if any(sets):
        frames = [
            frame.insert_column(1, pl.lit(name).alias("qrels"))
            for frame, name in zip(frames, sets, strict=True)
        ]
    return pl.concat(frames)

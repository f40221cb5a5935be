"""Correlations between the rankings of systems by measures, orderings or evaluation depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_share, check_whole, did_you_mean
from irmeta.phrases import count
from irmeta.results.averages import average
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats import orders
from irmeta.stats.orders import Ties, rbo_of_scores, round_rows
from irmeta.stats.resampling import draw_counts
from irmeta.summaries import Result, Summary

Method = Literal[
    "tau-b", "tau-a", "tau-ap", "tau-ap-b", "tau-gap", "spearman", "pearson", "rmse",
    "rbo", "rbo-min", "rbo-max", "rbo-res"]  # fmt: skip
Orderings = np.ndarray | Mapping[str, Sequence[float] | np.ndarray] | pl.DataFrame | Scores
_OVER_COMMON: dict[str, orders.Correlation] = {
    "tau-a": orders.kendall_tau_a,
    "tau-b": orders.kendall_tau_b,
    "tau-ap": orders.tau_ap,
    "tau-ap-b": orders.tau_ap_b,
    "tau-gap": orders.tau_gap,
    "spearman": orders.spearman,
    "pearson": orders.pearson,
    "rmse": orders.rmse,
}
_ONE_WAY = ("tau-ap", "tau-gap")
"""Methods that compare an estimate with a reference, and not two equals."""
_RBO = {"rbo": 0, "rbo-min": 1, "rbo-max": 2}
_BLOCK = 1 << 20  # means of resamples held at once


@dataclass(frozen=True, repr=False)
class Correlations(Result):
    """Correlations of all pairs of orderings.

    Attributes
    ----------
    values : ndarray of float64, shape (orderings, orderings)
        For `tau-ap` and `tau-gap` the row is the reference and the column the estimate; any other
        method is symmetric. NaN: undefined.
    systems : ndarray of int32, shape (orderings, orderings)
        Number of systems that both orderings have.
    queries : ndarray of int32, shape (orderings, orderings), or None
        Of two measures of `Scores`, the least number of queries in the means of a system.
    """

    method: str
    orderings: tuple[str, ...]
    values: np.ndarray
    systems: np.ndarray
    queries: np.ndarray | None = None

    def _summary(self) -> Summary:
        return Summary(self.method, [count(len(self.orderings), "ordering")])

    def frame(self) -> pl.DataFrame:
        """Return one row per pair: ordering_a, ordering_b, method, correlation, systems.

        Of `Scores` also queries, the number where both measures are defined.

        Pairs are in the order of the orderings. An asymmetric method has two rows per pair, each
        with ordering_a as the reference.
        """
        size = len(self.orderings)
        if self.method in _ONE_WAY:
            a, b = np.nonzero(~np.eye(size, dtype=bool))
        else:
            a, b = np.triu_indices(size, 1)
        orderings = pl.Series(self.orderings, dtype=pl.String)
        columns: dict[str, pl.Series | np.ndarray] = {
            "ordering_a": orderings.gather(a),
            "ordering_b": orderings.gather(b),
            "method": pl.Series([self.method], dtype=pl.String).new_from_index(0, len(a)),
            "correlation": self.values[a, b],
            "systems": self.systems[a, b],
        }
        if self.queries is not None:
            columns["queries"] = self.queries[a, b]
        return pl.DataFrame(columns)


def correlate(
    values: Orderings, method: Method = "tau-b", *, p: float = 0.9, ties: Ties = "a"
) -> Correlations:
    """Correlate all pairs of orderings of the same systems.

    Parameters
    ----------
    values : ndarray of shape (orderings, systems), mapping, DataFrame or Scores
        One value per system, greater is better, NaN undefined. A mapping is from name to values; a
        frame has one column per ordering and one row per system, system names in a non-numeric
        first column; `Scores` gives each measure's means over the queries where both measures of a
        pair are defined, negated where less is better (except for rmse, which takes the means
        unchanged).
    method : str, default 'tau-b'
        ``tau-a``, ``tau-b``: Kendall's. ``tau-ap``: AP correlation, of an estimate with a reference
        [1]_; ``tau-ap-b``: its symmetric form for ties [2]_; ``tau-gap``: AP correlation with the
        gaps of the reference's values as weights [3]_. ``spearman`` and ``pearson``;
        ``rmse``, a distance; ``rbo``: rank-biased overlap extrapolated, ``rbo-min``, ``rbo-max``
        its bounds and ``rbo-res`` their difference. The formulas are in `irmeta.stats.orders`.
    p, ties : float, {'w', 'a', 'b'}
        Persistence and treatment of ties of RBO: see `rbo`.

    Returns
    -------
    Correlations
        From -1 to 1 (RBO: 0 to 1). The correlation of an ordering that ties all systems, or has
        only one, is NaN, also with itself; rmse and RBO are defined there.

    Raises
    ------
    UsageError
        If the method is unknown, or `values` has another shape.

    Notes
    -----
    A pair of orderings is correlated over the systems with a value in both. RBO instead takes each
    ranking with all its systems, because it is defined for rankings of different items. Values tie
    when they are equal to the last bit, as in scipy. Equal means may differ by the order of
    summation: `irmeta.stats.orders.round_means` rounds them. Infinite values are ordered; tau-gap,
    pearson and rmse are NaN for them.

    References
    ----------
    .. [1] Yilmaz, Aslam and Robertson (2008), Eq. 4. doi:10.1145/1390334.1390435
    .. [2] Urbano and Marrero (2017). doi:10.1145/3121050.3121106
    .. [3] Gao and Oard (2015). doi:10.1145/2766462.2767793

    Examples
    --------
    >>> result = irmeta.stats.correlate({"AP": [4, 3, 2, 1], "RR": [4, 2, 3, 1]}, "spearman")
    >>> result.values.round(3).tolist()
    [[1.0, 0.8], [0.8, 1.0]]
    """
    orderings, x = _orderings(values, signed=method != "rmse")
    known = (~np.isnan(x)).astype(np.float32)
    systems = (known @ known.T).astype(np.int32)
    correlations = correlate_arrays(x, x, False, method, p, ties)
    if not isinstance(values, Scores):
        return Correlations(method, orderings, correlations, systems)
    queries = np.empty(correlations.shape, np.int32)
    counted = values.included & ~np.isnan(values.values)
    for i, j in combinations_with_replacement(range(len(orderings)), 2):
        both = counted[i] & counted[j]
        per_system = both.sum(axis=0)
        # Systems without a value have no mean.
        queries[i, j] = queries[j, i] = min(per_system[per_system > 0], default=0)
        if i != j and not np.array_equal(counted[i], counted[j]):
            a, b = (_means_over(values, m, both, method != "rmse")[None] for m in (i, j))
            systems[i, j] = systems[j, i] = np.count_nonzero(~np.isnan(a) & ~np.isnan(b))
            correlations[i, j] = correlate_arrays(a, b, True, method, p, ties)[0]
            correlations[j, i] = correlate_arrays(b, a, True, method, p, ties)[0]
    return Correlations(method, orderings, correlations, systems, queries)


def _means_over(scores: Scores, index: int, counted: np.ndarray, signed: bool) -> np.ndarray:
    """Return the means of one measure over the counted values [query, system], rounded."""
    measure = scores.measures[index]
    how = scores.averages.get(measure, "arithmetic")
    means = average(how, scores.values[index], counted, scores.difficulty)
    sign = scores.directions.get(measure, 1) if signed else 1
    return orders.round_means(means) * sign


@dataclass(frozen=True, repr=False)
class Bootstrap(Result):
    """Correlation of two measures with a bootstrap confidence interval over queries.

    Attributes
    ----------
    low, high
        The confidence interval: percentiles of `samples`. NaN if no sample is defined.
    samples
        float64 [resample]: NaN where all systems tie in one ordering of a resample.
    """

    method: str
    measures: tuple[str, str]
    correlation: float
    low: float
    high: float
    samples: np.ndarray
    confidence: float
    queries: int
    systems: int

    def _summary(self) -> Summary:
        estimate = f"{self.correlation:.4g} ({self.low:.4g} to {self.high:.4g})"
        return Summary(f"{self.method} of {' and '.join(self.measures)}", [estimate])

    def frame(self) -> pl.DataFrame:
        """Return one row: measure_a, measure_b, method, correlation, low, high, ...

        undefined: number of resamples without a correlation, which the interval excludes.
        """
        row = {
            "measure_a": self.measures[0],
            "measure_b": self.measures[1],
            "method": self.method,
            "correlation": self.correlation,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "queries": self.queries,
            "systems": self.systems,
            "resamples": len(self.samples),
            "undefined": int(np.isnan(self.samples).sum()),
        }
        return pl.DataFrame([row])


def bootstrap_correlation(
    a: Matrix,
    b: Matrix,
    method: Method = "tau-b",
    *,
    p: float = 0.9,
    ties: Ties = "a",
    resamples: int = 10_000,
    confidence: float = 0.95,
    rng: int | np.random.Generator = 0,
) -> Bootstrap:
    """Correlate the means of two measures over systems, with a bootstrap confidence interval.

    Each resample draws all queries with replacement, the same for both measures. The percentile
    interval [1]_ generalises over queries, for fixed systems. tau of resamples tends to lie below
    tau of all queries; the percentiles do not correct this bias.

    Parameters
    ----------
    a, b : Matrix
        Only queries and systems that both have, by name, and values that both define are used; a is
        the reference of `tau-ap`.
    method, p, ties
        See `correlate`.
    resamples : int, default 10,000
        Number of resamples.
    confidence : float, default 0.95
        Confidence level of the interval.
    rng : int or Generator, default 0
        Random seed.

    Returns
    -------
    Bootstrap
        The correlation, its interval and all resamples; NaN: undefined.

    Raises
    ------
    UsageError
        If `confidence` is not between 0 and 1 or `resamples` is less than 1.

    Notes
    -----
    A mean is over the drawn queries on which the system has a value; means that are equal to 12
    significant digits tie. A system without a mean is excluded from the resample.

    References
    ----------
    .. [1] Efron and Tibshirani (1993). An introduction to the bootstrap, Section 13.3.

    Examples
    --------
    >>> irmeta.stats.bootstrap_correlation(ap, rr, resamples=100).correlation
    1.0
    """
    check_share("confidence", confidence)
    check_whole("resamples", resamples)
    a, b = in_common(a, b)
    a = a.only_queries(np.flatnonzero(~np.isnan(a.values).all(axis=1)))
    b = b.only_queries(np.flatnonzero(~np.isnan(b.values).all(axis=1)))
    sides = [m.values if method == "rmse" else m.oriented for m in (a, b)]
    queries, systems = a.values.shape
    generator = np.random.default_rng(rng)

    def correlate_weighted(weights: np.ndarray) -> np.ndarray:
        x, y = (_weighted_means(side, weights) for side in sides)
        return correlate_arrays(x, y, True, method, p, ties)

    observed = float(correlate_weighted(np.ones((1, queries)))[0])
    samples = np.full(resamples, np.nan)
    step = max(_BLOCK // max(systems, 1), 1)
    for start in range(0, resamples if queries else 0, step):
        size = min(step, resamples - start)
        draws = draw_counts(queries, size, generator)
        samples[start : start + size] = correlate_weighted(draws.astype(float))
    defined = samples[~np.isnan(samples)]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(defined, tails) if len(defined) else (np.nan, np.nan)
    measures = (a.measure, b.measure)
    return Bootstrap(
        method, measures, observed, float(low), float(high), samples, confidence, queries, systems
    )


def measure_agreement(scores: Scores) -> pl.DataFrame:
    """Compute Kendall's tau-b between the rankings of systems by all pairs of measures.

    Systems are ranked by mean, best first in each measure's direction, so that two measures that
    agree have a positive tau even if one of them is a search length.

    Parameters
    ----------
    scores : Scores
        Values of one track, from `Store.scores`.

    Returns
    -------
    DataFrame
        measure_a, measure_b, tau, systems, queries (those where both measures are defined, over
        which both means are): one row per pair, in the order of the measures. tau is NaN where a
        measure gives all systems the same mean, or fewer than two have a mean.

    Examples
    --------
    >>> irmeta.stats.measure_agreement(store.scores(["AP", "ASL"], track="news")).height
    1
    """
    frame = correlate(scores, "tau-b").frame()
    return frame.select(
        "systems", "queries", measure_a="ordering_a", measure_b="ordering_b", tau="correlation"
    ).select("measure_a", "measure_b", "tau", "systems", "queries")


def in_common(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
    """Restrict both matrices to their common queries and systems, in the order of the first.

    A value that is undefined in one matrix is NaN in both.
    """
    for kind in ("queries", "systems"):
        if getattr(a, kind) != getattr(b, kind):
            known = set(getattr(b, kind))
            shared = [name for name in getattr(a, kind) if name in known]
            a, b = (getattr(matrix, f"only_{kind}")(shared) for matrix in (a, b))
    undefined = np.isnan(a.values) | np.isnan(b.values)
    if not undefined.any():
        return a, b
    a, b = (replace(m, values=np.where(undefined, np.nan, m.values)) for m in (a, b))
    return a, b


def correlate_arrays(
    x: np.ndarray, y: np.ndarray, paired: bool, method: str, p: float, ties: Ties
) -> np.ndarray:
    """Correlate orderings by the method's name: see `irmeta.stats.orders`."""
    if method in _OVER_COMMON:
        return orders.over_common(_OVER_COMMON[method], x, y, paired)
    if method not in get_args(Method):
        raise UsageError(f"unknown method {method!r}. {did_you_mean(method, get_args(Method))}")
    scores = rbo_of_scores(x, y, paired, p, ties)
    values = scores[..., 2] - scores[..., 1] if method == "rbo-res" else scores[..., _RBO[method]]
    return values[:, 0] if paired else values


def _orderings(values: Orderings, signed: bool) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of the orderings, and their values, float64 [ordering, system]."""
    if isinstance(values, Scores):
        sign = [values.directions.get(m, 1) if signed else 1 for m in values.measures]
        means = orders.round_rows(values.mean_values())
        return values.measures, means * np.array(sign)[:, None]
    if isinstance(values, pl.DataFrame):
        numbers = values
        if values.width and not values.to_series(0).dtype.is_numeric():
            numbers = values.drop(values.columns[0])
        for name, kind in numbers.schema.items():
            if not kind.is_numeric() and kind != pl.Null:
                raise UsageError(f"column {name!r} is not numeric.")
        values = {c.name: c.cast(pl.Float64).fill_null(np.nan).to_numpy() for c in numbers}
    if isinstance(values, Mapping):
        names = tuple(values)
        rows = [_numbers(values[name]) for name in names]
        if any(row.ndim != 1 for row in rows) or len({len(row) for row in rows}) > 1:
            raise UsageError("the orderings must have one value for each of the same systems.")
        return names, np.array(rows) if rows else np.empty((0, 0))
    array = _numbers(values)
    if array.ndim != 2:
        raise UsageError(f"orderings must be an array [ordering, system], not {array.shape}.")
    return tuple(str(i) for i in range(len(array))), np.ascontiguousarray(array)


def _numbers(values: object) -> np.ndarray:
    try:
        return np.asarray(values, float)
    except (TypeError, ValueError):
        raise UsageError("orderings must be numeric, with one value per system.") from None


def _weighted_means(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute means of the defined values, weighted by query: float64 [resample, system]."""
    known, finite = ~np.isnan(values), np.isfinite(values)
    total, number = weights @ np.where(finite, values, 0.0), weights @ known.astype(float)
    means = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    if not finite[known].all():
        for limit in (-np.inf, np.inf):
            means[weights @ (values == limit).astype(float) > 0] = limit
    return orders.round_means(means)


def volatility(
    means: np.ndarray,
    others: np.ndarray | None = None,
    method: Method = "tau-b",
    *,
    p: float = 0.9,
    ties: Ties = "a",
) -> np.ndarray:
    """Correlate the orderings of systems at all pairs of evaluation depths.

    Parameters
    ----------
    means : ndarray of float64, shape (cutoffs, systems)
        Mean of each system at each cutoff; greater is better, NaN undefined. Where the queries
        differ by the pair of cutoffs, both arrays are (cutoffs, other cutoffs, systems).
    others : ndarray of float64, shape (other cutoffs, systems), optional
        Means of another measure; default the same.
    method, p, ties
        As for `correlate`.

    Returns
    -------
    ndarray of float64, shape (cutoffs, other cutoffs)
        T[i, j], the correlation of the ordering at cutoff i with that at cutoff j. NaN where an
        ordering ties all systems.

    Raises
    ------
    UsageError
        If the arrays are not matrices of the same systems, or the method is unknown.

    Notes
    -----
    Means that agree in 12 significant digits of the greatest mean are equal.

    References
    ----------
    .. [1] Lu, Moffat and Culpepper (2016), Section 3 and Figures 5 to 7.
       doi:10.1007/s10791-016-9282-6

    Examples
    --------
    >>> means = np.array([[0.9, 0.5, 0.1], [0.8, 0.6, 0.2], [0.5, 0.6, 0.2]])
    >>> irmeta.stats.volatility(means).round(2).tolist()
    [[1.0, 1.0, 0.33], [1.0, 1.0, 0.33], [0.33, 0.33, 1.0]]
    """
    x = np.asarray(means, np.float64)
    y = x if others is None else np.asarray(others, np.float64)
    is_paired = x.ndim == 3 and x.shape == y.shape
    if not is_paired and (x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]):
        raise UsageError(
            f"means of shapes {x.shape} and {y.shape} are not [cutoff, system] of the same systems."
        )
    first = _rounded(x)
    second = first if others is None else _rounded(y)
    values = correlate_arrays(first, second, is_paired, method, p, ties)
    return values.reshape(x.shape[:2]) if is_paired else values


def _rounded(means: np.ndarray) -> np.ndarray:
    """Return means [ordering, system], rounded."""
    rows = means.reshape(-1, means.shape[-1])
    return round_rows(rows)

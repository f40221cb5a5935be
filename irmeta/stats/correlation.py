"""How alike measures, or any other orderings, rank the systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_share, check_whole, did_you_mean
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.stats import orders
from irmeta.stats.rbo import Ties, rbo_of_scores

Method = Literal[
    "tau-b",
    "tau-a",
    "tau-ap",
    "tau-ap-b",
    "spearman",
    "pearson",
    "rmse",
    "rbo",
    "rbo-min",
    "rbo-max",
    "rbo-res",
]
Orderings = np.ndarray | Mapping[str, Sequence[float] | np.ndarray] | pl.DataFrame | Scores
_OVER_COMMON: dict[str, orders.Correlation] = {
    "tau-a": orders.kendall_tau_a,
    "tau-b": orders.kendall_tau_b,
    "tau-ap": orders.tau_ap,
    "tau-ap-b": orders.tau_ap_b,
    "spearman": orders.spearman,
    "pearson": orders.pearson,
    "rmse": orders.rmse,
}
_RBO = {"rbo": 0, "rbo-min": 1, "rbo-max": 2}
_BLOCK = 1 << 20  # means of resamples held at once


@dataclass(frozen=True)
class Correlations:
    """A correlation of every two of M orderings.

    Attributes
    ----------
    values
        float64 [ordering, ordering]; for `tau-ap` the row's is the reference, the column's the
        estimate; any other method is symmetric. NaN: undefined.
    systems
        int32 [ordering, ordering]: how many systems both have.
    """

    method: str
    orderings: tuple[str, ...]
    values: np.ndarray
    systems: np.ndarray

    def frame(self) -> pl.DataFrame:
        """A row for each pair: ordering_a, ordering_b, method, correlation, systems.

        Each pair once, in the order of the orderings; both ways, ordering_a the reference, if the
        method is not symmetric.
        """
        size = len(self.orderings)
        if self.method == "tau-ap":
            a, b = np.nonzero(~np.eye(size, dtype=bool))
        else:
            a, b = np.triu_indices(size, 1)
        names = pl.Series(self.orderings, dtype=pl.String)
        return pl.DataFrame(
            {
                "ordering_a": names.gather(a),
                "ordering_b": names.gather(b),
                "method": pl.Series([self.method], dtype=pl.String).new_from_index(0, len(a)),
                "correlation": self.values[a, b],
                "systems": self.systems[a, b],
            }
        )


def correlate(
    values: Orderings, method: Method = "tau-b", *, p: float = 0.9, ties: Ties = "a"
) -> Correlations:
    """Correlate every two orderings of the same systems.

    Parameters
    ----------
    values
        One value a system, the greater the better: an array [ordering, system]; a mapping from a
        name to its values; a frame with a column for each ordering and a row for each system,
        names of systems in a first column that holds no numbers; or `Scores`: each measure's means,
        with the sign that makes greater better (not for rmse, which takes them as they are).
    method
        ``tau-a``, ``tau-b``: Kendall's. ``tau-ap``: AP correlation, of an estimate with a
        reference; ``tau-ap-b``: its symmetric form for ties (Urbano and Marrero 2017). ``spearman``
        and ``pearson``; ``rmse``, a distance; ``rbo``: rank-biased overlap extrapolated,
        ``rbo-min``, ``rbo-max`` its bounds and ``rbo-res`` their difference. The formulas are in
        `irmeta.stats.orders` and `irmeta.stats.rbo`.
    p, ties
        Of RBO: persistence, and the treatment of ties, see `irmeta.stats.rbo.rbo`.

    Returns
    -------
    Correlations

    Notes
    -----
    A pair of orderings is correlated over the systems to which both give a value (not NaN). RBO
    takes each ranking of its own systems instead, since it is made for rankings that differ in
    their items. An ordering that ties all systems, or has one, correlates with none (NaN), itself
    included; rmse and RBO are defined there. Values tie when they are equal to the last bit, as in
    scipy, though the order of summing may make equal means differ (tau-b of AP and P@10 on
    TREC-8 changes in the third digit): `irmeta.stats.orders.round_means` rounds them. Infinite
    values are ordered; pearson and rmse have no answer for them.

    Raises
    ------
    UsageError
        If the method is not known, or `values` has another shape.
    """
    names, x = _orderings(values, signed=method != "rmse")
    known = (~np.isnan(x)).astype(np.float32)
    systems = (known @ known.T).astype(np.int32)
    return Correlations(method, names, _correlation(x, x, False, method, p, ties), systems)


@dataclass(frozen=True)
class Bootstrap:
    """A correlation of two measures and how it varies with the choice of queries.

    Attributes
    ----------
    low, high
        The confidence interval: percentiles of `samples`. NaN where none is defined.
    samples
        float64 [resample]: NaN where a resample leaves an ordering without difference.
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

    def frame(self) -> pl.DataFrame:
        """One row: measure_a, measure_b, method, correlation, low, high, ...

        undefined: how many resamples have no correlation; they are not in the interval.
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
    """The correlation of the orders of systems by the means of two measures, with an interval.

    Queries are drawn with replacement, as many as there are and the same for both measures; the
    interval has the (1 - confidence) / 2 and (1 + confidence) / 2 quantiles of the correlations
    (percentile bootstrap: Efron and Tibshirani 1993, Section 13.3). It is about other queries of
    the kind, for these systems. tau of resamples tends to lie below that of the whole, which the
    percentiles do not correct.

    Parameters
    ----------
    a, b
        The queries and systems that both have, by name, are used; a is the reference of `tau-ap`.
    method, p, ties
        See `correlate`.

    Notes
    -----
    A mean is over the drawn queries on which the system has a value; means that are equal to 12
    significant digits tie. A system without a mean is left out of that resample.

    Raises
    ------
    UsageError
        If `confidence` is not between 0 and 1 or `resamples` is less than 1.
    """
    check_share("confidence", confidence)
    check_whole("resamples", resamples)
    a, b = in_common(a, b)
    sides = [m.values if method == "rmse" else m.oriented for m in (a, b)]
    queries, systems = a.values.shape
    generator = np.random.default_rng(rng)

    def of(weights: np.ndarray) -> np.ndarray:
        x, y = (_weighted_means(side, weights) for side in sides)
        return _correlation(x, y, True, method, p, ties)

    whole = float(of(np.ones((1, queries)))[0])
    found = np.full(resamples, np.nan)
    step = max(_BLOCK // max(systems, 1), 1)
    for start in range(0, resamples if queries else 0, step):
        size = min(step, resamples - start)
        chance = np.full(queries, 1 / queries)
        found[start : start + size] = of(generator.multinomial(queries, chance, size).astype(float))
    some = found[~np.isnan(found)]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(some, tails) if len(some) else (np.nan, np.nan)
    both = (a.measure, b.measure)
    return Bootstrap(
        method, both, whole, float(low), float(high), found, confidence, queries, systems
    )


def measure_agreement(scores: Scores) -> pl.DataFrame:
    """Kendall's tau-b between the orders of systems by every two measures.

    Systems are ordered by their means, best first under each measure's own direction, so that two
    measures that agree have a positive tau though one of them is a search length.

    Returns
    -------
    DataFrame
        measure_a, measure_b, tau, systems: a row for each pair, in the order of the measures. tau
        is NaN where a measure gives all systems the same mean, or fewer than two have one.
    """
    frame = correlate(scores, "tau-b").frame()
    return frame.select(
        measure_a="ordering_a", measure_b="ordering_b", tau="correlation", systems="systems"
    )


def in_common(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix]:
    """Both for the queries and systems that both have, by name, in the order of the first."""
    for kind in ("queries", "systems"):
        own, other = getattr(a, kind), getattr(b, kind)
        if own != other:
            there = {name: i for i, name in enumerate(other)}
            kept = [i for i, name in enumerate(own) if name in there]
            places = np.array([there[own[i]] for i in kept], np.int64)
            a = getattr(a, f"only_{kind}")(np.array(kept, np.int64))
            b = getattr(b, f"only_{kind}")(places)
    return a, b


def _correlation(
    x: np.ndarray, y: np.ndarray, paired: bool, method: str, p: float, ties: Ties
) -> np.ndarray:
    if method in _OVER_COMMON:
        return orders.over_common(_OVER_COMMON[method], x, y, paired)
    if method not in get_args(Method):
        raise UsageError(f"no method {method!r}. {did_you_mean(method, get_args(Method))}")
    scores = rbo_of_scores(x, y, paired, p, ties)
    found = scores[..., 2] - scores[..., 1] if method == "rbo-res" else scores[..., _RBO[method]]
    return found[:, 0] if paired else found


def _orderings(values: Orderings, signed: bool) -> tuple[tuple[str, ...], np.ndarray]:
    """The names of the orderings, and float64 [ordering, system]."""
    if isinstance(values, Scores):
        sign = [values.directions.get(m, 1) if signed else 1 for m in values.measures]
        means = np.stack([orders.round_means(row) for row in values.mean_values()])
        return values.measures, means * np.array(sign)[:, None]
    if isinstance(values, pl.DataFrame):
        numbers = values
        if values.width and not values.to_series(0).dtype.is_numeric():
            numbers = values.drop(values.columns[0])
        for name, kind in numbers.schema.items():
            if not kind.is_numeric() and kind != pl.Null:
                raise UsageError(f"column {name!r} holds no numbers.")
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
        raise UsageError("orderings must be numbers: a value for each system.") from None


def _weighted_means(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """float64 [resample, system]: means of the defined values, weighted by query."""
    known, finite = ~np.isnan(values), np.isfinite(values)
    total, number = weights @ np.where(finite, values, 0.0), weights @ known.astype(float)
    means = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    if not finite[known].all():
        for limit in (-np.inf, np.inf):
            means[weights @ (values == limit).astype(float) > 0] = limit
    return orders.round_means(means)

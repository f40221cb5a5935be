"""Differences of two systems by query."""

from __future__ import annotations

import numpy as np
import polars as pl

from irmeta.equality import tolerances
from irmeta.errors import UsageError, did_you_mean
from irmeta.results.matrix import Matrix


def query_differences(matrix: Matrix, system: str, baseline: str) -> pl.DataFrame:
    """Return the values of two systems by query, and the first minus the second.

    Returns
    -------
    DataFrame
        track, measure, query, system, baseline, value, baseline_value, difference, better (name of
        the better of the two; null: values are equal or undefined): the queries where the
        system is better first, by the size of the difference; NaN is last.

    Raises
    ------
    UsageError
        If a system is unknown.
    """
    for name in (system, baseline):
        if name not in matrix.systems:
            raise UsageError(f"no system {name!r}. {did_you_mean(name, matrix.systems)}")
    value, other = (matrix.values[:, matrix.systems.index(one)] for one in (system, baseline))
    within = tolerances(np.concatenate([value, other])[:, None], max(matrix.units, default=0.0))[0]
    labels = {"track": matrix.track, "measure": matrix.measure}
    frame = pl.DataFrame({"query": pl.Series(list(matrix.queries), dtype=pl.String)}).select(
        *(pl.lit(text).alias(name) for name, text in labels.items()),
        "query",
        pl.lit(system).alias("system"),
        pl.lit(baseline).alias("baseline"),
        pl.Series("value", value),
        pl.Series("baseline_value", other),
        pl.Series("difference", value - other),
    )
    gain = matrix.direction * pl.col("difference")
    better = pl.when(gain.is_nan()).then(None).when(gain > within).then(pl.lit(system))
    better = better.when(gain < -within).then(pl.lit(baseline)).alias("better")
    return frame.with_columns(better).sort(-gain, maintain_order=True)  # polars sorts NaN last

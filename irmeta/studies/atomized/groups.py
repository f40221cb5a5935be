"""The best of one group of systems against the best of another: paper 1, Table 1."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import polars as pl

from irmeta.results.averages import mean_over_queries
from irmeta.results.scores import Scores
from irmeta.stats.orders import settled
from irmeta.stats.permutation_bootstrap import bootstrap
from irmeta.studies.atomized.settings import Settings
from irmeta.studies.publish import empty


def reduction_in_error(baseline: float, contender: float, direction: int) -> float:
    """RRIE: by how much of its distance from a perfect system the contender betters the baseline.

    Eq. 11 where greater is better and 1 is perfect, Eq. 12 for search lengths, whose least is 1.
    NaN for a baseline that is perfect, and where either is beyond perfect: Eq. 3 gives lists
    without a non-relevant doc search lengths below 1.
    """
    left, now = (
        (1.0 - baseline, 1.0 - contender) if direction > 0 else (baseline - 1.0, contender - 1.0)
    )
    return (left - now) / left if left > 0 and now >= 0 else float("nan")


def members(side: str, systems: pl.DataFrame, median: str | None) -> Collection[str]:
    """The systems of a track that a side of Table 1 may take the best of."""
    kept = systems.filter(pl.col("set_aside").is_null())
    column, is_group, value = side.partition("=")
    names = kept["system"].drop_nulls().to_list()
    if side == "best":
        return names
    if side == "median":
        return [median] if median is not None else []
    if side in names:
        return [side]
    if not is_group:
        return []
    return kept.filter(pl.col(column).cast(pl.String) == value)["system"].to_list()


def best_of(scores: Scores, measure: str, among: Collection[str] | None = None) -> str | None:
    """The system with the best mean, ties by name; None where none has a mean."""
    chosen = [s for s in in_order(scores, measure) if among is None or s in among]
    return chosen[0] if chosen else None


def median_of(scores: Scores, measure: str) -> str | None:
    """The middle system by a measure, of an even number the better of the two middle ones."""
    order = in_order(scores, measure)
    return order[(len(order) - 1) // 2] if order else None


def in_order(scores: Scores, measure: str) -> list[str]:
    """The systems that have a mean, best first; means that are equal to 12 digits tie, by name."""
    values = scores.mean_values()[scores.measures.index(measure)] * scores.directions[measure]
    pairs = zip((-settled(values)).tolist(), scores.systems, strict=True)
    return [system for value, system in sorted(p for p in pairs if not np.isnan(p[0]))]


def sides(
    scores: Scores, settings: Settings, systems: pl.DataFrame, measure: str
) -> tuple[str, str] | None:
    """Baseline and contender of a measure: the best of each side, or None where one has none.

    The median system is that by ASL, or by the settings' `best_by`.
    """
    median = median_of(scores, settings.best_by or settings.asl())
    pair = [
        best_of(scores, settings.best_by or measure, members(side, systems, median))
        for side in (settings.baseline, settings.contender)
    ]
    baseline, contender = pair
    return None if baseline is None or contender is None else (baseline, contender)


def compared(
    scores: Scores, settings: Settings, systems: pl.DataFrame, measures: Sequence[str]
) -> pl.DataFrame:
    """Table `table_1`: a row for each measure for which both sides have a system."""
    means = scores.mean_values()
    rows = []
    for measure in measures:
        if (pair := sides(scores, settings, systems, measure)) is None:
            continue
        own = means[scores.measures.index(measure)]
        values = [float(own[scores.systems.index(system)]) for system in pair]
        rows.append(
            {
                "track": scores.track,
                "measure": measure,
                "baseline": pair[0],
                "contender": pair[1],
                "baseline_value": values[0],
                "contender_value": values[1],
                "rrie": reduction_in_error(values[0], values[1], scores.directions[measure]),
            }
        )
    return pl.DataFrame(rows, schema=dict(empty("table_1").schema))


def difference_intervals(
    scores: Scores, settings: Settings, pairs: Sequence[tuple[str, str, str, str]]
) -> pl.DataFrame:
    """Table `asl_differences`: bootstrap intervals over queries of differences of means.

    Parameters
    ----------
    pairs
        Measure, what the comparison is called, and two systems: the difference is the first's
        mean less the second's.
    """
    rows = []
    for measure, said, a, b in pairs:
        matrix = scores.matrix(measure)
        values = matrix.values[:, [matrix.systems.index(a), matrix.systems.index(b)]]
        # the same queries are drawn for every pair, so that equal pairs have equal intervals
        _, low, high = bootstrap(values, settings.resamples, settings.seed, settings.confidence)
        difference = values[:, 0] - values[:, 1]
        known = ~np.isnan(difference)
        rows.append(
            {
                "track": scores.track,
                "measure": measure,
                "comparison": said,
                "a": a,
                "b": b,
                "difference": float(mean_over_queries(difference[:, None])[0]),
                "low": float(low[0, 1]),
                "high": float(high[0, 1]),
                "queries": int(known.sum()),
            }
        )
    return pl.DataFrame(rows, schema=dict(empty("asl_differences").schema))

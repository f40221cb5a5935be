"""Orders and conclusions by two disjoint halves of the queries."""

from __future__ import annotations

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import check_whole
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.stats.orders import kendall_tau_b, round_means
from irmeta.stats.paired import pair_moments
from irmeta.stats.pairs import check_alpha, check_finite
from irmeta.stats.resampling import draw_query_sets

_NEAR_TIE = 1e-9
"""Share of the greatest value up to which two means may be equal but for rounding."""


def half_orders(
    matrix: Matrix,
    *,
    splits: int = 1000,
    alpha: float = 0.05,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Compare orders of systems, and conclusions on pairs, by two disjoint halves of the queries.

    What one half concludes, the other half checks on queries that it has not seen. Halves have half
    of the queries, so that all queries together are more reliable than the numbers say.

    Parameters
    ----------
    matrix : Matrix
        Values of one measure. Only queries on which every system has a value are used; of an odd
        number, each split leaves one out.
    splits : int, default 1000
        Random splits.
    alpha : float, default 0.05
        Significance level of the paired t-test, two-sided and without a correction.
    rng : int or Generator, default 0
        Random seed.

    Returns
    -------
    DataFrame
        One row per split: split, tau (tau-b of the orders by both halves; NaN where all systems tie
        in either), separated (pairs that differ significantly on the first half), swapped (those of
        them that the second half orders the other way round). Without rows for fewer than two
        queries.

    Raises
    ------
    UsageError
        If `splits` is not at least 1, `alpha` not between 0 and 1, or a value is infinite.

    References
    ----------
    .. [1] Voorhees and Buckley (2002). doi:10.1145/564376.564432

    Examples
    --------
    >>> irmeta.stats.half_orders(ap, splits=3)["tau"].round(2).to_list()
    [0.82, 0.82, 0.82]
    """
    check_whole("splits", splits)
    check_alpha(alpha)
    complete = matrix.complete()
    half = len(complete.queries) // 2
    halves = draw_query_sets(len(complete.queries), half, 2, splits, rng)
    if len(halves):
        check_finite(complete)
    pairs, values = np.triu_indices(len(complete.systems), 1), complete.oriented
    shape = len(halves), len(complete.systems)
    sides = [
        np.reshape([mean_over_queries(values[queries]) for queries in halves[:, side]], shape)
        for side in (0, 1)
    ]
    one, other = (np.reshape([round_means(row) for row in side], shape) for side in sides)
    taus = kendall_tau_b(one, other, True)
    counts = [
        _conclusions(values[first], values[second], means, pairs, alpha)
        for (first, second), means in zip(halves, sides[1], strict=True)
    ]
    separated, swapped = np.array(counts, np.int64).reshape(-1, 2).T
    columns = {"tau": taus, "separated": separated, "swapped": swapped}
    number = pl.Series("split", np.arange(len(halves)), pl.Int32)
    return pl.DataFrame([number]).with_columns(**{n: pl.Series(v) for n, v in columns.items()})


def _conclusions(
    one: np.ndarray,
    other: np.ndarray,
    other_means: np.ndarray,
    pairs: tuple[np.ndarray, np.ndarray],
    alpha: float,
) -> tuple[int, int]:
    """Count the pairs that one half separates, and those that the other half orders otherwise."""
    tested = pair_moments(one, pairs)
    is_separated = tested.separated_each(alpha) & (np.abs(tested.mean) > TIE)
    first = tested.mean[is_separated]
    a, b = (systems[is_separated] for systems in pairs)
    second = other_means[a] - other_means[b]
    if (np.abs(second) <= _NEAR_TIE * np.abs(other).max(initial=0.0)).any():
        second = pair_moments(other, (a, b)).mean
    return len(first), int((np.sign(first) * second < -TIE).sum())

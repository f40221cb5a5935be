"""Orders and conclusions by two disjoint halves of the queries."""

from __future__ import annotations

import numpy as np
import polars as pl

from irmeta.errors import check_whole
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.stats.new_measure import covered_pairs
from irmeta.stats.orders import kendall_tau_b, round_means
from irmeta.stats.paired_t import PairedT
from irmeta.stats.resampling import draw_query_sets


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
    complete = matrix.complete()
    half = len(complete.queries) // 2
    halves = draw_query_sets(len(complete.queries), half, 2, splits, rng)
    rows = []
    for split, (first, second) in enumerate(halves):
        sides = complete.only_queries(first), complete.only_queries(second)
        one, other = (round_means(mean_over_queries(side.oriented))[None] for side in sides)
        tau = float(kendall_tau_b(one, other, True)[0])
        tests = [PairedT(side) for side in sides]
        separated, _, _, swapped = covered_pairs(tests[0], tests[1], alpha)
        rows.append((split, tau, separated, swapped))
    schema = {"split": pl.Int32, "tau": pl.Float64, "separated": pl.Int64, "swapped": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")

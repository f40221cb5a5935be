"""Coverage and inversion ratios of a new measure against a reference measure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import TIE
from irmeta.stats.correlation import in_common
from irmeta.stats.pairs import Pairs, pairwise


def coverage(
    reference: Matrix,
    new: Matrix | Sequence[Matrix],
    *,
    test: str = "t",
    alpha: float = 0.05,
    correction: str = "none",
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Compute coverage and inversion ratios of new measures against a reference.

    With D the ordered pairs (i, j) where i is significantly better than j, p <= alpha, and I_new
    the pairs where the new measure's mean is better for j, significantly or not, coverage is
    ``|D_new and D_ref| / |D_ref|`` and inversion ``|I_new and D_ref| / |D_ref|``. A pair that is
    significant in the opposite direction is inverted, not covered.

    Parameters
    ----------
    reference : Matrix
        The reference measure. The better system has the better mean in the measure's direction,
        over the queries that the pair used.
    new : Matrix or sequence of Matrix
        New measures of the same systems, in any order. Each is compared with the reference over the
        queries and values that both define.
    alpha : float, default 0.05
        Significance level.
    test, correction, resamples, rng
        As for `pairwise`; the paper uses a two-tailed paired t-test.

    Returns
    -------
    DataFrame
        One row per new matrix: track, reference, new, test, alpha, pairs (unordered, all),
        separated_reference (``|D_ref|``), separated_new (``|D_new|``), covered, inverted, coverage,
        inversion, queries (smallest number that a pair used, by both measures). The ratios are NaN
        where D_ref is empty.

    Raises
    ------
    UsageError
        If a new matrix has other systems than the reference.

    Notes
    -----
    Means within 1e-12 are equal: a pair with equal means is not inverted, and is in no D unless
    the test is the sign or Wilcoxon test, which determine the better system without the means. A
    pair with an undefined p is in no D.

    References
    ----------
    .. [1] Lu, Moffat and Culpepper (2016), Section 3, Eqs. 5 and 6. doi:10.1007/s10791-016-9282-6

    Examples
    --------
    >>> irmeta.stats.coverage(ap, rr).select("separated_reference", "covered", "coverage").rows()
    [(2, 0, 0.0)]
    """
    several = [new] if isinstance(new, Matrix) else new
    tested = partial(pairwise, test=test, correction=correction, resamples=resamples, rng=rng)
    rows, tests = [], dict[bytes, Pairs]()
    for matrix in several:
        base, other = in_common(reference, _aligned(matrix, reference.systems))
        used = repr(base.queries).encode() + np.isnan(base.values).tobytes()
        if used not in tests:
            tests[used] = tested(base)
        old = tests[used]
        pairs = tested(other)
        size, in_new, covered, inverted = covered_pairs(old, pairs, alpha)
        ratios = (covered / size, inverted / size) if size else (np.nan, np.nan)
        number = len(reference.systems) * (len(reference.systems) - 1) // 2
        counts = (number, size, in_new, covered, inverted)
        name = (matrix.track, reference.measure, matrix.measure, test, float(alpha))
        rows.append((*name, *counts, *ratios, _fewest(pairs)))
    schema = dict.fromkeys(("track", "reference", "new", "test"), pl.String)
    schema |= {"alpha": pl.Float64}
    counted = ("pairs", "separated_reference", "separated_new", "covered", "inverted")
    schema |= dict.fromkeys(counted, pl.Int64)
    schema |= dict.fromkeys(("coverage", "inversion"), pl.Float64)
    schema |= {"queries": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def covered_pairs(reference: Pairs, new: Pairs, alpha: float) -> tuple[int, int, int, int]:
    """Count the pairs of `coverage` in finished tests of the same systems.

    Returns
    -------
    tuple of int
        Separated by the reference, separated by the new measure, covered, inverted.
    """
    in_reference, in_new = _separated(reference, alpha), _separated(new, alpha)
    counted = (in_reference, in_new, in_new & in_reference, _better(new).T & in_reference)
    separated, separated_new, covered, inverted = (int(pairs.sum()) for pairs in counted)
    return separated, separated_new, covered, inverted


def _separated(pairs: Pairs, alpha: float) -> np.ndarray:
    """Return whether the row is significantly better than the column: bool [system, system]."""
    return pairs.better(alpha) & (_better(pairs) if pairs.lead is None else True)


def _better(pairs: Pairs) -> np.ndarray:
    """Return whether the row's mean is better than the column's: bool [system, system]."""
    return pairs.difference * pairs.direction > TIE


def _aligned(matrix: Matrix, systems: tuple[str, ...]) -> Matrix:
    """Reorder the systems of a matrix."""
    if matrix.systems == systems:
        return matrix
    index = {name: i for i, name in enumerate(matrix.systems)}
    unmatched = set(index) ^ set(systems)
    if unmatched:
        where = "only" if min(unmatched) in index else "not"
        raise UsageError(
            f"{matrix.measure} and the reference must have the same systems: "
            f"{min(unmatched)!r} is {where} in {matrix.measure}."
        )
    return matrix.only_systems(np.array([index[name] for name in systems], np.int64))


def _fewest(pairs: Pairs) -> int:
    used = pairs.queries[pairs.upper]
    return int(used.min()) if len(used) else 0

"""Comparison of a new measure with an old one: reordering of systems, coverage, inversions.

Equations, sections and tables are those of Alex, Hall and Metzler (2022), Atomized Search Length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import UsageError
from irmeta.phrases import count
from irmeta.results.matrix import Matrix
from irmeta.stats.conclusions import count_contrary, pair_signs
from irmeta.stats.correlation import in_common
from irmeta.stats.orders import kendall_tau_b, over_common, settled_each
from irmeta.stats.paired import PairedT, upper_values
from irmeta.stats.pairs import Pairs, pairwise
from irmeta.summaries import Result, Summary

Tested = Pairs | PairedT
"""Finished tests of all pairs."""


@dataclass(frozen=True, repr=False)
class Reordering(Result):
    """Changes in the ordering of a track's systems when a new measure replaces an old one.

    Attributes
    ----------
    better_old, better_new : ndarray of int64, shape (systems,)
        Number of systems that are better, by the old and by the new measure.
    moved : ndarray of float64, shape (systems,)
        ``100 |better_old - better_new| / systems``.
    value : ndarray of float64, shape (systems,)
        New over old mean in P space; NaN where old is 0 or either is undefined.
    tau : float
        Kendall's tau-b of the two rankings of systems by mean.
    queries : int
        Number of queries with a value in both measures.
    """

    track: str
    old: str
    new: str
    systems: tuple[str, ...]
    better_old: np.ndarray
    better_new: np.ndarray
    moved: np.ndarray
    value: np.ndarray
    tau: float
    queries: int

    def _summary(self) -> Summary:
        facts = [count(len(self.systems), "system"), f"tau-b {self.tau:.4g}"]
        return Summary(f"from {self.old} to {self.new} on {self.track}", facts)

    @property
    def delta_sort(self) -> float:
        """Largest move of a system, as a percentage of the systems; NaN without systems."""
        return float(self.moved.max()) if len(self.moved) else np.nan

    @property
    def delta_value(self) -> float:
        """Mean over systems of new over old; NaN if undefined for all systems."""
        known = self.value[~np.isnan(self.value)]
        return float(known.mean()) if len(known) else np.nan

    @property
    def left_out(self) -> int:
        """Number of systems without new over old, which `delta_value` excludes."""
        return int(np.isnan(self.value).sum())

    def frame(self) -> pl.DataFrame:
        """Return one row per system.

        Columns: track, old, new, system, better_old, better_new, moved, value.
        """
        constants = {"track": self.track, "old": self.old, "new": self.new}
        frame = pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String),
                "better_old": self.better_old,
                "better_new": self.better_new,
                "moved": self.moved,
                "value": self.value,
            }
        )
        constant = [pl.lit(text, dtype=pl.String).alias(name) for name, text in constants.items()]
        return frame.select(*constant, pl.all())

    def summary(self) -> pl.DataFrame:
        """Return one row of Table 2: track, old, new, delta_sort, tau, delta_value, ..."""
        row = {
            "track": self.track,
            "old": self.old,
            "new": self.new,
            "delta_sort": self.delta_sort,
            "tau": self.tau,
            "delta_value": self.delta_value,
            "left_out": self.left_out,
            "systems": len(self.systems),
            "queries": self.queries,
        }
        return pl.DataFrame([row])


def better(
    matrix: Matrix, *, ratio: float = 1.10, alpha: float = 0.05, test: str = "t"
) -> np.ndarray:
    """Check for all pairs whether the row's system is better than the column's: bool.

    The ratio of the means, in its favour, is at least `ratio` (infinite over 0), so that P and 1/P
    space agree, and the two-sided t-test (or another of `pairwise`) of the values in the measure's
    space has p <= `alpha`; the paper does not say whether it is paired. This is no weak order.
    """
    if ratio < 1:
        raise UsageError(f"ratio must be 1 or more, not {ratio}.")
    tested = PairedT(matrix) if test == "t" else pairwise(matrix, test)
    significant = tested.separated(alpha)
    known = (~np.isnan(matrix.values)).astype(float)
    total, number = np.nan_to_num(matrix.values).T @ known, known.T @ known
    mean = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    if (mean < 0).any():
        raise UsageError(
            f"{matrix.measure} has a negative mean: 'better by a ratio' needs values of 0 or more."
        )
    if matrix.direction > 0:
        larger, smaller = mean, mean.T
    else:
        larger, smaller = mean.T, mean
    least = ratio * smaller * (1 - TIE)  # 0.11 is 1.1 times 0.10, though not as floats
    return significant & (larger > smaller) & (larger >= least)


def delta_value(
    old: Matrix, new: Matrix, in_p_space: Callable[[np.ndarray], np.ndarray] | None = None
) -> np.ndarray:
    """Compute new over old mean in P space for the common systems: float64 [system].

    A mean in P space is the mean itself, or 1 / mean (or `in_p_space`) where less is better. NaN
    where old is 0 in P space, either is undefined, or a mean of 0 has no inverse.
    """
    old, new = in_common(old, new)
    convert = in_p_space or _inverse
    before, after = (m.means if m.direction > 0 else convert(m.means) for m in (old, new))
    known = ~np.isnan(before) & ~np.isnan(after) & (before != 0)
    return np.divide(after, before, out=np.full(before.shape, np.nan), where=known)


def reordering(
    old: Matrix,
    new: Matrix,
    *,
    ratio: float = 1.10,
    alpha: float = 0.05,
    test: str = "t",
    in_p_space: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Reordering:
    """Compute how far replacing `old` by `new` moves the systems of a track.

    ``Delta-sort of system s = 100 |n_0 - n_1| / |S|``, where n_0 and n_1 are the numbers of systems
    that are `better` than s by the old and by the new measure. The Delta-sort of a track is the
    largest of its systems. Counts need no sorted list, which `better` does not define: many systems
    are neither better nor worse than each other. A system can move although its rank by mean stays
    the same, and vice versa.

    Parameters
    ----------
    old, new : Matrix
        Only queries and systems that both have, by name, and values that both define are used.
    ratio, alpha, test
        See `better`.
    in_p_space : callable, optional
        See `delta_value`.

    Returns
    -------
    Reordering
        Delta-sort, Kendall's tau-b of the rankings by mean in each measure's direction (means that
        are equal to 12 significant digits tie), and `delta_value`.

    Raises
    ------
    UsageError
        See `better`.

    References
    ----------
    .. [1] Alex, Hall and Metzler (2022). Atomized search length: beyond user models, Section 4.4.

    Examples
    --------
    >>> result = irmeta.stats.reordering(ap, rr)
    >>> round(result.delta_sort, 1), result.tau, round(result.delta_value, 2)
    (66.7, 1.0, 1.71)
    """
    old, new = in_common(old, new)
    counts = [better(m, ratio=ratio, alpha=alpha, test=test).sum(axis=0) for m in (old, new)]
    first, second = (settled_each(m.means * m.direction)[None] for m in (old, new))
    return Reordering(
        track=old.track,
        old=old.measure,
        new=new.measure,
        systems=old.systems,
        better_old=counts[0],
        better_new=counts[1],
        moved=100 * np.abs(counts[0] - counts[1]) / max(len(old.systems), 1),
        value=delta_value(old, new, in_p_space),
        tau=float(over_common(kendall_tau_b, first, second, True)[0]),
        queries=int((~np.isnan(old.values).all(axis=1)).sum()),
    )


def _inverse(means: np.ndarray) -> np.ndarray:
    return np.divide(1.0, means, out=np.full(means.shape, np.nan), where=means != 0)


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
        base, compared = in_common(reference, _aligned(matrix, reference.systems))
        key = repr(base.queries).encode() + np.isnan(base.values).tobytes()
        if key not in tests:
            tests[key] = tested(base)
        old = tests[key]
        pairs = tested(compared)
        size, in_new, covered, inverted = covered_pairs(old, pairs, alpha)
        ratios = (covered / size, inverted / size) if size else (np.nan, np.nan)
        number = len(reference.systems) * (len(reference.systems) - 1) // 2
        counts = (number, size, in_new, covered, inverted)
        name = (matrix.track, reference.measure, matrix.measure, test, float(alpha))
        used = pairs.queries[pairs.upper]
        rows.append((*name, *counts, *ratios, int(used.min()) if len(used) else 0))
    schema = dict.fromkeys(("track", "reference", "new", "test"), pl.String)
    schema |= {"alpha": pl.Float64}
    counted = ("pairs", "separated_reference", "separated_new", "covered", "inverted")
    schema |= dict.fromkeys(counted, pl.Int64)
    schema |= dict.fromkeys(("coverage", "inversion"), pl.Float64)
    schema |= {"queries": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def covered_pairs(reference: Tested, new: Tested, alpha: float) -> tuple[int, int, int, int]:
    """Count pairs separated by the reference and by the new measure, covered, and inverted."""
    is_better = (
        pairs.better(alpha) & (pairs.lead is not None or pairs.difference * pairs.direction > TIE)
        for pairs in (reference, new)
    )
    concluded, of_new = map(pair_signs, is_better)
    covered = int(((concluded == of_new) & (concluded != 0)).sum())
    inverted = count_contrary(concluded, upper_values(new.difference) * new.direction)
    separated, separated_new = (int(np.count_nonzero(of)) for of in (concluded, of_new))
    return separated, separated_new, covered, inverted


def _aligned(matrix: Matrix, systems: tuple[str, ...]) -> Matrix:
    """Reorder the systems of a matrix."""
    if matrix.systems == systems:
        return matrix
    unmatched = set(matrix.systems) ^ set(systems)
    if unmatched:
        where = "only" if min(unmatched) in matrix.systems else "not"
        raise UsageError(
            f"{matrix.measure} and the reference must have the same systems: "
            f"{min(unmatched)!r} is {where} in {matrix.measure}."
        )
    return matrix.only_systems(systems)

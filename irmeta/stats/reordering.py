"""How far one measure in place of another moves the systems of a track: paper 1, Section 4.4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.stats.correlation import in_common
from irmeta.stats.orders import kendall_tau_b, over_common, settled_each
from irmeta.stats.pairs import pairwise

_ROUNDING = 1e-12  # 0.11 is 1.1 times 0.10, though not as floats


@dataclass(frozen=True)
class Reordering:
    """What became of the systems of a track when a new measure took an old one's place.

    Attributes
    ----------
    better_old, better_new
        int64 [system]: how many systems are better than it, by either measure.
    moved
        float64 [system]: 100 |better_old - better_new| / systems.
    value
        float64 [system]: new over old mean in P space; NaN where old is 0 or either is undefined.
    tau
        Kendall's tau-b of the two orders of systems by mean.
    queries
        How many queries have a value by both measures.
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

    @property
    def delta_sort(self) -> float:
        """The largest move of a system, in per cent of the systems; NaN without systems."""
        return float(self.moved.max()) if len(self.moved) else np.nan

    @property
    def delta_value(self) -> float:
        """The mean of new over old; NaN where it is defined for no system."""
        known = self.value[~np.isnan(self.value)]
        return float(known.mean()) if len(known) else np.nan

    @property
    def left_out(self) -> int:
        """How many systems have no new over old, which `delta_value` leaves out."""
        return int(np.isnan(self.value).sum())

    def frame(self) -> pl.DataFrame:
        """A row for each system: track, old, new, system, better_old, better_new, moved, value."""
        names = {"track": self.track, "old": self.old, "new": self.new}
        frame = pl.DataFrame(
            {
                "system": pl.Series(self.systems, dtype=pl.String),
                "better_old": self.better_old,
                "better_new": self.better_new,
                "moved": self.moved,
                "value": self.value,
            }
        )
        constant = [pl.lit(text, dtype=pl.String).alias(name) for name, text in names.items()]
        return frame.select(*constant, pl.all())

    def summary(self) -> pl.DataFrame:
        """One row, as Table 2 averages them: track, old, new, delta_sort, tau, delta_value, ..."""
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
    """Which system is better than which: paper 1, Section 4.4.

    a is better than b if it passes two tests. The ratio of means, the larger over the smaller and
    in a's favour, is at least `ratio`: so P space and 1/P space agree, where "10 % better" of a
    search length could also mean 10 % shorter. And a two-tailed t-test on the per-query values, in
    the measure's own space, has p <= `alpha`. Both use the queries on which both systems have a
    value.

    Parameters
    ----------
    test
        ``t``, paired; the paper says Student's t-test and not whether paired: ``t-unpaired`` is the
        other reading. Or any other test of `irmeta.stats.pairs.pairwise`.

    Returns
    -------
    ndarray
        bool [system, system]: the row is better than the column. A mean above 0 is any number of
        times 0; of two means of 0 neither is better, nor where the test says nothing (one query).

    Raises
    ------
    UsageError
        If a mean is negative, for a ratio has no meaning then; if `ratio` is below 1; or what
        `pairwise` raises.

    Notes
    -----
    This is no order: a and b may each be neither better nor worse than c, and a still better than
    b; and with missing values it need not even be transitive.
    """
    if ratio < 1:
        raise UsageError(f"ratio must be 1 or more, not {ratio}.")
    significant = pairwise(matrix, test).separated(alpha)
    known = (~np.isnan(matrix.values)).astype(float)
    total, number = np.nan_to_num(matrix.values).T @ known, known.T @ known
    own = np.divide(total, number, out=np.full(total.shape, np.nan), where=number > 0)
    if (own < 0).any():
        raise UsageError(
            f"{matrix.measure} has a negative mean: 'better by a ratio' needs values of 0 or more."
        )
    if matrix.direction > 0:
        larger, smaller = own, own.T
    else:
        larger, smaller = own.T, own
    return significant & (larger > smaller) & (larger >= ratio * smaller * (1 - _ROUNDING))


def delta_sort(
    old: Matrix, new: Matrix, *, ratio: float = 1.10, alpha: float = 0.05, test: str = "t"
) -> float:
    """The largest move of a system of a track, in per cent of its systems: see `reordering`."""
    return reordering(old, new, ratio=ratio, alpha=alpha, test=test).delta_sort


def delta_value(
    old: Matrix, new: Matrix, in_p_space: Callable[[np.ndarray], np.ndarray] | None = None
) -> np.ndarray:
    """float64 [system]: new over old mean in P space, for the systems that both have.

    P space: the mean itself, or where less is better one over the mean, as the paper compares AP
    with 1/ASL. NaN where old is 0 in P space, or either has no mean, or a mean of which less is
    better is 0 and has no inverse.

    Parameters
    ----------
    in_p_space
        What takes the place of one over the mean: from float64 [system] to the same.
    """
    old, new = in_common(old, new)
    before, after = (_in_p_space(m, in_p_space or _inverse) for m in (old, new))
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
    """How far `new` in place of `old` moves the systems of one track: paper 1, Section 4.4.

    ``Delta-sort of system s = 100 |n_0 - n_1| / |S|``, n_0 and n_1 being how many systems are
    `better` than s by the old and by the new measure; the track's is the largest of its systems.
    Counted so, a move needs no sorted list, which `better` could not give: many systems are neither
    better nor worse than each other. A system can move though its rank by mean does not, and the
    reverse.

    With it Kendall's tau-b of the two orders by mean, in each measure's own direction (means that
    are equal to 12 significant digits tie), and ``Delta-value``, new over old of every system, see
    `delta_value`.

    Parameters
    ----------
    old, new
        The queries and systems that both have, by name, are used.
    ratio, alpha, test
        See `better`.
    in_p_space
        See `delta_value`.

    Raises
    ------
    UsageError
        See `better`.
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
        queries=int((_has_values(old) & _has_values(new)).sum()),
    )


def _has_values(matrix: Matrix) -> np.ndarray:
    """bool [query]: whether any system has a value."""
    return np.logical_not(np.isnan(matrix.values).all(axis=1))


def _in_p_space(matrix: Matrix, convert: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    return matrix.means if matrix.direction > 0 else convert(matrix.means)


def _inverse(means: np.ndarray) -> np.ndarray:
    return np.divide(1.0, means, out=np.full(means.shape, np.nan), where=means != 0)

"""Stability, swap rates and halves: comparisons of systems on random sets of queries.

Only queries on which every system has a value are sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from irmeta.equality import TIE, signs
from irmeta.errors import UsageError, check_whole
from irmeta.kernels.pair_statistics import add_swaps, add_wins, subset_means
from irmeta.phrases import count
from irmeta.results.averages import mean_over_queries
from irmeta.results.matrix import Matrix
from irmeta.stats.orders import kendall_tau_b, round_rows
from irmeta.stats.paired import Differences, check_alpha, check_finite, pair_moments
from irmeta.stats.resampling import checked_query_sets, draw_query_sets
from irmeta.stats.tables import as_matrix
from irmeta.summaries import Result, Summary

Ties = Literal["against", "out", "half"]
Fuzziness = Literal["absolute", "relative"]

_BATCH = 1 << 21  # means held at a time


@dataclass(frozen=True, repr=False)
class Stability(Result):
    """Wins of each system of a pair over random sets of queries.

    Attributes
    ----------
    wins
        int32 [system, system]: the trials in which the row's system was better than the column's.
    trials, size, queries
        Number of trials, of queries in each trial, and of queries in total.
    """

    track: str
    measure: str
    systems: tuple[str, ...]
    wins: np.ndarray
    trials: int
    size: int
    queries: int
    ties_count: Ties = "against"

    def _summary(self) -> Summary:
        facts = [f"{self.mean:.4g}", count(self.trials, "trial"), f"{self.size} queries each"]
        return Summary(f"{self.measure} on {self.track}", facts)

    def _table(self) -> pl.DataFrame:
        return self.summary()

    @property
    def ties(self) -> np.ndarray:
        """Number of trials in which neither was better by a margin: int32 [system, system]."""
        return self.trials - self.wins - self.wins.T

    @property
    def shares(self) -> np.ndarray:
        """Share of trials in the majority direction of a pair: float64 [system, system].

        `ties_count` says how ties count. NaN without a trial that counts.
        """
        majority = np.maximum(self.wins, self.wins.T).astype(np.float64)
        counted = np.full(majority.shape, float(self.trials))
        if self.ties_count == "out":
            counted -= self.ties
        elif self.ties_count == "half":
            majority += self.ties / 2.0
        return np.divide(majority, counted, out=np.full_like(counted, np.nan), where=counted > 0)

    @property
    def mean(self) -> float:
        """Stability of the measure: mean of the defined `shares` of all pairs; else NaN."""
        shares = self.shares[self._upper]
        known = shares[~np.isnan(shares)]
        return float(known.mean()) if len(known) else float("nan")

    @property
    def error_rate(self) -> float:
        """Minority outcomes over all outcomes, including ties; NaN without an outcome.

        Buckley and Voorhees 2000: the sum over pairs of min(A > B, A < B), over pairs x trials.
        """
        return self._rate(np.minimum(self.wins, self.wins.T))

    @property
    def tie_rate(self) -> float:
        """Ties over all outcomes (Buckley and Voorhees' proportion of ties); NaN without any."""
        return self._rate(self.ties)

    @property
    def _upper(self) -> np.ndarray:
        return np.triu(np.ones(self.wins.shape, bool), 1)

    def _rate(self, counts: np.ndarray) -> float:
        pairs = counts[self._upper]
        outcomes = len(pairs) * self.trials
        return float(pairs.sum(dtype=np.int64)) / outcomes if outcomes else float("nan")

    def frame(self) -> pl.DataFrame:
        """Return one row per pair: track, measure, system_a, system_b, better, worse, ties, share.

        better, worse: number of trials in which a was better, or worse, than b.
        """
        a, b = np.nonzero(self._upper)
        names = pl.Series(self.systems, dtype=pl.String)
        return pl.DataFrame(
            {
                "track": pl.repeat(self.track, len(a), dtype=pl.String, eager=True),
                "measure": pl.repeat(self.measure, len(a), dtype=pl.String, eager=True),
                "system_a": names.gather(a),
                "system_b": names.gather(b),
                "better": self.wins[a, b],
                "worse": self.wins[b, a],
                "ties": self.ties[a, b],
                "share": self.shares[a, b],
            }
        )

    def summary(self) -> pl.DataFrame:
        """Return one row, where stability is `mean`.

        Columns: track, measure, stability, error_rate, tie_rate, systems, queries, size, trials.
        """
        return pl.DataFrame(
            {
                "track": [self.track],
                "measure": [self.measure],
                "stability": [self.mean],
                "error_rate": [self.error_rate],
                "tie_rate": [self.tie_rate],
                "systems": [len(self.systems)],
                "queries": [self.queries],
                "size": [self.size],
                "trials": [self.trials],
            }
        )


def stability(
    matrix: Matrix | object,
    *,
    size: int | None = None,
    trials: int = 1000,
    fuzziness: float = 0.05,
    kind: Fuzziness = "absolute",
    ties: Ties = "against",
    rng: int | np.random.Generator = 0,
    subsets: np.ndarray | None = None,
    tolerance: float = 1e-12,
) -> Stability:
    """Compare all pairs of systems on random sets of queries.

    Parameters
    ----------
    matrix : Matrix or frame
        Values of one measure; a table may have the columns system, query, measure, value.
    size : int, optional
        Number of queries drawn for a trial, without replacement; default: half of the queries,
        rounded down, as in [1]_ (its code rounds 22.5 to 22 and 11.5 to 12).
    trials : int, default 1000
        Number of sets of queries.
    fuzziness, kind : float, {'absolute', 'relative'}
        Two means tie unless they differ by more than `fuzziness`: an ``absolute`` amount (0.05 in
        the code of [1]_; the paper gives none), or ``relative``, a share of the greater
        absolute mean (0.05 in [2]_).
    ties : {'against', 'out', 'half'}, default 'against'
        A trial in which a pair ties counts ``against`` its stability (code of [1]_), is left
        ``out``, or counts ``half``. `Stability.error_rate` and `tie_rate` do not depend on `ties`.
    rng : int or Generator, default 0
        Random seed.
    subsets : ndarray of int, shape (trials, queries), optional
        Indices of the queries of each trial in ``matrix.complete()``, instead of random queries.
    tolerance : float, default 1e-12
        A difference that exceeds the margin by at most this share of the greatest absolute
        value is a tie. The code of [1]_ has none: 0 reproduces its numbers to the last digit.

    Returns
    -------
    Stability
        Fewer than two queries give no trial, and NaN. One system gives no pair, and NaN. Identical
        systems always tie.

    Raises
    ------
    UsageError
        If a parameter is out of range.

    References
    ----------
    .. [1] Türkmen, Lease and Kutlu (2023). New metrics to encourage innovation and diversity.
    .. [2] Buckley and Voorhees (2000). doi:10.1145/345508.345543

    Examples
    --------
    >>> irmeta.stats.stability(ap, size=2, trials=100).wins[0].tolist()
    [0, 70, 100]
    """
    if ties not in get_args(Ties) or kind not in get_args(Fuzziness):
        raise UsageError(
            f"ties {ties!r}, kind {kind!r}: ties must be one of {', '.join(get_args(Ties))}, and "
            f"kind one of {', '.join(get_args(Fuzziness))}."
        )
    if not (fuzziness >= 0 and tolerance >= 0):
        raise UsageError(f"fuzziness {fuzziness}, tolerance {tolerance}: neither may be negative.")
    complete = _complete(as_matrix(matrix))
    if subsets is None:
        subsets = draw_query_sets(len(complete.queries), _half(complete, size), 1, trials, rng)[
            :, 0
        ]
    subsets = checked_query_sets(subsets, len(complete.queries))
    values = np.ascontiguousarray(complete.oriented, np.float64)
    slack = tolerance * np.abs(values).max(initial=0.0)
    least, share = (fuzziness, 0.0) if kind == "absolute" else (0.0, fuzziness)
    wins = np.zeros((len(complete.systems),) * 2, np.int32)
    for part in _parts(subsets, len(complete.systems)):
        add_wins(_means(values, part), float(least + slack), float(share), wins)
    return Stability(
        complete.track,
        complete.measure,
        complete.systems,
        wins,
        trials=len(subsets),
        size=subsets.shape[1],
        queries=len(complete.queries),
        ties_count=ties,
    )


def swap_rates(
    matrix: Matrix,
    *,
    size: int | None = None,
    trials: int = 1000,
    width: float = 0.01,
    bins: int = 21,
    rng: int | np.random.Generator = 0,
    halves: np.ndarray | None = None,
    tolerance: float = 1e-12,
) -> pl.DataFrame:
    """Compute the rate at which two disjoint sets of queries rank two systems differently.

    The absolute difference of means of a pair on the first set gives its bin; the pair is swapped
    if the difference on the second set has the other sign. A difference of 0 has no sign.

    Parameters
    ----------
    matrix, trials, rng
        See `stability`.
    size : int, optional
        Number of queries in each set; default: half of the queries, rounded down.
    width, bins : float, int
        Width and number of the bins of absolute differences: as published 0 to 0.01, ..., 0.20 and
        more.
    halves : ndarray of int, shape (trials, 2, queries), optional
        Indices of the queries of both sets in ``matrix.complete()``, instead of random queries.
    tolerance : float, default 1e-12
        Differences of at most this share of the greatest absolute value are 0, and a difference
        that is below a bin by at most this share is in the bin.

    Returns
    -------
    DataFrame
        track, measure, low, high (infinite for the last), comparisons, swaps, rate (NaN without a
        comparison), queries: one row per bin.

    Raises
    ------
    UsageError
        If a parameter is out of range, or the two sets of a trial share a query.

    References
    ----------
    .. [1] Voorhees and Buckley (2002). doi:10.1145/564376.564432

    Examples
    --------
    >>> irmeta.stats.swap_rates(rr, trials=100, width=0.25, bins=3)["swaps"].to_list()
    [0, 36, 36]
    """
    check_whole("bins", bins)
    if not (width > 0 and tolerance >= 0):
        raise UsageError(
            f"width {width}, tolerance {tolerance}: width must be above 0, tolerance 0 or more."
        )
    complete = _complete(matrix)
    number = len(complete.queries)
    if halves is None:
        half = _half(complete, size)
        if 2 * half > number:
            raise UsageError(f"two sets of {half} queries cannot be drawn from {number}.")
        halves = draw_query_sets(number, half, 2, trials, rng)
    if halves.ndim != 3 or halves.shape[1] != 2:
        raise UsageError(f"halves of shape {halves.shape} are not [trial, 2, query].")
    pairs = checked_query_sets(halves.reshape(len(halves), 2 * halves.shape[2]), number)
    half = pairs.shape[1] // 2
    values = np.ascontiguousarray(complete.values, np.float64)
    slack = float(tolerance * np.abs(values).max(initial=0.0))
    comparisons, swaps = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    for part in _parts(pairs, len(complete.systems)):
        means = [_means(values, np.ascontiguousarray(p)) for p in (part[:, :half], part[:, half:])]
        add_swaps(means[0], means[1], float(width), slack, comparisons, swaps)
    edges = np.arange(bins + 1) * width
    edges[-1] = np.inf
    rate = np.full(bins, np.nan)
    np.divide(swaps, comparisons, out=rate, where=comparisons > 0)
    return pl.DataFrame(
        {
            "track": pl.repeat(complete.track, bins, dtype=pl.String, eager=True),
            "measure": pl.repeat(complete.measure, bins, dtype=pl.String, eager=True),
            "low": edges[:-1],
            "high": edges[1:],
            "comparisons": comparisons,
            "swaps": swaps,
            "rate": rate,
            "queries": pl.repeat(number, bins, dtype=pl.Int32, eager=True),
        }
    )


def _complete(matrix: Matrix) -> Matrix:
    complete = matrix.complete()
    if not np.isfinite(complete.values).all():
        raise UsageError("infinite values have no mean by which systems could be compared.")
    return complete


def _half(matrix: Matrix, size: int | None) -> int:
    number = len(matrix.queries)
    if size is None:
        return number // 2
    if check_whole("size", size) > number:
        raise UsageError(f"sets of {size} queries cannot be drawn from {number}.")
    return int(size)


def _parts(subsets: np.ndarray, systems: int) -> list[np.ndarray]:
    size = max(1, _BATCH // max(1, systems))
    return [subsets[i : i + size] for i in range(0, len(subsets), size)]


def _means(values: np.ndarray, subsets: np.ndarray) -> np.ndarray:
    """Compute the mean of each system in each trial: float64 [system, trial]."""
    out = np.empty((len(subsets), values.shape[1]))
    subset_means(values, subsets, out)
    return np.ascontiguousarray(out.T)


_VALUES = 2**20  # values of halves, or pairs, held at once
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
    pairs = np.triu_indices(len(complete.systems), 1)
    step = max(1, _VALUES // max(1, half * len(complete.systems), len(pairs[0])))
    parts = [
        _compare_halves(complete.oriented, halves[start : start + step], pairs, alpha)
        for start in range(0, max(1, len(halves)), step)
    ]
    counted = ("tau", "separated", "swapped")
    columns = {
        name: np.concatenate(part)
        for name, part in zip(counted, zip(*parts, strict=True), strict=True)
    }
    number = pl.Series("split", np.arange(len(halves)), pl.Int32)
    return pl.DataFrame([number]).with_columns(**{n: pl.Series(v) for n, v in columns.items()})


def _compare_halves(
    values: np.ndarray, halves: np.ndarray, pairs: tuple[np.ndarray, np.ndarray], alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return tau-b of each split, its separated pairs, and those that the second half swaps.

    `halves`: int64 [split, 2, query]. All splits are tested at once, since tens of calls for each
    of some hundred splits took a quarter of a study of small tracks.
    """
    first_means, second_means = (mean_over_queries(values[halves[:, side]]) for side in (0, 1))
    taus = kendall_tau_b(round_rows(first_means), round_rows(second_means), True)
    mean, deviation = np.empty((2, len(halves), len(pairs[0])))
    for split, queries in enumerate(halves[:, 0]):
        moments = pair_moments(values[queries], pairs)
        mean[split], deviation[split] = moments.mean, moments.deviation
    number = np.full(mean.size, halves.shape[2], np.int32)
    is_separated = Differences(mean.ravel(), deviation.ravel(), number).separated_each(alpha)
    is_separated = is_separated.reshape(mean.shape) & (np.abs(mean) > TIE)
    split, pair = np.nonzero(is_separated)
    a, b = (systems[pair] for systems in pairs)
    second = second_means[split, a] - second_means[split, b]
    greatest = np.abs(values)[halves[:, 1]].max(axis=(1, 2), initial=0.0)
    for near in np.unique(split[np.abs(second) <= _NEAR_TIE * greatest[split]]):
        at = split == near
        second[at] = pair_moments(values[halves[near, 1]], (a[at], b[at])).mean
    is_contrary = np.sign(mean[is_separated]) * signs(second) < 0
    swapped = np.bincount(split[is_contrary], minlength=len(halves))
    return taus, is_separated.sum(axis=1), swapped

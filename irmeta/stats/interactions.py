"""Interaction of systems and classes of queries: whether a difference depends on the class.

Three questions on the differences of two systems by query, each with its own test: does the mean
difference vary over the classes (`interaction_test`), does its sign (`reversal_p`), and in which
classes is it not 0, over all classes and pairs together (`max_t_over_classes`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import comb, gammaincc, ndtri, stdtr

from irmeta.equality import TIE
from irmeta.errors import check_whole
from irmeta.schema.result_tables import INTERACTIONS, SEGMENT_TESTS
from irmeta.stats.corrections import adjusted
from irmeta.stats.pairs import COMPLETE_TESTS, Pairs

LEAST_QUERIES = 2
"""Fewest queries of a class with a variance."""
_CHUNK = 1 << 22  # numbers held at once
Segmented = Mapping[str, Collection[str]]
"""Queries of each segment."""


class ClassMoments(NamedTuple):
    """Queries, means and variances of differences: each float64 [class, pair]."""

    queries: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


class Interaction(NamedTuple):
    """Statistics and p-values of `interaction_test`: float64 [pair]."""

    statistic: np.ndarray
    p: np.ndarray


def interaction_test(
    differences: np.ndarray,
    classes: np.ndarray,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> Interaction:
    """Test whether the mean difference of two systems is the same in all classes of queries.

    A permutation test of Welch's statistic: with n, m and s^2 the number, mean and variance of the
    differences of a class, and w = n / s^2, the statistic is the sum over classes of w (m - M)^2,
    M the mean of the m weighted by w. The classes of the queries are permuted. Since the statistic
    is studentised, the level holds for many queries also where classes differ in size and variance
    [1]_; with the difference of means itself, 80 and 20 queries of standard deviations .1 and .3
    reject a true hypothesis in 24 % of cases instead of 5 %. A class of 5 beside 45
    queries still rejects 6.8 % (benchmarks/levels.py).

    Parameters
    ----------
    differences : ndarray of float64, shape (queries, pairs)
        Differences of two systems, without NaN.
    classes : ndarray of int, shape (queries,)
        Class of each query, from 0; each has at least 2 queries.
    resamples : int, default 10,000
        Number of permutations, the same for all pairs.
    rng : int or Generator, default 0
        Random seed.

    Returns
    -------
    Interaction
        statistic, and p: the share of permutations, the classes as they are among them, with at
        least this statistic. NaN for fewer than two classes, or a class without spread. A
        permutation that leaves a class without spread counts as one with a greater statistic, so
        that p is then too great rather than too small.

    References
    ----------
    .. [1] Chung, E. and Romano, J. P. (2013). Exact and asymptotically robust permutation tests.
       doi:10.1214/13-AOS1090

    Examples
    --------
    >>> differences = np.array([[0.3], [0.2], [0.4], [0.3], [-0.1], [-0.2], [-0.1], [0.0]])
    >>> found = irmeta.stats.interaction_test(differences, np.repeat([0, 1], 4), rng=1)
    >>> found.statistic.round(3).tolist(), bool(found.p[0] < 0.05)
    ([48.0], True)
    """
    check_whole("resamples", resamples)
    generator = np.random.default_rng(rng)
    number = int(classes.max(initial=-1)) + 1
    pairs = differences.shape[1]
    if number < 2:
        return Interaction(*np.full((2, pairs), np.nan))
    members = np.arange(number)[:, None] == classes
    # The statistic is the same after a shift; sums of squares cancel less around the mean.
    centred = differences - differences.mean(axis=0)
    observed = _welch(_sums(members[None], centred))[0]
    bar = observed * (1 - TIE)
    count = np.zeros(pairs, np.int64)
    step = max(1, _CHUNK // (number * max(pairs, len(classes))))
    for start in range(0, resamples, step):
        drawn = np.tile(classes, (min(step, resamples - start), 1))
        generator.permuted(drawn, axis=1, out=drawn)
        permuted = _welch(_sums(np.arange(number)[None, :, None] == drawn[:, None], centred))
        count += (~(permuted < bar)).sum(axis=0)  # NaN: no spread, counted as greater
    p = (1 + count) / (1 + resamples)
    p[np.isnan(observed)] = np.nan
    return Interaction(observed, p)


def _sums(members: np.ndarray, differences: np.ndarray) -> ClassMoments:
    """Return the moments of the classes of each draw, from bool [draw, class, query]."""
    weights = members.astype(np.float64)
    queries = weights.sum(axis=2)[:, :, None]
    flat = weights.reshape(-1, weights.shape[2])
    shape = (*members.shape[:2], differences.shape[1])
    mean = (flat @ differences).reshape(shape) / queries
    squares = (flat @ differences**2).reshape(shape)
    variance = np.maximum(squares - queries * mean**2, 0) / np.maximum(queries - 1, 1)
    # A variance of rounding errors is none.
    scale = squares / queries
    return ClassMoments(queries, mean, np.where(variance > TIE**2 * scale, variance, 0))


def _welch(moments: ClassMoments) -> np.ndarray:
    """Return Welch's statistic over the axis of classes; NaN where a class has no spread."""
    queries, mean, variance = moments
    weight = np.divide(queries, variance, out=np.full(mean.shape, np.nan), where=variance > 0)
    centre = (weight * mean).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
    return (weight * (mean - centre) ** 2).sum(axis=1)


def class_moments(differences: np.ndarray, members: np.ndarray) -> ClassMoments:
    """Return queries, means and variances of classes, given as bool [class, query]."""
    centre = differences.mean(axis=0)
    queries, mean, variance = (part[0] for part in _sums(members[None], differences - centre))
    return ClassMoments(queries, mean + centre, variance)


def reversal_p(moments: ClassMoments) -> np.ndarray:
    """Test whether one system is better in some classes and worse in others: float64 [pair].

    The likelihood-ratio test of a qualitative interaction (Gail and Simon 1985,
    doi:10.2307/2530862): with z the standardised mean of a class, the statistic is the lesser of
    the sums of z^2 over the classes of either sign, and p is the sum over k = 1 ... G - 1 of
    P(Binomial(G - 1, 1/2) = k) P(chi^2_k > statistic). So both directions must be significant. The
    paper takes z = mean / standard error as normal; here Student's t of each class is converted to
    the z of the same p, since classes are small. Of two classes, p is the greater of the two
    one-sided p-values of Student's t. NaN for fewer than two classes, or one without spread.
    """
    queries, mean, _ = moments
    number = len(mean)
    if number < 2:
        return np.full(mean.shape[1], np.nan)
    ratio = _t(moments)
    tail = stdtr(np.broadcast_to(queries - 1, mean.shape), -np.abs(ratio))
    squares = np.minimum(ndtri(tail) ** 2, np.finfo(float).max)
    statistic = np.minimum(
        np.where(mean > 0, squares, 0).sum(axis=0), np.where(mean < 0, squares, 0).sum(axis=0)
    )
    steps = np.arange(1, number)
    weights = comb(number - 1, steps) / 2.0 ** (number - 1)
    p = weights @ gammaincc(steps[:, None] / 2, statistic / 2)
    p[statistic == 0] = 1.0  # no reversal in the sample
    p[np.isnan(ratio).any(axis=0)] = np.nan
    return p


def _t(moments: ClassMoments) -> np.ndarray:
    """Return Student's t of each class [class, pair]; NaN without spread."""
    queries, mean, variance = moments
    error = np.sqrt(variance / queries)
    return np.divide(mean, error, out=np.full(mean.shape, np.nan), where=error > 0)


def max_t_over_classes(
    differences: np.ndarray,
    members: np.ndarray,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> np.ndarray:
    """Compute p of the mean difference in each class, corrected over classes and pairs at once.

    `differences` are float64 [query, pair] without NaN, `members` bool [class, query] of classes
    that may overlap. As `irmeta.stats.max_t_test` (Westfall and Young 1993, Section 2.6): under the
    null hypothesis all differences of a query may change their sign together, and p, float64
    [class, pair], is the share of sign flips, the sample among them, whose greatest |t| over all
    classes and pairs is at least that of the class and pair. NaN where a class has no spread.
    """
    check_whole("resamples", resamples)
    generator = np.random.default_rng(rng)
    weights = members.astype(np.float64)
    queries = weights.sum(axis=1)[:, None]
    # The sum of squares of a class is the same for every flip, so |t| grows with |sum| / sqrt(it).
    norm = np.sqrt(weights @ differences**2)
    usable = ~np.isnan(_t(class_moments(differences, members)))
    scale = np.divide(1, norm, out=np.zeros(norm.shape), where=usable)
    degrees = np.broadcast_to(np.maximum(queries - 1, 1), norm.shape)

    def t_of(sums: np.ndarray) -> np.ndarray:
        share = np.minimum((sums * scale) ** 2 / queries, 1)
        with np.errstate(divide="ignore"):
            return np.sqrt(degrees * share / (1 - share))

    observed = t_of(weights @ differences)
    count = np.zeros(norm.shape, np.int64)
    step = max(1, _CHUNK // max(norm.size, differences.size))
    for start in range(0, resamples, step):
        signs = generator.choice([-1.0, 1.0], (min(step, resamples - start), len(differences)))
        flipped = (signs[:, None] * weights).reshape(-1, len(differences)) @ differences
        greatest = t_of(flipped.reshape(-1, *norm.shape)).max(axis=(1, 2))
        greatest.sort()
        count += len(greatest) - np.searchsorted(greatest, observed * (1 - TIE))
    p = (1 + count) / (1 + resamples)
    p[~usable] = np.nan
    return p


class SegmentTables(NamedTuple):
    """The frames `interactions`, a row per pair, and `segment_tests`, one per segment of a pair."""

    interactions: pl.DataFrame
    segment_tests: pl.DataFrame


@dataclass(frozen=True)
class PairsByClass:
    """Differences of the pairs of a comparison on the queries that all its systems share.

    `differences` are float64 [query, pair], the first system minus the second; `members` bool
    [class, query] of the `classes` with at least 2 queries.
    """

    differences: np.ndarray
    members: np.ndarray
    classes: list[str]

    @classmethod
    def of(
        cls, values: np.ndarray, queries: Sequence[str], segments: Segmented, pairs: Pairs
    ) -> PairsByClass:
        """Select the queries of `values` [query, system] that are in a segment, without NaN."""
        first, second = np.nonzero(pairs.upper)
        members = np.array([[query in named for query in queries] for named in segments.values()])
        members = members.reshape(len(segments), len(queries))
        used = members.any(axis=0) & ~np.isnan(values).any(axis=1)
        values, members = values[used], members[:, used]
        is_large = members.sum(axis=1) >= LEAST_QUERIES
        usable = [name for name, large in zip(segments, is_large, strict=True) if large]
        return cls(values[:, first] - values[:, second], members[is_large], usable)

    @property
    def problem(self) -> str:
        """Why no interaction can be tested; empty: it can be."""
        if len(self.classes) < 2:
            return "fewer than two segments have two queries on which all systems have a value"
        if (self.members.sum(axis=0) > 1).any():
            return "a query is in several segments"
        if not self.members.any(axis=0).all():  # queries of segments that are too small
            return "a segment has fewer than two queries on which all systems have a value"
        return ""


def segment_tables(
    values: np.ndarray,
    queries: Sequence[str],
    segments: Segmented,
    pairs: Pairs,
    alpha: float,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> SegmentTables:
    """Test how the differences of the `pairs` of a comparison depend on segments of the queries.

    All pairs are tested on the same queries: those of a segment on which every system has a value,
    of `values` [query, system]. Tests pair by query, whatever the test of the comparison.
    Correction is that of the comparison, or Holm's where its test is of all systems at once.
    """
    by_class = PairsByClass.of(values, queries, segments, pairs)
    differences, members, classes = by_class.differences, by_class.members, by_class.classes
    number = differences.shape[1]
    moments = ClassMoments(*np.zeros((3, 0, number)))
    p_max_t = np.zeros((len(classes), number))
    statistic, p, reversal = np.full((3, number), np.nan)
    if classes:
        moments = class_moments(differences, members)
    if p_max_t.size:
        p_max_t = max_t_over_classes(differences, members, resamples, rng)
    if not by_class.problem:
        statistic, p = interaction_test(differences, members.argmax(axis=0), resamples, rng)
        reversal = reversal_p(moments)
    correction = "holm" if pairs.test in COMPLETE_TESTS else pairs.correction
    p_adjusted, reversal_adjusted = adjusted(p, correction), adjusted(reversal, correction)
    systems = np.array(pairs.systems)
    named = [
        (pairs.track, pairs.qrels, pairs.measure, pairs.baseline, *pair)
        for pair in zip(*(systems[of].tolist() for of in np.nonzero(pairs.upper)), strict=True)
    ]
    verdicts = (
        _verdict(classes, moments.mean[:, i] * pairs.direction, p_adjusted[i], reversal_adjusted[i],
                 alpha, by_class.problem or "no spread in a segment")
        for i in range(number)
    )  # fmt: skip
    sizes = [(len(classes), len(differences))] * number
    tested = zip(statistic.tolist(), p.tolist(), p_adjusted.tolist(), reversal_adjusted.tolist(),
                 verdicts, strict=True)  # fmt: skip
    rows = [(*key, *size, *test) for key, size, test in zip(named, sizes, tested, strict=True)]
    counts = np.broadcast_to(moments.queries, moments.mean.shape)
    p_alone = 2 * stdtr(counts - 1, -np.abs(_t(moments)))
    error = np.sqrt(moments.variance / counts)
    columns = (counts.astype(int), moments.mean, error, p_alone, p_max_t)
    by_segment = [
        (*key, name, *(column[c, i].item() for column in columns))
        for i, key in enumerate(named)
        for c, name in enumerate(classes)
    ]
    return SegmentTables(INTERACTIONS.frame(rows), SEGMENT_TESTS.frame(by_segment))


def _verdict(
    names: Sequence[str], gains: np.ndarray, p: float, p_reversal: float, alpha: float, problem: str
) -> str:
    """Return the conclusion on a pair; `gains` are mean gains of the first system by class."""
    if math.isnan(p):
        return f"cannot be tested: {problem}"
    best, least = names[int(gains.argmax())], names[int(gains.argmin())]
    if p_reversal <= alpha:
        return f"reversal: better in {best}, worse in {least}"
    differs = "depends on the segment" if p <= alpha else "no dependence on the segment shown"
    if gains.max() > 0 > gains.min():
        return f"{differs}; orders differ, not shown"
    return differs

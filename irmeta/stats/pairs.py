"""Significance tests of all pairs of systems: `pairwise`, and its result `Pairs`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from irmeta.equality import TIE, Units, tolerance
from irmeta.errors import UsageError, check_share, check_whole, did_you_mean
from irmeta.phrases import count
from irmeta.policies import Alternative
from irmeta.results.matrix import Matrix
from irmeta.stats.baselines import cross, max_t_test, one_sided_limits, one_sided_p, side_of
from irmeta.stats.corrections import SIMULTANEOUS, adjusted, interval_confidence, joint_tests
from irmeta.stats.paired import (
    CLUSTERED_TESTS,
    WEIGHTED_TESTS,
    Differences,
    check_alpha,
    check_finite,
    linearised,
    paired_differences,
    sign_test,
    unpaired_differences,
    weighted_differences,
    wilcoxon_test,
)
from irmeta.stats.permutation_bootstrap import (
    bootstrap,
    check_percentiles,
    critical_value,
    defined_tests,
    permutation_p,
)
from irmeta.summaries import Result, Rows, Summary

PLAIN_TESTS = ("t", "t-unpaired", "wilcoxon", "sign", "permutation", "bootstrap")
"""Tests of two systems at a time."""
FAMILY_TESTS = ("hsd", "hsd-blocked", "hsd-randomised", "bootstrap-max-t")
"""Tests that control the family-wise error rate over all pairs and need no correction."""
BASELINE_TESTS = ("max-t",)
"""Tests of all systems against a baseline, which need no correction either."""
TESTS = PLAIN_TESTS + FAMILY_TESTS
"""Tests of all pairs."""
COMPLETE_TESTS = FAMILY_TESTS + BASELINE_TESTS
"""Tests on the queries where every system has a value."""
TEST_NAMES = {
    "t": "paired t-test",
    "t-unpaired": "unpaired t-test with pooled variance",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "permutation": "paired permutation test",
    "bootstrap": "paired bootstrap test",
    "hsd": "Tukey HSD test",
    "hsd-blocked": "Tukey HSD test blocked by query",
    "hsd-randomised": "randomised Tukey HSD test",
    "bootstrap-max-t": "bootstrap test of the greatest studentised difference",
    "max-t": "permutation test of the greatest t (Dunnett's family)",
}
"""Tests in words, as captions name them."""
CORRECTION_NAMES = {
    "holm": "Holm-corrected",
    "bonferroni": "Bonferroni-corrected",
    "benjamini-hochberg": "Benjamini-Hochberg-corrected (false discovery rate)",
}
POOLED_TESTS = ("t-unpaired", "hsd")
"""Tests that ignore the queries, whose effect is in pooled standard deviations."""
UNTESTED = ("no shared query", "one query", "no spread", "no spread in some resample")
"""Why a pair has no p-value: by its number of queries, and the last by its spread."""
Interval = Literal["simultaneous", "uncorrected"]
OF_BOLD = "; bold: none is better by the test"
"""What the bold rows of `printed_systems` are."""
_TestResult = tuple[np.ndarray, np.ndarray | None, np.ndarray | None, np.ndarray | None]
"""p-values, low, high and lead of `Pairs`."""


@dataclass(frozen=True, repr=False)
class Pairs(Result):
    """Result of a significance test of all pairs of systems of a matrix.

    Attributes
    ----------
    direction
        Direction of the measure: 1 greater is better, -1 less is better.
    difference
        float64 [system, system]: the row's mean minus the column's in the measure's units, over
        the queries used; NaN without a query.
    p_adjusted
        float64 [system, system]: p-values after the correction (without one, those of
        `p_uncorrected`), two-sided but for a one-sided `alternative`; symmetric with diagonal 1;
        NaN where the pair cannot be tested: see `untested`.
    p_uncorrected
        float64 [system, system]: p-values of each pair alone; NaN for a test of all systems at
        once, whose p-values are adjusted for all pairs (``max-t``: for all with the baseline).
    queries
        int32 [system, system]: number of queries that the pair used.
    effect
        float64 [system, system]: the difference in standard deviations. Cohen's d_z, over the
        standard deviation of the per-query differences, for tests that pair or block by query;
        Cohen's d, over the pooled standard deviation of the two systems, for t-unpaired and hsd.
        Infinite where a nonzero difference has deviation 0, NaN for fewer than two queries.
    low, high
        float64 [system, system]: the interval of the difference at confidence level `confidence`;
        None for a test without intervals. See `interval`.
    lead
        int8 [system, system], for sign and wilcoxon: 1 where the test favours the row, -1 where the
        column, whichever mean is greater; for one-sided tests the side that is tested; None: the
        test favours the greater mean.
    baseline
        The system that every other was compared with: p-values are NaN for all other pairs. None:
        all pairs were tested.
    beside
        Other baselines, tested apart, whose pairs the correction counts too.
    family
        Number of pairs with a p-value that the correction, or a test of all systems, counts.
    qrels
        Name of the qrels set, where several are compared; else empty.
    segment, by_segment
        The segment of the queries (None: all), and whether segments are tested beside all queries.
    weighted
        Whether the queries have weights: `difference` is of weighted means.
    clusters
        What was resampled in place of queries, and `queries` and `effect` are of; empty: queries.
    tolerance
        Largest difference of two values that the test counts as 0: see `irmeta.equality`. The
        greatest of all systems, where these have their own.
    alternative
        What was tested against the baseline: ``two-sided``, or whether a system's values are
        ``greater`` or ``less``.
    """

    test: str
    correction: str
    track: str
    measure: str
    direction: int
    systems: tuple[str, ...]
    difference: np.ndarray
    p_adjusted: np.ndarray
    p_uncorrected: np.ndarray
    queries: np.ndarray
    effect: np.ndarray
    confidence: float = 0.95
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    lead: np.ndarray | None = None
    baseline: str | None = None
    qrels: str = ""
    tolerance: float = TIE
    alternative: Alternative = "two-sided"
    beside: tuple[str, ...] = ()
    family: int = 0
    segment: str | None = None
    by_segment: bool = False
    weighted: bool = False
    clusters: str = ""

    def _summary(self) -> Summary:
        facts = [count(int(self.upper.sum()), "pair"), self.test_text]
        return Summary(self.subject, facts)

    @property
    def subject(self) -> str:
        """The measure, qrels set and segment of several, and the track: ``AP on news``."""
        return f"{self.label} on {self.track}" if self.track else self.label

    @property
    def label(self) -> str:
        """The measure and, where there are several, qrels set and segment: ``AP (human)``."""
        segment = "" if self.segment is None else f"segment {self.segment}"
        parts = ", ".join(filter(None, [self.qrels, segment]))
        return f"{self.measure} ({parts})" if parts else self.measure

    @property
    def test_text(self) -> str:
        """The test and the correction."""
        side = "" if self.shown is None else f" one-sided ({self.alternative})"
        unit = " of clusters" if self.clusters else ""
        name = f"{'weighted ' if self.weighted else ''}{self.test}{side}{unit}"
        return name if self.correction == "none" else f"{name}, {self.correction}"

    @property
    def test_name(self) -> str:
        """The test in words: ``paired t-test``, ``one-sided sign test (greater)``."""
        unit = " of clusters" if self.clusters else ""
        name = f"{'weighted ' if self.weighted else ''}{TEST_NAMES[self.test]}{unit}"
        return name if self.shown is None else f"one-sided {name} ({self.alternative})"

    @property
    def effect_text(self) -> str:
        """What `effect` is, in words."""
        if self.test in POOLED_TESTS:
            return "Cohen's d of the two systems (difference / pooled standard deviation)"
        moments = "weighted mean / weighted" if self.weighted else "mean /"
        return f"Cohen's d of the paired differences ({moments} standard deviation)"

    @property
    def shown(self) -> Literal["better", "worse"] | None:
        """What a one-sided test can show of a system, by the measure's direction; None: both."""
        if self.alternative == "two-sided":
            return None
        return "better" if (self.alternative == "greater") == (self.direction > 0) else "worse"

    @property
    def family_text(self) -> str:
        """Return the pairs that a correction counts, where it shows only some of them."""
        if self.baseline is None or self.test not in FAMILY_TESTS:
            counted = f"corrected for the pairs with {count(len(self.beside) + 1, 'baseline')}"
            return counted if self.beside and self.correction != "none" else ""
        return "corrected for all pairs of systems; max-t (Dunnett's family) is more powerful"

    @property
    def interval(self) -> Interval | None:
        """Kind of the intervals; None for a test without intervals.

        ``simultaneous``: they hold for all tested pairs at once, at level `confidence` (correction
        bonferroni, max-t, bootstrap-max-t and the hsd tests). ``uncorrected``: each holds for its
        pair alone.
        """
        if self.low is None:
            return None
        is_joint = self.test in COMPLETE_TESTS or self.correction in SIMULTANEOUS
        return "simultaneous" if is_joint else "uncorrected"

    def separated_text(self, alpha: float) -> str:
        """Return how many pairs of how many differ significantly."""
        different, possible = int(self.separated(alpha)[self.upper].sum()), int(self.upper.sum())
        if not possible:
            return "no pair of systems to test"
        if np.isnan(self.p_adjusted[self.upper]).all():
            return self.untested_text
        share = f" ({100 * different / possible:.1f}%)"
        things = "pair" if self.shown is None else "system"
        pairs = f"{different:,} of {count(possible, things)}{share}"
        result = "differ significantly" if self.shown is None else f"significantly {self.shown}"
        text = f"{pairs} {result} at {alpha:g}"
        return "; ".join(filter(None, [text, self.untested_text]))

    @property
    def untested_text(self) -> str:
        """How many pairs cannot be tested, and why; empty if all were tested."""
        reasons = self.untested[self.upper].tolist()
        return "; ".join(
            f"{count(reasons.count(reason), 'pair')} cannot be tested: {reason}"
            for reason in UNTESTED
            if reason in reasons
        )

    @property
    def untested(self) -> np.ndarray:
        """Why pairs have no p-value: texts [system, system], empty for a pair that was tested.

        One of `UNTESTED`: the pair shares no query or one, or its differences do not vary, or not
        in some resample of ``bootstrap-max-t``.
        """
        place = np.minimum(self.queries, 2) + ((self.queries > 1) & np.isfinite(self.effect))
        return np.where(np.isnan(self.p_adjusted) & self.upper, np.array(UNTESTED)[place], "")

    @property
    def upper(self) -> np.ndarray:
        """Mask of the tested pairs, each once: bool [system, system].

        The earlier system is the row; with a baseline, the baseline is the column.
        """
        return _tested_pairs(self.systems, self.baseline)

    def names(self) -> dict[str, str | None]:
        """Return the track, the measure, and of several sets, segments and baselines this one's."""
        sets: dict[str, str | None] = {"qrels": self.qrels} if self.qrels else {}
        sets |= {"segment": self.segment} if self.by_segment else {}
        against = {"baseline": self.baseline} if self.baseline and self.beside else {}
        return {"track": self.track, **sets, "measure": self.measure, **against}

    def better(self, alpha: float = 0.05) -> np.ndarray:
        """Return whether the row is significantly better than the column: bool [system, system]."""
        lead = np.sign(self.difference) if self.lead is None else self.lead
        return self.separated(alpha) & (lead * self.direction > 0)

    def separated(self, alpha: float = 0.05) -> np.ndarray:
        """Return whether `p_adjusted` <= `alpha`: bool [system, system], False for NaN and itself.

        Raises
        ------
        UsageError
            If `alpha` is not above 0 and at most 1 (1: every pair with a defined p).
        """
        check_alpha(alpha)
        is_separated = self.p_adjusted <= alpha
        np.fill_diagonal(is_separated, False)
        return is_separated

    def frame(self) -> pl.DataFrame:
        """Return one row per tested pair, in the order of the systems.

        Columns: track, measure, system_a, system_b, difference (a minus b), effect, low, high,
        interval (see `interval`), p_uncorrected, p_adjusted, queries; low and high are NaN for a
        test without intervals, p_uncorrected for a test of all systems at once.
        Where several qrels sets are compared, qrels follows track, and segment (null: all queries)
        where there are segments; of several baselines, baseline follows measure; of one-sided
        tests, alternative follows interval.
        """
        upper = self.upper
        names = pl.Series(self.systems, dtype=pl.String)
        number = int(upper.sum())
        undefined = pl.Series([np.nan], dtype=pl.Float64).new_from_index(0, number)
        columns = {
            name: pl.Series([text], dtype=pl.String).new_from_index(0, number)
            for name, text in self.names().items()
        }
        for column, indices in zip(("system_a", "system_b"), np.nonzero(upper), strict=True):
            columns[column] = names.gather(indices) if number else names.clear()
        columns["difference"] = pl.Series(self.difference[upper])
        columns["effect"] = pl.Series(self.effect[upper])
        columns["low"] = undefined if self.low is None else pl.Series(self.low[upper])
        columns["high"] = undefined if self.high is None else pl.Series(self.high[upper])
        kind = pl.Series([self.interval], dtype=pl.String)
        columns["interval"] = kind.new_from_index(0, number)
        if self.shown is not None:
            side = pl.Series([self.alternative], dtype=pl.String)
            columns["alternative"] = side.new_from_index(0, number)
        columns["p_uncorrected"] = pl.Series(self.p_uncorrected[upper])
        columns["p_adjusted"] = pl.Series(self.p_adjusted[upper])
        columns["queries"] = pl.Series(self.queries[upper])
        return pl.DataFrame(columns)


def pairwise(
    matrix: Matrix,
    test: str = "t",
    *,
    correction: str = "none",
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    baseline: str | None = None,
    alternative: Alternative = "two-sided",
    clusters: str = "",
) -> Pairs:
    """Test all pairs of systems of a matrix, or all systems against a baseline.

    Parameters
    ----------
    matrix : Matrix
        Values of one measure; NaN: undefined. With `weights`, means are weighted, and so are the
        tests ``t`` (see `irmeta.stats.paired`) and ``permutation`` (signs of weight times
        difference), the only ones with a weighted form.
    test : str, default 't'
        Tests of two systems at a time, on the queries where both have a value:

        - ``t``: Student's paired t-test;
        - ``t-unpaired``: Student's t-test with pooled variance, which ignores the queries. The
          released code of the ECIR 2023 paper (study innovation) calls it HSD: Tukey's HSD of two
          systems at a time is this test, without control of the family-wise error rate;
        - ``wilcoxon``: signed ranks: see `wilcoxon_test`;
        - ``sign``: two-sided binomial, without ties: see `sign_test`;
        - ``permutation``: random or all signs of the differences: see `permutation_p`;
        - ``bootstrap``: paired, with percentile intervals; anticonservative for few queries.

        Tests of all systems at once, on the queries where every system has a value: ``hsd``
        (Tukey's, one-way), ``hsd-blocked`` (by query), ``hsd-randomised`` (values permuted within
        each query), ``bootstrap-max-t`` (bootstrap of the greatest studentised difference; with at
        least 50 queries by standard errors of the sample, converted to Student's t; with fewer by
        those of each resample, which is conservative). Test of all systems against `baseline`,
        on the same queries: ``max-t`` (sign flips, as Dunnett's): see `max_t_test`.
    correction : {'none', 'bonferroni', 'holm', 'benjamini-hochberg'}, default 'none'
        Correction over the tested pairs with a defined p: see `adjusted`; only none for a test of
        all systems at once and max-t. ``bonferroni`` of the bootstrap needs 100 queries.
    confidence : float, default 0.95
        Confidence level of the intervals, for t, t-unpaired, bootstrap, max-t and the tests of all
        systems at once: of all tested pairs together for max-t, those tests and correction
        bonferroni, else of each pair alone. Limits of a bootstrap are infinite where it has too few
        resamples; limits are NaN where p is.
    resamples : int, default 10,000
        Number of resamples, for permutation, hsd-randomised, max-t and the bootstraps.
    rng : int or Generator, default 0
        Random seed. The same seed gives the same numbers.
    baseline : str, optional
        Test only the pairs with this system; a correction counts these pairs alone. Tests of all
        systems at once remain corrected for all pairs: ``max-t`` is more powerful.
    alternative : {'two-sided', 'greater', 'less'}, default 'two-sided'
        With a baseline, for t, t-unpaired, wilcoxon, sign, permutation and max-t: test only whether
        a system's values are greater, or less, than the baseline's, as in ``scipy.stats``,
        whichever is better. The interval then has one limit, and the other is infinite.
    clusters : str, default ''
        What rows are that are means of clusters, with their numbers of queries as weights: tests
        are then of whole clusters. See ``resample_by`` of `irmeta.compare`.

    Returns
    -------
    Pairs
        p-values, differences, effect sizes and intervals. Identical systems have p = 1 and
        difference 0; a single query gives NaN, except p = 1 in tests that count signs or permute;
        so do no shared query and, in tests that need a standard deviation, equal differences (see
        `Pairs.untested`); a single system has no pairs.

    Raises
    ------
    UsageError
        For an unknown test, correction or baseline, a test of all systems with a correction,
        max-t or a one-sided alternative without a baseline, a one-sided alternative of a test that
        has none, the bootstrap with bonferroni for a pair of
        fewer than 100 queries, a confidence outside (0, 1), fewer than one resample, an infinite
        value, or weights with a test that has no weighted form.

    References
    ----------
    .. [1] Romano, J. P. and Wolf, M. (2005). Exact and approximate stepdown methods for multiple
       hypothesis testing (``bootstrap-max-t``, single step). doi:10.1198/016214504000000539

    Examples
    --------
    >>> pairs = irmeta.stats.pairwise(ap, correction="holm")
    >>> pairs.p_adjusted.round(3)[0].tolist()
    [1.0, 0.312, 0.016]
    >>> pairs.better(alpha=0.05)[0].tolist()
    [False, False, True]
    >>> against = irmeta.stats.pairwise(ap, correction="holm", baseline="b")
    >>> against.p_adjusted.round(3)[:, 1].tolist()
    [0.312, 1.0, 0.001]
    """
    _check(matrix, test, correction, confidence, resamples, clusters)
    _check_baseline(matrix, test, baseline)
    side = side_of(alternative, test, baseline)
    seen = matrix.complete() if test in COMPLETE_TESTS else matrix
    values, units, weights = seen.values, matrix.printed, seen.weights
    tested = _tested_pairs(matrix.systems, baseline)
    level = confidence
    if correction in SIMULTANEOUS:
        level = interval_confidence(confidence, correction, defined_tests(values, tested))
        check_percentiles(test, values, tested)
    # The bootstrap needs the most memory, so it runs before the differences are held.
    result: _TestResult | None = None
    if test == "bootstrap":
        joint = level > confidence
        result = (
            *bootstrap(values, resamples, rng, level, units, joint=joint, weights=weights),
            None,
        )
    if weights is not None:
        differences = weighted_differences(values, weights)
        weights = weights / weights.mean()
        if test in ("permutation", "max-t", "hsd-randomised"):  # of sums over clusters
            values, units = values * weights[:, None], units * np.sqrt(np.mean(weights**2))
        elif test == "bootstrap-max-t":
            values = linearised(seen).values
    else:
        is_pooled = test in POOLED_TESTS
        differences = unpaired_differences(values) if is_pooled else paired_differences(values)
    place = matrix.systems.index(baseline) if baseline is not None else 0
    if test in BASELINE_TESTS:
        p, margin = max_t_test(values, place, resamples, rng, confidence, units, side)
        p, margin = cross(p, place, 1.0), cross(margin, place, 0.0)
        result = p, differences.mean - margin, differences.mean + margin, None
    elif side:
        p = one_sided_p(test, values, differences, place, side, resamples, rng, units)
        is_t = test in ("t", "t-unpaired")
        # The limit of one side at a level is that of both sides at the level's double share.
        below, above = differences.limits(2 * level - 1) if is_t else (None, None)
        result = cross(p, place, 1.0), below, above, None
    elif result is None:
        result = _tested(test, values, differences, level, resamples, rng, units)
    p, low, high, lead = result
    if side:
        sides = cross(np.full(len(p), float(side)), place, 0.0)
        lead = np.nan_to_num(sides).astype(np.int8)
        lead[place] *= -1
        if low is not None and high is not None:
            low, high = one_sided_limits(low, high, place, side)
    for limit in (low, high):
        if limit is not None:
            limit[np.isnan(p)] = np.nan  # as without spread
    every = tested if test not in FAMILY_TESTS else _tested_pairs(matrix.systems, None)
    family = int((~np.isnan(p[every])).sum())
    if baseline is not None:
        p = np.where(tested | tested.T | np.eye(len(p), dtype=bool), p, np.nan)
    p_uncorrected = np.full_like(p, np.nan) if test in COMPLETE_TESTS else p.copy()
    if correction != "none":
        p[tested] = p.T[tested] = adjusted(p[tested], correction)
    return Pairs(
        test=test,
        correction=correction,
        track=matrix.track,
        measure=matrix.measure,
        direction=matrix.direction,
        systems=matrix.systems,
        difference=differences.mean,
        p_adjusted=p,
        p_uncorrected=p_uncorrected,
        queries=differences.queries,
        effect=differences.effect(),
        confidence=confidence,
        low=low,
        high=high,
        lead=lead,
        baseline=baseline,
        alternative=alternative,
        family=family,
        weighted=weights is not None and not clusters,
        clusters=clusters,
        tolerance=max(tolerance(np.nanmax(np.abs(values), initial=0.0)), *matrix.units, 0.0),
    )


def against_baselines(
    matrix: Matrix,
    baselines: Sequence[str],
    test: str = "t",
    *,
    correction: str = "none",
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    alternative: Alternative = "two-sided",
    clusters: str = "",
) -> list[Pairs]:
    """Test all systems against each of several baselines: see `pairwise`.

    A correction counts the pairs with all baselines together; a two-sided test of two baselines is
    one of them and counts once.

    Parameters
    ----------
    matrix, test, correction, confidence, resamples, rng, alternative, clusters
        See `pairwise`.
    baselines : sequence of str
        The baselines.

    Returns
    -------
    list of Pairs
        One for each baseline.

    Raises
    ------
    UsageError
        As `pairwise`; for no baseline or one named twice; of several, for ``max-t``, whose p-values
        hold for one baseline, and ``bootstrap`` with bonferroni.

    Examples
    --------
    >>> b, c = irmeta.stats.against_baselines(ap, ["b", "c"], correction="holm")
    >>> b.p_adjusted.round(3)[:, 1].tolist(), c.p_adjusted.round(3)[:, 2].tolist()
    ([0.312, 1.0, 0.001], [0.016, 0.001, 1.0])
    """
    choices: dict[str, Any] = {"resamples": resamples, "rng": rng, "alternative": alternative}
    choices["clusters"] = clusters
    if not baselines or len(set(baselines)) < len(baselines):
        raise UsageError(f"name one baseline or several, each once, not {list(baselines)!r}.")
    if len(baselines) == 1:
        choices |= {"correction": correction, "confidence": confidence}
        return [pairwise(matrix, test, baseline=baselines[0], **choices)]
    _check(matrix, test, correction, confidence, resamples, clusters)
    if test in BASELINE_TESTS or (test == "bootstrap" and correction in SIMULTANEOUS):
        name = test if test in BASELINE_TESTS else f"{test} with {correction}"
        raise UsageError(
            f"{name} holds for one baseline: use another test, such as t with holm, or name one."
        )
    for baseline in baselines:
        _check_baseline(matrix, test, baseline)
    places = [matrix.systems.index(name) for name in baselines]
    is_sided = alternative != "two-sided"
    tested = joint_tests(matrix.systems, baselines, sided=is_sided)
    level = interval_confidence(confidence, correction, defined_tests(matrix.values, tested))
    results = [
        pairwise(matrix, test, baseline=name, confidence=level, **choices) for name in baselines
    ]
    by_pair = np.full(tested.shape, np.nan)
    for place, result in zip(places, results, strict=True):
        by_pair[:, place] = result.p_adjusted[:, place]
    by_pair[tested] = adjusted(by_pair[tested], correction)
    family = int((~np.isnan(by_pair[tested])).sum())
    if not is_sided:
        by_pair = np.where(tested.T, by_pair.T, by_pair)
    return [
        replace(
            result,
            p_adjusted=cross(by_pair[:, place], place, 1.0),
            correction=correction,
            confidence=confidence,
            beside=tuple(name for name in baselines if name != result.baseline),
            family=result.family if test in FAMILY_TESTS else family,
        )
        for place, result in zip(places, results, strict=True)
    ]


def _check(
    matrix: Matrix,
    test: str,
    correction: str,
    confidence: float,
    resamples: int,
    clusters: str,
) -> None:
    known = TESTS + BASELINE_TESTS
    if test not in known:
        raise UsageError(f"unknown test {test!r}. {did_you_mean(test, known)}")
    adjusted(np.empty(0), correction)
    if test in COMPLETE_TESTS and correction != "none":
        raise UsageError(f"{test} already controls the family-wise error: use correction 'none'.")
    usable = CLUSTERED_TESTS if clusters else WEIGHTED_TESTS
    if (clusters or matrix.weights is not None) and test not in usable:
        listed = f"{', '.join(usable[:-1])} or {usable[-1]}"
        form = "clusters" if clusters else "weights"
        raise UsageError(f"{test} has no form for {form} of queries: use {listed}.")
    check_share("confidence", confidence)
    check_whole("resamples", resamples)
    check_finite(matrix)


def _check_baseline(matrix: Matrix, test: str, baseline: str | None) -> None:
    if baseline is None:
        if test in BASELINE_TESTS:
            raise UsageError(f"{test} compares all systems with a baseline: name the baseline.")
        return
    if baseline not in matrix.systems:
        of = f"track {matrix.track} has" if matrix.track else "there is"
        hint = did_you_mean(baseline, matrix.systems)
        raise UsageError(f"{of} no system {baseline!r} as a baseline. {hint}")


def default_correction(test: str) -> str:
    """Return the correction that keeps the family-wise error rate: none if the test does so."""
    return "none" if test in COMPLETE_TESTS else "holm"


def printed_systems(systems: pl.DataFrame) -> Rows:
    """Return a printed table of systems, bold where no system is significantly better."""
    bold = systems["top"].to_list() if "top" in systems.columns else ()
    return Rows(systems.drop("top", strict=False), bold=bold)


def _tested_pairs(systems: tuple[str, ...], baseline: str | None) -> np.ndarray:
    """Return the mask of the tested pairs, each once; the baseline is the column."""
    if baseline is None:
        return np.triu(np.ones((len(systems),) * 2, bool), 1)
    mask = np.zeros((len(systems),) * 2, bool)
    mask[:, systems.index(baseline)] = [system != baseline for system in systems]
    return mask


def _tested(
    test: str,
    values: np.ndarray,
    differences: Differences,
    confidence: float,
    resamples: int,
    rng: int | np.random.Generator,
    units: Units,
) -> _TestResult:
    """Run any test except the bootstrap."""
    if test in ("t", "t-unpaired"):
        return differences.p(), *differences.limits(confidence), None
    if test in ("sign", "wilcoxon"):
        p, lead = (sign_test if test == "sign" else wilcoxon_test)(values, units)
        return p, None, None, lead
    if test == "permutation":
        return permutation_p(values, resamples, rng, units), None, None, None
    from irmeta.stats import hsd  # imported late: only tests of all pairs at once need its kernels

    if test == "bootstrap-max-t":
        p, margin = hsd.max_t_pairs(values, resamples, rng, confidence)
    elif test == "hsd-randomised":
        ranges = hsd.mean_ranges(values, resamples, rng)
        p, margin = hsd.range_p(values, ranges, units), critical_value(ranges, confidence)
    else:
        design = "one-way" if test == "hsd" else "blocked"
        p, margin = hsd.tukey_hsd(values, design), hsd.tukey_margin(values, confidence, design)
    return p, differences.mean - margin, differences.mean + margin, None

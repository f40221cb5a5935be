"""`pairwise`: one test of every two systems at once, and `Pairs`, what it found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_share, check_whole, did_you_mean
from irmeta.results.matrix import Matrix
from irmeta.stats.corrections import adjusted
from irmeta.stats.paired import Differences, paired_differences, square, unpaired_differences
from irmeta.stats.permutation_bootstrap import bootstrap, permutation_p
from irmeta.stats.signed import sign_test, wilcoxon_test

PLAIN_TESTS = ("t", "t-unpaired", "wilcoxon", "sign", "permutation", "bootstrap")
"""Tests of two systems at a time."""
FAMILY_TESTS = ("hsd", "hsd-blocked", "hsd-randomised")
"""Tests that control the chance of any error over all pairs: they need no correction."""
TESTS = PLAIN_TESTS + FAMILY_TESTS
_Found = tuple[np.ndarray, np.ndarray | None, np.ndarray | None, np.ndarray | None]
"""p, low, high and lead, as `Pairs` has them."""


@dataclass(frozen=True)
class Pairs:
    """A test of every two systems of a matrix.

    Attributes
    ----------
    direction
        Of the measure: 1 greater is better, -1 less is better.
    difference
        float64 [system, system]: the row's mean less the column's in the measure's own units, over
        the queries used; NaN without any.
    p
        float64 [system, system]: two-tailed, after the correction; symmetric, the diagonal 1; NaN
        where the test says nothing.
    queries
        int32 [system, system]: how many the pair used.
    effect
        float64 [system, system]: the difference in standard deviations. Cohen's d_z, over the
        standard deviation of the per-query differences, for tests that pair or block by query;
        Cohen's d, over the pooled standard deviation of the two systems, for t-unpaired and hsd.
        Infinite where a difference has no spread, NaN for fewer than two queries.
    low, high
        float64 [system, system]: the interval of the difference at `confidence`, which no
        correction changes (that of an hsd test holds for all pairs at once); None for a test that
        has none.
    lead
        int8 [system, system], for sign and wilcoxon: 1 where the test favours the row, which need
        not be the system with the greater mean; None: it favours the greater mean.
    """

    test: str
    correction: str
    track: str
    measure: str
    direction: int
    systems: tuple[str, ...]
    difference: np.ndarray
    p: np.ndarray
    queries: np.ndarray
    effect: np.ndarray
    confidence: float = 0.95
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    lead: np.ndarray | None = None

    @property
    def upper(self) -> np.ndarray:
        """bool [system, system]: each unordered pair once, the earlier system as the row."""
        return np.triu(np.ones(self.p.shape, bool), 1)

    def better(self, alpha: float = 0.05) -> np.ndarray:
        """bool [system, system]: the test separates the two in favour of the row."""
        favours = np.sign(self.difference) if self.lead is None else self.lead
        return self.separated(alpha) & (favours * self.direction > 0)

    def separated(self, alpha: float = 0.05) -> np.ndarray:
        """bool [system, system]: p <= `alpha`; the diagonal and undefined pairs are not.

        Raises
        ------
        UsageError
            If `alpha` is not above 0 and at most 1, which separates all that have a p.
        """
        if alpha != 1:
            check_share("alpha", alpha)
        apart = self.p <= alpha
        np.fill_diagonal(apart, False)
        return apart

    def frame(self) -> pl.DataFrame:
        """A row for each unordered pair, in the order of the systems.

        Columns track, measure, system_a, system_b, difference (a less b), effect, low, high, p,
        queries; low and high are NaN where the test has no interval.
        """
        upper = self.upper
        names = pl.Series(self.systems, dtype=pl.String)
        number = int(upper.sum())
        undefined = pl.Series([np.nan], dtype=pl.Float64).new_from_index(0, number)
        columns = {
            "track": pl.Series([self.track], dtype=pl.String).new_from_index(0, number),
            "measure": pl.Series([self.measure], dtype=pl.String).new_from_index(0, number),
        }
        for column, places in zip(("system_a", "system_b"), np.nonzero(upper), strict=True):
            columns[column] = names.gather(places) if number else names.clear()
        columns["difference"] = pl.Series(self.difference[upper])
        columns["effect"] = pl.Series(self.effect[upper])
        columns["low"] = undefined if self.low is None else pl.Series(self.low[upper])
        columns["high"] = undefined if self.high is None else pl.Series(self.high[upper])
        columns["p"] = pl.Series(self.p[upper])
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
) -> Pairs:
    """Test every two systems of a matrix.

    Parameters
    ----------
    test
        Of two systems at a time, on the queries where both have a value:

        - ``t``: Student's paired t-test;
        - ``t-unpaired``: Student's t-test with pooled variance, blind to queries. The released code
          of the ECIR 2023 paper (study innovation) calls it HSD: Tukey's HSD of two systems at a
          time is this test, without control of the family-wise error;
        - ``wilcoxon``: signed ranks, as scipy.stats.wilcoxon chooses by default;
        - ``sign``: two-tailed binomial, ties left out;
        - ``permutation``: signs of the differences flipped, all ways where there are few;
        - ``bootstrap``: paired, by the shift method, with percentile intervals; it finds too much
          with a handful of queries.

        Of all systems at once, on the queries where every one has a value: ``hsd`` (Tukey's, one
        way), ``hsd-blocked`` (by query), ``hsd-randomised`` (values permuted within each query).
    correction
        none, bonferroni, holm or benjamini-hochberg over the unordered pairs with a defined p; only
        none for an hsd test.
    confidence
        Of the intervals, for t, t-unpaired, bootstrap and the hsd tests.
    resamples, rng
        For permutation, bootstrap and hsd-randomised: how many, and a seed or a generator. A seed
        gives the same numbers every time.

    Notes
    -----
    Identical systems have p = 1 and no difference; one query says nothing (NaN) except to the tests
    that count signs or permute (p = 1); no shared query gives NaN; one system has no pairs.

    Raises
    ------
    UsageError
        For an unknown test or correction, an hsd test with a correction, a confidence outside
        (0, 1), no resamples, or an infinite value.
    """
    _check(matrix, test, correction, confidence, resamples)
    values = (matrix.complete() if test in FAMILY_TESTS else matrix).values
    # The bootstrap holds most: it goes before there is anything else to hold.
    found: _Found | None = None
    if test == "bootstrap":
        found = (*bootstrap(values, resamples, rng, confidence), None)
    pool = test in ("t-unpaired", "hsd")
    differences = unpaired_differences(values) if pool else paired_differences(values)
    if found is None:
        found = _tested(test, values, differences, confidence, resamples, rng)
    p, low, high, lead = found
    if correction != "none":
        upper = differences.upper
        p = square(adjusted(p[upper], correction), upper)
    return Pairs(
        test=test,
        correction=correction,
        track=matrix.track,
        measure=matrix.measure,
        direction=matrix.direction,
        systems=matrix.systems,
        difference=differences.mean,
        p=p,
        queries=differences.queries,
        effect=differences.effect(),
        confidence=confidence,
        low=low,
        high=high,
        lead=lead,
    )


def _check(matrix: Matrix, test: str, correction: str, confidence: float, resamples: int) -> None:
    if test not in TESTS:
        raise UsageError(f"no test {test!r}. {did_you_mean(test, TESTS)}")
    adjusted(np.empty(0), correction)
    if test in FAMILY_TESTS and correction != "none":
        raise UsageError(f"{test} controls all pairs together: it takes no correction.")
    check_share("confidence", confidence)
    check_whole("resamples", resamples)
    infinite = np.argwhere(np.isinf(matrix.values))
    if len(infinite):
        query, system = infinite[0]
        raise UsageError(
            f"query {matrix.queries[query]!r} has an infinite value for {matrix.systems[system]!r}:"
            " no mean can be tested. Leave the query out, or use a bounded measure."
        )


def _tested(
    test: str,
    values: np.ndarray,
    differences: Differences,
    confidence: float,
    resamples: int,
    rng: int | np.random.Generator,
) -> _Found:
    """What any test but the bootstrap finds."""
    if test in ("t", "t-unpaired"):
        return differences.p(), *differences.limits(confidence), None
    if test in ("sign", "wilcoxon"):
        p, lead = (sign_test if test == "sign" else wilcoxon_test)(values)
        return p, None, None, lead
    if test == "permutation":
        return permutation_p(values, resamples, rng), None, None, None
    p, margin = _family(test, values, confidence, resamples, rng)
    return p, differences.mean - margin, differences.mean + margin, None


def _family(
    test: str,
    values: np.ndarray,
    confidence: float,
    resamples: int,
    rng: int | np.random.Generator,
) -> tuple[np.ndarray, float]:
    """p of an hsd test, and half the width of every pair's interval."""
    from irmeta.stats import hsd  # its kernel and tables are for these tests alone

    if test == "hsd":
        return hsd.tukey_hsd(values), hsd.tukey_margin(values, confidence)
    if test == "hsd-blocked":
        return hsd.blocked_hsd(values), hsd.blocked_margin(values, confidence)
    ranges = hsd.mean_ranges(values, resamples, rng)
    return hsd.range_p(values, ranges), hsd.range_margin(ranges, confidence)

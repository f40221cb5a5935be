"""Significance tests of preferences between all pairs of systems."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irmeta.errors import UsageError, check_choice, check_share, check_whole
from irmeta.kernels.permutation import permuted_preferences
from irmeta.results.preference import Preference, Source
from irmeta.stats.corrections import adjusted, interval_confidence
from irmeta.stats.hsd import SAME, permuted, range_margin, reached_p
from irmeta.stats.paired import ROUNDING, Differences, square
from irmeta.stats.pairs import Pairs

PREFERENCE_TESTS = ("t", "hsd-randomised")
MOST_HELD = 1 << 27
"""Largest number of preferences that ``hsd-randomised`` holds in memory: 1 GiB."""


def preference_pairs(
    preferences: Source,
    test: str = "hsd-randomised",
    *,
    correction: str = "none",
    confidence: float = 0.95,
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
    track: str = "",
    workers: int | None = None,
) -> Pairs:
    """Test the mean preference of all pairs of systems.

    Parameters
    ----------
    preferences : Preference, Matrix or Verdicts
        Preferences by query, such as `TrackPreferences.preference`; a matrix gives the differences
        of its values. A query with an undefined preference of any pair is left out.
    test : {'hsd-randomised', 't'}, default 'hsd-randomised'
        ``t``: one-sample t-test of a pair's preferences over queries. ``hsd-randomised``: under the
        null hypothesis, the systems of a query are exchangeable. Rows and columns of each query's
        preferences are permuted together; p is the share of permutations in which the greatest
        absolute mean is at least the pair's. It controls the error over all pairs.
    correction : {'none', 'bonferroni', 'holm', 'benjamini-hochberg'}, default 'none'
        Correction of ``t`` over the unordered pairs.
    confidence : float, default 0.95
        Confidence level of the intervals: of all pairs together for ``hsd-randomised`` and the
        correction ``bonferroni``, else of each pair alone.
    resamples : int, default 10,000
        Number of permutations.
    rng : int or Generator, default 0
        Random seed; the same seed gives the permutations of ``hsd-randomised`` in `pairwise`.
    track : str, default ''
        Name of the track in the result.
    workers : int, optional
        Number of threads, default the usable cores. No value depends on it.

    Returns
    -------
    Pairs
        Mean preferences as `difference`; NaN for p and intervals of ``t`` with fewer than two
        queries.

    Raises
    ------
    UsageError
        For an unknown test or correction, ``hsd-randomised`` with a correction, a confidence
        outside (0, 1), fewer than one resample, or more preferences than ``hsd-randomised`` can
        hold.

    Notes
    -----
    For differences of values the tests equal ``t`` and ``hsd-randomised`` of `pairwise`.
    ``hsd-randomised`` holds the preferences of all queries in memory (up to `MOST_HELD`), ``t`` one
    query at a time.

    References
    ----------
    .. [1] Diaz and Ferraro (2022), Section 6.3. doi:10.1145/3477495.3532033
    .. [2] Carterette (2012). doi:10.1145/2094072.2094076

    Examples
    --------
    >>> pairs = irmeta.stats.preference_pairs(ap, "t")
    >>> pairs.p.round(3)[0].tolist()
    [1.0, 0.312, 0.008]
    """
    check_choice("test", test, PREFERENCE_TESTS)
    check_share("confidence", confidence)
    check_whole("resamples", resamples)
    adjusted(np.empty(0), correction)
    if test != "t" and correction != "none":
        raise UsageError(f"{test} already controls the family-wise error: use correction 'none'.")
    preference = Preference.of(preferences)
    differences, size = _moments(preference)
    if test == "t":
        p, upper = differences.p(), differences.upper
        tests = int((~np.isnan(p[upper])).sum())
        low, high = differences.limits(interval_confidence(confidence, correction, tests))
        if correction != "none":
            p = square(adjusted(p[upper], correction), upper)
    else:
        p, margin = _randomised(preference, differences, size, resamples, rng, confidence, workers)
        low, high = differences.mean - margin, differences.mean + margin
    return Pairs(
        test=test,
        correction=correction,
        track=track,
        measure=preference.name,
        direction=1,
        systems=preference.systems,
        difference=differences.mean,
        p=p,
        queries=differences.queries,
        effect=differences.effect(),
        confidence=confidence,
        low=low,
        high=high,
    )


def _defined(preference: Preference) -> Iterator[np.ndarray]:
    """Yield the preferences of each query on which all are defined."""
    for query in range(len(preference.queries)):
        values = preference.difference(query)
        if not np.isnan(values).any():
            yield values


def _moments(preference: Preference) -> tuple[Differences, float]:
    """Compute mean and deviation of all pairs, and the mean of the greatest |preference|."""
    size = len(preference.systems)
    mean, squares, largest = np.zeros((size, size)), np.zeros((size, size)), np.zeros((size, size))
    scratch = np.empty((size, size))  # 2,000 systems fill 32 MB
    number, greatest = 0, 0.0
    for values in _defined(preference):
        number += 1
        mean += values
        np.maximum(largest, np.abs(values, out=scratch), out=largest)
        greatest += float(scratch.max(initial=0.0))
    with np.errstate(invalid="ignore"):  # NaN without a query
        mean /= number
    for values in _defined(preference):
        np.square(np.subtract(values, mean, out=scratch), out=scratch)
        squares += scratch
    if number > 1:
        squares /= number - 1
    else:
        squares[:] = np.nan
    deviation = np.sqrt(squares, out=squares)
    largest *= ROUNDING
    deviation[deviation <= largest] = 0.0
    np.fill_diagonal(deviation, 0.0)
    mean[np.abs(mean, out=scratch) <= largest] = 0.0
    np.fill_diagonal(mean, 0.0)
    queries = np.full((size, size), number, np.int32)
    return Differences(mean, deviation, queries), greatest / max(number, 1)


def _randomised(
    preference: Preference,
    differences: Differences,
    size: float,
    resamples: int,
    rng: int | np.random.Generator,
    confidence: float,
    workers: int | None,
) -> tuple[np.ndarray, float]:
    """Compute p of the randomised HSD, and half the width of every pair's interval."""
    systems = len(preference.systems)
    number = int(differences.queries.max(initial=0))
    if number == 0 or systems == 0:
        p = np.full((systems, systems), np.nan)
        np.fill_diagonal(p, 1.0)
        return p, float("nan")
    if number * systems * systems > MOST_HELD:
        gigabytes = number * systems * systems * 8 / 1e9
        raise UsageError(
            f"hsd-randomised of {systems:,} systems on {number:,} queries needs {gigabytes:.1f} GB "
            "of memory: use test 't', or fewer systems."
        )
    table = np.empty((number, systems, systems))
    for query, values in enumerate(_defined(preference)):
        table[query] = values
    found = permuted(permuted_preferences, table, resamples, rng, workers=workers)
    p = reached_p(np.abs(differences.mean) - SAME * size, found)
    return p, range_margin(found, confidence)

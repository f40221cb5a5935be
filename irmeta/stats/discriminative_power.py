"""Discriminative power: how many pairs of systems a measure finds significantly different."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl
from scipy.special import nctdtrinc, stdtrit

from irmeta.errors import UsageError, check_share, check_whole
from irmeta.results.matrix import Matrix
from irmeta.stats.corrections import LEVELS, adjusted
from irmeta.stats.paired import paired_differences
from irmeta.stats.pairs import FAMILY_TESTS, Pairs, pairwise


def by_every_test(
    matrices: Iterable[Matrix],
    tests: str | Iterable[str],
    *,
    correction: str = "none",
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> Iterator[Pairs]:
    """Run each test on each matrix; parameters and errors as of `power`."""
    chosen = [tests] if isinstance(tests, str) else list(tests)
    if not chosen:
        raise UsageError("no test was given")
    adjusted(np.empty(0), correction)  # raises for an unknown correction, even if no test uses it
    for matrix in matrices:
        for test in chosen:
            applicable = "none" if test in FAMILY_TESTS else correction
            yield pairwise(matrix, test, correction=applicable, resamples=resamples, rng=rng)


def checked_levels(levels: float | Iterable[float]) -> Sequence[float]:
    """Return one or several significance levels as a list, each between 0 and 1."""
    checked = list(levels) if isinstance(levels, Iterable) else [levels]
    if not checked:
        raise UsageError("no alpha was given")
    for level in checked:
        check_share("alpha", level)
    return checked


def power(
    matrix: Matrix,
    tests: str | Sequence[str] = "t",
    *,
    alpha: float | Iterable[float] = LEVELS,
    correction: str = "none",
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """Count the significantly different pairs of systems by test and level.

    Parameters
    ----------
    matrix : Matrix
        Values of one measure.
    tests : str or sequence of str, default 't'
        Tests of `pairwise`.
    alpha : float or iterable of float
        Significance levels: 0.05 is a confidence level of 95 %.
    correction, resamples, rng
        As for `pairwise`; hsd tests ignore the correction.

    Returns
    -------
    DataFrame
        As returned by `separation`, test by test.

    Raises
    ------
    UsageError
        If no test is given, or as `pairwise` and `separation`.

    References
    ----------
    .. [1] Sakai (2006). Evaluating evaluation metrics based on the bootstrap. SIGIR, 525-532.

    Examples
    --------
    >>> irmeta.stats.power(ap, ["t", "sign"], alpha=0.05).select("test", "separated").rows()
    [('t', 2), ('sign', 0)]
    """
    tested = by_every_test([matrix], tests, correction=correction, resamples=resamples, rng=rng)
    return separation(tested, alpha=alpha)


def separation(found: Iterable[Pairs], *, alpha: float | Iterable[float] = LEVELS) -> pl.DataFrame:
    """Count the significantly different pairs of finished tests.

    Parameters
    ----------
    found : iterable of Pairs
        Results of `pairwise`.
    alpha : float or iterable of float
        Significance levels.

    Returns
    -------
    DataFrame
        track, measure, test, correction, level, pairs, separated, share, median_p, queries,
        tolerance, untested: one row per test and level. `separated` counts the pairs with p <=
        level, and `pairs` all unordered pairs. Pairs with an undefined p are not in `separated` and
        not in the median; share and median_p are NaN without a defined p. `queries` is the smallest
        number that a pair used, 0 without pairs; `tolerance` the largest difference of two values
        that counted as 0; `untested` how many pairs have an undefined p and why, null without any.

    Raises
    ------
    UsageError
        If a level is not between 0 and 1, or no level is given.

    Examples
    --------
    >>> frame = irmeta.stats.separation([irmeta.stats.pairwise(ap)], alpha=[0.05, 0.001])
    >>> frame["separated"].to_list()
    [2, 1]
    """
    checked, rows = checked_levels(alpha), []
    for pairs in found:
        upper = pairs.upper
        p = pairs.p_adjusted[upper]
        known = p[~np.isnan(p)]
        median = float(np.median(known)) if len(known) else np.nan
        fewest = int(pairs.queries[upper].min()) if len(p) else 0
        untested = pairs.untested_text or None
        name = (pairs.track, pairs.measure, pairs.test, pairs.correction)
        for level in checked:
            separated = int((known <= level).sum())
            share = separated / len(p) if len(known) else np.nan
            numbers = (separated, share, median, fewest, pairs.tolerance, untested)
            rows.append((*name, float(level), len(p), *numbers))
    text, number, count = pl.String, pl.Float64, pl.Int64
    schema = {"track": text, "measure": text, "test": text, "correction": text, "level": number}
    schema |= {"pairs": count, "separated": count, "share": number, "median_p": number}
    schema |= {"queries": count, "tolerance": number, "untested": text}
    return pl.DataFrame(rows, schema=schema, orient="row")


def asp(pairs: Pairs) -> pl.DataFrame:
    """Compute the curve of achieved significance levels.

    The nearer a measure's curve lies to the axes, the greater its discriminative power (Figure 1 of
    the paper of `power`).

    Parameters
    ----------
    pairs : Pairs
        Result of `pairwise`.

    Returns
    -------
    DataFrame
        track, measure, test, correction, rank, p: one row per unordered pair with a defined p, p
        descending, ranks from 1.

    Examples
    --------
    >>> irmeta.stats.asp(irmeta.stats.pairwise(ap))["p"].round(3).to_list()
    [0.312, 0.008, 0.0]
    """
    p = pairs.p_adjusted[pairs.upper]
    p = np.sort(p[~np.isnan(p)])[::-1]
    named = {name: getattr(pairs, name) for name in ("track", "measure", "test", "correction")}
    columns = {"rank": np.arange(1, len(p) + 1), "p": p.copy()}
    frame = pl.DataFrame(columns, schema={"rank": pl.Int64, "p": pl.Float64})
    return frame.select(*(pl.lit(v, pl.String).alias(n) for n, v in named.items()), "rank", "p")


def detectable_difference(
    matrix: Matrix, *, power: float = 0.8, alpha: float = 0.05, queries: int | None = None
) -> float:
    """Compute the least difference of two means that a paired t-test of the track detects.

    Parameters
    ----------
    matrix : Matrix
        Values of one measure; a pair of systems uses the queries with values of both.
    power : float, default 0.8
        Probability with which the test detects the difference.
    alpha : float, default 0.05
        Significance level, two-sided and without a correction.
    queries : int, optional
        Number of queries; default those that a pair has.

    Returns
    -------
    float
        Mean over the pairs of systems; NaN for fewer than two queries or systems.

    Raises
    ------
    UsageError
        If `power` or `alpha` is not between 0 and 1, or `queries` is not at least 2.

    Notes
    -----
    Of a pair whose differences by query have the standard deviation s, the difference is
    ``d s / sqrt(n)``, where d is the noncentrality of Student's t with n - 1 degrees of freedom at
    which it exceeds its critical value with probability `power`; the other tail is negligible. It
    answers the question of [1]_ the other way round.

    References
    ----------
    .. [1] Sakai (2016). Topic set size design. doi:10.1007/s10791-015-9273-z

    Examples
    --------
    >>> round(irmeta.stats.detectable_difference(ap), 3)
    0.305
    """
    check_share("power", power)
    check_share("alpha", alpha)
    differences = paired_differences(matrix.values)
    upper = differences.upper
    deviations, sizes = differences.deviation[upper], differences.queries[upper]
    if queries is not None:
        sizes = np.full(len(sizes), check_whole("queries", queries, 2))
    known = (sizes > 1) & ~np.isnan(deviations)
    if not known.any():
        return float("nan")
    numbers, place = np.unique(sizes[known], return_inverse=True)
    critical = stdtrit(numbers - 1.0, 1 - alpha / 2)
    per_deviation = nctdtrinc(numbers - 1.0, 1 - power, critical) / np.sqrt(numbers)
    return float((deviations[known] * per_deviation[place]).mean())


MOST_GROUPS = 200


def indistinguishable_groups(
    separated: np.ndarray, most: int = MOST_GROUPS
) -> list[list[int]] | None:
    """Find the largest sets of systems in which no pair differs significantly.

    Two systems differ significantly exactly if no set has both, so that letters for the sets show
    the result of all tests.

    Parameters
    ----------
    separated : ndarray of bool, shape (systems, systems)
        Whether two systems differ significantly: see `Pairs.separated`; symmetric.
    most : int, default 200
        Largest number of sets; there may be exponentially many.

    Returns
    -------
    list of list of int, or None
        Indices of the systems of each set, ascending; sets by their first systems. None for more
        than `most` sets.

    References
    ----------
    .. [1] Piepho (2004). An algorithm for a letter-based representation of all-pairwise
       comparisons. doi:10.1198/1061860043515

    Examples
    --------
    >>> separated = np.zeros((3, 3), bool)
    >>> separated[0, 2] = separated[2, 0] = True
    >>> irmeta.stats.indistinguishable_groups(separated)
    [[0, 1], [1, 2]]
    """
    size = len(separated)
    groups = [(1 << size) - 1] if size else []  # bits of systems
    for a, b in np.argwhere(np.triu(separated, 1)).tolist():
        both = 1 << a | 1 << b
        split = [group for group in groups if group & both == both]
        unsplit = [group for group in groups if group & both != both]
        parts = {group & ~(1 << member) for group in split for member in (a, b)}
        others = [*unsplit, *parts]
        largest = [p for p in parts if not any(p | larger == larger != p for larger in others)]
        groups = [*unsplit, *(p for p in largest if p not in unsplit)]
        if len(groups) > most:
            return None
    members = [[i for i in range(size) if group >> i & 1] for group in groups]
    return sorted(members)

"""Discriminative power: how many pairs of systems differ significantly by a measure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_share
from irmeta.results.matrix import Matrix
from irmeta.stats.corrections import adjusted
from irmeta.stats.pairs import FAMILY_TESTS, Pairs, pairwise

LEVELS = (0.05, 0.01)


def by_every_test(
    matrices: Iterable[Matrix],
    tests: str | Iterable[str],
    *,
    correction: str = "none",
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> Iterator[Pairs]:
    """Each matrix by each of some tests; parameters as for `power`.

    Raises
    ------
    UsageError
        If no test is named, or the correction is not known; and what `pairwise` raises.
    """
    names = [tests] if isinstance(tests, str) else list(tests)
    if not names:
        raise UsageError("no test was named")
    adjusted(np.empty(0), correction)  # refuses one that is not known, also where no test takes it
    for matrix in matrices:
        for test in names:
            suits = "none" if test in FAMILY_TESTS else correction
            yield pairwise(matrix, test, correction=suits, resamples=resamples, rng=rng)


def checked_levels(levels: float | Iterable[float]) -> Sequence[float]:
    """One or several levels of significance as a list.

    Raises
    ------
    UsageError
        If a level is not between 0 and 1, or there is none.
    """
    found = list(levels) if isinstance(levels, Iterable) else [levels]
    if not found:
        raise UsageError("no level was named")
    for level in found:
        check_share("level", level)
    return found


def power(
    matrix: Matrix,
    tests: str | Sequence[str] = "t",
    *,
    levels: float | Iterable[float] = LEVELS,
    correction: str = "none",
    resamples: int = 10_000,
    rng: int | np.random.Generator = 0,
) -> pl.DataFrame:
    """The pairs of systems that each test separates at each level (Sakai 2006).

    Parameters
    ----------
    tests
        One or more of `irmeta.stats.pairs.TESTS`.
    levels
        Of significance: 0.05 separates at 95 %.
    correction
        As for `pairwise`; an hsd test, which needs none, has none.

    Returns
    -------
    DataFrame
        As `separation` says, test by test.
    """
    found = by_every_test([matrix], tests, correction=correction, resamples=resamples, rng=rng)
    return separation(found, levels=levels)


def separation(found: Iterable[Pairs], *, levels: float | Iterable[float] = LEVELS) -> pl.DataFrame:
    """The pairs that tests already made separate, a row for each test and level.

    Returns
    -------
    DataFrame
        track, measure, test, correction, level, pairs, separated, share, median_p, queries. A pair
        is separated where p <= level. `pairs` counts all unordered pairs, those with an undefined p
        too, which are not separated and not in the median; share and median_p are NaN where there
        is no pair. `queries` is the least that a pair used, 0 without pairs.

    Raises
    ------
    UsageError
        As `checked_levels`.
    """
    at, rows = checked_levels(levels), []
    for pairs in found:
        upper = pairs.upper
        p = pairs.p[upper]
        known = p[~np.isnan(p)]
        median = float(np.median(known)) if len(known) else np.nan
        fewest = int(pairs.queries[upper].min()) if len(p) else 0
        name = (pairs.track, pairs.measure, pairs.test, pairs.correction)
        for level in at:
            apart = int((known <= level).sum())
            share = apart / len(p) if len(p) else np.nan
            rows.append((*name, float(level), len(p), apart, share, median, fewest))
    text, number, count = pl.String, pl.Float64, pl.Int64
    schema = {"track": text, "measure": text, "test": text, "correction": text, "level": number}
    schema |= {"pairs": count, "separated": count, "share": number, "median_p": number}
    return pl.DataFrame(rows, schema=schema | {"queries": count}, orient="row")


def asp(pairs: Pairs) -> pl.DataFrame:
    """The curve of achieved significance: p-values from the greatest down (Sakai 2006, Figure 1).

    The nearer a measure's curve lies to the axes, the better it tells systems apart.

    Returns
    -------
    DataFrame
        track, measure, test, correction, place, p: a row for each unordered pair with a defined p,
        places from 1.
    """
    p = pairs.p[pairs.upper]
    p = np.sort(p[~np.isnan(p)])[::-1]
    named = {name: getattr(pairs, name) for name in ("track", "measure", "test", "correction")}
    columns = {"rank": np.arange(1, len(p) + 1), "p": p.copy()}
    frame = pl.DataFrame(columns, schema={"rank": pl.Int64, "p": pl.Float64})
    return frame.select(*(pl.lit(v, pl.String).alias(n) for n, v in named.items()), "rank", "p")

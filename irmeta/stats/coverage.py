"""Does a new measure find what a reference measure found? Coverage and inversion ratios."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import TIE
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
    """Coverage and inversion ratios of new measures against a reference.

    Lu, Moffat, Culpepper 2016 (doi:10.1007/s10791-016-9282-6), Section 3, Eqs. 5 and 6. With

    - D the ordered pairs (i, j) of which a measure finds i the better with p <= alpha,
    - I_new those of which the new measure's mean finds j the better, significantly or not,

    coverage is ``|D_new and D_ref| / |D_ref|`` and inversion ``|I_new and D_ref| / |D_ref|``. A
    pair that is significant in the opposite direction is inverted, not covered.

    Parameters
    ----------
    reference, new
        The same systems, in any order; the queries may differ. Which system is the better is told
        by the means under each measure's own direction, over the queries that the pair used.
    test, correction, resamples, rng
        As for `pairwise`; the paper uses a two-tailed paired t-test.

    Returns
    -------
    DataFrame
        A row for each new matrix: track, reference, new, test, alpha, pairs (unordered, all),
        separated_reference (|D_ref|), separated_new (|D_new|), covered, inverted, coverage,
        inversion, queries_reference, queries_new (the least that a pair used). The ratios are NaN
        where D_ref is empty.

    Notes
    -----
    Means within 1e-12 are equal: such a pair is not inverted, and in no D, but that a sign or a
    Wilcoxon test says itself whom it favours, whatever the means. A pair with an undefined p is in
    no D.

    Raises
    ------
    UsageError
        If a new matrix has other systems than the reference.
    """
    several = [new] if isinstance(new, Matrix) else new
    options = {"correction": correction, "resamples": resamples, "rng": rng}
    old = pairwise(reference, test, **options)
    known = _separated(old, alpha)
    rows = []
    for matrix in several:
        pairs = pairwise(_aligned(matrix, reference.systems), test, **options)
        better = _better(pairs)
        found = _separated(pairs, alpha)
        covered, inverted = int((found & known).sum()), int((better.T & known).sum())
        size = int(known.sum())
        ratios = (covered / size, inverted / size) if size else (np.nan, np.nan)
        number = len(reference.systems) * (len(reference.systems) - 1) // 2
        counts = (number, size, int(found.sum()), covered, inverted)
        name = (matrix.track, reference.measure, matrix.measure, test, float(alpha))
        rows.append((*name, *counts, *ratios, _fewest(old), _fewest(pairs)))
    schema = dict.fromkeys(("track", "reference", "new", "test"), pl.String)
    schema |= {"alpha": pl.Float64}
    counted = ("pairs", "separated_reference", "separated_new", "covered", "inverted")
    schema |= dict.fromkeys(counted, pl.Int64)
    schema |= dict.fromkeys(("coverage", "inversion"), pl.Float64)
    schema |= dict.fromkeys(("queries_reference", "queries_new"), pl.Int64)
    return pl.DataFrame(rows, schema=schema, orient="row")


def _separated(pairs: Pairs, alpha: float) -> np.ndarray:
    """bool [system, system]: the test separates the two in favour of the row."""
    return pairs.better(alpha) & (_better(pairs) if pairs.lead is None else True)


def _better(pairs: Pairs) -> np.ndarray:
    """bool [system, system]: the row's mean is better than the column's."""
    return pairs.difference * pairs.direction > TIE


def _aligned(matrix: Matrix, systems: tuple[str, ...]) -> Matrix:
    """The same with its systems in that order."""
    if matrix.systems == systems:
        return matrix
    place = {name: i for i, name in enumerate(matrix.systems)}
    other = set(place) ^ set(systems)
    if other:
        where = "only" if min(other) in place else "not"
        raise UsageError(
            f"{matrix.measure} and the reference must have the same systems: "
            f"{min(other)!r} is {where} in {matrix.measure}."
        )
    return matrix.only_systems(np.array([place[name] for name in systems], np.int64))


def _fewest(pairs: Pairs) -> int:
    used = pairs.queries[pairs.upper]
    return int(used.min()) if len(used) else 0

"""Sign test and Wilcoxon signed-rank test of all pairs of systems."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import bdtr, ndtr

from irmeta.kernels.signed_ranks import count_signs, signed_rank_tails, signed_ranks
from irmeta.results.verdicts import TIE
from irmeta.stats.paired import square

EXACT_RANKS = 50
"""Largest number of queries with an exact null distribution of Wilcoxon's test, without ties."""
EXACT_SIGNS = 13
"""Largest number of queries for which that distribution is enumerated, ties and zeros included."""
_CHUNK = 2**20  # differences held at once


def sign_test(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Run the two-sided sign test on all pairs of systems.

    With k the smaller number of wins among the n queries on which the systems differ,
    ``p = min(1, 2 P(X <= k))`` for X binomial with n trials and probability 1/2.

    Parameters
    ----------
    values
        float64 [query, system]; a pair ignores queries where either system is NaN (undefined).

    Returns
    -------
    p : float64 [system, system]
        1 on the diagonal and for a pair that ties on every query; NaN where a pair shares no query.
    lead : int8 [system, system]
        1 where the row is greater on more queries, -1 where the column, 0 for equal numbers.

    Notes
    -----
    Differences of at most 1e-12 are ties, as in `Verdicts`, and excluded.
    """
    systems = values.shape[1]
    plus, minus = np.zeros((2, systems, systems), np.int32)
    count_signs(np.ascontiguousarray(values, np.float64), TIE, plus, minus)
    upper = np.triu(np.ones((systems, systems), bool), 1)
    less = np.minimum(plus, minus)[upper].astype(np.float64)
    p = np.minimum(1.0, 2 * bdtr(less, (plus + minus)[upper], 0.5))
    known = (~np.isnan(values)).astype(np.float64)
    p[(known.T @ known)[upper] == 0] = np.nan
    return square(p, upper), _lead(np.sign(plus - minus)[upper], upper)


def _lead(signs: np.ndarray, upper: np.ndarray) -> np.ndarray:
    lead = np.zeros(upper.shape, np.int8)
    lead[upper] = signs
    return lead - lead.T


def wilcoxon_test(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Run the two-sided Wilcoxon signed-rank test on all pairs of systems.

    Equal to ``scipy.stats.wilcoxon(a, b)``: zeros are dropped, equal magnitudes share their mean
    rank, and the null distribution is

    - exact for n <= 50 queries without ties and zeros;
    - enumerated over all signs for n <= 13 with ties or zeros;
    - else normal, the variance corrected for ties, without continuity correction.

    Parameters
    ----------
    values
        float64 [query, system]; a pair ignores queries where either system is NaN (undefined).

    Returns
    -------
    p : float64 [system, system]
        1 on the diagonal; NaN where a pair shares no query.
    lead : int8 [system, system]
        1 where the row has the larger rank sum, -1 where the smaller, 0 for equal sums.

    Notes
    -----
    As in scipy, magnitudes tie only where they are equal to the last bit: where 0.3 - 0.1 and 0.2
    should tie, round the values to fractions of a power of two or scale them to integers. Unlike
    in scipy, a pair whose differences are all 0 has p = 1 for any n (scipy: NaN above 13).
    """
    queries, systems = values.shape
    upper = np.triu(np.ones((systems, systems), bool), 1)
    first, second = np.nonzero(upper)
    p, leads = np.empty(len(first)), np.empty(len(first), np.int8)
    by_system = np.ascontiguousarray(values.T, np.float64)
    step = max(1, _CHUNK // max(queries, 1))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        p[part], leads[part] = _wilcoxon(by_system[first[part]] - by_system[second[part]])
    return square(p, upper), _lead(leads, upper)


def _wilcoxon(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute p and lead for the rows of `differences` [pair, query]; overwrites zeros by NaN."""
    pairs, queries = differences.shape
    shared = queries - np.isnan(differences).sum(axis=1)
    differences[differences == 0] = np.nan
    order = np.argsort(np.abs(differences), axis=1)
    plus, ties = np.empty(pairs), np.empty(pairs)
    number = np.empty(pairs, np.int64)
    signed_ranks(differences, order, plus, number, ties)

    count = number.astype(np.float64)
    error = np.sqrt((count * (count + 1) * (2 * count + 1) - ties / 2) / 24)
    middle = count * (count + 1) / 4
    z = np.divide(plus - middle, error, out=np.zeros(pairs), where=number > 0)
    p = 2 * ndtr(-np.abs(z))
    is_clean = (number == shared) & (ties == 0)
    exact = np.flatnonzero(is_clean & (number <= EXACT_RANKS))
    if len(exact):
        tails = _rank_sum_tails(int(number[exact].max()))
        least = np.minimum(plus, 2 * middle - plus)[exact].astype(np.int64)
        p[exact] = np.minimum(1.0, 2 * tails[number[exact], least])
    few = np.flatnonzero(~is_clean & (shared <= EXACT_SIGNS))
    if len(few):
        tails, ways = np.empty(len(few)), np.empty(EXACT_SIGNS * (EXACT_SIGNS + 1) + 1)
        signed_rank_tails(differences[few], order[few], number[few], plus[few], ways, tails)
        p[few] = tails
    p[shared == 0] = np.nan
    return p, np.sign(plus - middle)


@cache
def _rank_sum_tails(most: int) -> np.ndarray:
    """Compute P(sum of the positive ranks <= w) [n, w] for n = 0 to `most` differences."""
    tails = np.ones((most + 1, most * (most + 1) // 2 + 1))
    chance = np.zeros(tails.shape[1])
    chance[0] = 1.0
    for n in range(1, most + 1):
        chance /= 2
        chance[n:] += chance[:-n].copy()
        tails[n] = np.cumsum(chance)
    return tails

"""The sign test and Wilcoxon's signed-rank test of every two systems at once."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import bdtr, ndtr

from irmeta.kernels.signed import count_signs, signed_rank_tails, signed_ranks
from irmeta.results.verdicts import TIE
from irmeta.stats.paired import square

EXACT_RANKS = 50
"""Up to so many queries Wilcoxon's null distribution is exact, without ties and zeros."""
EXACT_SIGNS = 13
"""Up to so many queries it is enumerated with ties and zeros too."""
_CHUNK = 2**20  # differences held at once


def sign_test(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two-tailed p-values of the sign test [system, system], the diagonal 1; and who leads.

    Who leads is int8 [system, system]: 1 where the row is greater on more queries than it is less.

    Of the n queries on which the systems differ, k go the way that fewer go:
    ``p = min(1, 2 P(X <= k))`` for X binomial with n trials and probability 1/2.

    Parameters
    ----------
    values
        float64 [query, system]; NaN: undefined, and the pair leaves the query out.

    Notes
    -----
    Differences up to 1e-12 are ties, as in `Verdicts`, and left out. A pair that ties on every
    query has p = 1, one that shares no query NaN.
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
    """Two-tailed p-values of Wilcoxon's signed-rank test [system, system]; and who leads.

    The diagonal is 1. Who leads is int8 [system, system]: 1 where the row has more than half of the
    ranks.

    Equal to ``scipy.stats.wilcoxon(a, b)``: zeros are dropped, equal magnitudes share their mean
    rank, and the null distribution is

    - exact for n <= 50 queries without ties and zeros;
    - enumerated over all signs for n <= 13 with ties or zeros;
    - else normal, the variance corrected for ties, without continuity correction.

    Parameters
    ----------
    values
        float64 [query, system]; NaN: undefined, and the pair leaves the query out.

    Notes
    -----
    As in scipy, magnitudes tie only where they are equal to the last bit: where 0.3 - 0.1 and 0.2
    should tie, round the values to fractions of a power of two or scale them to whole numbers.
    Unlike scipy, a pair whose differences are all zero has p = 1 for any n (scipy: NaN above 13).
    A pair that shares no query has NaN.
    """
    queries, systems = values.shape
    upper = np.triu(np.ones((systems, systems), bool), 1)
    first, second = np.nonzero(upper)
    p, leads = np.empty(len(first)), np.empty(len(first), np.int8)
    by_system = np.ascontiguousarray(values.T, np.float64)
    step = max(1, _CHUNK // max(queries, 1))
    for start in range(0, len(first), step):
        some = slice(start, start + step)
        p[some], leads[some] = _wilcoxon(by_system[first[some]] - by_system[second[some]])
    return square(p, upper), _lead(leads, upper)


def _wilcoxon(differences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p and who leads for the rows of `differences` [pair, query], whose zeros are overwritten."""
    pairs, queries = differences.shape
    there = queries - np.isnan(differences).sum(axis=1)
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
    clean = (number == there) & (ties == 0)
    exact = np.flatnonzero(clean & (number <= EXACT_RANKS))
    if len(exact):
        tails = _rank_sum_tails(int(number[exact].max()))
        least = np.minimum(plus, 2 * middle - plus)[exact].astype(np.int64)
        p[exact] = np.minimum(1.0, 2 * tails[number[exact], least])
    few = np.flatnonzero(~clean & (there <= EXACT_SIGNS))
    if len(few):
        found, ways = np.empty(len(few)), np.empty(EXACT_SIGNS * (EXACT_SIGNS + 1) + 1)
        signed_rank_tails(differences[few], order[few], number[few], plus[few], ways, found)
        p[few] = found
    p[there == 0] = np.nan
    return p, np.sign(plus - middle)


@cache
def _rank_sum_tails(most: int) -> np.ndarray:
    """P(sum of the positive ranks <= w) [n, w] for n = 0 to `most` differences."""
    tails = np.ones((most + 1, most * (most + 1) // 2 + 1))
    chance = np.zeros(tails.shape[1])
    chance[0] = 1.0
    for n in range(1, most + 1):
        chance /= 2
        chance[n:] += chance[:-n].copy()
        tails[n] = np.cumsum(chance)
    return tails

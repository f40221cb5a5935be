"""Counts and examples of the pairs of rankings that violate a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from irmeta.kernels.score_drops import count_drops
from irmeta.naming.numbered_rankings import NumberedRankings
from irmeta.results.verdicts import TIE
from irmeta.stats.properties import Property, Weights

Case = Literal["first", "smallest", "largest"]
CASES: tuple[Case, ...] = ("first", "smallest", "largest")
FAILED = 0  # column of `count_drops`
_DIGITS = 12  # of differences that are compared with one another, as of `TIE`


@dataclass
class PropertyCounts:
    """Counts of the pairs of one property for several measures.

    Pairs with the empty ranking are counted apart, in `with_empty` alone.

    Attributes
    ----------
    applicable
        int64 [measures, lengths]: pairs by the length of the longer ranking, from 0. They differ by
        measure only for a strict property.
    violated, tied, undefined
        int64 [measures, lengths]: pairs whose lower ranking scores more (of a strict property: not
        less), pairs of equal scores, and pairs of which a score is NaN, which violate nothing.
    with_empty, with_empty_violated
        int64 [measures]: pairs of which one ranking is empty, and how many are violated.
    examples
        By measure and case, the numbers of a lower and an upper ranking of a violated pair:
        ``first``, of the shortest rankings, ``smallest`` and ``largest``, by the difference of
        scores. A measure without violations has none.
    """

    property: Property
    applicable: np.ndarray
    violated: np.ndarray
    tied: np.ndarray
    undefined: np.ndarray
    with_empty: np.ndarray
    with_empty_violated: np.ndarray
    examples: dict[tuple[int, Case], tuple[int, int]] = field(default_factory=dict)


def count_violations(
    one: Property,
    rankings: NumberedRankings,
    scores: np.ndarray,
    weights: Weights = (),
    cutoffs: Sequence[int | None] = (),
) -> PropertyCounts:
    """Count the pairs of rankings by which each measure violates a property.

    Parameters
    ----------
    one : Property
        Property, such as those of `properties_for`.
    rankings : NumberedRankings
        The rankings.
    scores : ndarray of float64, shape (measures, rankings)
        Values of all rankings, by their numbers; greater is better. Values that differ by at most
        1e-12 are equal. NaN violates nothing.
    weights : sequence of float, optional
        Weights of the subtopics; default equal.
    cutoffs : sequence of int or None, optional
        Cutoff of each measure, None without one; default none has. A measure cannot tell rankings
        apart below its cutoff, so a strict property is checked on rankings down to there.

    Returns
    -------
    PropertyCounts
        Pairs, violated pairs and ties by measure and length, and examples of violated pairs.

    References
    ----------
    .. [1] Albahem, A., Spina, D., Scholer, F., Moffat, A. and Cavedon, L. (2018). Desirable
       properties for diversity and truncated effectiveness metrics.
       doi:10.1145/3291992.3291996, Section 3.3

    Examples
    --------
    The share of relevant docs in a list violates irrelevance nowhere, that of non-relevant docs
    everywhere but after x:

    >>> from irmeta.naming.numbered_rankings import NumberedRankings
    >>> rankings = NumberedRankings(subtopics=1, length=2)
    >>> rankings.names(range(7))
    ['empty', 'a', 'x', 'aa', 'ax', 'xa', 'xx']
    >>> relevant = np.array([0, 1, 0, 1, 0.5, 0.5, 0])
    >>> _, irrelevance = irmeta.stats.properties_for(["truncated"])
    >>> scores = np.stack([relevant, 1 - relevant])
    >>> counts = irmeta.stats.count_violations(irrelevance, rankings, scores)
    >>> counts.applicable.sum(axis=1).tolist(), counts.violated.sum(axis=1).tolist()
    ([2, 2], [0, 1])
    >>> rankings.names(counts.examples[1, "first"])
    ['ax', 'a']
    """
    depths = np.full(len(scores), rankings.length)
    if one.strict:
        depths = np.array([c or rankings.length for c in cutoffs or [None] * len(scores)])
    counts = np.zeros((rankings.length + 1, len(scores), 3), np.int64)
    applicable = np.zeros((len(scores), rankings.length + 1), np.int64)
    with_empty, with_empty_violated = np.zeros((2, len(scores)), np.int64)
    examples = _Examples()
    for length, lower, upper in one.pairs(rankings, weights):
        is_counted, has_empty = depths >= length, (lower[:, None] == 0) | (upper == 0)
        new = _count(one, scores, is_counted, lower, upper)
        applicable[is_counted, length] += upper.size
        if has_empty.any():
            row, column = np.nonzero(has_empty)
            empty = _count(one, scores, is_counted, lower[row], upper[row, column][:, None])
            new -= empty
            applicable[is_counted, length] -= len(row)
            with_empty[is_counted] += len(row)
            with_empty_violated += empty[:, FAILED]
        counts[length] += new
        for measure in np.flatnonzero(new[:, FAILED]).tolist():
            examples.add(measure, length, scores[measure], lower, upper, one.strict)
    violated, tied, undefined = counts.transpose(2, 1, 0)
    return PropertyCounts(
        one,
        applicable,
        violated,
        tied,
        undefined,
        with_empty,
        with_empty_violated,
        examples.pairs(),
    )


def _count(
    one: Property, scores: np.ndarray, is_counted: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> np.ndarray:
    """Return the counts of `count_drops` for some pairs: int64 [measures, 3]."""
    counts = np.zeros((len(scores), 3), np.int64)
    numbers = lower.astype(np.uint32), np.ascontiguousarray(upper, np.uint32)
    count_drops(scores, is_counted, *numbers, TIE, one.strict, counts)
    return counts


class _Examples:
    """The first, the smallest and the largest violation of each measure."""

    def __init__(self) -> None:
        self._best: dict[tuple[int, Case], tuple[float, int, int, int]] = {}

    def add(
        self,
        measure: int,
        length: int,
        scores: np.ndarray,
        lower: np.ndarray,
        upper: np.ndarray,
        strict: bool,
    ) -> None:
        """Compare the violated pairs of a piece with the best pairs so far."""
        low, high = np.broadcast_to(scores[lower][:, None], upper.shape), scores[upper]
        with np.errstate(invalid="ignore"):
            drop = np.where(low == high, 0.0, low - high)
        fails = drop >= -TIE if strict else drop > TIE
        fails &= (lower[:, None] != 0) & (upper != 0)
        lower, upper = np.broadcast_to(lower[:, None], upper.shape)[fails], upper[fails]
        drop = np.round(drop[fails], _DIGITS)
        sizes = (np.zeros(len(drop)), drop, -drop)
        for case, size in zip(CASES, sizes, strict=True):
            chosen = size == size.min()
            first = lower[chosen].min()
            last = upper[chosen & (lower == first)].min()
            key = float(size.min()), length, int(first), int(last)
            self._best[measure, case] = min(key, self._best.get((measure, case), key))

    def pairs(self) -> dict[tuple[int, Case], tuple[int, int]]:
        """Return lower and upper ranking by measure and case."""
        return {one: (lower, upper) for one, (_, _, lower, upper) in self._best.items()}

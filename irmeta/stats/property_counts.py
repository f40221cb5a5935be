"""Counts and examples of the pairs of rankings that violate a property."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from irmeta.naming.ranking_numbers import RankingNumbers
from irmeta.results.verdicts import TIE
from irmeta.stats.properties import Property, Weights

Case = Literal["first", "smallest", "largest"]
CASES: tuple[Case, ...] = ("first", "smallest", "largest")
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


def count_pairs(
    one: Property,
    rankings: RankingNumbers,
    scores: np.ndarray,
    weights: Weights = (),
    cutoffs: Sequence[int | None] = (),
) -> PropertyCounts:
    """Count the pairs of a property that each measure violates.

    Parameters
    ----------
    one
        The property.
    rankings
        The rankings.
    scores
        float64 [measures, rankings]: the values of all rankings, by their numbers; greater is
        better. Values that differ by at most 1e-12 are equal.
    weights
        Weights of the subtopics; empty: equal weights.
    cutoffs
        Cutoff of each measure, None without one; empty: none has. A measure cannot tell rankings
        apart below its cutoff, so a strict property is checked on rankings down to there.

    Examples
    --------
    Recall of one subtopic does not violate relevance:

    >>> from irmeta.naming.ranking_numbers import RankingNumbers
    >>> from irmeta.stats.properties import RELEVANCE
    >>> from irmeta.stats.property_counts import count_pairs
    >>> rankings = RankingNumbers(1, 2)
    >>> rankings.names(range(7))
    ['empty', 'a', 'x', 'aa', 'ax', 'xa', 'xx']
    >>> counts = count_pairs(RELEVANCE, rankings, np.array([[0, 1, 0, 2, 1, 1, 0]]) / 2)
    >>> counts.applicable.tolist(), counts.violated.tolist(), counts.with_empty.tolist()
    ([[0, 0, 2]], [[0, 0, 0]], [1])
    """
    depths = [
        cutoff if one.strict and cutoff is not None else rankings.length
        for cutoff in cutoffs or [None] * len(scores)
    ]
    applicable, violated, tied, undefined = np.zeros(
        (4, len(scores), rankings.length + 1), np.int64
    )
    with_empty, with_empty_violated = np.zeros((2, len(scores)), np.int64)
    examples = _Examples()
    for length, lower, upper in one.pairs(rankings, weights):
        pairs = np.broadcast_shapes(lower.shape, upper.shape)
        is_counted = np.broadcast_to((lower != 0) & (upper != 0), pairs)
        counted = int(np.count_nonzero(is_counted))
        for measure, values in enumerate(scores):
            if length > depths[measure]:
                continue
            drop = _drops(values[lower], values[upper])
            fails = drop >= -TIE if one.strict else drop > TIE
            with_empty[measure] += is_counted.size - counted
            if counted < is_counted.size:
                with_empty_violated[measure] += np.count_nonzero(fails & ~is_counted)
                fails, drop = fails & is_counted, np.where(is_counted, drop, -np.inf)
            applicable[measure, length] += counted
            violated[measure, length] += np.count_nonzero(fails)
            tied[measure, length] += np.count_nonzero(np.abs(drop) <= TIE)
            undefined[measure, length] += np.count_nonzero(np.isnan(drop))
            if fails.any():
                ends = (np.broadcast_to(end, pairs)[fails] for end in (lower, upper))
                examples.add(measure, length, drop[fails], *ends)
    counts = applicable, violated, tied, undefined, with_empty, with_empty_violated
    return PropertyCounts(one, *counts, examples.pairs())


def _drops(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Return how much more the lower rankings score; 0 for equal infinities."""
    with np.errstate(invalid="ignore"):
        drop = lower - upper
    return np.where(lower == upper, 0.0, drop)


class _Examples:
    """The first, the smallest and the largest violation of each measure."""

    def __init__(self) -> None:
        self._best: dict[tuple[int, Case], tuple[float, int, int, int]] = {}

    def add(
        self, measure: int, length: int, drop: np.ndarray, lower: np.ndarray, upper: np.ndarray
    ) -> None:
        """Compare the violated pairs of a piece with the best pairs so far."""
        drop = np.round(drop, _DIGITS)
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

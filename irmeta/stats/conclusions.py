"""Conclusions on pairs of systems: which of one set of labels, measure or queries another keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from irmeta.equality import signs
from irmeta.stats.paired import paired_differences, significant_signs, upper_values


@dataclass(frozen=True)
class Conclusions:
    """Numbers of pairs of systems by the conclusions of the reference and of the judge.

    Both conclude the same (`kept`) or the opposite (`reversed`), the reference alone (`lost`), the
    judge alone (`new`; `new_agree`: with means in the reference's direction), or `neither`.
    """

    kept: int
    reversed: int
    lost: int
    new: int
    neither: int
    new_agree: int

    @property
    def survived(self) -> float:
        """The share of the reference's conclusions that are kept; NaN without any."""
        return _ratio(self.kept, self.kept + self.reversed + self.lost)

    @property
    def false(self) -> float:
        """The share of the reference's conclusions that are reversed; NaN without any."""
        return _ratio(self.reversed, self.kept + self.reversed + self.lost)


def _ratio(part: int, of: int) -> float:
    return part / of if of else np.nan


def pair_signs(better: np.ndarray) -> np.ndarray:
    """Return which system of each pair is significantly better: int8 [pair].

    `better` is bool [system, system]: whether the row is significantly better than the column.
    """
    return upper_values(better).astype(np.int8) - upper_values(np.ascontiguousarray(better.T))


def count_conclusions(
    reference: np.ndarray, judge: np.ndarray, difference: np.ndarray
) -> Conclusions:
    """Count the conclusions, int8 [pair], that survive another set of labels.

    `difference` is the first system's mean by the reference minus the second's: float64 [pair].
    """
    cells = np.bincount(3 * (reference + 1) + judge + 1, minlength=9).reshape(3, 3)
    is_new = (reference == 0) & (judge != 0)
    return Conclusions(
        kept=int(cells[0, 0] + cells[2, 2]),
        reversed=int(cells[0, 2] + cells[2, 0]),
        lost=int(cells[0, 1] + cells[2, 1]),
        new=int(cells[1, 0] + cells[1, 2]),
        neither=int(cells[1, 1]),
        new_agree=int((is_new & (signs(difference) == judge)).sum()),
    )


def count_contrary(conclusions: np.ndarray, difference: np.ndarray) -> int:
    """Count the conclusions, int8 [pair], that other means of the pairs contradict."""
    return int((conclusions * signs(difference) < 0).sum())


def conclusions_of_halves(
    values: np.ndarray, halves: np.ndarray, alpha: float, holm: Sequence[bool]
) -> Iterator[list[Conclusions]]:
    """Yield the conclusions of each half of the queries that the other half keeps.

    Pairs are compared by the paired t-test, and for each of `holm` with or without Holm's
    correction. `halves` are int64 [split, 2, query].
    """
    for both in halves:
        sides = [paired_differences(values[half]) for half in both]
        means = [upper_values(side.mean) for side in sides]
        better = [[significant_signs(side, alpha, is_holm) for is_holm in holm] for side in sides]
        yield [count_conclusions(a, b, means[0]) for a, b in zip(*better, strict=True)]
        yield [count_conclusions(b, a, means[1]) for a, b in zip(*better, strict=True)]


def survival_limits(
    reference: np.ndarray, judge: np.ndarray, halves: np.ndarray, alpha: float
) -> tuple[float, float]:
    """Compute a 95 % interval of the share of conclusions that survive on as many other queries.

    The estimate plus and minus t times the standard deviation over `halves`, since a resample
    repeats queries, which makes conclusions: in simulations 91 to 99 % of the intervals cover.
    """

    def share(queries: np.ndarray | slice) -> float:
        differences = [paired_differences(values[queries]) for values in (reference, judge)]
        better = [significant_signs(side, alpha, holm=False) for side in differences]
        means = upper_values(differences[0].mean)
        return count_conclusions(better[0], better[1], means).survived

    drawn = np.array([share(half) for both in halves for half in both])
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < 2:
        return np.nan, np.nan
    margin = stdtrit(len(reference) - 1, 0.975) * drawn.std(ddof=1)
    middle = share(slice(None))
    low, high = np.clip([middle - margin, middle + margin], 0.0, 1.0).tolist()
    return low, high

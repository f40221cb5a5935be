"""Rank-biased overlap of rankings that may have ties and need not hold the same items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from irmeta.errors import UsageError, shown
from irmeta.kernels.orders import AVERAGE, CORRECTED, EQUAL, overlap
from irmeta.stats.orders import tie_groups

Ties = Literal["w", "a", "b"]
VARIANTS = {"w": EQUAL, "a": AVERAGE, "b": CORRECTED}


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap of two rankings, which may go on beyond what is seen of them.

    Attributes
    ----------
    ext
        What is seen, extrapolated.
    min, max
        The least and the most that it could be.
    res
        max - min: how much the unseen part leaves open.
    """

    ext: float
    min: float
    max: float

    @property
    def res(self) -> float:
        return self.max - self.min


def rbo(x: Sequence[Any], y: Sequence[Any], p: float = 0.9, ties: Ties = "a") -> Overlap:
    """Rank-biased overlap: ``(1 - p) sum over depths d of p^(d - 1) A_d``, symmetric.

    A_d is the agreement of the rankings' first d items: how many they share, over d. Webber,
    Moffat and Zobel 2010 (doi:10.1145/1852102.1852106); with ties and in the three forms of the
    unseen part, Corsi and Urbano 2024 (doi:10.1145/3626772.3657700).

    Parameters
    ----------
    x, y
        The best first; a tuple, list or set is a group of tied items, anything else one item.
        Which one comes first plays no part.
    p
        Persistence, between 0 and 1: what share of those who look at a depth look at the next.
    ties
        ``w``: tied items have the same rank, the first of their group, as in sports. ``a``: the
        order of tied items is unknown; of rankings of one length the mean over all ways to break
        the ties. ``b``: as a, but corrected for the information lost, so that a ranking agrees
        with itself fully. Without ties all three are the same.

    Returns
    -------
    Overlap
        NaN where a ranking is empty.

    Raises
    ------
    UsageError
        If p or `ties` is out of range, or an item is in a ranking twice.

    Notes
    -----
    Two deviations from the reference code, both of rounding only: it takes the formulas of w where
    there are no ties, and lets the tail of `min` fall below 0.
    """
    first, second = _groups(x), _groups(y)
    places = {item: i for i, item in enumerate(dict.fromkeys((*_items(first), *_items(second))))}
    sides = [
        _ranks([[places[i] for i in g] for g in side], len(places)) for side in (first, second)
    ]
    out = _overlaps(sides[0], sides[1], True, p, ties)[0, 0]
    return Overlap(float(out[0]), float(out[1]), float(out[2]))


def rbo_of_scores(x: np.ndarray, y: np.ndarray, paired: bool, p: float, ties: Ties) -> np.ndarray:
    """RBO of the rankings that scores make, the greatest first and equal scores tied.

    A NaN is an item that is not in the ranking; no scores at all make an empty ranking.

    Parameters
    ----------
    x, y
        float64 [ranking, item].
    paired
        Each row of x with the same of y, else with all.

    Returns
    -------
    ndarray
        float64 [x, y, 3], or [x, 1, 3] if `paired`: ext, min, max.
    """
    first = _ranks_of_scores(x)
    return _overlaps(first, first if y is x else _ranks_of_scores(y), paired, p, ties)


_Ranks = tuple[np.ndarray, np.ndarray, np.ndarray]


def _overlaps(x: _Ranks, y: _Ranks, paired: bool, p: float, ties: Ties) -> np.ndarray:
    if not 0 < p < 1:
        raise UsageError(f"p of RBO must be between 0 and 1, not {p}.")
    if ties not in VARIANTS:
        raise UsageError(f"ties of RBO must be one of w, a, b, not {ties!r}.")
    out = np.empty((len(x[0]), 1 if paired else len(y[0]), 3))
    mirrored = y is x and not paired
    overlap(*x, *y, paired, mirrored, float(p), VARIANTS[ties], out)
    if mirrored:
        below = np.tril_indices(len(out), -1)
        out[below] = out.transpose(1, 0, 2)[below]
    return out


def _groups(ranking: Sequence[Any]) -> list[list[Hashable]]:
    tied = (tuple, list, AbstractSet)
    groups = [list(g) if isinstance(g, tied) else [g] for g in ranking]
    seen = set()
    for item in _items(groups):
        if item in seen:
            raise UsageError(f"{shown(item)} is in a ranking twice.")
        seen.add(item)
    return groups


def _items(groups: list[list[Hashable]]) -> list[Hashable]:
    return [item for group in groups for item in group]


def _ranks(groups: list[list[int]], items: int) -> _Ranks:
    """The first and last rank of every item's group, as the kernel takes them."""
    top, bottom = np.zeros((1, items), np.int32), np.zeros((1, items), np.int32)
    length = 0
    for group in groups:
        top[0, group], bottom[0, group] = length + 1, length + len(group)
        length += len(group)
    return top, bottom, np.array([length], np.int32)


def _ranks_of_scores(values: np.ndarray) -> _Ranks:
    values = np.ascontiguousarray(values)
    known = ~np.isnan(values)
    # Unknown items go below all others, where they move nobody's rank; -inf is a score.
    above, tied = tie_groups(np.where(known, values, -np.inf))
    length = known.sum(axis=1)
    lowest = known & (values == -np.inf)
    tied = np.where(lowest, lowest.sum(axis=1, keepdims=True), tied)
    top = np.where(known, above + 1, 0).astype(np.int32)
    bottom = np.where(known, above + tied, 0).astype(np.int32)
    return top, bottom, length.astype(np.int32)

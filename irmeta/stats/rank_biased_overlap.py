"""Rank-biased overlap of rankings with ties and different items."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from irmeta.errors import UsageError, shown
from irmeta.kernels.rank_agreement import AVERAGE, CORRECTED, EQUAL, overlap
from irmeta.stats.orders import tie_groups

Ties = Literal["w", "a", "b"]
VARIANTS = {"w": EQUAL, "a": AVERAGE, "b": CORRECTED}


@dataclass(frozen=True)
class Overlap:
    """Rank-biased overlap of two rankings, which may continue beyond their observed items.

    Attributes
    ----------
    ext : float
        The overlap from 0 to 1, extrapolated from the observed items.
    min, max : float
        Lower and upper bound of the overlap.
    """

    ext: float
    min: float
    max: float

    @property
    def res(self) -> float:
        """Residual of the unobserved items: max - min."""
        return self.max - self.min


def rbo(x: Sequence[Any], y: Sequence[Any], p: float = 0.9, ties: Ties = "a") -> Overlap:
    """Compute rank-biased overlap: ``(1 - p) sum over depths d of p^(d - 1) A_d``.

    A_d is the agreement of the rankings at depth d: the number of shared items among the first d,
    over d [1]_. Ties and the three forms of the unobserved part are those of [2]_.

    Parameters
    ----------
    x, y : sequence
        Items of each ranking, best first; a tuple, list or set is a group of tied items, anything
        else one item. The overlap is symmetric in x and y.
    p : float, default 0.9
        Persistence, between 0 and 1: the probability of continuing from a depth to the next.
    ties : {'w', 'a', 'b'}, default 'a'
        ``w``: tied items have the same rank, the first of their group, as in sports. ``a``: the
        order of tied items is unknown; for rankings of equal length, the mean over all ways to
        break the ties. ``b``: as a, but corrected for the lost information, so that a ranking
        agrees with itself fully. Without ties all three are equal.

    Returns
    -------
    Overlap
        Values from 0 to 1; NaN where a ranking is empty.

    Raises
    ------
    UsageError
        If `p` or `ties` is out of range, or a ranking has a duplicate item.

    Notes
    -----
    The reference code differs in rounding only: it applies the formulas of w to rankings without
    ties, and lets the tail of `min` fall below 0.

    References
    ----------
    .. [1] Webber, Moffat and Zobel (2010). doi:10.1145/1852102.1852106
    .. [2] Corsi and Urbano (2024). doi:10.1145/3626772.3657700

    Examples
    --------
    >>> round(irmeta.stats.rbo(["a", "b", "c"], ["a", "c", "b"]).ext, 3)
    0.955
    """
    first, second = _groups(x), _groups(y)
    index = {item: i for i, item in enumerate(dict.fromkeys((*_items(first), *_items(second))))}
    sides = [_ranks([[index[i] for i in g] for g in side], len(index)) for side in (first, second)]
    out = _overlaps(sides[0], sides[1], True, p, ties)[0, 0]
    return Overlap(float(out[0]), float(out[1]), float(out[2]))


def rbo_of_scores(x: np.ndarray, y: np.ndarray, paired: bool, p: float, ties: Ties) -> np.ndarray:
    """Compute RBO of rankings by score, the greatest first and equal scores tied.

    Items with score NaN are not in the ranking; a ranking may be empty.

    Parameters
    ----------
    x, y
        float64 [ranking, item].
    paired
        Whether to compare each row of x with the same row of y, instead of all rows of y.

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
            raise UsageError(f"{shown(item)} is a duplicate item in a ranking.")
        seen.add(item)
    return groups


def _items(groups: list[list[Hashable]]) -> list[Hashable]:
    return [item for group in groups for item in group]


def _ranks(groups: list[list[int]], items: int) -> _Ranks:
    """Return the first and last rank of every item's group, for the kernel."""
    top, bottom = np.zeros((1, items), np.int32), np.zeros((1, items), np.int32)
    length = 0
    for group in groups:
        top[0, group], bottom[0, group] = length + 1, length + len(group)
        length += len(group)
    return top, bottom, np.array([length], np.int32)


def _ranks_of_scores(values: np.ndarray) -> _Ranks:
    values = np.ascontiguousarray(values)
    known = ~np.isnan(values)
    # Missing items sort below all others, where they change no rank; -inf is a score.
    above, tied = tie_groups(np.where(known, values, -np.inf))
    length = known.sum(axis=1)
    lowest = known & (values == -np.inf)
    tied = np.where(lowest, lowest.sum(axis=1, keepdims=True), tied)
    top = np.where(known, above + 1, 0).astype(np.int32)
    bottom = np.where(known, above + tied, 0).astype(np.int32)
    return top, bottom, length.astype(np.int32)

"""Correlations of many orderings of the same systems at once, as functions of plain arrays.

Every correlation except rank-biased overlap takes x and y, float64 [ordering, system] without NaN,
and returns float64 [x, y], or with `paired` float64 [ordering]: each row of x with the same row of
y. Greater values are better. A correlation is NaN where an ordering ties all systems, or for fewer
than two systems.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from irmeta.errors import UsageError, shown
from irmeta.kernels.rank_agreement import (
    AVERAGE,
    CORRECTED,
    EQUAL,
    concordance,
    concordant_pairs,
    gap_sums,
    overlap,
)

Correlation = Callable[[np.ndarray, np.ndarray, bool], np.ndarray]

_BLOCK = 1 << 22  # signs held at once: 16 MB, and their sum is exact as float32
_FEW = 16  # up to this many pairs of orderings, one pair at a time is faster
_DIGITS = 12


def over_common(correlation: Correlation, x: np.ndarray, y: np.ndarray, paired: bool) -> np.ndarray:
    """Compute correlations over the systems that both orderings have (not NaN).

    Orderings that lack the same systems are computed together, so that the time grows with the
    number of distinct gaps instead of the number of orderings.
    """
    in_x, in_y = ~np.isnan(x), ~np.isnan(y)
    if paired:
        out = np.full(len(x), np.nan)
        for both, rows in _alike(in_x & in_y):
            out[rows] = correlation(x[np.ix_(rows, both)], y[np.ix_(rows, both)], True)
        return out
    out = np.full((len(x), len(y)), np.nan)
    groups = list(_alike(in_y))
    for known, rows in _alike(in_x):
        for other_known, columns in groups:
            both = known & other_known
            left = x[np.ix_(rows, both)]
            # Passing the identical array halves the work of the correlation.
            is_same = y is x and rows[0] == columns[0]
            right = left if is_same else y[np.ix_(columns, both)]
            if len(left) * len(right) > _FEW:
                values = correlation(left, right, False)
            else:
                pairs = np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))
                values = correlation(*pairs, True).reshape(len(left), len(right))
            out[np.ix_(rows, columns)] = values
    return out


def _alike(known: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield every distinct row of a mask, and the indices of its equal rows."""
    if len(known) == 0:
        return
    if (known == known[0]).all():  # the common case, and np.unique of rows is slow
        yield known[0], np.arange(len(known))
        return
    masks, mask_of = np.unique(known, axis=0, return_inverse=True)
    for i, mask in enumerate(masks):
        yield mask, np.flatnonzero(mask_of == i)


def round_means(values: np.ndarray) -> np.ndarray:
    """Round means to 12 significant digits of the greatest mean.

    Unrounded means of the same values on different queries differ by the order of summation.
    """
    finite = np.abs(values[np.isfinite(values)])
    top = finite.max(initial=0.0)
    if not 1e-280 < top < 1e280:
        return values
    # Rounding scaled values and dividing again gives the nearest float.
    places = _DIGITS - 1 - int(np.floor(np.log10(top)))
    unit = 10.0 ** abs(places)
    return np.round(values * unit) / unit if places >= 0 else np.round(values / unit) * unit


def round_rows(means: np.ndarray) -> np.ndarray:
    """Round each row of means [row, system] by `round_means`."""
    top = np.abs(means, out=np.zeros(means.shape), where=np.isfinite(means)).max(axis=1, initial=0)
    is_rounded = (top > 1e-280) & (top < 1e280)
    digits = np.floor(np.log10(top, out=np.zeros(len(top)), where=is_rounded)).astype(np.int64)
    places = (_DIGITS - 1 - digits)[:, None]
    unit = np.array([10.0 ** abs(place) for place in places.ravel().tolist()])[:, None]
    with np.errstate(over="ignore"):  # in the branch that is not taken
        rounded = np.where(
            places >= 0, np.round(means * unit) / unit, np.round(means / unit) * unit
        )
    return np.where(is_rounded[:, None], rounded, means)


def settled_each(values: np.ndarray) -> np.ndarray:
    """Round each value to 12 significant digits.

    For means of nonnegative values, whose rounding error is relative to the mean itself.
    """
    return np.array([float(f"{value:.{_DIGITS - 1}e}") for value in values.tolist()])


def kendall_tau_a(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute (concordant - discordant) / (n (n - 1) / 2): Kendall 1938."""
    agreed, in_x, in_y = _concordance(x, y, paired)
    pairs = x.shape[1] * (x.shape[1] - 1) / 2
    return np.where((in_x > 0) & (in_y > 0), agreed / max(pairs, 1.0), np.nan)


def kendall_tau_b(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y).

    Kendall 1945.
    """
    agreed, in_x, in_y = _concordance(x, y, paired)
    known = (in_x > 0) & (in_y > 0)
    # Two square roots, as in scipy: the root of the product differs in the last digits.
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = agreed / np.sqrt(in_x) / np.sqrt(in_y)
    # An ordering with itself or its reverse has exactly 1 or -1.
    is_exact = (np.abs(agreed) == in_x) & (in_x == in_y)
    return np.where(known, np.where(is_exact, np.sign(agreed), tau), np.nan)


def tau_of_means(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute tau-b of the same rows of means [row, system], which tie if equal to 12 digits."""
    return kendall_tau_b(round_means(x), round_means(y), True)


def tau_ap(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute the AP correlation of estimates y with references x, which is not symmetric.

    Yilmaz, Aslam and Robertson 2008, Eq. 4 (doi:10.1145/1390334.1390435); with ties tau_AP,a of
    Urbano and Marrero 2017 (doi:10.1145/3121050.3121106), the mean over all ways to break them: a
    tied pair of x adds 0.
    """
    size = x.shape[1]
    above, tied = tie_groups(y)
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, max(size, 1)))))
    under = np.maximum(above, 1)  # no pair has its lower system in the first group
    weight = (harmonic[np.minimum(under + tied - 1, size - 1)] - harmonic[under - 1]) / tied
    if paired:
        same, opposite = _above(x, y)
        total = ((same - opposite) * weight).sum(axis=1)
    else:
        total = np.zeros((len(x), len(y)))
        for i, j in _pairs(x, y):
            total += _signs(x, i, j) @ _lower(y, weight, i, j).T
    return _defined(x, y, total / max(size - 1, 1), paired)


def tau_gap(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute a gap-sensitive AP correlation of estimates y with references x; not symmetric.

    After Gao and Oard 2015 (doi:10.1145/2766462.2767793): in `tau_ap`, each pair counts its gap,
    the difference of both values in x. For each system below the first of y, the sum of the gaps to
    the systems above it, negative where x has the opposite order, is divided by the sum of the
    absolute gaps; tau_GAP is the mean of these ratios, from -1 to 1. A system without a gap to
    those above it has no ratio. Ties of y, which the paper leaves open: half of the absolute gap to
    a tied system counts, and each of t tied first systems has the weight (t - 1) / t.
    """
    if not paired:
        pairs = np.repeat(x, len(y), axis=0), np.tile(y, (len(x), 1))
        return tau_gap(*pairs, True).reshape(len(x), len(y))
    signed, total = np.empty(x.shape), np.empty(x.shape)
    gap_sums(np.ascontiguousarray(x), np.ascontiguousarray(y), signed, total)
    above, tied = tie_groups(y)
    weight = np.where(above > 0, 1.0, (tied - 1) / tied) * (total > 0)
    with np.errstate(invalid="ignore"):  # of infinite values
        ratio = np.divide(signed, total, out=np.zeros(x.shape), where=total > 0)
        mean = (weight * ratio).sum(axis=1) / np.maximum(weight.sum(axis=1), 0.5)
    return _defined(x, y, np.clip(mean, -1.0, 1.0), True)


def tau_ap_b(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute the symmetric AP correlation of two orderings with ties.

    tau_AP,b of Urbano and Marrero 2017 (doi:10.1145/3121050.3121106). Systems that the other
    ordering ties do not count, as in the authors' R package.
    """
    reverse = _one_way(y, x, paired)
    return (_one_way(x, y, paired) + (reverse if paired else reverse.T)) / 2


def spearman(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute Pearson's correlation of ranks, with mean ranks for ties: Spearman 1904."""
    left, right = ((values.shape[1] + 1) / 2 - mean_ranks(values) for values in (x, y))
    return _cosine(left, right, x, y, paired)


def pearson(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute the product-moment correlation of the values; NaN with an infinite value."""
    return _cosine(_centred(x), _centred(y), x, y, paired)


def rmse(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Compute the root mean squared difference of the values; defined also where all tie."""
    if x.shape[1] == 0:
        return np.full((len(x),) if paired else (len(x), len(y)), np.nan)
    with np.errstate(invalid="ignore"):
        if paired:
            return np.sqrt(np.square(x - y).mean(axis=1))
        # Row by row from the differences, because |x|^2 + |y|^2 - 2 xy would cancel.
        return np.sqrt(np.array([np.square(row - y).mean(axis=1) for row in x]))


def tie_groups(
    values: np.ndarray, near: float = 0.0, relative: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Count, for every value of every row, the greater and the equal values of the row.

    Neighbours in descending order are equal within `near` times the greatest finite absolute value
    of the row or, if `relative`, times the larger of both; an infinite value equals only itself.
    """
    rows, size = values.shape
    order = np.argsort(-values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    upper, lower = ordered[:, :-1], ordered[:, 1:]
    begins = np.ones((rows, size), bool)
    if not near:
        begins[:, 1:] = lower != upper
    else:
        sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
        if relative:
            slack = near * np.take_along_axis(sizes, order[:, :-1], axis=1)
        else:
            slack = near * sizes.max(1, initial=0.0, keepdims=True)
        with np.errstate(invalid="ignore"):  # of two infinite values
            begins[:, 1:] = upper - lower > slack
    index = np.arange(size)
    start = np.maximum.accumulate(np.where(begins, index, 0), axis=1)
    ends = np.ones((rows, size), bool)
    ends[:, :-1] = begins[:, 1:]
    end = np.where(ends, index, size)[:, ::-1]
    end = np.minimum.accumulate(end, axis=1)[:, ::-1]
    above, tied = np.empty((rows, size), np.int64), np.empty((rows, size), np.int64)
    np.put_along_axis(above, order, start, axis=1)
    np.put_along_axis(tied, order, end - start + 1, axis=1)
    return above, tied


def rank_rows(scores: np.ndarray, relative: bool = False) -> np.ndarray:
    """Rank each row, greatest first, equal scores sharing the smallest rank: int32 [row, system].

    Scores are equal within 1e-12 of the greatest finite absolute score or, if `relative`, within
    1e-9 of the larger. A NaN ranks last, as does minus infinity.
    """
    known = np.where(np.isnan(scores), -np.inf, scores)
    above, _ = tie_groups(known, 1e-9 if relative else 1e-12, relative)
    return (above + 1).astype(np.int32)


def mean_ranks(values: np.ndarray) -> np.ndarray:
    """Rank each row, greatest first, ties sharing their mean rank: float64 [row, system]."""
    above, tied = tie_groups(values)
    return above + (tied + 1) / 2.0


def _varied(values: np.ndarray) -> np.ndarray:
    """Check which rows have two different values."""
    return (values != values[:, :1]).any(axis=1)


def _defined(x: np.ndarray, y: np.ndarray, correlations: np.ndarray, paired: bool) -> np.ndarray:
    """Set correlations to NaN where either ordering ties all systems."""
    in_x, in_y = _varied(x), _varied(y)
    return np.where(in_x & in_y if paired else in_x[:, None] & in_y, correlations, np.nan)


def _pairs(x: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the indices of both systems of every pair, in blocks."""
    first, second = np.triu_indices(x.shape[1], 1)
    step = max(_BLOCK // max(len(x), len(y), 1), 1)
    for start in range(0, len(first), step):
        yield first[start : start + step], second[start : start + step]


def _signs(values: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Compute 1 where i is better, -1 where j is better, else 0: float32 [ordering, pair]."""
    a, b = values[:, i], values[:, j]
    return np.subtract(a > b, a < b, dtype=np.float32)


def _lower(values: np.ndarray, weight: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Compute signs times the weight of the pair's lower system: float64 [ordering, pair]."""
    sign = _signs(values, i, j)
    return sign * np.where(sign > 0, weight[:, j], weight[:, i])


def _above(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Count, for each system, the systems above it in y that x ranks above, and below."""
    counts = np.empty((2, *x.shape), np.int64)
    concordance(np.ascontiguousarray(x), np.ascontiguousarray(y), counts[0], counts[1])
    return counts[0], counts[1]


def _concordance(
    x: np.ndarray, y: np.ndarray, paired: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count concordant minus discordant pairs, and the pairs untied in x and in y.

    Unless `paired`, a matrix product of signs, integers below 2^24 in every block: exact.
    """
    if paired:
        counts = np.empty((len(x), 3), np.int64)
        concordant_pairs(np.ascontiguousarray(x), np.ascontiguousarray(y), counts)
        agreed, in_x, in_y = counts.T.astype(np.float64)
        return agreed, in_x, in_y
    in_x = (x.shape[1] - tie_groups(x)[1]).sum(axis=1) / 2
    in_y = in_x if y is x else (y.shape[1] - tie_groups(y)[1]).sum(axis=1) / 2
    agreed = np.zeros((len(x), len(y)))
    for i, j in _pairs(x, y):
        left = _signs(x, i, j)
        agreed += left @ (left if y is x else _signs(y, i, j)).T
    return agreed, in_x[:, None], in_y


def _one_way(x: np.ndarray, y: np.ndarray, paired: bool) -> np.ndarray:
    """Compute one direction of tau_AP,b: estimates y with references x."""
    above, _ = tie_groups(y)
    weight = 1 / np.maximum(above, 1)
    lower = np.count_nonzero(above, axis=1)
    if paired:
        total = 2 * (_above(x, y)[0] * weight).sum(axis=1)
    else:
        total = np.zeros((len(x), len(y)))
        for i, j in _pairs(x, y):
            sign, weighted = _signs(x, i, j), _lower(y, weight, i, j)
            # The two terms add up to twice the concordant pairs; other pairs cancel.
            total += sign @ weighted.T
            total += np.abs(sign) @ np.abs(weighted).T
    return _defined(x, y, total / np.maximum(lower, 1) - 1, paired)


def _centred(values: np.ndarray) -> np.ndarray:
    if values.shape[1] == 0:
        return values
    with np.errstate(invalid="ignore", divide="ignore"):
        centred = values - values.mean(axis=1, keepdims=True)
        # Scaled, so that squares of tiny or huge values neither underflow nor overflow.
        return centred / np.abs(centred).max(axis=1, keepdims=True)


def _cosine(
    left: np.ndarray, right: np.ndarray, x: np.ndarray, y: np.ndarray, paired: bool
) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = np.sqrt(np.square(left).sum(axis=1)), np.sqrt(np.square(right).sum(axis=1))
        product = np.einsum("ij,ij->i", left, right) if paired else left @ right.T
        cosine = product / (a if paired else a[:, None]) / b
    return _defined(x, y, np.clip(cosine, -1.0, 1.0), paired)


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
    """Compute RBO (ext, min, max) of rankings by score: float64 [x, y, 3], [x, 1, 3] if `paired`.

    The greatest score comes first, and equal scores tie. Items with score NaN are not ranked.
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

"""Correlations of many orderings of the same systems at once, as functions of plain arrays.

Every one takes x float64 [ordering, system] and y of as many systems, without NaN, and gives
float64 [x, y], or with `paired` float64 [ordering] of each row of x with the same row of y. Greater
values are better. Where an ordering ties all systems, or there are fewer than two, it is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from irmeta.kernels.orders import concordance

Correlation = Callable[[np.ndarray, np.ndarray, bool], np.ndarray]

_BLOCK = 1 << 22  # signs held at once: 16 MB, and a sum of so many is exact as float32
_FEW = 16  # pairs of orderings that are done faster one by one
_DIGITS = 12


def over_common(correlation: Correlation, x: np.ndarray, y: np.ndarray, paired: bool) -> np.ndarray:
    """The correlations, each over the systems that both orderings have: those that are not NaN.

    Orderings that lack the same systems are done together, so that the time grows with the number
    of different gaps and not with that of orderings.
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
        for other, columns in groups:
            both = known & other
            left = x[np.ix_(rows, both)]
            # One and the same array lets the function spare half of the work.
            same = y is x and rows[0] == columns[0]
            right = left if same else y[np.ix_(columns, both)]
            out[np.ix_(rows, columns)] = _all_with_all(correlation, left, right)
    return out


def _alike(known: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every different row of a mask, and the places of the rows like it."""
    if len(known) == 0:
        return
    masks, which = np.unique(known, axis=0, return_inverse=True)
    for i, mask in enumerate(masks):
        yield mask, np.flatnonzero(which == i)


def _all_with_all(correlation: Correlation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if len(x) * len(y) > _FEW:
        return correlation(x, y, False)
    pairs = np.repeat(x, len(y), axis=0), np.tile(y, (len(x), 1))
    return correlation(*pairs, True).reshape(len(x), len(y))


def round_means(values: np.ndarray) -> np.ndarray:
    """Means rounded to 12 significant digits of the greatest, so that equal ones are equal.

    Two systems with the same values on other queries would else differ by the order of summing.
    """
    finite = np.abs(values[np.isfinite(values)])
    top = finite.max(initial=0.0)
    if not 1e-280 < top < 1e280:
        return values
    # Rounded in decimals relative to the greatest; dividing again gives the nearest float.
    places = _DIGITS - 1 - int(np.floor(np.log10(top)))
    unit = 10.0 ** abs(places)
    return np.round(values * unit) / unit if places >= 0 else np.round(values / unit) * unit


def settled_each(values: np.ndarray) -> np.ndarray:
    """As `round_means`, but each value rounded to 12 digits of its own.

    For means of values that are 0 or more, which differ by rounding in their own last digits,
    however far apart they lie.
    """
    return np.array([float(f"{value:.{_DIGITS - 1}e}") for value in values.tolist()])


def kendall_tau_a(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """(concordant - discordant) / (n (n - 1) / 2): Kendall 1938."""
    agreed, in_x, in_y = _concordance(x, y, paired)
    pairs = x.shape[1] * (x.shape[1] - 1) / 2
    return np.where((in_x > 0) & (in_y > 0), agreed / max(pairs, 1.0), np.nan)


def kendall_tau_b(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """(concordant - discordant) / sqrt(pairs untied in x, times those in y): Kendall 1945."""
    agreed, in_x, in_y = _concordance(x, y, paired)
    known = (in_x > 0) & (in_y > 0)
    # Two roots, as scipy has it: one root of the product gives other last digits.
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = agreed / np.sqrt(in_x) / np.sqrt(in_y)
    # An order with itself, or turned round, has exactly 1 or -1.
    alike = (np.abs(agreed) == in_x) & (in_x == in_y)
    return np.where(known, np.where(alike, np.sign(agreed), tau), np.nan)


def tau_ap(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """AP correlation of estimates y with references x: not symmetric.

    ``1 / (n - 1) sum over pairs untied in y of sign(x) sign(y) / (i - 1)``, i the place in y of the
    pair's lower system. This is Yilmaz, Aslam and Robertson 2008, Eq. 4
    (doi:10.1145/1390334.1390435), ``2 / (n - 1) sum over i > 1 of C(i) / (i - 1), minus 1``, where
    C(i) counts the systems above place i of y that x, too, has above. With ties in y it is
    tau_AP,a of Urbano and Marrero 2017 (doi:10.1145/3121050.3121106), the mean over all ways to
    break them, which puts the mean of 1 / (i - 1) over a tie group for that of each of its systems.
    They do not allow ties in x; here those, too, are broken in all ways, so that such a pair adds
    nothing.
    """
    size = x.shape[1]
    above, tied = tie_groups(y)
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, max(size, 1)))))
    under = np.maximum(above, 1)  # no pair has a system of the first group as its lower
    weight = (harmonic[np.minimum(under + tied - 1, size - 1)] - harmonic[under - 1]) / tied
    if paired:
        same, opposite = _above(x, y)
        total = ((same - opposite) * weight).sum(axis=1)
    else:
        total = np.zeros((len(x), len(y)))
        for i, j in _pairs(x, y):
            total += _signs(x, i, j) @ _lower(y, weight, i, j).T
    return _defined(x, y, total / max(size - 1, 1), paired)


def tau_ap_b(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """AP correlation of two orderings with ties, neither the reference: symmetric.

    tau_AP,b of Urbano and Marrero 2017 (doi:10.1145/3121050.3121106): the mean of both directions
    of ``2 / (n - t_1) sum over i of C(i) / (p(i) - 1), minus 1``, where the sum takes the systems
    below the first tie group (of t_1 systems), p(i) is the first place of i's group and C(i) counts
    the systems above that group which the other ordering, too, has above i: those that it ties with
    i do not count, as in the authors' R package.
    """
    other = _one_way(y, x, paired)
    return (_one_way(x, y, paired) + (other if paired else other.T)) / 2


def spearman(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Pearson's correlation of ranks, ties sharing the mean of theirs: Spearman 1904."""
    return _cosine(_mid_ranks(x), _mid_ranks(y), x, y, paired)


def pearson(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Product-moment correlation of the values; NaN where any is infinite."""
    return _cosine(_centred(x), _centred(y), x, y, paired)


def rmse(x: np.ndarray, y: np.ndarray, paired: bool = False) -> np.ndarray:
    """Root of the mean squared difference of the values; also defined where all are the same."""
    if x.shape[1] == 0:
        return np.full(_shape(x, y, paired), np.nan)
    with np.errstate(invalid="ignore"):
        if paired:
            return np.sqrt(np.square(x - y).mean(axis=1))
        # Row by row: the differences themselves, since |x|^2 + |y|^2 - 2 xy would cancel.
        return np.sqrt(np.array([np.square(row - y).mean(axis=1) for row in x]))


def tie_groups(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For every value of every row, how many of the row are greater, and how many equal to it."""
    rows, size = values.shape
    order = np.argsort(-values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    begins = np.ones((rows, size), bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    place = np.arange(size)
    start = np.maximum.accumulate(np.where(begins, place, 0), axis=1)
    ends = np.ones((rows, size), bool)
    ends[:, :-1] = begins[:, 1:]
    end = np.where(ends, place, size)[:, ::-1]
    end = np.minimum.accumulate(end, axis=1)[:, ::-1]
    above, tied = np.empty((rows, size), np.int64), np.empty((rows, size), np.int64)
    np.put_along_axis(above, order, start, axis=1)
    np.put_along_axis(tied, order, end - start + 1, axis=1)
    return above, tied


def _shape(x: np.ndarray, y: np.ndarray, paired: bool) -> tuple[int, ...]:
    return (len(x),) if paired else (len(x), len(y))


def _varied(values: np.ndarray) -> np.ndarray:
    """Whether a row has two different values."""
    return (values != values[:, :1]).any(axis=1)


def _defined(x: np.ndarray, y: np.ndarray, found: np.ndarray, paired: bool) -> np.ndarray:
    """The same with NaN where either ordering ties all."""
    in_x, in_y = _varied(x), _varied(y)
    return np.where(in_x & in_y if paired else in_x[:, None] & in_y, found, np.nan)


def _pairs(x: np.ndarray, y: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The places of both systems of every pair, a block at a time."""
    first, second = np.triu_indices(x.shape[1], 1)
    step = max(_BLOCK // max(len(x), len(y), 1), 1)
    for start in range(0, len(first), step):
        yield first[start : start + step], second[start : start + step]


def _signs(values: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """float32 [ordering, pair]: 1 where i is the better, -1 where j is, 0 where they tie."""
    a, b = values[:, i], values[:, j]
    return np.subtract(a > b, a < b, dtype=np.float32)


def _lower(values: np.ndarray, weight: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """float64 [ordering, pair]: the signs, times the weight of the pair's lower system."""
    sign = _signs(values, i, j)
    return sign * np.where(sign > 0, weight[:, j], weight[:, i])


def _above(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each system, those above it in y that x has above it, and that it has below it."""
    counts = np.empty((2, *x.shape), np.int64)
    concordance(np.ascontiguousarray(x), np.ascontiguousarray(y), counts[0], counts[1])
    return counts[0], counts[1]


def _concordance(
    x: np.ndarray, y: np.ndarray, paired: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Concordant less discordant pairs, and the pairs untied in x and in y, shaped to go with it.

    All with all it is a matrix product of signs: whole numbers of less than 2^24 in every block, so
    float32 is exact.
    """
    in_x = (x.shape[1] - tie_groups(x)[1]).sum(axis=1) / 2
    in_y = in_x if y is x else (y.shape[1] - tie_groups(y)[1]).sum(axis=1) / 2
    if paired:
        same, opposite = _above(x, y)
        return (same - opposite).sum(axis=1).astype(np.float64), in_x, in_y
    agreed = np.zeros((len(x), len(y)))
    for i, j in _pairs(x, y):
        left = _signs(x, i, j)
        agreed += left @ (left if y is x else _signs(y, i, j)).T
    return agreed, in_x[:, None], in_y


def _one_way(x: np.ndarray, y: np.ndarray, paired: bool) -> np.ndarray:
    """tau_AP,b of estimates y with references x before both directions are put together."""
    above, _ = tie_groups(y)
    weight = 1 / np.maximum(above, 1)
    lower = np.count_nonzero(above, axis=1)
    if paired:
        total = 2 * (_above(x, y)[0] * weight).sum(axis=1)
    else:
        total = np.zeros((len(x), len(y)))
        for i, j in _pairs(x, y):
            sign, weighted = _signs(x, i, j), _lower(y, weight, i, j)
            # Together twice the concordant pairs, neither the discordant nor those that x ties.
            total += sign @ weighted.T
            total += np.abs(sign) @ np.abs(weighted).T
    return _defined(x, y, total / np.maximum(lower, 1) - 1, paired)


def _mid_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks less their mean, the greatest value first; whole or half numbers, hence exact."""
    above, tied = tie_groups(values)
    return (values.shape[1] - tied) / 2 - above


def _centred(values: np.ndarray) -> np.ndarray:
    if values.shape[1] == 0:
        return values
    with np.errstate(invalid="ignore", divide="ignore"):
        away = values - values.mean(axis=1, keepdims=True)
        # Scaled, so that squares of tiny or huge values neither vanish nor overflow.
        return away / np.abs(away).max(axis=1, keepdims=True)


def _cosine(
    left: np.ndarray, right: np.ndarray, x: np.ndarray, y: np.ndarray, paired: bool
) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = np.sqrt(np.square(left).sum(axis=1)), np.sqrt(np.square(right).sum(axis=1))
        product = np.einsum("ij,ij->i", left, right) if paired else left @ right.T
        found = product / (a if paired else a[:, None]) / b
    return _defined(x, y, np.clip(found, -1.0, 1.0), paired)

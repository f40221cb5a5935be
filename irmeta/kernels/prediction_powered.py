"""Prediction-powered estimates: of given moments, and of many draws of labelled queries.

Methods are numbers: `TUNED` (PPI++), `WHOLE` (weight 1) and `FIXED` (the difference estimator of
the mean over a fixed set of queries). `y` are values by the reference and `f` by the judge.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit

TUNED, WHOLE, FIXED = range(3)
_TILE = 128  # targets whose sums stay in the cache of a core
_NOTHING = 1e-12  # a margin of 0 within rounding of the values covers the truth


@inner
def _estimate(method, n, m, y, f, f_rest, yy, ff, yf, ff_rest, ff_all, rounding):
    """Return the estimate, its squared standard error, and the weight of the judge."""
    w = 0.0 if m == 0 else 1.0
    if method == TUNED and m > 0:
        cost = (1 + n / m) * ff_all
        w = min(max(yf / cost, 0.0), 1.0) if cost > 0 else 0.0
    spread = yy + w * w * ff
    residual = spread - 2 * w * yf
    if residual <= rounding * spread:
        residual = 0.0
    if method == FIXED:
        judged = (n * f + m * f_rest) / (n + m)
        return y + w * (judged - f), (1 - n / (n + m)) * residual / n, w
    return y + w * (f_rest - f), residual / n + w * w * ff_rest / max(m, 1), w


@jit
def estimates(
    method: Int,
    n: float,
    m: float,
    y: Array,
    f: Array,
    f_rest: Array,
    yy: Array,
    ff: Array,
    yf: Array,
    ff_rest: Array,
    ff_all: Array,
    rounding: float,
    out: Array,
) -> None:
    """Write the estimates, their squared standard errors, and the weights of the judge.

    `method`, `n`, `m`: the method, and the numbers of queries labelled by both and by the judge
    alone. `y`, `f`, `f_rest`: float64 [target]: means over the labelled queries and over the rest.
    `yy`, `ff`, `yf`, `ff_rest`, `ff_all`: float64 [target]: variances and covariance over the
    labelled queries, and variances over the rest and over all. `rounding`: a spread of at most this
    share is 0. `out`: float64 [3, target].
    """
    for t in range(len(y)):
        out[0, t], out[1, t], out[2, t] = _estimate(
            method, n, m, y[t], f[t], f_rest[t], yy[t], ff[t], yf[t], ff_rest[t], ff_all[t],
            rounding,
        )  # fmt: skip


@inner
def _variance(squares, mean, number):
    return max(squares - number * (mean * mean), 0.0) / (number - 1)


@inner
def _add_rows(values, rows, start, sums):
    """Add some rows of one moment; slices are contiguous, so that LLVM vectorizes the sum."""
    for row in rows:
        added = values[row, start : start + len(sums)]
        for t in range(len(sums)):
            sums[t] += added[t]


@inner
def _add_up(moments, order, sizes, start, sums):
    """Write the sums of all moments over the first queries, and of f and ff over all queries."""
    sums[:] = 0.0
    for moment in range(5):
        done = 0
        for k in range(len(sizes)):
            if k > 0:
                sums[k, moment] = sums[k - 1, moment]
            _add_rows(moments[moment], order[done : sizes[k]], start, sums[k, moment])
            done = sizes[k]
        if moment in (2, 3):
            sums[-1, moment] = sums[-2, moment]
            _add_rows(moments[moment], order[done:], start, sums[-1, moment])


@inner
def _tally(sums, every, n, number, factor, method, rounding, totals, covered):
    """Add the intervals of one draw, size and method, from the sums over labelled and all."""
    m = number - n
    share = 1 - n / number if method == FIXED else 1.0
    width, width_alone, covered_alone = 0.0, 0.0, 0.0
    for t in range(len(covered)):
        y, f = sums[0, t] / n, sums[2, t] / n
        f_rest = (every[2, t] - sums[2, t]) / m
        yy, ff = _variance(sums[1, t], y, n), _variance(sums[3, t], f, n)
        yf = (sums[4, t] - n * (y * f)) / (n - 1)
        ff_all = _variance(every[3, t], every[2, t] / number, number)
        ff_rest = _variance(every[3, t] - sums[3, t], f_rest, m) if m > 1 else ff_all
        estimate, squared, _ = _estimate(
            method, n, m, y, f, f_rest, yy, ff, yf, ff_rest, ff_all, rounding
        )
        margin, alone = factor * np.sqrt(squared), factor * np.sqrt(share * yy / n)
        width += 2 * margin
        width_alone += 2 * alone
        covered_alone += 1.0 if abs(y) <= alone + _NOTHING else 0.0
        covered[t] += 1 if abs(estimate) <= margin + _NOTHING else 0
    totals[0] += width
    totals[1] += width_alone
    totals[2] += covered_alone


@jit
def tally_intervals(
    moments: Array,
    orders: Array,
    sizes: Array,
    factors: Array,
    methods: Array,
    rounding: float,
    totals: Array,
    covered: Array,
) -> None:
    """Add up widths of intervals, and count those that cover the truth, which is 0.

    `moments`: float64 [5, query, target]: y, yy, f, ff and yf, where y and f are less their mean.
    `orders`: int64 [draw, place]: the drawn queries; the first of each are labelled by the
    reference. `sizes`: int64 [size]: ascending numbers of labelled queries. `factors`: float64
    [size]: quantiles of Student's t. `methods`: int64 [method]. `rounding`: a spread of at most
    this share is 0. `totals`: float64 [size, method, 3]: the sums of widths, of widths by the
    reference alone, and the number of intervals by the reference alone that cover the truth, are
    added. `covered`: int64 [size, method, target]: the numbers of intervals that cover the truth
    are added.
    """
    number, targets = orders.shape[1], moments.shape[2]
    for start in range(0, targets, _TILE):
        stop = min(start + _TILE, targets)
        sums = np.empty((len(sizes) + 1, 5, stop - start))
        for order in orders:
            _add_up(moments, order, sizes, start, sums)
            for k in range(len(sizes)):
                for i in range(len(methods)):
                    _tally(
                        sums[k], sums[-1], sizes[k], number, factors[k], methods[i], rounding,
                        totals[k, i], covered[k, i, start:stop],
                    )  # fmt: skip

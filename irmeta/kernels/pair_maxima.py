"""Bootstrap of the greatest studentised difference of the pairs of each system.

A pair's resamples are the inner loop, which LLVM vectorises. A pair is merged into the maxima after
all its resamples, because a pair without spread in any of them takes no part.
"""

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit

_TILE = 16  # systems whose maxima stay in the cache


@jit
def pair_maxima(
    values: Array,
    shifts: Array,
    mean: Array,
    error: Array,
    queries: Array,
    times: Array,
    renewed: Int,
    least: float,
    first: Int,
    last: Int,
    tested: Array,
    largest: Array,
) -> None:
    """Raise `largest` to the greatest |t*| of the pairs of systems `first` to `last` - 1.

    With D the pair's mean difference, t* = (D* - D) / error, of error in the sample or, if
    `renewed`, in the resample, for the queries on which both systems have a value. `values`:
    float64 [system, query]; NaN: undefined. `shifts`: float64 [system, resample]: resampled mean
    minus mean, of systems with a value of every query. `mean`, `error`: float64 [system, system]:
    difference of the means and its standard error, above 0 for a tested pair. `queries`: int32
    [system, system]: number of queries of the pair. `times`: float64 [query, resample]: how often
    each resample has each query. `least`: share of the pair's sum of squares up to which a resample
    has no spread. `tested`: int8 [system, system]: 1 if t* counts for the row's system, 2 if -t*
    does, 3: both; t* is of the row minus the column. Both are set to 0 for a pair without spread in
    any resample. `largest`: float64 [system, resample]; raised, for both systems of a pair.
    """
    number, resamples = times.shape
    t, squares, some = np.empty((3, resamples))
    off = np.empty(0)
    every = np.full(resamples, float(number))
    for start in range(first, len(values), _TILE):
        for a in range(first, last):
            for b in range(max(a + 1, start), min(start + _TILE, len(values))):
                mine, other = tested[a, b], _turned(tested[b, a])
                if mine == 0 and other == 0:
                    continue
                is_complete = queries[a, b] == number
                drawn = every if is_complete else some
                if is_complete:
                    _subtract(shifts[a], shifts[b], t)
                if renewed or not is_complete:
                    off = values[a] - values[b] - mean[a, b]
                if not is_complete:
                    _add((off == off) * 1.0, times, some)
                    off = np.where(off == off, off, 0.0)
                    _add(off, times, t)
                    t /= np.maximum(some, 1.0)
                if renewed:
                    _add(off * off, times, squares)
                    rest = squares / np.maximum(drawn, 1.0) - t * t
                    limit = least * error[a, b] ** 2 * queries[a, b] * (queries[a, b] - 1)
                    has_spread = ((drawn > 1.0) & (rest * drawn > limit)).all()
                    if has_spread:
                        t *= np.sqrt((drawn - 1.0) / rest)
                else:
                    has_spread = is_complete or (some > 0.0).all()
                    t *= 1.0 / error[a, b]
                if has_spread:
                    _merge(t, mine, largest[a])
                    _merge(t, other, largest[b])
                else:
                    tested[a, b] = tested[b, a] = 0


@inner
def _subtract(x, y, out):
    """Write the difference of two rows."""
    for r in range(len(out)):
        out[r] = x[r] - y[r]


@inner
def _add(terms, times, out):
    """Write the sum of the terms of the queries of each resample, four queries at once."""
    out[:] = 0.0
    for q in range(0, len(terms) - 3, 4):
        one, two, three, four = terms[q], terms[q + 1], terms[q + 2], terms[q + 3]
        for r in range(times.shape[1]):
            out[r] += (times[q, r] * one + times[q + 1, r] * two) + (
                times[q + 2, r] * three + times[q + 3, r] * four
            )
    for q in range(len(terms) // 4 * 4, len(terms)):
        one = terms[q]
        for r in range(times.shape[1]):
            out[r] += times[q, r] * one


@inner
def _merge(t, signs, largest):
    """Raise the maxima to t*, -t* or both."""
    up, down = float(signs & 1), float((signs >> 1) & 1)
    for r in range(len(t)):
        one, other = t[r] * up, -t[r] * down
        both = one if one > other else other
        largest[r] = both if both > largest[r] else largest[r]


@inner
def _turned(signs):
    """Exchange the signs of t*, for the pair in the other order."""
    return (signs & 1) << 1 | (signs >> 1) & 1

"""Bootstrap of the greatest studentised difference of the pairs of each system.

A pair's resamples are the inner loop, which LLVM vectorises. A pair is merged into the maxima after
all its resamples, because a pair without spread in any of them takes no part.
"""

import numpy as np

from irmeta.kernels.jit import inner, jit


@jit
def pair_maxima(
    values, shifts, mean, error, queries, times, renewed, least, first, last, tested, largest
):
    """Raise `largest` to the greatest |t*| of the pairs of systems `first` to `last` - 1.

    With D the pair's mean difference, t* = (D* - D) / error, of error in the sample or, if
    `renewed`, in the resample, for the queries on which both systems have a value.

    Parameters
    ----------
    values
        float64 [system, query]; NaN: undefined.
    shifts
        float64 [system, resample]: resampled mean minus mean, of systems with a value of every
        query.
    mean, error
        float64 [system, system]: difference of the means and its standard error, above 0 for a
        tested pair.
    queries
        int32 [system, system]: number of queries of the pair.
    times
        float64 [query, resample]: how often each resample has each query.
    least
        Share of the pair's sum of squares up to which a resample has no spread.
    tested
        int8 [system, system]: 1 if t* counts for the row's system, 2 if -t* does, 3: both; t* is of
        the row minus the column. Both are set to 0 for a pair without spread in any resample.
    largest
        float64 [system, resample]; raised, for both systems of a pair.
    """
    number, resamples = times.shape
    t, sums, squares, drawn = np.empty((4, resamples))
    for a in range(first, last):
        for b in range(a + 1, len(values)):
            if tested[a, b] == 0 and tested[b, a] == 0:
                continue
            is_complete = queries[a, b] == number
            if is_complete:
                for r in range(resamples):
                    sums[r] = (shifts[a, r] - shifts[b, r]) * number
                    drawn[r] = number
            if renewed or not is_complete:
                _add_pair(
                    values[a], values[b], mean[a, b], times, is_complete, sums, squares, drawn
                )
            own = error[a, b] * error[a, b] * queries[a, b] * (queries[a, b] - 1)
            if _studentise(sums, squares, drawn, error[a, b], own * least, renewed, t):
                _merge(t, tested[a, b], largest[a])
                _merge(t, _turned(tested[b, a]), largest[b])
            else:
                tested[a, b] = tested[b, a] = 0


@inner
def _add_pair(x, y, mean, times, is_complete, sums, squares, drawn):
    """Sum the centred differences of the resamples, their squares and their number."""
    squares[:] = 0.0
    if not is_complete:
        sums[:] = 0.0
        drawn[:] = 0.0
    for q in range(len(times)):
        off = x[q] - y[q] - mean
        if off != off:
            continue
        square = off * off
        for r in range(len(sums)):
            squares[r] += times[q, r] * square
        if not is_complete:
            for r in range(len(sums)):
                sums[r] += times[q, r] * off
                drawn[r] += times[q, r]


@inner
def _studentise(sums, squares, drawn, error, least, renewed, t):
    """Write t* of each resample; return whether all have enough queries and spread."""
    failures = 0
    for r in range(len(t)):
        n = drawn[r]
        shift = sums[r] / n if n > 0 else 0.0
        if renewed:
            rest = squares[r] - sums[r] * shift
            is_spread = rest > least and n > 1
            t[r] = shift / np.sqrt(rest / (n * (n - 1))) if is_spread else 0.0
            failures += not is_spread
        else:
            t[r] = shift / error
            failures += not n > 0
    return failures == 0


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

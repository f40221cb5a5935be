"""Sums over resampled queries for all pairs of systems."""

from irmeta.kernels.jit import jit


@jit
def count_as_far(sums, threshold, count):
    """Count the resamples where the sums of two systems differ by at least the threshold.

    Parameters
    ----------
    sums
        float64 [system, resample].
    threshold, count
        float64 and int64 [system, system]; only the upper triangle is used. `count` is added to.
    """
    for a in range(sums.shape[0]):
        for b in range(a + 1, sums.shape[0]):
            limit = threshold[a, b]
            exceeding = 0
            for r in range(sums.shape[1]):
                exceeding += abs(sums[a, r] - sums[b, r]) >= limit
            count[a, b] += exceeding


@jit
def weighted_sums(values, times, out):
    """Add the product of values [system, query] and [query, resample] to `out` [system, resample].

    The last bits of BLAS would depend on its number of threads.
    """
    for s in range(values.shape[0]):
        for q in range(values.shape[1]):
            value = values[s, q]
            for r in range(times.shape[1]):
                out[s, r] += value * times[q, r]


@jit
def resampled_means(differences, draws, out):
    """Compute means over queries drawn with replacement from those where a pair has a difference.

    Parameters
    ----------
    differences
        float64 [pair, query]; NaN: undefined.
    draws
        float32 in [0, 1) [resample, query]: relative index in the pair's list of queries.
    out
        float64 [pair, resample]; written for pairs with a query.
    """
    for i in range(differences.shape[0]):
        known = differences[i][differences[i] == differences[i]]
        number = len(known)
        if number == 0:
            continue
        for r in range(draws.shape[0]):
            total = 0.0
            for k in range(number):
                total += known[int(float(draws[r, k]) * number)]
            out[i, r] = total / number

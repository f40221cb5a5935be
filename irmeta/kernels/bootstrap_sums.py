"""Sums over resampled queries, of all pairs of systems."""

from irmeta.kernels.jit import jit


@jit
def count_as_far(sums, threshold, count):
    """Add to `count` how often two systems' resampled sums differ by the threshold or more.

    Parameters
    ----------
    sums
        float64 [system, resample].
    threshold, count
        float64 and int64 [system, system]; only the part above the diagonal is used.
    """
    for a in range(sums.shape[0]):
        for b in range(a + 1, sums.shape[0]):
            limit = threshold[a, b]
            found = 0
            for r in range(sums.shape[1]):
                found += abs(sums[a, r] - sums[b, r]) >= limit
            count[a, b] += found


@jit
def weighted_sums(values, times, out):
    """Add to `out` [system, resample] the sums of values [system, query] times [query, resample].

    Not BLAS, whose last bits depend on the number of its threads.
    """
    for s in range(values.shape[0]):
        for q in range(values.shape[1]):
            value = values[s, q]
            for r in range(times.shape[1]):
                out[s, r] += value * times[q, r]


@jit
def resampled_means(differences, draws, out):
    """Compute means of queries drawn with replacement from those where a pair has a difference.

    Parameters
    ----------
    differences
        float64 [pair, query]; NaN: undefined.
    draws
        float32 in [0, 1) [resample, query]: each names the query that far into the pair's list.
    out
        float64 [pair, resample]; written where a pair has a query.
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

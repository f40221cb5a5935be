"""Means and comparisons of systems on many subsets and resamples of the queries."""

from irmeta.kernels.jit import jit


@jit
def subset_means(values, subsets, out):
    """Compute the mean of each column over each set of rows, summed in the set's order.

    `values` is float64 [rows, columns], `subsets` int64 [sets, size], `out` [sets, columns].
    """
    size = subsets.shape[1]
    for t in range(len(subsets)):
        out[t] = 0.0
        for i in range(size):
            row = subsets[t, i]
            for s in range(values.shape[1]):
                out[t, s] += values[row, s]
        for s in range(values.shape[1]):
            out[t, s] /= size


@jit
def add_wins(means, least, share, wins):
    """Count the trials in which one system's mean is above another's by more than a margin.

    Parameters
    ----------
    means
        float64 [systems, trials].
    least, share
        The margin is `least` plus `share` times the larger of the two |means|.
    wins
        int32 [systems, systems]; added to: number of trials where the row is above the column.
    """
    systems, trials = means.shape
    for a in range(systems):
        for b in range(a + 1, systems):
            above = below = 0
            for t in range(trials):
                x, y = means[a, t], means[b, t]
                margin = least + share * max(abs(x), abs(y))
                above += x - y > margin
                below += y - x > margin
            wins[a, b] += above
            wins[b, a] += below


@jit
def add_swaps(first, second, width, slack, comparisons, swaps):
    """Count pairs by |difference| in one half, and the pairs that the other half swaps.

    Parameters
    ----------
    first, second
        float64 [systems, trials]: means on the first and second half.
    width
        Width of a bin; the last bin has no upper bound.
    slack
        Rounding error: differences up to `slack` are 0, and bins begin `slack` earlier.
    comparisons, swaps
        int64 [bins]; added to.
    """
    systems, trials = first.shape
    last = len(comparisons) - 1
    for a in range(systems):
        for b in range(a + 1, systems):
            for t in range(trials):
                d = first[a, t] - first[b, t]
                e = second[a, t] - second[b, t]
                bin_ = int(min((abs(d) + slack) / width, float(last)))
                comparisons[bin_] += 1
                if (d > slack and e < -slack) or (d < -slack and e > slack):
                    swaps[bin_] += 1


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

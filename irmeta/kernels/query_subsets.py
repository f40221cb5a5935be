"""Comparisons of systems on many sets of queries."""

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

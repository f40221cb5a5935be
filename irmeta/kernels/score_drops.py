"""Comparison of the scores of pairs of rankings, for several measures."""

from irmeta.kernels.jit import jit


@jit
def count_drops(scores, is_counted, lower, upper, tie, strict, counts):
    """Count the pairs whose lower ranking scores too much, in one pass without temporary arrays.

    Parameters
    ----------
    scores
        float64 [measures, rankings].
    is_counted
        bool [measures]: whether to count the pairs for the measure.
    lower, upper
        uint32 [n] and [n, m]: ranking i of `lower` makes a pair with each of row i of `upper`.
        Unsigned, because numba checks signed indices for negative ones.
    tie
        Largest difference of equal scores.
    strict
        Whether a pair of equal scores fails too.
    counts
        int64 [measures, 3], added to: pairs that fail, of equal scores, and with a NaN.
    """
    for measure in range(scores.shape[0]):
        if not is_counted[measure]:
            continue
        values = scores[measure]
        rises, tied, undefined = 0, 0, 0
        for i in range(len(lower)):
            low, row = values[lower[i]], upper[i]
            for j in range(len(row)):
                high = values[row[j]]
                drop = low - high
                tied += (low == high) | (abs(drop) <= tie)  # the former for equal infinities
                rises += drop < -tie
                undefined += (high != high) | (low != low)
        pairs = upper.size
        failed = pairs - undefined - rises - (0 if strict else tied)
        counts[measure, 0] += failed
        counts[measure, 1] += tied
        counts[measure, 2] += undefined

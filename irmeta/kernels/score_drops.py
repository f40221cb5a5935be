"""Comparison of the scores of pairs of rankings, for several measures."""

from irmeta.kernels.jit import jit


@jit
def count_drops(scores, reads, lower, upper, tie, strict, counts):
    """Count the pairs whose lower ranking scores too much, in one pass without temporary arrays.

    Parameters
    ----------
    scores
        float64 [measures, rankings].
    reads
        bool [measures]: whether to count the pairs for the measure.
    lower, upper
        int64 [n] and [n, m]: ranking i of `lower` makes a pair with each of row i of `upper`.
    tie
        Largest difference of equal scores.
    strict
        Whether a pair of equal scores fails too.
    counts
        int64 [measures, 4], added to: pairs that fail, of equal scores, with a NaN; and pairs that
        fail of which one is ranking 0, which are in no other count.
    """
    for measure in range(scores.shape[0]):
        if not reads[measure]:
            continue
        failed, tied, undefined, with_empty = 0, 0, 0, 0
        for i in range(len(lower)):
            low = scores[measure, lower[i]]
            for j in range(upper.shape[1]):
                high = scores[measure, upper[i, j]]
                drop = 0.0 if low == high else low - high  # of equal infinities
                fails = drop >= -tie if strict else drop > tie
                if lower[i] == 0 or upper[i, j] == 0:
                    with_empty += fails
                else:
                    failed += fails
                    tied += abs(drop) <= tie
                    undefined += drop != drop
        counts[measure, 0] += failed
        counts[measure, 1] += tied
        counts[measure, 2] += undefined
        counts[measure, 3] += with_empty

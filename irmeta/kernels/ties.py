"""Weights of ranks shared over blocks of tied docs.

In all kernels `cumulative` is float64 by rank: the sum of weights up to the rank; 0 at 0.
"""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def shared_gain(ranks, firsts, lasts, offsets, gains, cumulative, cuts, out):
    """Sum gain times shared weight over the docs of each list, for several cutoffs at once.

    The weight of a tied doc is the mean over its block of weights within the cutoff, the expected
    weight over random orders of the block.

    Parameters
    ----------
    ranks, firsts, lasts
        [docs, systems]: each doc's rank, and the first and last rank of its block.
    offsets, gains, cuts, out
        As in irmeta.kernels.discounted_gains.
    """
    missing = np.iinfo(ranks.dtype).max
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                if gains[row] != 0.0:
                    for s in range(ranks.shape[1]):
                        first, last = np.int64(firsts[row, s]), np.int64(lasts[row, s])
                        if ranks[row, s] != missing and first <= cuts[c]:
                            within = cumulative[min(last, cuts[c])] - cumulative[first - 1]
                            out[c, q, s] += gains[row] * (within / (last - first + 1))


@jit
def averaged_gain(ranks, firsts, lasts, offsets, gains, cumulative, cuts, out):
    """Sum gains like `shared_gain`, with rbp_eval's weight for blocks that the cutoff splits.

    The weight is the mean weight of the block times the share of its ranks within the cutoff.
    """
    missing = np.iinfo(ranks.dtype).max
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                if gains[row] != 0.0:
                    for s in range(ranks.shape[1]):
                        first, last = np.int64(firsts[row, s]), np.int64(lasts[row, s])
                        if ranks[row, s] != missing and first <= cuts[c]:
                            size = last - first + 1
                            mean = (cumulative[last] - cumulative[first - 1]) / size
                            part = (min(last, cuts[c]) - first + 1) / size
                            out[c, q, s] += gains[row] * (mean * part)


@jit
def averaged_total(starts, block_ends, lengths, cumulative, cuts, out):
    """Sum the weights of `averaged_gain` of all docs of each list, judged or not.

    For `starts` (int64 [queries, systems]) and `block_ends` (int32) see `JudgedRanks.blocks`;
    `lengths` is uint32 [queries, systems].
    """
    for c in range(len(cuts)):
        for q in range(lengths.shape[0]):
            for s in range(lengths.shape[1]):
                cut = min(np.int64(lengths[q, s]), cuts[c])
                if cut > 0:
                    last = block_ends[starts[q, s] + cut - 1]
                    first = cut
                    while first > 1 and block_ends[starts[q, s] + first - 2] == last:
                        first -= 1
                    mean = (cumulative[last] - cumulative[first - 1]) / (last - first + 1)
                    out[c, q, s] = cumulative[first - 1] + mean * (cut - first + 1)

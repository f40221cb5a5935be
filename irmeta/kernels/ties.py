"""Weights of ranks shared over blocks of tied docs."""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def shared_gain(ranks, firsts, lasts, offsets, gains, cumulative, cuts, out):
    """Sum gain times shared weight over the docs of each list, for several cutoffs at once.

    The weight of a doc in a block of ties is the block's mean of the weights within the cutoff: its
    expected weight over random orders of the block.

    Parameters
    ----------
    ranks, firsts, lasts
        [docs, systems]: each doc's rank, and the first and last rank of its block.
    cumulative
        float64 by rank: the sum of the weights of all ranks up to it; 0 at 0.
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

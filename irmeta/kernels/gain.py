"""Discounted gains of judged docs, for several cutoffs at once."""

from irmeta.kernels.jit import jit


@jit
def discounted_gain(ranks, offsets, gains, discounts, cuts, out):
    """Add up gain times discount over the docs within each cutoff.

    Parameters
    ----------
    ranks, offsets, cuts, out
        As in irmeta.kernels.precision; `ranks` in any order.
    gains
        float64, one for each row of `ranks`; rows of gain 0 are passed over.
    discounts
        float64 by rank, from ``discounts[1]`` on.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                if gains[row] != 0.0:
                    for s in range(ranks.shape[1]):
                        if ranks[row, s] <= cuts[c]:
                            out[c, q, s] += gains[row] * discounts[ranks[row, s]]

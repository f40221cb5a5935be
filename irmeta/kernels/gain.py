"""Discounted gains of judged docs, and of the ideal list, for several cutoffs at once."""

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


@jit
def ideal_gain(offsets, gains, discounts, cuts, out):
    """The discounted gain of the list that holds a query's docs by gain descending.

    `gains` descend within a query; `out` is float64 [cuts, queries], zero.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            last = min(offsets[q + 1] - offsets[q], cuts[c])
            for i in range(last):
                out[c, q] += gains[offsets[q] + i] * discounts[i + 1]

"""Sums of discounted gains of judged docs within several cutoffs."""

from irmeta.kernels.jit import jit


@jit
def add_worths(ranks, labels, worth, offsets, cuts, out):
    """Sum the discounted gains of the docs within each cutoff, in the order of the list.

    A doc with label l (uint8, shaped like `ranks`) at rank r has the float64 gain ``worth[l, r]``.
    `ranks`, ascending within a query, and the others are as in irmeta.kernels.relevant_counts.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += worth[labels[row, s], ranks[row, s]]

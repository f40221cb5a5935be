"""What judged docs are worth at their ranks, added up to several cutoffs."""

from irmeta.kernels.jit import jit


@jit
def add_worths(ranks, labels, worth, offsets, cuts, out):
    """Add up the worth of the docs within each cutoff, in the order of the list.

    Parameters
    ----------
    ranks, offsets, cuts, out
        As in irmeta.kernels.precision; `ranks` ascend within a query.
    labels
        uint8, as `ranks`: what kind of doc it is.
    worth
        float64 [label, rank]: what such a doc adds at that rank.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += worth[labels[row, s], ranks[row, s]]

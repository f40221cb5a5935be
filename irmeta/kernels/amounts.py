"""Sums of per-doc amounts within several cutoffs."""

from irmeta.kernels.jit import jit


@jit
def amounts_within(ranks, offsets, amounts, cuts, out):
    """Sum the amounts of the docs within each cutoff.

    `amounts` is float64 [docs, systems]; the other arguments as in irmeta.kernels.relevant_counts.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += amounts[row, s]

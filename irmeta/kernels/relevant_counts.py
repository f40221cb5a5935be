"""Counts, precisions and reciprocal ranks of relevant docs, for several cutoffs at once.

In all kernels `ranks` is [docs, systems], the rows of query q at ``offsets[q]:offsets[q + 1]``;
`cuts` are int64 cutoffs below the rank of docs that are not retrieved; `out` is float64
[cuts, queries, systems], zero. Systems are the inner loop: they are adjacent in memory.
"""

from irmeta.kernels.jit import jit


@jit
def count_within(ranks, offsets, cuts, out):
    """Count the docs at or above each cutoff."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    out[c, q, s] += ranks[row, s] <= cuts[c]


@jit
def precision_sum(ranks, offsets, cuts, out):
    """Sum the precisions at the docs within each cutoff; `ranks` ascend within a query."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                relevant = row - offsets[q] + 1.0
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += relevant / ranks[row, s]


@jit
def reciprocal_rank(ranks, offsets, cuts, out):
    """Compute the reciprocal rank of the first doc within the cutoff; `ranks` ascend."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            if offsets[q] < offsets[q + 1]:
                for s in range(ranks.shape[1]):
                    if ranks[offsets[q], s] <= cuts[c]:
                        out[c, q, s] = 1.0 / ranks[offsets[q], s]

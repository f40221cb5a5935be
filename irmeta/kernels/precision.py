"""Counts, precisions and reciprocal ranks of relevant docs, for several cutoffs at once.

In all of these `ranks` is [docs, systems], the rows of query q at ``offsets[q]:offsets[q + 1]``;
`cuts` are int64 cutoffs below the value that stands for not retrieved; `out` is float64
[cuts, queries, systems], zero. Systems are the inner loop: they lie side by side in memory.
"""

from irmeta.kernels.jit import jit


@jit
def count_within(ranks, offsets, cuts, out):
    """How many docs are at or above each cutoff."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    out[c, q, s] += ranks[row, s] <= cuts[c]


@jit
def precision_sum(ranks, offsets, cuts, out):
    """The precisions at the docs within each cutoff, added up; `ranks` ascend within a query."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                found = row - offsets[q] + 1.0
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += found / ranks[row, s]


@jit
def reciprocal_rank(ranks, offsets, cuts, out):
    """One over the first doc's rank where that is within the cutoff; `ranks` ascend."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            if offsets[q] < offsets[q + 1]:
                for s in range(ranks.shape[1]):
                    if ranks[offsets[q], s] <= cuts[c]:
                        out[c, q, s] = 1.0 / ranks[offsets[q], s]

"""Interpolated precisions, and counts up to a cutoff per query.

In both kernels `ranks` is [docs, systems], ascending within a query; the rows of query q are
``offsets[q]:offsets[q + 1]``.
"""

from irmeta.kernels.jit import jit


@jit
def best_precision_from(ranks, offsets, missing, out):
    """Compute the highest precision at each relevant doc or below; 0 if none is retrieved.

    `missing` is the rank of docs that are not retrieved; `out` float64 [docs, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q + 1] - 1, offsets[q] - 1, -1):
            relevant = row - offsets[q] + 1.0
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    out[row, s] = relevant / ranks[row, s]
                    if row + 1 < offsets[q + 1]:
                        out[row, s] = max(out[row, s], out[row + 1, s])


@jit
def count_to_own_cut(ranks, offsets, cuts, out):
    """Count the docs at or above the cutoff of their query.

    `cuts` are int64 [queries], below the rank of docs that are not retrieved; `out` is float64
    [queries, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                out[q, s] += ranks[row, s] <= cuts[q]

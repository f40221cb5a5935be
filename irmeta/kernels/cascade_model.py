"""Cascade model: a user reads down a list and may stop at each doc.

`ranks` is [docs, systems], ascending in the rows of query q, ``offsets[q]:offsets[q + 1]``;
`labels` is uint8 [docs, systems]; the user stops at a doc with probability ``stops[label]``.
"""

from irmeta.kernels.jit import jit


@jit
def stop_amounts(ranks, labels, stops, offsets, missing, reading, amounts):
    """Compute for each doc the probability that the user stops there, divided by its rank.

    `missing` is the rank of docs that are not retrieved, `reading` float64 [systems] working space;
    `amounts` float64 [docs, systems], zero, is written.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            reading[s] = 1.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    stop = stops[labels[row, s]]
                    amounts[row, s] = reading[s] * stop / ranks[row, s]
                    reading[s] *= 1.0 - stop


@jit
def still_reading(ranks, labels, stops, offsets, cuts, out):
    """Multiply `out` by the probability that the user reads on after each cutoff.

    `cuts` and `out` are as in irmeta.kernels.relevant_counts, but `out` need not be zero.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] *= 1.0 - stops[labels[row, s]]

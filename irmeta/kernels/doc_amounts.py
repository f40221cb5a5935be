"""Amounts of the docs of each list: best precisions, blended ratios, stops of a cascade model.

In all kernels `ranks` is [docs, systems], ascending in the rows of query q,
``offsets[q]:offsets[q + 1]``, and `missing` where not retrieved. In the cascade model a user reads
down a list and stops at a doc with probability ``stops[label]``; labels are uint8 [docs, systems].
"""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def best_precision_from(ranks, offsets, missing, out):
    """Compute the highest precision at each relevant doc or below; 0 if none is retrieved.

    `out` is float64 [docs, systems], zero.
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
def blended_ratios(
    ranks, labels, gains, relevant, offsets, missing, ideal, starts, beta, gained, counted, amounts
):
    """Compute the Q-measure's blended ratios: (count + beta gain) / (rank + beta ideal gain).

    Each relevant doc has one, at its rank.

    Parameters
    ----------
    gains, relevant
        float64 and bool by label.
    ideal, starts
        The gain of the first i docs of the ideal list of query q is ``ideal[starts[q] + i]``, for i
        below ``starts[q + 1] - starts[q]``.
    gained, counted
        float64 [systems]: working space.
    amounts
        float64 [docs, systems], zero; written.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for s in range(ranks.shape[1]):
            gained[s] = 0.0
            counted[s] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    label = labels[row, s]
                    gained[s] += gains[label]
                    if relevant[label]:
                        counted[s] += 1.0
                        best = ideal[starts[q] + min(np.int64(ranks[row, s]), last)]
                        blended = counted[s] + beta * gained[s]
                        amounts[row, s] = blended / (ranks[row, s] + beta * best)


@jit
def stop_amounts(ranks, labels, stops, offsets, missing, reading, amounts):
    """Compute for each doc the probability that the user stops there, divided by its rank.

    `reading` is float64 [systems], working space; `amounts` float64 [docs, systems], zero, is
    written.
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

    `cuts` and `out` are as in irmeta.kernels.cutoff_sums, but `out` need not be zero.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] *= 1.0 - stops[labels[row, s]]

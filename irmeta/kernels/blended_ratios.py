"""The blended ratios of the Q-measure."""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def blended_ratios(
    ranks, labels, gains, relevant, offsets, missing, ideal, starts, beta, gained, counted, amounts
):
    """Compute (count + beta gain) / (rank + beta ideal gain) at the rank of each relevant doc.

    Parameters
    ----------
    ranks, labels
        [docs, systems], ranks ascending in the rows of query q, ``offsets[q]:offsets[q + 1]``, and
        `missing` where not retrieved; labels uint8.
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

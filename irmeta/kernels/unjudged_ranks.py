"""Unjudged docs of a list: the ranks without a judged doc.

`ranks` is [docs, systems] of judged docs, in any order within a query (`offsets`); `judged` bool by
row: False where a negative grade means unjudged; `lengths` uint32 [queries, systems]; `counts`
int64 working space, longer than any list.
"""

import numpy as np

from irmeta.kernels.jit import inner, jit


@inner
def _judged_up_to(ranks, start, stop, judged, system, length, counts):
    """Write the number of judged docs at ranks up to i into ``counts[i]``, for i up to `length`."""
    for i in range(length + 1):
        counts[i] = 0
    for row in range(start, stop):
        if judged[row] and ranks[row, system] <= length:
            counts[ranks[row, system]] += 1
    for i in range(1, length + 1):
        counts[i] += counts[i - 1]


@jit
def condense(ranks, firsts, lasts, offsets, judged, lengths, counts):
    """Replace ranks by ranks among the judged docs of each list, in place.

    `firsts` and `lasts`, the first and last ranks of blocks of tied docs, are also replaced; they
    have no rows if unknown. `lengths` become the numbers of judged docs.
    """
    missing = np.iinfo(ranks.dtype).max
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = np.int64(lengths[q, s])
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            for row in range(offsets[q], offsets[q + 1]):
                if not judged[row]:
                    ranks[row, s] = missing
                elif ranks[row, s] <= length:
                    if len(firsts) > 0:
                        firsts[row, s] = counts[firsts[row, s] - 1] + 1
                        lasts[row, s] = counts[lasts[row, s]]
                    ranks[row, s] = counts[ranks[row, s]]
            lengths[q, s] = counts[length]


@jit
def unjudged_ranks(ranks, offsets, judged, lengths, deepest, counts, rows, out):
    """Write the ranks of the unjudged docs of each list, ascending, down to `deepest`.

    Query q is written to ``out[rows[q]:rows[q + 1]]``; `out` has the dtype of `ranks` and is filled
    with its maximum.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = min(np.int64(lengths[q, s]), deepest)
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            row = rows[q]
            for i in range(1, length + 1):
                if counts[i] == counts[i - 1]:
                    out[row, s] = i
                    row += 1


@jit
def first_unjudged(ranks, offsets, judged, lengths, counts, out):
    """Compute the rank of the first unjudged doc of each list, or its length + 1.

    `out` is float64 [queries, systems].
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = np.int64(lengths[q, s])
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            i = 1
            while i <= length and counts[i] > counts[i - 1]:
                i += 1
            out[q, s] = i


@jit
def add_unjudged(ranks, offsets, judged, lengths, counts, weights, cuts, out):
    """Sum the weights of the unjudged docs of each list within each cutoff, by rank.

    A doc at rank i has ``weights[i - 1]``; for `cuts` and `out` see irmeta.kernels.cutoff_sums.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = np.int64(lengths[q, s])
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            for c in range(len(cuts)):
                for i in range(1, min(length, cuts[c]) + 1):
                    if counts[i] == counts[i - 1]:
                        out[c, q, s] += weights[i - 1]

"""trec_eval's lesser-known measures of gain, each in the order of its arithmetic.

In all of these `ranks` is [docs, systems], ascending in the rows of query q, which are
``offsets[q]:offsets[q + 1]``; `missing` is the rank of docs that are not retrieved; `out` float64
[queries, systems], zero. With `labels` (uint8, like `ranks`), the gain of a doc is ``gains[label]``
or, discounted, ``worth[label, rank]``. The sum over the first i docs of the ideal list of query q
is ``ideal[starts[q] + i]``, for i below ``starts[q + 1] - starts[q]``.
"""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def ndcg_at_docs(ranks, labels, worth, offsets, missing, ideal, starts, gained, retrieved, out):
    """Sum nDCG at the rank of each doc, or at the end of the list if the doc is not retrieved.

    `ideal` has discounted gains; `gained` and `retrieved` are float64 [systems], working space.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for s in range(ranks.shape[1]):
            gained[s] = 0.0
            retrieved[s] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    gained[s] += worth[labels[row, s], ranks[row, s]]
                    retrieved[s] += 1.0
                    best = ideal[starts[q] + min(np.int64(ranks[row, s]), last)]
                    out[q, s] += gained[s] / best
        if last > 0:
            for s in range(ranks.shape[1]):
                out[q, s] += (last - retrieved[s]) * gained[s] / ideal[starts[q] + last]


@jit
def ndcg_at_ranks(
    ranks, labels, worth, offsets, missing, ideal, starts, ends, bounds, lengths, out
):
    """Average nDCG at given ranks of each query, and at the end of lists that are long enough.

    Parameters
    ----------
    ideal
        Sums of discounted gains.
    ends
        int64: the ranks of query q are ``ends[bounds[q]:bounds[q + 1]]``, ascending; the last is
        the length of the ideal list. Lists longer than that by two or more also count at their end.
    lengths
        uint32 [queries, systems]: lengths of the lists.
    """
    for q in range(len(offsets) - 1):
        if bounds[q] == bounds[q + 1]:
            continue
        length = ends[bounds[q + 1] - 1]
        for s in range(ranks.shape[1]):
            gained, total, row = 0.0, 0.0, offsets[q]
            number = bounds[q + 1] - bounds[q]
            for level in range(bounds[q], bounds[q + 1]):
                while row < offsets[q + 1] and ranks[row, s] <= ends[level]:
                    gained += worth[labels[row, s], ranks[row, s]]
                    row += 1
                total += gained / ideal[starts[q] + ends[level]]
            if lengths[q, s] > length + 1:
                while row < offsets[q + 1] and ranks[row, s] != missing:
                    gained += worth[labels[row, s], ranks[row, s]]
                    row += 1
                total += gained / ideal[starts[q] + length]
                number += 1
            out[q, s] = total / number


@jit
def gain_over_lag(ranks, labels, gains, offsets, missing, ideal, starts, gained, out):
    """Sum gain / log2(2 + lag), where lag is ideal minus actual cumulative gain at the rank.

    `ideal` has gains of at least 1, and gains of 1 after its end; `gained` is float64
    [systems], working space.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for s in range(ranks.shape[1]):
            gained[s] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    gain = gains[labels[row, s]]
                    gained[s] += gain
                    rank = np.int64(ranks[row, s])
                    best = ideal[starts[q] + min(rank, last)] + max(rank - last, 0)
                    out[q, s] += gain / np.log2(2.0 + best - gained[s])


@jit
def discounted_lengths(ranks, offsets, missing, divisors, out):
    """Sum the reciprocals of the divisors, float64 by rank, at the search lengths of the docs."""
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            above = row - offsets[q]
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    out[q, s] += 1.0 / divisors[ranks[row, s] - above]

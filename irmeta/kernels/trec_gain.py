"""trec_eval's lesser-known measures of gain.

In all of these `ranks` is [docs, systems], the rows of query q at ``offsets[q]:offsets[q + 1]``;
`missing` is the rank that stands for not retrieved; `discounts` float64 by rank, from
``discounts[1]`` on; `out` float64 [queries, systems], zero. Where there are `labels` (uint8, as
`ranks`), ranks ascend and a doc gains ``gains[label]``. The sum over the first i docs of the ideal
list of query q is ``ideal[starts[q] + i]``, for i below ``starts[q + 1] - starts[q]``.
"""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def ndcg_at_docs(
    ranks, labels, gains, offsets, missing, discounts, ideal, starts, gained, found, out
):
    """nDCG at the rank of each doc, added up; at the end of the list where it is not retrieved.

    `ideal` has discounted gains; `gained` and `found` are float64 [systems], working space.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for s in range(ranks.shape[1]):
            gained[s] = 0.0
            found[s] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    gained[s] += gains[labels[row, s]] * discounts[ranks[row, s]]
                    found[s] += 1.0
                    best = ideal[starts[q] + min(np.int64(ranks[row, s]), last)]
                    out[q, s] += gained[s] / best
        if last > 0:
            for s in range(ranks.shape[1]):
                out[q, s] += (last - found[s]) * gained[s] / ideal[starts[q] + last]


@jit
def weighted_gain(ranks, gains, offsets, missing, discounts, weights, starts, ends, out):
    """Add up gain times discount times weight; ranks need not ascend.

    Parameters
    ----------
    gains
        float64 by row.
    weights
        A doc at rank i has ``weights[starts[q] + i]``, for i below ``starts[q + 1] - starts[q]``.
    ends
        float64 [queries, systems]: added to the weight of every doc of the list.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    weight = ends[q, s]
                    if ranks[row, s] <= last:
                        weight += weights[starts[q] + ranks[row, s]]
                    out[q, s] += gains[row] * discounts[ranks[row, s]] * weight


@jit
def gain_over_lag(ranks, labels, gains, offsets, missing, ideal, starts, gained, out):
    """Each gain over log2 of 2 and what the list lacks of the ideal one at that rank.

    `ideal` has gains of at least 1 each, and after its end every rank has 1; `gained` is float64
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
def discounted_lengths(ranks, offsets, missing, discounts, out):
    """The discounts at the search lengths of the docs (not at their ranks), added up."""
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            above = row - offsets[q]
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    out[q, s] += discounts[ranks[row, s] - above]

"""Number of systems that retrieve a doc, and sums of docs' weights by their rarity."""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def systems_within(ranks, depth, out):
    """Count for each row of `ranks` [docs, systems] the systems with a rank within `depth`.

    `depth` is below the rank of docs that are not retrieved; `out` int32 [docs], zero.
    """
    for row in range(ranks.shape[0]):
        for s in range(ranks.shape[1]):
            out[row] += ranks[row, s] <= depth


@jit
def systems_within_by_group(ranks, depth, groups, out):
    """Count for each row of `ranks` [docs, systems] the systems of each group within `depth`.

    `groups` int64 [systems]: group of each system; `out` int32 [docs, groups], zero.
    """
    for row in range(ranks.shape[0]):
        for s in range(ranks.shape[1]):
            out[row, groups[s]] += ranks[row, s] <= depth


@jit
def precision_weights(ranks, offsets, lengths, cut, space, out):
    """Sum 1 / rank over the docs at or below each doc in its list, down to rank `cut`.

    The sum of precisions at docs is the sum of these weights over the docs: a doc counts in its own
    precision and in that of every doc below it.

    Parameters
    ----------
    ranks
        [docs, systems]; the rows of query q are ``offsets[q]:offsets[q + 1]``.
    lengths
        [queries, systems]: no rank of a list is greater.
    cut
        int64, below the rank of docs that are not retrieved.
    space
        float64 [longest list + 1], of any content.
    out
        float64 [docs, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            last = min(cut, np.int64(lengths[q, s]))
            space[: last + 1] = 0.0
            for row in range(offsets[q], offsets[q + 1]):
                if ranks[row, s] <= last:
                    space[ranks[row, s]] = 1.0 / ranks[row, s]
            for rank in range(last - 1, 0, -1):
                space[rank] += space[rank + 1]
            for row in range(offsets[q], offsets[q + 1]):
                if ranks[row, s] <= last:
                    out[row, s] = space[ranks[row, s]]


@jit
def add_rarity(weights, offsets, rarity, column, out):
    """Sum the weights of each list's docs times their rarity.

    Parameters
    ----------
    weights
        float64 [docs, systems]; the rows of query q are ``offsets[q]:offsets[q + 1]``.
    rarity
        float64 [docs, columns].
    column
        int64 [systems]: the column of `rarity` for each system.
    out
        float64 [queries, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(weights.shape[1]):
                out[q, s] += weights[row, s] * rarity[row, column[s]]

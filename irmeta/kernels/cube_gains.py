"""Gains of docs that fill a cube, which has a column for each subtopic.

Docs, pairs and subtopics are numbered as in irmeta.kernels.novelty.
"""

from irmeta.kernels.jit import jit


@jit
def cube_gains(
    ranks,
    docs,
    offsets,
    missing,
    starts,
    subtopic,
    ratings,
    shares,
    first,
    initial,
    gamma,
    height,
    is_discounted,
    weights,
    heights,
    amounts,
):
    """Compute the gain of each doc of each list.

    A doc gains the share of each of its subtopics times its rating times the subtopic's weight,
    which is multiplied by `gamma` after each doc. A subtopic whose column has `height` is full.

    Parameters
    ----------
    ranks, docs
        See `irmeta.kernels.novelty.novelty_gains`.
    ratings
        float64 [pairs]; may be negative.
    shares, first
        float64: the shares of the subtopics of query q are ``shares[first[q]:first[q + 1]]``.
    initial
        float64: the weight of every subtopic at rank 1.
    is_discounted
        True: the rating times the weight fills the column, up to its height. False: the rating
        fills it, and may exceed its height.
    weights, heights
        float64 [subtopics of a query, systems]: working space.
    amounts
        float64 [docs, systems], zero; written.
    """
    for q in range(len(offsets) - 1):
        weights[: first[q + 1] - first[q]] = initial
        heights[: first[q + 1] - first[q]] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    for pair in range(starts[docs[row, s]], starts[docs[row, s] + 1]):
                        a = subtopic[pair]
                        if heights[a, s] < height:
                            gain = ratings[pair] * weights[a, s]
                            if is_discounted:
                                gain = min(gain, height - heights[a, s])
                            heights[a, s] += gain if is_discounted else ratings[pair]
                            weights[a, s] *= gamma
                            amounts[row, s] += shares[first[q] + a] * gain

"""Balanced interleaving of two rankings (Joachims 2003), simulated for all pairs of systems.

Where x starts, its doc at rank a is at step 2a - 1 of the interleaved list, and the doc of y at
rank b at step 2b; a doc of both is at the smaller step. The relevant docs of both lists are merged
in the order of steps.
"""

import numpy as np

from irmeta.kernels.jit import inner, jit


@jit
def interleaved_preferences(ranks, order, missing, weights, out):
    """Compute the interleaving preference of every system over every other, for one query.

    Parameters
    ----------
    ranks
        Unsigned [systems, docs], C order: the ranks of the relevant docs of the query.
    order
        int64 [systems, docs], C order: the docs of each system by ascending rank.
    missing
        Rank of a doc that is not retrieved.
    weights
        float64 [docs]: the weight of a user who reads to the i-th relevant doc.
    out
        float64 [systems, systems]; written. Antisymmetric.
    """
    systems, docs = ranks.shape
    by_rank = np.empty((systems, docs + 1), np.int64)  # each list ends in a missing doc
    for s in range(systems):
        by_rank[s, docs] = missing
        for i in range(docs):
            by_rank[s, i] = ranks[s, order[s, i]]
    for x in range(systems):
        out[x, x] = 0.0
        for y in range(x + 1, systems):
            first = _starting(ranks, order, by_rank, missing, weights, x, y)
            second = _starting(ranks, order, by_rank, missing, weights, y, x)
            out[x, y] = (first - second) / 2.0
            out[y, x] = 0.0 - out[x, y]


@inner
def _starting(ranks, order, by_rank, missing, weights, x, y):
    """Return the preference for x over y if the interleaved list starts with x."""
    level, total = 0, 0.0
    i = j = 0  # docs of x and of y that were merged: all those above the present one
    while True:
        a, b = by_rank[x, i], by_rank[y, j]
        if a == missing and b == missing:
            return total
        # `gain` is the number of docs of x up to the rank of the doc, minus those of y. The list
        # that does not have the next doc may have another one at the same rank.
        if a <= b:
            is_new = ranks[y, order[x, i]] >= a
            gain = i + 1 - j - (b == a)
            i += 1
        else:
            is_new = ranks[x, order[y, j]] > b
            gain = i - j - 1
            j += 1
        if is_new:
            if gain > 0:
                total += weights[level]
            elif gain < 0:
                total -= weights[level]
            level += 1

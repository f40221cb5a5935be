"""Balanced interleaving of two rankings (Joachims 2003), simulated for all pairs of systems.

Where x starts, its doc at rank a is at step 2a - 1 of the interleaved list, and the doc of y at
rank b at step 2b; a doc of both is at the smaller step. The relevant docs of both lists are merged
in the order of steps.
"""

from irmeta.kernels.jit import inner, jit


@jit
def interleaved_preferences(ranks, order, start, stop, missing, weights, out):
    """Compute the interleaving preference of every system over every other, for one query.

    Parameters
    ----------
    ranks
        Unsigned [docs, systems]: the ranks of the relevant docs, rows ``start:stop`` for the query.
    order
        int64 [docs, systems]: for each system, the rows of the query by ascending rank, counted
        from `start`.
    missing
        Rank of a doc that is not retrieved.
    weights
        float64 [levels]: the weight of a user who reads to the i-th relevant doc.
    out
        float64 [systems, systems]; written. Antisymmetric.
    """
    for x in range(ranks.shape[1]):
        out[x, x] = 0.0
        for y in range(x + 1, ranks.shape[1]):
            first = _starting(ranks, order, start, stop, missing, weights, x, y)
            second = _starting(ranks, order, start, stop, missing, weights, y, x)
            out[x, y] = (first - second) / 2.0
            out[y, x] = 0.0 - out[x, y]


@inner
def _starting(ranks, order, start, stop, missing, weights, x, y):
    """Return the preference for x over y if the interleaved list starts with x."""
    count, level, total = stop - start, 0, 0.0
    i = j = 0  # docs of x and of y that were merged
    x_count = y_count = 0  # docs of x and of y at ranks up to `cut`
    while True:
        a = ranks[start + order[start + i, x], x] if i < count else missing
        b = ranks[start + order[start + j, y], y] if j < count else missing
        if a == missing and b == missing:
            return total
        if a <= b:
            other, cut = ranks[start + order[start + i, x], y], a
            i += 1
            is_new = other >= a
        else:
            other, cut = ranks[start + order[start + j, y], x], b
            j += 1
            is_new = other > b
        if is_new:
            while x_count < count and ranks[start + order[start + x_count, x], x] <= cut:
                x_count += 1
            while y_count < count and ranks[start + order[start + y_count, y], y] <= cut:
                y_count += 1
            if x_count > y_count:
                total += weights[level]
            elif x_count < y_count:
                total -= weights[level]
            level += 1

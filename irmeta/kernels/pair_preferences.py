"""Preferences between all pairs of systems: net wins, first differences, interleaving."""

import numpy as np

from irmeta.kernels.jit import inner, jit


@jit
def add_net_wins(keys, bits, level_weights, opponent_weights, offsets, out):
    """Add the wins minus losses of every system at all levels of each query.

    No pairs are compared: at a recall level, a system beats the systems of greater rank and loses
    to those of smaller rank, so that sorted ranks give its wins minus losses: with equal opponents
    S + 1 - 2 midrank (Diaz and Ferraro 2022, Eq. 7, summed level by level).

    Parameters
    ----------
    keys
        uint32 or uint64 [levels, systems], each row ascending: the rank of a system, shifted left
        by `bits`, plus the index of the system.
    bits
        Width of the index.
    level_weights, opponent_weights
        float64 [levels] and [systems].
    offsets
        int64 [queries + 1]: the levels of each query.
    out
        float64 [queries, systems]: added to. With weights that are whole numbers the sums are
        exact.
    """
    systems = keys.shape[1]
    mask = (1 << bits) - 1
    total = 0.0
    for s in range(systems):
        total += opponent_weights[s]
    for q in range(len(offsets) - 1):
        for level in range(offsets[q], offsets[q + 1]):
            above, start = 0.0, 0
            while start < systems:
                rank = keys[level, start] >> bits
                stop, tied = start, 0.0
                while stop < systems and keys[level, stop] >> bits == rank:
                    tied += opponent_weights[keys[level, stop] & mask]
                    stop += 1
                net = level_weights[level] * ((total - above - tied) - above)
                for i in range(start, stop):
                    out[q, keys[level, i] & mask] += net
                above += tied
                start = stop


@jit
def reciprocal_differences(ranks, start, stop, missing, out):
    """Compute the difference of reciprocal ranks at the first differing level of all pairs.

    `ranks` is unsigned [levels, systems], each system's ranks ascending within the rows
    ``start:stop`` of the query; `missing` has the reciprocal 0. `out` float64 [systems, systems] is
    written: 1 / rank of the row's system minus that of the column's, 0 for equal lists.
    """
    for a in range(ranks.shape[1]):
        out[a, a] = 0.0
        for b in range(a + 1, ranks.shape[1]):
            level = start
            while level < stop and ranks[level, a] == ranks[level, b]:
                level += 1
            value = 0.0
            if level < stop:
                x, y = ranks[level, a], ranks[level, b]
                value = (0.0 if x == missing else 1.0 / x) - (0.0 if y == missing else 1.0 / y)
            out[a, b] = value
            out[b, a] = 0.0 - value


@jit
def interleaved_preferences(ranks, order, missing, weights, out):
    """Compute the interleaving preference of every system over every other, for one query.

    Balanced interleaving of two rankings (Joachims 2003) is simulated. Where x starts, its doc at
    rank a is at step 2a - 1 of the interleaved list, and the doc of y at rank b at step 2b; a doc
    of both is at the smaller step. The relevant docs of both lists are merged in the order of
    steps.

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

"""Preference of every system over all others, without a comparison of pairs.

At a recall level, a system beats the systems of greater rank and loses to those of smaller rank, so
that sorted ranks give its wins minus losses: with equal opponents S + 1 - 2 midrank (Diaz and
Ferraro 2022, Eq. 7, summed level by level).
"""

from irmeta.kernels.jit import jit


@jit
def add_net_wins(keys, bits, level_weights, opponent_weights, offsets, out):
    """Add the wins minus losses of every system at all levels of each query.

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

"""Measures at every cutoff: what docs add at their ranks, added up along the cutoffs.

`ranks` and `amounts` are [docs, systems], the rows of query q at ``offsets[q]:offsets[q + 1]``;
`slot` int64 by rank: the first cutoff that the rank is within, or their number.
"""

from irmeta.kernels.jit import jit


@jit
def spread_steps(ranks, offsets, amounts, slot, weights, steps):
    """Add each amount, times the weight of its list, to the step of its cutoff.

    `weights` is float64 [queries, systems]; `steps` float64 [cutoffs + 1, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if amounts[row, s] != 0.0 and ranks[row, s] < len(slot):
                    steps[slot[ranks[row, s]], s] += amounts[row, s] * weights[q, s]


@jit
def add_steps(steps, sums):
    """The running sums of the steps along the cutoffs, added to `sums` [cutoffs, systems]."""
    for s in range(steps.shape[1]):
        sums[0, s] += steps[0, s]
    for c in range(1, sums.shape[0]):
        for s in range(steps.shape[1]):
            steps[c, s] += steps[c - 1, s]
            sums[c, s] += steps[c, s]


@jit
def add_scaled_steps(steps, scale, sums):
    """As `add_steps`, every running sum times the scale of its cutoff; `steps` is cleared."""
    for c in range(sums.shape[0]):
        for s in range(steps.shape[1]):
            if c > 0:
                steps[c, s] += steps[c - 1, s]
                steps[c - 1, s] = 0.0
            sums[c, s] += steps[c, s] * scale[c]
    for c in range(max(sums.shape[0] - 1, 0), steps.shape[0]):
        for s in range(steps.shape[1]):
            steps[c, s] = 0.0

"""Measures at every cutoff: sums of per-doc amounts along the list."""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def add_curves(
    ranks, offsets, amounts, slot, divisors, scale, undefined, averaged, steps, latest, sums
):
    """Add each query's values at every cutoff to the sums over queries.

    A value is defined by `Events`: the amounts up to the cutoff, summed in the order of the list,
    times `scale`, over the divisor. Queries are added one after another.

    Parameters
    ----------
    ranks, amounts
        [docs, systems], ranks ascending in the rows of query q, ``offsets[q]:offsets[q + 1]``.
    slot
        int64 by rank: the first cutoff that includes the rank; ranks beyond its end are in none.
    divisors
        float64 [cutoffs or 1, queries].
    undefined
        The value where a divisor is 0; NaN is not added.
    averaged
        bool [queries, systems]: whether to add the value.
    steps, latest
        float64 [cutoffs, systems] and [systems]: working space; `steps` holds NaN before and after.
    sums
        float64 [cutoffs, systems]; added to.
    """
    for q in range(len(offsets) - 1):
        latest[:] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] < len(slot):
                    latest[s] += amounts[row, s]
                    steps[slot[ranks[row, s]], s] = latest[s]
        latest[:] = 0.0
        for c in range(len(sums)):
            divisor = divisors[c if len(divisors) > 1 else 0, q]
            for s in range(ranks.shape[1]):
                if steps[c, s] == steps[c, s]:
                    latest[s] = steps[c, s]
                    steps[c, s] = np.nan
                value = latest[s] * scale / divisor if divisor > 0.0 else undefined
                if averaged[q, s] and value == value:
                    sums[c, s] += value

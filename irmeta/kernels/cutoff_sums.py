"""Sums over the docs within each cutoff: counts, precisions, per-doc amounts, discounted gains.

Unless stated otherwise, `ranks` is [docs, systems], the rows of query q at
``offsets[q]:offsets[q + 1]``; `cuts` are int64 cutoffs below the rank of docs that are not
retrieved; `out` is float64 [cuts, queries, systems], zero. Systems are the inner
loop: they are adjacent in memory.
"""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def count_within(ranks, offsets, cuts, out):
    """Count the docs at or above each cutoff."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    out[c, q, s] += ranks[row, s] <= cuts[c]


@jit
def precision_sum(ranks, offsets, cuts, out):
    """Sum the precisions at the docs within each cutoff; `ranks` ascend within a query."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                relevant = row - offsets[q] + 1.0
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += relevant / ranks[row, s]


@jit
def reciprocal_rank(ranks, offsets, cuts, out):
    """Compute the reciprocal rank of the first doc within the cutoff; `ranks` ascend."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            if offsets[q] < offsets[q + 1]:
                for s in range(ranks.shape[1]):
                    if ranks[offsets[q], s] <= cuts[c]:
                        out[c, q, s] = 1.0 / ranks[offsets[q], s]


@jit
def count_to_own_cut(ranks, offsets, cuts, out):
    """Count the docs at or above the cutoff of their query.

    `cuts` are int64 [queries], below the rank of docs that are not retrieved; `out` is float64
    [queries, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                out[q, s] += ranks[row, s] <= cuts[q]


@jit
def amounts_within(ranks, offsets, amounts, cuts, out):
    """Sum the amounts of the docs within each cutoff.

    `amounts` is float64 [docs, systems].
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += amounts[row, s]


@jit
def add_discounted_gains(ranks, labels, discounted, offsets, cuts, out):
    """Sum the discounted gains of the docs within each cutoff, in the order of the list.

    A doc with label l (uint8, shaped like `ranks`) at rank r has the float64 gain
    ``discounted[l, r]``. `ranks` ascend within a query.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += discounted[labels[row, s], ranks[row, s]]


@jit
def shared_gain(ranks, firsts, lasts, offsets, gains, cumulative, cuts, out):
    """Sum gain times shared weight over the docs of each list, at several cutoffs.

    The weight of a tied doc is the mean over its block of weights within the cutoff, the expected
    weight over random orders of the block.

    Parameters
    ----------
    ranks, firsts, lasts
        [docs, systems]: each doc's rank, and the first and last rank of its block.
    cumulative
        float64 by rank: the sum of the weights of all ranks up to it; 0 at 0.
    gains
        float64 [docs]; docs of gain 0 are skipped.
    """
    missing = np.iinfo(ranks.dtype).max
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                if gains[row] != 0.0:
                    for s in range(ranks.shape[1]):
                        first, last = np.int64(firsts[row, s]), np.int64(lasts[row, s])
                        if ranks[row, s] != missing and first <= cuts[c]:
                            within = cumulative[min(last, cuts[c])] - cumulative[first - 1]
                            out[c, q, s] += gains[row] * (within / (last - first + 1))


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

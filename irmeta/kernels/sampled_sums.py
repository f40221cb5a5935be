"""Sums over lists whose judged docs are a sample: each stands for several docs of the pool.

`ranks` are [docs, systems]; systems are adjacent in memory. Where `labels` go with them, both are
sorted by rank within a query, whose rows are ``offsets[q]:offsets[q + 1]``, and a label (uint32) is
the row of the doc in the other arrays.
"""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def weighted_precision_sum(ranks, labels, weights, offsets, cuts, out):
    """Sum weight * estimated precision at each doc within a cutoff; all docs are relevant.

    The estimate at rank r is (1 + weights of the docs above) / r. `cuts` are int64 below the rank
    of docs that are not retrieved; `out` is float64 [cuts, queries, systems], zero.
    """
    above = np.zeros(ranks.shape[1])
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            above[:] = 0.0
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        weight = weights[labels[row, s]]
                        out[c, q, s] += weight * (1.0 + above[s]) / ranks[row, s]
                        above[s] += weight


@jit
def stratified_precision_sum(
    ranks, labels, state, stratum, weights, offsets, cuts, most, epsilon, sum_of_epsilons, out
):
    """Sum weight * expected precision at each relevant doc within a cutoff.

    The expected precision at rank r is (1 + expected relevant docs above) / r. A stratum with n
    docs above, of which j are judged and h relevant, has n (h + epsilon) / (j + sum_of_epsilons)
    relevant docs there, or 0 where that divisor is 0.

    Parameters
    ----------
    state
        int8 [rows]: 0 not judged, 1 not relevant, 2 relevant.
    stratum
        int64 [rows]: number of the doc's stratum in its query.
    weights
        float64 [rows].
    most
        Most strata of a query.
    out
        float64 [cuts, queries, systems], zero.
    """
    seen = np.zeros((3, most))
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for s in range(ranks.shape[1]):
                seen[:] = 0.0
                for row in range(offsets[q], offsets[q + 1]):
                    if ranks[row, s] > cuts[c]:
                        break
                    doc = labels[row, s]
                    if state[doc] == 2:
                        above = 0.0
                        for h in range(most):
                            divisor = seen[1, h] + sum_of_epsilons
                            if divisor > 0.0:
                                above += seen[0, h] * (seen[2, h] + epsilon) / divisor
                        out[c, q, s] += weights[doc] * (1.0 + above) / ranks[row, s]
                    seen[0, stratum[doc]] += 1.0
                    seen[1, stratum[doc]] += state[doc] > 0
                    seen[2, stratum[doc]] += state[doc] == 2


@jit
def sum_by_stratum(ranks, stratum, values, discounts, cuts, out):
    """Sum value * discount of the docs within each cutoff by stratum.

    Parameters
    ----------
    stratum, values
        int64 and float64 [docs].
    discounts
        float64 by rank, to the deepest rank of a list.
    out
        float64 [cuts, strata, systems], zero.
    """
    for c in range(len(cuts)):
        for row in range(ranks.shape[0]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] <= cuts[c]:
                    out[c, stratum[row], s] += values[row] * discounts[ranks[row, s]]

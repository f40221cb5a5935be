"""Sums over lists with incomplete judgments: of judged docs only, of unjudged docs, of samples.

Ranks are [docs, systems], `missing` where not retrieved, the rows of query q at
``offsets[q]:offsets[q + 1]``; `out` is float64 [queries, systems] or, with `cuts`, [cuts, queries,
systems], zero. Systems are adjacent in memory.

Unjudged docs of a list are at the ranks without a judged doc. `judged` is bool by row: False where
a negative grade means unjudged; `lengths` uint32 [queries, systems]; `counts` int64 working space,
longer than any list. The judged docs are in any order within a query.

A doc of a sample stands for several docs of the pool. Where `labels` go with the ranks, both are
sorted by rank within a query, and a label (uint32) is the row of the doc in the other arrays.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit


@jit
def bpref_sum(
    relevant: Array,
    relevant_offsets: Array,
    nonrelevant: Array,
    nonrelevant_offsets: Array,
    missing: Int,
    more: float,
    bound_by: Int,
    out: Array,
) -> None:
    """Sum over retrieved relevant docs 1 minus the share of judged non-relevant docs above each.

    `relevant` and `nonrelevant` are ascending ranks of the judged docs. At most R + `more` docs
    count, and the share is of R + `more`; of fewer, if `bound_by` is 1 and fewer non-relevant docs
    are judged, or if it is 2 and the list has fewer of them.
    """
    for q in range(len(relevant_offsets) - 1):
        first, last = relevant_offsets[q], relevant_offsets[q + 1]
        start, stop = nonrelevant_offsets[q], nonrelevant_offsets[q + 1]
        most = last - first + more
        bound = min(stop - start, most) if bound_by == 1 else most
        for s in range(relevant.shape[1]):
            if bound_by == 2:
                last_retrieved = start
                while last_retrieved < stop and nonrelevant[last_retrieved, s] != missing:
                    last_retrieved += 1
                bound = min(last_retrieved - start, most)
            above = start
            for row in range(first, last):
                rank = relevant[row, s]
                if rank == missing:
                    break
                while above < stop and nonrelevant[above, s] < rank:
                    above += 1
                # `bound` may be 0 where no judged non-relevant doc is above.
                share = min(above - start, most) / bound if above > start else 0.0
                out[q, s] += 1.0 - share


@jit
def inferred_sum(
    relevant: Array,
    relevant_offsets: Array,
    nonrelevant: Array,
    nonrelevant_offsets: Array,
    unjudged: Array,
    unjudged_offsets: Array,
    missing: Int,
    epsilon: float,
    out: Array,
) -> None:
    """Sum the expected precisions at the retrieved relevant docs.

    `relevant`, `nonrelevant` and `unjudged` are ascending ranks of the judged docs and of the
    unjudged docs in the pool; `epsilon` smooths the share of relevant docs among judged docs above.
    """
    for q in range(len(relevant_offsets) - 1):
        first, last = relevant_offsets[q], relevant_offsets[q + 1]
        start, stop = nonrelevant_offsets[q], nonrelevant_offsets[q + 1]
        begin, end = unjudged_offsets[q], unjudged_offsets[q + 1]
        for s in range(relevant.shape[1]):
            above, pooled = start, begin
            for row in range(first, last):
                rank = relevant[row, s]
                if rank == missing:
                    break
                while above < stop and nonrelevant[above, s] < rank:
                    above += 1
                while pooled < end and unjudged[pooled, s] < rank:
                    pooled += 1
                if rank == 1:  # no doc is above: `higher` would be 0
                    out[q, s] += 1.0
                    continue
                better, worse, higher = row - first, above - start, rank - 1.0
                in_pool = (better + worse + pooled - begin) / higher
                share = (better + epsilon) / (better + worse + 2.0 * epsilon)
                # The order of operations of m_infap.c, for bitwise equal results.
                out[q, s] += 1.0 / rank + higher / rank * in_pool * share


@inner
def _judged_up_to(ranks, start, stop, judged, system, length, counts):
    """Write the number of judged docs at ranks up to i into ``counts[i]``, for i up to `length`."""
    for i in range(length + 1):
        counts[i] = 0
    for row in range(start, stop):
        if judged[row] and ranks[row, system] <= length:
            counts[ranks[row, system]] += 1
    for i in range(1, length + 1):
        counts[i] += counts[i - 1]


@jit
def condense(
    ranks: Array,
    firsts: Array,
    lasts: Array,
    offsets: Array,
    judged: Array,
    lengths: Array,
    counts: Array,
) -> None:
    """Replace ranks by ranks among the judged docs of each list, in place.

    `firsts` and `lasts`, the first and last ranks of blocks of tied docs, are also replaced; they
    have no rows if unknown. `lengths` become the numbers of judged docs.
    """
    missing = np.iinfo(ranks.dtype).max
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = np.int64(lengths[q, s])
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            for row in range(offsets[q], offsets[q + 1]):
                if not judged[row]:
                    ranks[row, s] = missing
                elif ranks[row, s] <= length:
                    if len(firsts) > 0:
                        firsts[row, s] = counts[firsts[row, s] - 1] + 1
                        lasts[row, s] = counts[lasts[row, s]]
                    ranks[row, s] = counts[ranks[row, s]]
            lengths[q, s] = counts[length]


@jit
def unjudged_ranks(
    ranks: Array,
    offsets: Array,
    judged: Array,
    lengths: Array,
    deepest: Int,
    counts: Array,
    rows: Array,
    out: Array,
) -> None:
    """Write the ranks of the unjudged docs of each list, ascending, down to `deepest`.

    Query q is written to ``out[rows[q]:rows[q + 1]]``; `out` has the dtype of `ranks` and is filled
    with its maximum.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = min(np.int64(lengths[q, s]), deepest)
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            row = rows[q]
            for i in range(1, length + 1):
                if counts[i] == counts[i - 1]:
                    out[row, s] = i
                    row += 1


@jit
def first_unjudged(
    ranks: Array, offsets: Array, judged: Array, lengths: Array, counts: Array, out: Array
) -> None:
    """Compute the rank of the first unjudged doc of each list, or its length + 1.

    `out` is float64 [queries, systems].
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = np.int64(lengths[q, s])
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            i = 1
            while i <= length and counts[i] > counts[i - 1]:
                i += 1
            out[q, s] = i


@jit
def add_unjudged(
    ranks: Array,
    offsets: Array,
    judged: Array,
    lengths: Array,
    counts: Array,
    weights: Array,
    cuts: Array,
    out: Array,
) -> None:
    """Sum the weights of the unjudged docs of each list within each cutoff, by rank.

    A doc at rank i has ``weights[i - 1]``; for `cuts` and `out` see irmeta.kernels.cutoff_sums.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            length = np.int64(lengths[q, s])
            _judged_up_to(ranks, offsets[q], offsets[q + 1], judged, s, length, counts)
            for c in range(len(cuts)):
                for i in range(1, min(length, cuts[c]) + 1):
                    if counts[i] == counts[i - 1]:
                        out[c, q, s] += weights[i - 1]


@jit
def weighted_precision_sum(
    ranks: Array, labels: Array, weights: Array, offsets: Array, cuts: Array, out: Array
) -> None:
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
    ranks: Array,
    labels: Array,
    state: Array,
    stratum: Array,
    weights: Array,
    offsets: Array,
    cuts: Array,
    most: Int,
    epsilon: float,
    sum_of_epsilons: float,
    out: Array,
) -> None:
    """Sum weight * expected precision at each relevant doc within a cutoff.

    The expected precision at rank r is (1 + expected relevant docs above) / r. A stratum with n
    docs above, of which j are judged and h relevant, has n (h + epsilon) / (j + sum_of_epsilons)
    relevant docs there, or 0 where that divisor is 0. `state`: int8 [rows]: 0 not judged, 1 not
    relevant, 2 relevant. `stratum`: int64 [rows]: number of the doc's stratum in its query.
    `weights`: float64 [rows]. `most`: most strata of a query. `out`: float64 [cuts, queries,
    systems], zero.
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
def sum_by_stratum(
    ranks: Array, stratum: Array, values: Array, discounts: Array, cuts: Array, out: Array
) -> None:
    """Sum value * discount of the docs within each cutoff by stratum.

    `stratum`, `values`: int64 and float64 [docs]. `discounts`: float64 by rank, to the deepest rank
    of a list. `out`: float64 [cuts, strata, systems], zero.
    """
    for c in range(len(cuts)):
        for row in range(ranks.shape[0]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] <= cuts[c]:
                    out[c, stratum[row], s] += values[row] * discounts[ranks[row, s]]

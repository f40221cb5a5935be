"""Sums and amounts of the docs of each list: counts, precisions, gains, search lengths, rarity.

Unless stated otherwise, `ranks` is [docs, systems], the rows of query q at ``offsets[q]:offsets[q +
1]``; `missing` is the rank of docs that are not retrieved, and `cuts` are int64 cutoffs below it;
`out` is float64 [cuts, queries, systems] or, without cutoffs, [queries, systems], zero. Systems are
the inner loop: they are adjacent in memory.

Where a kernel takes `missing`, ranks ascend in the rows of a query. With `labels` (uint8, like
`ranks`), the gain of a doc is ``gains[label]`` or, discounted, ``worth[label, rank]``; in the
cascade model a user reads down a list and stops at a doc with probability ``stops[label]``. The sum
over the first i docs of the ideal list of query q is ``ideal[starts[q] + i]``, for i below
``starts[q + 1] - starts[q]``. trec_eval's lesser-known measures of gain are each in the order of
its arithmetic.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, jit


@jit
def count_within(ranks: Array, offsets: Array, cuts: Array, out: Array) -> None:
    """Count the docs at or above each cutoff."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    out[c, q, s] += ranks[row, s] <= cuts[c]


@jit
def precision_sum(ranks: Array, offsets: Array, cuts: Array, out: Array) -> None:
    """Sum the precisions at the docs within each cutoff; `ranks` ascend within a query."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                relevant = row - offsets[q] + 1.0
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] += relevant / ranks[row, s]


@jit
def reciprocal_rank(ranks: Array, offsets: Array, cuts: Array, out: Array) -> None:
    """Compute the reciprocal rank of the first doc within the cutoff; `ranks` ascend."""
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            if offsets[q] < offsets[q + 1]:
                for s in range(ranks.shape[1]):
                    if ranks[offsets[q], s] <= cuts[c]:
                        out[c, q, s] = 1.0 / ranks[offsets[q], s]


@jit
def count_to_own_cut(ranks: Array, offsets: Array, cuts: Array, out: Array) -> None:
    """Count the docs at or above the cutoff of their query.

    `cuts` are int64 [queries], below the rank of docs that are not retrieved; `out` is float64
    [queries, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                out[q, s] += ranks[row, s] <= cuts[q]


@jit
def amounts_within(ranks: Array, offsets: Array, amounts: Array, cuts: Array, out: Array) -> None:
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
def add_discounted_gains(
    ranks: Array, labels: Array, discounted: Array, offsets: Array, cuts: Array, out: Array
) -> None:
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
def shared_gain(
    ranks: Array,
    firsts: Array,
    lasts: Array,
    offsets: Array,
    gains: Array,
    cumulative: Array,
    cuts: Array,
    out: Array,
) -> None:
    """Sum gain times shared weight over the docs of each list, at several cutoffs.

    The weight of a tied doc is the mean over its block of weights within the cutoff, the expected
    weight over random orders of the block. `ranks`, `firsts`, `lasts`: [docs, systems]: each doc's
    rank, and the first and last rank of its block. `cumulative`: float64 by rank: the sum of the
    weights of all ranks up to it; 0 at 0. `gains`: float64 [docs]; docs of gain 0 are skipped.
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
    ranks: Array,
    offsets: Array,
    amounts: Array,
    slot: Array,
    divisors: Array,
    scale: float,
    undefined: float,
    averaged: Array,
    steps: Array,
    latest: Array,
    sums: Array,
) -> None:
    """Add each query's values at every cutoff to the sums over queries.

    A value is defined by `Events`: the amounts up to the cutoff, summed in the order of the list,
    times `scale`, over the divisor. Queries are added one after another. `ranks`, `amounts`: [docs,
    systems], ranks ascending in the rows of query q, ``offsets[q]:offsets[q + 1]``. `slot`: int64
    by rank: the first cutoff that includes the rank; ranks beyond its end are in none. `divisors`:
    float64 [cutoffs or 1, queries]. `undefined`: the value where a divisor is 0; NaN is not added.
    `averaged`: bool [queries, systems]: whether to add the value. `steps`, `latest`: float64
    [cutoffs, systems] and [systems]: working space; `steps` holds NaN before and after. `sums`:
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
        # A step is NaN at a cutoff that adds no doc: the value is that of the cutoff before.
        for c in range(len(sums)):
            divisor = divisors[c if len(divisors) > 1 else 0, q]
            for s in range(ranks.shape[1]):
                if steps[c, s] == steps[c, s]:
                    latest[s] = steps[c, s]
                    steps[c, s] = np.nan
                value = latest[s] * scale / divisor if divisor > 0.0 else undefined
                if averaged[q, s] and value == value:
                    sums[c, s] += value


@jit
def best_precision_from(ranks: Array, offsets: Array, missing: Int, out: Array) -> None:
    """Compute the highest precision at each relevant doc or below; 0 if none is retrieved.

    `out` is float64 [docs, systems], zero.
    """
    for q in range(len(offsets) - 1):
        # From the last relevant doc up, so that the row below has the best precision from there on.
        for row in range(offsets[q + 1] - 1, offsets[q] - 1, -1):
            relevant = row - offsets[q] + 1.0
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    out[row, s] = relevant / ranks[row, s]
                    if row + 1 < offsets[q + 1]:
                        out[row, s] = max(out[row, s], out[row + 1, s])


@jit
def blended_ratios(
    ranks: Array,
    labels: Array,
    gains: Array,
    relevant: Array,
    offsets: Array,
    missing: Int,
    ideal: Array,
    starts: Array,
    beta: float,
    gained: Array,
    counted: Array,
    amounts: Array,
) -> None:
    """Compute the Q-measure's blended ratios: (count + beta gain) / (rank + beta ideal gain).

    Each relevant doc has one, at its rank. `gains`, `relevant`: float64 and bool by label. `ideal`,
    `starts`: the gain of the first i docs of the ideal list of query q is ``ideal[starts[q] + i]``,
    for i below ``starts[q + 1] - starts[q]``. `gained`, `counted`: float64 [systems]: working
    space. `amounts`: float64 [docs, systems], zero; written.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for s in range(ranks.shape[1]):
            gained[s] = 0.0
            counted[s] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    label = labels[row, s]
                    gained[s] += gains[label]
                    if relevant[label]:
                        counted[s] += 1.0
                        best = ideal[starts[q] + min(np.int64(ranks[row, s]), last)]
                        blended = counted[s] + beta * gained[s]
                        amounts[row, s] = blended / (ranks[row, s] + beta * best)


@jit
def stop_amounts(
    ranks: Array,
    labels: Array,
    stops: Array,
    offsets: Array,
    missing: Int,
    reading: Array,
    amounts: Array,
) -> None:
    """Compute for each doc the probability that the user stops there, divided by its rank.

    `reading` is float64 [systems], working space; `amounts` float64 [docs, systems], zero, is
    written.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            reading[s] = 1.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    stop = stops[labels[row, s]]
                    amounts[row, s] = reading[s] * stop / ranks[row, s]
                    reading[s] *= 1.0 - stop


@jit
def still_reading(
    ranks: Array, labels: Array, stops: Array, offsets: Array, cuts: Array, out: Array
) -> None:
    """Multiply `out` by the probability that the user reads on after each cutoff.

    `cuts` and `out` are as in irmeta.kernels.cutoff_sums, but `out` need not be zero.
    """
    for c in range(len(cuts)):
        for q in range(len(offsets) - 1):
            for row in range(offsets[q], offsets[q + 1]):
                for s in range(ranks.shape[1]):
                    if ranks[row, s] <= cuts[c]:
                        out[c, q, s] *= 1.0 - stops[labels[row, s]]


@jit
def ndcg_at_docs(
    ranks: Array,
    labels: Array,
    worth: Array,
    offsets: Array,
    missing: Int,
    ideal: Array,
    starts: Array,
    gained: Array,
    retrieved: Array,
    out: Array,
) -> None:
    """Sum nDCG at the rank of each doc, or at the end of the list if the doc is not retrieved.

    `ideal` has discounted gains; `gained` and `retrieved` are float64 [systems], working space.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for s in range(ranks.shape[1]):
            gained[s] = 0.0
            retrieved[s] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    gained[s] += worth[labels[row, s], ranks[row, s]]
                    retrieved[s] += 1.0
                    best = ideal[starts[q] + min(np.int64(ranks[row, s]), last)]
                    out[q, s] += gained[s] / best
        if last > 0:
            for s in range(ranks.shape[1]):
                out[q, s] += (last - retrieved[s]) * gained[s] / ideal[starts[q] + last]


@jit
def ndcg_at_ranks(
    ranks: Array,
    labels: Array,
    worth: Array,
    offsets: Array,
    missing: Int,
    ideal: Array,
    starts: Array,
    ends: Array,
    bounds: Array,
    lengths: Array,
    out: Array,
) -> None:
    """Average nDCG at given ranks of each query, and at the end of lists that are long enough.

    `ideal`: sums of discounted gains. `ends`: int64: the ranks of query q are
    ``ends[bounds[q]:bounds[q + 1]]``, ascending; the last is the length of the ideal list. Lists
    longer than that by two or more also count at their end. `lengths`: uint32 [queries, systems]:
    lengths of the lists.
    """
    for q in range(len(offsets) - 1):
        if bounds[q] == bounds[q + 1]:
            continue
        length = ends[bounds[q + 1] - 1]
        for s in range(ranks.shape[1]):
            gained, total, row = 0.0, 0.0, offsets[q]
            number = bounds[q + 1] - bounds[q]
            for level in range(bounds[q], bounds[q + 1]):
                while row < offsets[q + 1] and ranks[row, s] <= ends[level]:
                    gained += worth[labels[row, s], ranks[row, s]]
                    row += 1
                total += gained / ideal[starts[q] + ends[level]]
            if lengths[q, s] > length + 1:
                while row < offsets[q + 1] and ranks[row, s] != missing:
                    gained += worth[labels[row, s], ranks[row, s]]
                    row += 1
                total += gained / ideal[starts[q] + length]
                number += 1
            out[q, s] = total / number


@jit
def gain_over_lag(
    ranks: Array,
    labels: Array,
    gains: Array,
    offsets: Array,
    missing: Int,
    ideal: Array,
    starts: Array,
    gained: Array,
    out: Array,
) -> None:
    """Sum gain / log2(2 + lag), where lag is ideal minus actual cumulative gain at the rank.

    `ideal` has gains of at least 1, and gains of 1 after its end; `gained` is float64
    [systems], working space.
    """
    for q in range(len(offsets) - 1):
        last = starts[q + 1] - starts[q] - 1
        for s in range(ranks.shape[1]):
            gained[s] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    gain = gains[labels[row, s]]
                    gained[s] += gain
                    rank = np.int64(ranks[row, s])
                    best = ideal[starts[q] + min(rank, last)] + max(rank - last, 0)
                    out[q, s] += gain / np.log2(2.0 + best - gained[s])


@jit
def discounted_lengths(
    ranks: Array, offsets: Array, missing: Int, divisors: Array, out: Array
) -> None:
    """Sum the reciprocals of the divisors, float64 by rank, at the search lengths of the docs."""
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            above = row - offsets[q]
            for s in range(ranks.shape[1]):
                if ranks[row, s] != missing:
                    out[q, s] += 1.0 / divisors[ranks[row, s] - above]


@jit
def search_lengths(
    ranks: Array, offsets: Array, missing: Int, unretrieved: Array, out: Array
) -> None:
    """Compute the search length of every relevant doc in every system.

    Parameters
    ----------
    ranks
        Ascending ranks [docs, systems] of the relevant docs, `missing` where not retrieved; query q
        has the rows ``offsets[q]:offsets[q + 1]``.
    unretrieved
        float64 [queries, systems]: the search length of a doc that is not retrieved.
    out
        float64 [docs, systems]; written. Ascending within a query, unretrieved docs last.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            above = row - offsets[q]
            for s in range(ranks.shape[1]):
                if ranks[row, s] == missing:
                    out[row, s] = unretrieved[q, s]
                else:
                    out[row, s] = ranks[row, s] - above


@jit
def mean_of_first(lengths: Array, offsets: Array, firsts: Array, out: Array) -> None:
    """Compute the mean of the first rows of each query, for several numbers of rows.

    `lengths` is [docs, systems], `firsts` int64, `out` float64 [firsts, queries, systems], zero.
    Queries without rows are not written.
    """
    for f in range(len(firsts)):
        for q in range(len(offsets) - 1):
            taken = min(offsets[q + 1] - offsets[q], firsts[f])
            for row in range(offsets[q], offsets[q] + taken):
                for s in range(lengths.shape[1]):
                    out[f, q, s] += lengths[row, s]
            for s in range(lengths.shape[1]):
                if taken > 0:
                    out[f, q, s] /= taken


@jit
def systems_within(ranks: Array, depth: Int, out: Array) -> None:
    """Count for each row of `ranks` [docs, systems] the systems with a rank within `depth`.

    `depth` is below the rank of docs that are not retrieved; `out` int32 [docs], zero.
    """
    for row in range(ranks.shape[0]):
        for s in range(ranks.shape[1]):
            out[row] += ranks[row, s] <= depth


@jit
def systems_within_by_group(ranks: Array, depth: Int, groups: Array, out: Array) -> None:
    """Count for each row of `ranks` [docs, systems] the systems of each group within `depth`.

    `groups` int64 [systems]: group of each system; `out` int32 [docs, groups], zero.
    """
    for row in range(ranks.shape[0]):
        for s in range(ranks.shape[1]):
            out[row, groups[s]] += ranks[row, s] <= depth


@jit
def precision_weights(
    ranks: Array, offsets: Array, lengths: Array, cut: Int, space: Array, out: Array
) -> None:
    """Sum 1 / rank over the docs at or below each doc in its list, down to rank `cut`.

    The sum of precisions at docs is the sum of these weights over the docs: a doc counts in its own
    precision and in that of every doc below it. `ranks`: [docs, systems]; the rows of query q are
    ``offsets[q]:offsets[q + 1]``. `lengths`: [queries, systems]: no rank of a list is greater.
    `cut`: int64, below the rank of docs that are not retrieved. `space`: float64 [longest list +
    1], of any content. `out`: float64 [docs, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            last = min(cut, np.int64(lengths[q, s]))
            space[: last + 1] = 0.0
            for row in range(offsets[q], offsets[q + 1]):
                if ranks[row, s] <= last:
                    space[ranks[row, s]] = 1.0 / ranks[row, s]
            for rank in range(last - 1, 0, -1):
                space[rank] += space[rank + 1]
            for row in range(offsets[q], offsets[q + 1]):
                if ranks[row, s] <= last:
                    out[row, s] = space[ranks[row, s]]


@jit
def add_rarity(weights: Array, offsets: Array, rarity: Array, column: Array, out: Array) -> None:
    """Sum the weights of each list's docs times their rarity.

    `weights`: float64 [docs, systems]; the rows of query q are ``offsets[q]:offsets[q + 1]``.
    `rarity`: float64 [docs, columns]. `column`: int64 [systems]: the column of `rarity` for each
    system. `out`: float64 [queries, systems], zero.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            for s in range(weights.shape[1]):
                out[q, s] += weights[row, s] * rarity[row, column[s]]


@jit
def deeper_places(
    ranks: Array,
    labels: Array,
    greater: Array,
    offsets: Array,
    missing: Int,
    seen: Array,
    places: Array,
) -> None:
    """Compute the greater of a doc's rank and its place in the ideal list nearest to the ranking.

    The ideal list is sorted by label, and docs of one label by the ranking, so that the overlap of
    both lists is greatest. A doc is in both lists from this place on. `greater`: int64 [queries,
    labels]: number of docs of the query with a label before this one. `seen`: int64 [labels]:
    working space. `places`: int64 [docs, systems], zero; written where a doc is retrieved.
    """
    for q in range(len(offsets) - 1):
        for s in range(ranks.shape[1]):
            seen[:] = greater[q]
            for row in range(offsets[q], offsets[q + 1]):
                if ranks[row, s] == missing:
                    break
                label = labels[row, s]
                seen[label] += 1
                places[row, s] = max(np.int64(ranks[row, s]), seen[label])

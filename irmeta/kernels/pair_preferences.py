"""Preferences between all pairs of systems: recall-paired, lexicographic, interleaving, net wins.

Recall-paired preference is that of Diaz and Ferraro 2022, Eqs. 4 to 6. At level i of a query a
system wins over another if its i-th relevant doc has the smaller rank; its preference over the
other is the sum of the weights of the levels it wins, minus those it loses. With equal weights,
that is the number of wins minus losses, divided by the R levels. Relevant docs that a system does
not retrieve are at the end of the corpus (Section 3): below all retrieved docs, and tied for the
same i.

Its `ranks` are uint16 or uint32 [levels, systems], C order, the rows of query q at
``offsets[q]:offsets[q + 1]``; each system's ranks ascend, and the maximum of the dtype means not
retrieved. Rows are compared one by one, so a query may also have the concatenated levels of its
grades or subtopics, which gives Eqs. 5 and 6.

The systems form a circle, and each is compared with the following half of it. Every pair is thus
compared once, and all lanes of a vector are used: with AVX-512, 50 to 207 times as fast as a
broadcast of numpy. benchmarks/README.md has the measured speed and the limit of the processor.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit
from irmeta.kernels.lanes import (
    STEPS,
    WEIGHTED_STEPS,
    add_signs,
    add_weighted_signs,
    copy_lanes,
    fused,
    lane_count,
)

MOST_ROWS = 2**15 - 1  # limit of the lanes of `add_signs`
ROWS = 4096  # rows in the circle at once: adding the results takes as long as about 130 rows


@jit
def preference_counts(ranks: Array, start: Int, stop: Int, out: Array) -> None:
    """Count the wins minus losses of every system over every other, for one query.

    The query has the rows ``start:stop``; `out` int32 [systems, systems] is written.
    """
    circle = _circle(ranks, stop - start)
    counts = np.empty((_reach(circle), lane_count(ranks)), np.int32)
    out[:] = 0
    _stand(ranks, start, stop, circle)
    for block in range(len(circle)):
        counts[:] = 0
        for passed in range(0, len(counts), STEPS):
            _add_counts(circle, block, 0, stop - start, counts, passed, passed)
        _put_back(counts, block, len(circle), out)


@jit
def add_preferences(ranks: Array, offsets: Array, out: Array) -> None:
    """Add the preferences of every system over every other, for all queries, to float64 `out`.

    Queries without relevant docs add nothing. Queries are added one by one in order, so that the
    sum over queries does not depend on how they are split into calls.
    """
    levels = offsets[1:] - offsets[:-1]
    most = _most_rows(levels, len(ranks))
    circle = _circle(ranks, most)
    shares = np.empty((_reach(circle), lane_count(ranks)))
    counts = np.empty((STEPS, lane_count(ranks)), np.int32)
    first = 0
    while first < len(levels):
        last = _next_chunk(offsets, first, most)
        _stand(ranks, offsets[first], offsets[last], circle)
        for block in range(len(circle)):
            _take_up(out, block, len(circle), shares)
            for passed in range(0, len(shares), STEPS):
                for q in range(first, last):
                    if levels[q] > 0:
                        start = offsets[q] - offsets[first]
                        counts[:] = 0
                        _add_counts(circle, block, start, start + levels[q], counts, 0, passed)
                        _add_shares(counts, float(levels[q]), shares, passed)
            _put_back(shares, block, len(circle), out)
        first = last


@jit
def add_weighted_preferences(ranks: Array, weights: Array, offsets: Array, out: Array) -> None:
    """Add preferences like `add_preferences`, with a float64 weight for each level.

    The preference of a query is the sum of its weighted signs in the order of the rows.
    """
    levels = offsets[1:] - offsets[:-1]
    most = _most_rows(levels, len(ranks))
    circle = _circle(ranks, most)
    shares = np.empty((_reach(circle), lane_count(ranks)))
    sums = np.empty((WEIGHTED_STEPS, lane_count(ranks)))
    first = 0
    while first < len(levels):
        last = _next_chunk(offsets, first, most)
        _stand(ranks, offsets[first], offsets[last], circle)
        of_rows = weights[offsets[first] : offsets[last]]
        for block in range(len(circle)):
            _take_up(out, block, len(circle), shares)
            for passed in range(0, len(shares), WEIGHTED_STEPS):
                far = (block + (passed + 1) // lane_count(ranks)) % len(circle)
                shift = (passed + 1) % lane_count(ranks)
                for q in range(first, last):
                    start = offsets[q] - offsets[first]
                    add_weighted_signs(
                        circle, block, far, start, start + levels[q], shift, of_rows, sums
                    )
                    for step in range(WEIGHTED_STEPS):
                        for lane in range(sums.shape[1]):
                            shares[passed + step, lane] += sums[step, lane]
            _put_back(shares, block, len(circle), out)
        first = last


@inner
def _most_rows(levels, rows):
    """Return the number of rows in the circle: `ROWS`, all, or those of the longest query."""
    most = min(ROWS, rows)
    for q in range(len(levels)):
        most = max(most, levels[q])
    return most


@inner
def _next_chunk(offsets, first, most):
    """Return the end of the queries from `first` on that have at most `most` rows."""
    last = first + 1
    while last < len(offsets) - 1 and offsets[last + 1] - offsets[first] <= most:
        last += 1
    return last


@inner
def _circle(ranks, rows):
    """Allocate blocks of systems as wide as a vector, each followed by a copy of the next block."""
    lanes = lane_count(ranks)
    return np.empty(((ranks.shape[1] + lanes - 1) // lanes, rows, 2 * lanes), ranks.dtype)


@inner
def _reach(circle):
    """Return half the circle, rounded up to a multiple of `STEPS`."""
    lanes = lane_count(circle)
    return (len(circle) * lanes // 2 + STEPS - 1) // STEPS * STEPS


@inner
def _stand(ranks, start, stop, circle):
    """Copy the rows ``start:stop`` of the systems into the circle.

    Lanes after the last system are uninitialized, and their counts are ignored.
    """
    lanes, systems = lane_count(ranks), ranks.shape[1]
    blocks, size = len(circle), circle.shape[1] * 2 * lanes
    flat, to = ranks.reshape(ranks.size), circle.reshape(circle.size)
    for row in range(stop - start):
        beside = (blocks - 1) * size + row * 2 * lanes + lanes
        for block in range(blocks):
            index = (start + row) * systems + block * lanes
            start_of_block = block * size + row * 2 * lanes
            if index + lanes <= len(flat):
                copy_lanes(flat, index, to, start_of_block)
                copy_lanes(flat, index, to, beside)
            else:
                for lane in range(len(flat) - index):
                    to[start_of_block + lane] = to[beside + lane] = flat[index + lane]
            beside = start_of_block + lanes


@inner
def _add_counts(circle, block, start, stop, counts, step, passed):
    """Compare each system of a block with the next `STEPS` systems after the `passed` ones."""
    lanes = lane_count(circle)
    other_block = (block + (passed + 1) // lanes) % len(circle)
    for row in range(start, stop, MOST_ROWS):
        end = min(row + MOST_ROWS, stop)
        add_signs(circle, block, other_block, row, end, (passed + 1) % lanes, counts, step)


@inner
def _add_shares(counts, levels, shares, row):
    """Add each count divided by `levels`, correctly rounded, from row `row` on."""
    # A product with the inverse may be off by a bit, so the inverse has twice the digits. No
    # quotient of whole numbers below 2^32 is close enough to the middle of two floats for the
    # remaining error to matter. A division would take two cycles per pair, as much as 40 levels.
    inverse = 1.0 / levels
    remainder = fused(-inverse, levels, 1.0) * inverse
    for step in range(len(counts)):
        for lane in range(counts.shape[1]):
            count = float(counts[step, lane])
            shares[row + step, lane] += fused(count, inverse, count * remainder)


@inner
def _take_up(out, block, blocks, values):
    """Read the sums of the pairs that `_put_back` writes; other lanes are 0."""
    lanes, systems = values.shape[1], len(out)
    values[:] = 0.0
    for lane in range(min(lanes, systems - block * lanes)):
        a = block * lanes + lane
        end = _end_of_half(a, blocks * lanes)
        for b in range(a + 1, min(end, systems)):
            values[b - a - 1, lane] = out[a, b]
        for b in range(end - blocks * lanes):
            values[blocks * lanes + b - a - 1, lane] = out[a, b]


@inner
def _put_back(values, block, blocks, out):
    """Write counts or sums to their pairs, and negated to the reversed pairs.

    `values` is [reach, lanes]: of each system in block `block`, over the systems that follow.
    """
    lanes, systems = values.shape[1], len(out)
    for lane in range(min(lanes, systems - block * lanes)):
        a = block * lanes + lane
        end = _end_of_half(a, blocks * lanes)
        for b in range(a + 1, min(end, systems)):
            out[a, b] = values[b - a - 1, lane]
            out[b, a] = 0 - values[b - a - 1, lane]
        for b in range(end - blocks * lanes):
            out[a, b] = values[blocks * lanes + b - a - 1, lane]
            out[b, a] = 0 - values[blocks * lanes + b - a - 1, lane]


@inner
def _end_of_half(a, size):
    """Return the end of the half circle after system `a`.

    Opposite systems are compared twice, but only the first of them counts.
    """
    return a + size // 2 + (a < size // 2)


@jit
def add_net_wins(
    keys: Array,
    bits: Int,
    level_weights: Array,
    opponent_weights: Array,
    offsets: Array,
    out: Array,
) -> None:
    """Add the wins minus losses of every system at all levels of each query.

    No pairs are compared: at a recall level, a system beats the systems of greater rank and loses
    to those of smaller rank, so that sorted ranks give its wins minus losses: with equal opponents
    S + 1 - 2 midrank (Diaz and Ferraro 2022, Eq. 7, summed level by level). `keys`: uint32 or
    uint64 [levels, systems], each row ascending: the rank of a system, shifted left by `bits`, plus
    the index of the system. `bits`: width of the index. `level_weights`, `opponent_weights`:
    float64 [levels] and [systems]. `offsets`: int64 [queries + 1]: the levels of each query. `out`:
    float64 [queries, systems]: added to. With weights that are whole numbers the sums are exact.
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
def reciprocal_differences(ranks: Array, start: Int, stop: Int, missing: Int, out: Array) -> None:
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
def interleaved_preferences(
    ranks: Array, order: Array, missing: Int, weights: Array, out: Array
) -> None:
    """Compute the interleaving preference of every system over every other, for one query.

    Balanced interleaving of two rankings (Joachims 2003) is simulated. Where x starts, its doc at
    rank a is at step 2a - 1 of the interleaved list, and the doc of y at rank b at step 2b; a doc
    of both is at the smaller step. The relevant docs of both lists are merged in the order of
    steps. `ranks`: Unsigned [systems, docs], C order: the ranks of the relevant docs of the query.
    `order`: int64 [systems, docs], C order: the docs of each system by ascending rank. `missing`:
    rank of a doc that is not retrieved. `weights`: float64 [docs]: the weight of a user who reads
    to the i-th relevant doc. `out`: float64 [systems, systems]; written. Antisymmetric.
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

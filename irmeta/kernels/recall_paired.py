"""Recall-paired preference between all pairs of systems: Diaz and Ferraro 2022, Eq. 4, p(i) = 1/R.

At level i of a query a system wins over another if its i-th relevant doc has the lesser rank; its
preference over the other is its wins less its losses, over the R levels. Relevant docs that a
system does not retrieve stand at the end of the corpus (Section 3): below any that is retrieved,
and for the same i at the same rank, where they tie.

`ranks` is uint16 or uint32 [levels, systems], C order, the rows of query q at
``offsets[q]:offsets[q + 1]``; each system's ranks ascend, and the greatest value of the dtype
stands for not retrieved. Rows are compared one by one, so a query may also have the levels of its
grades or subtopics one after another, which gives Eqs. 5 and 6 where every level counts the same.

The systems stand in a circle, and each is compared with the half of it that follows. So every pair
is met once, and all lanes of a vector have work. benchmarks/README.md has what that makes, beside
the limit of a processor.
"""

import numpy as np

from irmeta.kernels.jit import inner, jit
from irmeta.kernels.lanes import STEPS, add_signs, copy_lanes, fused, lane_count

MOST_ROWS = 2**15 - 1  # limit of the lanes of `add_signs`
ROWS = 4096  # in the circle at once: adding to the pairs takes as long as some 130 rows


@jit
def preference_counts(ranks, start, stop, out):
    """Count the wins less losses of every system over every other, for one query.

    Parameters
    ----------
    start, stop
        The query's rows of `ranks`.
    out
        int32 [systems, systems]; written: of the system in the row, over the one in the column.
    """
    circle = _circle(ranks, stop - start)
    counts = np.empty((_reach(circle), lane_count(ranks)), np.int32)
    out[:] = 0
    _stand(ranks, start, stop, circle)
    for near in range(len(circle)):
        counts[:] = 0
        for at in range(0, len(counts), STEPS):
            _add_counts(circle, near, 0, stop - start, counts, at, at)
        _hand_on(counts, near, len(circle), out)


@jit
def add_preferences(ranks, offsets, out):
    """Sum the preferences of every system over every other, for all queries.

    A query without relevant docs adds nothing: a mean is over the others.

    Parameters
    ----------
    out
        float64 [systems, systems]; added to: of the system in the row, over the one in the column.
    """
    levels = offsets[1:] - offsets[:-1]
    most = min(ROWS, len(ranks))
    for q in range(len(levels)):
        most = max(most, levels[q])
    circle = _circle(ranks, most)
    shares = np.empty((_reach(circle), lane_count(ranks)))
    counts = np.empty((STEPS, lane_count(ranks)), np.int32)
    first = 0
    while first < len(levels):
        last = first + 1
        while last < len(levels) and offsets[last + 1] - offsets[first] <= most:
            last += 1
        _stand(ranks, offsets[first], offsets[last], circle)
        for near in range(len(circle)):
            shares[:] = 0.0
            for at in range(0, len(shares), STEPS):
                for q in range(first, last):
                    if levels[q] > 0:
                        start = offsets[q] - offsets[first]
                        counts[:] = 0
                        _add_counts(circle, near, start, start + levels[q], counts, 0, at)
                        _add_shares(counts, float(levels[q]), shares, at)
            _hand_on(shares, near, len(circle), out)
        first = last


@inner
def _circle(ranks, rows):
    """Allocate blocks of systems as wide as a vector, each with the next block beside it."""
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

    Lanes after the last system have any content, and their counts are not used.
    """
    lanes, systems = lane_count(ranks), ranks.shape[1]
    blocks, size = len(circle), circle.shape[1] * 2 * lanes
    flat, to = ranks.reshape(ranks.size), circle.reshape(circle.size)
    for row in range(stop - start):
        beside = (blocks - 1) * size + row * 2 * lanes + lanes
        for block in range(blocks):
            at = (start + row) * systems + block * lanes
            own = block * size + row * 2 * lanes
            if at + lanes <= len(flat):
                copy_lanes(flat, at, to, own)
                copy_lanes(flat, at, to, beside)
            else:
                for lane in range(len(flat) - at):
                    to[own + lane] = to[beside + lane] = flat[at + lane]
            beside = own + lanes


@inner
def _add_counts(circle, near, start, stop, counts, at, passed):
    """Compare each system of a block with the `STEPS` that follow after those it has `passed`."""
    lanes = lane_count(circle)
    far = (near + (passed + 1) // lanes) % len(circle)
    for row in range(start, stop, MOST_ROWS):
        end = min(row + MOST_ROWS, stop)
        add_signs(circle, near, far, row, end, (passed + 1) % lanes, counts, at)


@inner
def _add_shares(counts, levels, shares, at):
    """Add each count over `levels`, to the last bit what a division gives, from row `at` on.

    A product with the inverse may be off by a bit; here the inverse has twice the digits. Whole
    numbers below 2^32 have no quotient so near to the middle of two floats that what it still
    lacks could matter. To divide takes two cycles a pair, as much as 40 levels.
    """
    inverse = 1.0 / levels
    rest = fused(-inverse, levels, 1.0) * inverse
    for step in range(len(counts)):
        for lane in range(counts.shape[1]):
            count = float(counts[step, lane])
            shares[at + step, lane] += fused(count, inverse, count * rest)


@inner
def _hand_on(values, near, blocks, out):
    """Add counts or shares to their pairs, and subtract them from the reversed pairs.

    `values` is [reach, lanes]: of each system in block `near`, over the systems that follow.
    """
    lanes, systems = values.shape[1], len(out)
    size = blocks * lanes
    for lane in range(min(lanes, systems - near * lanes)):
        a = near * lanes + lane
        end = a + size // 2 + (a < size // 2)  # opposite systems meet twice, and count once
        for b in range(a + 1, min(end, systems)):
            out[a, b] += values[b - a - 1, lane]
            out[b, a] -= values[b - a - 1, lane]
        for b in range(end - size):
            out[a, b] += values[size + b - a - 1, lane]
            out[b, a] -= values[size + b - a - 1, lane]

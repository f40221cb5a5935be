"""Orders of systems: concordant pairs, rank-biased overlap, Markov chains; drops of scores."""

from __future__ import annotations

import math

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit

EQUAL, AVERAGE, CORRECTED = 0, 1, 2  # tie variants w, a and b


@jit
def concordance(x: Array, y: Array, same: Array, opposite: Array) -> None:
    """Count for each system the systems above it in `y` that are also above it in `x`, or below.

    All arrays are [ordering, system]: `x`, `y` float64, larger values first; `same`, `opposite`
    int64. Each row of `x` is compared with the same row of `y`.
    """
    for row in range(x.shape[0]):
        for i in range(x.shape[1]):
            own_x, own_y = x[row, i], y[row, i]
            up, down = 0, 0
            for j in range(x.shape[1]):
                above = y[row, j] > own_y
                up += above & (x[row, j] > own_x)
                down += above & (x[row, j] < own_x)
            same[row, i], opposite[row, i] = up, down


@jit
def gap_sums(x: Array, y: Array, signed: Array, total: Array) -> None:
    """Sum for each system its gaps in `x` to the systems above it in `y`, signed and absolute.

    All arrays are float64 [ordering, system]. A gap is positive where `x` has the same order. Half
    of the absolute gap to a system that ties in `y` counts.
    """
    for row in range(x.shape[0]):
        for i in range(x.shape[1]):
            up, every = 0.0, 0.0
            for j in range(x.shape[1]):
                gap = x[row, j] - x[row, i]
                if y[row, j] > y[row, i]:
                    up += gap
                    every += abs(gap)
                elif y[row, j] == y[row, i] and j != i:
                    every += 0.5 * abs(gap)
            signed[row, i], total[row, i] = up, every


@jit
def concordant_pairs(x: Array, y: Array, counts: Array) -> None:
    """Count the pairs of systems that two orderings agree on, and those that each does not tie.

    `x`, `y` float64 [ordering, system]; each row of `x` is compared with the same row of `y`.
    `counts` int64 [ordering, 3]: concordant minus discordant pairs, pairs untied in `x`, in `y`.
    """
    for row in range(x.shape[0]):
        agreed, in_x, in_y = 0, 0, 0
        for i in range(1, x.shape[1]):
            own_x, own_y = x[row, i], y[row, i]
            for j in range(i):
                sign_x = (x[row, j] > own_x) - (x[row, j] < own_x)
                sign_y = (y[row, j] > own_y) - (y[row, j] < own_y)
                agreed += sign_x * sign_y
                in_x += sign_x * sign_x
                in_y += sign_y * sign_y
        counts[row, 0], counts[row, 1], counts[row, 2] = agreed, in_x, in_y


@jit
def overlap(
    top: Array,
    bottom: Array,
    length: Array,
    top_y: Array,
    bottom_y: Array,
    length_y: Array,
    paired: bool,
    mirrored: bool,
    p: float,
    variant: Int,
    out: Array,
) -> None:
    """Compute RBO of rankings of the same items, as in Corsi and Urbano 2024.

    `top` and `bottom` int32 [ranking, item]: the first and last rank of the item's tie group,
    1-based; 0: not in the ranking. `length` int32 [ranking]: its number of items. `paired`: compare
    rankings of the same index, otherwise all rankings of both sides. `mirrored`: both sides are
    equal, and every pair is computed once. `out` float64 [ranking, ranking or 1, 3]:
    extrapolated, minimum, maximum; NaN for a ranking without items.
    """
    size = top.shape[1]
    both, complete, unseen = np.empty(size + 2), np.empty(size + 2), np.empty(size + 2)
    first, last = np.empty((2, size + 2), np.int64), np.empty((2, size + 2), np.int64)
    for x in range(top.shape[0]):
        for y in range(x if paired or mirrored else 0, x + 1 if paired else top_y.shape[0]):
            column = 0 if paired else y
            if length[x] >= length_y[y]:
                long_top, long_bottom, longer = top[x], bottom[x], length[x]
                short_top, short_bottom, shorter = top_y[y], bottom_y[y], length_y[y]
            else:
                long_top, long_bottom, longer = top_y[y], bottom_y[y], length_y[y]
                short_top, short_bottom, shorter = top[x], bottom[x], length[x]
            if shorter == 0:
                out[x, column] = np.nan  # all three
                continue
            _groups(long_top, long_bottom, longer, first[0], last[0])
            _groups(short_top, short_bottom, shorter, first[1], last[1])
            both[: longer + 1] = complete[: longer + 1] = unseen[: longer + 1] = 0.0
            for i in range(size):
                if long_top[i] > 0 and short_top[i] == 0:
                    unseen[long_top[i]] += 1.0
                elif long_top[i] > 0:
                    _add(
                        long_top[i],
                        long_bottom[i],
                        short_top[i],
                        short_bottom[i],
                        variant,
                        both,
                        complete,
                    )
            for depth in range(1, longer + 1):
                complete[depth] += complete[depth - 1]
                both[depth] += complete[depth]
            _scores(longer, shorter, first, last, both, unseen, p, variant, out[x, column])


@inner
def _groups(top, bottom, length, first, last):
    """Write the first and last rank of the tie group at every rank, from those of the items."""
    for i in range(top.shape[0]):
        if top[i] > 0:
            first[top[i]] = top[i]
            last[top[i]] = bottom[i]
    rank = 1
    while rank <= length:
        end = last[rank]
        for rank_in_group in range(rank + 1, end + 1):
            first[rank_in_group] = rank
            last[rank_in_group] = end
        rank = end + 1


@inner
def _within(depth, top, bottom, variant):
    """Return the share of a tie group's item within `depth`."""
    if depth < top:
        return 0.0
    if depth >= bottom or variant == EQUAL:
        return 1.0
    return (depth - top + 1) / (bottom - top + 1)


@inner
def _add(top, bottom, other_top, other_bottom, variant, both, complete):
    """Add the shares of one item of two rankings at every depth, and its first complete depth."""
    begin = max(top, other_top)
    settled = begin if variant == EQUAL else max(bottom, other_bottom)
    for depth in range(begin, settled):
        share = _within(depth, top, bottom, variant)
        both[depth] += share * _within(depth, other_top, other_bottom, variant)
    complete[settled] += 1.0


@inner
def _size(depth, first, last, variant):
    """Return the size of one ranking at `depth`: a count, or for variant b a sum of squares."""
    if variant == EQUAL:
        return float(last)
    if variant == AVERAGE:
        return float(depth)
    within = depth - first + 1
    return first - 1 + within * within / (last - first + 1)


@inner
def _agreement(amount, size_x, size_y, variant):
    if variant == CORRECTED:
        return amount / math.sqrt(size_x) / math.sqrt(size_y)
    return 2.0 * amount / (size_x + size_y)


@inner
def _scores(longer, shorter, first, last, both, unseen, p, variant, out):
    """Sum over three sections of depths: within both rankings, within one, beyond both."""
    shared = both[longer]  # all common items are complete at the end of the longer
    extrapolated = minimum = maximum = logarithm = 0.0
    power = agreement = 1.0
    before = 0.0
    for depth in range(1, longer + 1):
        power *= p
        logarithm += power / depth
        size = _size(depth, first[0, depth], last[0, depth], variant)
        if depth <= shorter:
            other_size = _size(depth, first[1, depth], last[1, depth], variant)
            agreement = _agreement(both[depth], size, other_size, variant)
        group = unseen[first[0, depth]]
        if depth > shorter:
            # Unseen items of the shorter ranking: none agrees; the first missing items of the
            # longer one agree; or the same share agrees as at its end.
            more = depth - shorter
            part = _within(depth, first[0, depth], last[0, depth], variant)
            best = min(more, before) + min(max(more - before, 0.0), group) * part
            mean = (before + group * part) / (before + group)
            likely = more * agreement * mean
            extrapolated += _agreement(both[depth] + likely, size, float(depth), variant) * power
            minimum += _agreement(both[depth], size, float(depth), variant) * power
            maximum += _agreement(both[depth] + best, size, float(depth), variant) * power
        else:
            extrapolated += agreement * power
            minimum += agreement * power
            maximum += agreement * power
        if depth == last[0, depth]:
            before += group
    extrapolated += (shared + (longer - shorter) * agreement) / longer * power * p / (1 - p)
    minimum += shared * max(-math.log1p(-p) - logarithm, 0.0)
    full = longer + shorter - int(shared)
    for depth in range(longer + 1, full + 1):
        power *= p
        maximum += (2 * depth - longer - shorter + shared) / depth * power
    maximum += power * p / (1 - p)
    scale = (1 - p) / p
    out[0], out[1], out[2] = extrapolated * scale, minimum * scale, maximum * scale


@jit
def settle(rates: Array, mass: Array, limit: Array, home: Array) -> None:
    """Compute the limiting distribution of a chain with initial distribution `mass`.

    States are eliminated from the last to the first. The mass and inflow of a state are distributed
    in proportion to its rates (Grassmann, Taksar, Heyman 1985, doi:10.1287/opre.33.5.1107). The
    algorithm has no subtraction, so that even the smallest probabilities are precise. A state
    without remaining outflow is the last of a closed class and keeps the mass of the class.
    `rates`: float64 [from, to], on any scale; the diagonal is ignored. Overwritten. `mass`: float64
    [state]: the initial distribution. Overwritten. `limit`: float64 [state]: written. `home`: int64
    [state], written: the first state of the closed class; -1 for a transient state.
    """
    size = rates.shape[0]
    total = np.zeros(size)
    roots = np.empty(size, np.int64)
    count = 0
    for k in range(size - 1, -1, -1):
        home[k] = -1
        for j in range(k):
            total[k] += rates[k, j]
        for r in roots[:count]:
            total[k] += rates[k, r]
        if total[k] == 0.0:
            home[k] = roots[count] = k
            count += 1
            continue
        for j in range(k):
            mass[j] += mass[k] * (rates[k, j] / total[k])
        for r in roots[:count]:
            mass[r] += mass[k] * (rates[k, r] / total[k])
        for i in range(k):
            if rates[i, k] > 0.0:
                share = rates[i, k] / total[k]
                for j in range(k):
                    rates[i, j] += share * rates[k, j]
                for r in roots[:count]:
                    rates[i, r] += share * rates[k, r]

    weight = np.zeros(size)
    for k in range(size):
        limit[k] = 1.0 if home[k] == k else 0.0
        if home[k] != k:
            for j in range(k):
                flow = limit[j] * rates[j, k]
                if flow > 0.0:
                    limit[k] += flow / total[k]
                    home[k] = home[j]
        if home[k] >= 0:
            weight[home[k]] += limit[k]
    for k in range(size):
        if home[k] >= 0:
            limit[k] *= mass[home[k]] / weight[home[k]]


@jit
def count_drops(
    scores: Array,
    is_counted: Array,
    lower: Array,
    upper: Array,
    tie: float,
    strict: bool,
    counts: Array,
) -> None:
    """Count the pairs whose lower ranking scores too much, in one pass without temporary arrays.

    `scores`: float64 [measures, rankings]. `is_counted`: bool [measures]: whether to count the
    pairs for the measure. `lower`, `upper`: uint32 [n] and [n, m]: ranking i of `lower` makes a
    pair with each of row i of `upper`. Unsigned, because numba checks signed indices for negative
    ones. `tie`: largest difference of equal scores. `strict`: whether a pair of equal scores fails
    too. `counts`: int64 [measures, 3], added to: pairs that fail, of equal scores, and with a NaN.
    """
    for measure in range(scores.shape[0]):
        if not is_counted[measure]:
            continue
        values = scores[measure]
        rises, tied, undefined = 0, 0, 0
        for i in range(len(lower)):
            low, row = values[lower[i]], upper[i]
            for j in range(len(row)):
                high = values[row[j]]
                drop = low - high
                tied += (low == high) | (abs(drop) <= tie)  # the former for equal infinities
                rises += drop < -tie
                undefined += (high != high) | (low != low)
        pairs = upper.size
        failed = pairs - undefined - rises - (0 if strict else tied)
        counts[measure, 0] += failed
        counts[measure, 1] += tied
        counts[measure, 2] += undefined


@jit
def count_level_pairs(
    ranks: Array,
    is_first: Array,
    missing: Int,
    terms: Array,
    bins: Int,
    counts: Array,
    distances: Array,
) -> None:
    """Compare the ranks of all pairs of systems at each recall level.

    `ranks`: uint16 or uint32 [levels, systems]; `missing`: not retrieved. `is_first`: bool
    [levels]: whether the level is the first of its query. `terms`: float64 [discounts, levels,
    systems]: the terms of the ranks, from 0 to 1. `bins`: steps from 0 to 1. `counts`: int64 [3];
    added to: pairs whose ranks differ, pairs of docs that are both not retrieved, and pairs whose
    ranks differ at a first level. `distances`: int64 [discounts, 2 bins + 1]; added to: numbers of
    |difference of terms|. Element 2 j is for j / bins to rounding, element 2 j + 1 for values
    between j / bins and (j + 1) / bins; element 0 for equal ranks.
    """
    for level in range(ranks.shape[0]):
        unequal, absent = 0, 0
        for a in range(ranks.shape[1]):
            rank = ranks[level, a]
            for b in range(a + 1, ranks.shape[1]):
                if ranks[level, b] == rank:
                    absent += rank == missing
                    continue
                unequal += 1
                for d in range(terms.shape[0]):
                    scaled = abs(terms[d, level, a] - terms[d, level, b]) * bins
                    nearest = np.rint(scaled)
                    if nearest > 0.0 and abs(scaled - nearest) <= 1e-9:
                        distances[d, 2 * np.int64(nearest)] += 1
                    else:
                        distances[d, 2 * np.int64(scaled) + 1] += 1
        pairs = ranks.shape[1] * (ranks.shape[1] - 1) // 2
        for d in range(terms.shape[0]):
            distances[d, 0] += pairs - unequal
        counts[0] += unequal
        counts[1] += absent
        if is_first[level]:
            counts[2] += unequal

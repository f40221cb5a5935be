"""Statistics of all pairs of systems: moments, signed ranks, comparisons on samples of queries.

Each pair's moments depend only on its values, query after query. Systems are the inner loop: LLVM
computes several pairs in parallel.

In the kernels of moments, `values` is float64 [query, system], NaN where undefined. `mean` and
`deviation` are float64 [system, system], `number` is int32 of the same shape and zero; the upper
triangle with the diagonal is written. A mean or deviation up to the larger `tolerance`, float64
[system], of a pair is rounding error and becomes 0. The deviation of fewer than two queries and the
mean of no query are NaN.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit


@inner
def _write_deviations(a, freedom, squares, tolerance, mean, deviation, number):
    """Write the deviations of the pairs of system `a` from their sums of squares."""
    for b in range(a, len(squares)):
        within = max(tolerance[a], tolerance[b])
        if abs(mean[a, b]) <= within:
            mean[a, b] = 0.0
        if number[a, b] < 2:
            deviation[a, b] = np.nan
            continue
        deviation[a, b] = np.sqrt(squares[b] / (freedom * (number[a, b] - 1)))
        if deviation[a, b] <= within:
            deviation[a, b] = 0.0


@jit
def paired_moments(
    values: Array, tolerance: Array, mean: Array, deviation: Array, number: Array
) -> None:
    """Compute mean and standard deviation of the differences, in two passes."""
    queries, systems = values.shape
    total, squares = np.empty((2, systems))
    for a in range(systems):
        total[:] = 0.0
        squares[:] = 0.0
        for q in range(queries):
            value = values[q, a]
            for b in range(a, systems):
                difference = value - values[q, b]
                known = difference == difference
                number[a, b] += known
                total[b] += difference if known else 0.0
        for b in range(a, systems):
            mean[a, b] = total[b] / number[a, b] if number[a, b] > 0 else np.nan
        for q in range(queries):
            value = values[q, a]
            for b in range(a, systems):
                off = value - values[q, b] - mean[a, b]
                squares[b] += off * off if off == off else 0.0
        _write_deviations(a, 1, squares, tolerance, mean, deviation, number)


@jit
def pooled_moments(
    values: Array, tolerance: Array, mean: Array, deviation: Array, number: Array
) -> None:
    """Compute the difference of the means and the pooled standard deviation, in two passes."""
    queries, systems = values.shape
    first, second, squares = np.empty((3, systems))
    for a in range(systems):
        first[:] = 0.0
        second[:] = 0.0
        squares[:] = 0.0
        for q in range(queries):
            value_a = values[q, a]
            for b in range(a, systems):
                value_b = values[q, b]
                known = value_a == value_a and value_b == value_b
                number[a, b] += known
                first[b] += value_a if known else 0.0
                second[b] += value_b if known else 0.0
        for b in range(a, systems):
            first[b] = first[b] / number[a, b] if number[a, b] > 0 else np.nan
            second[b] = second[b] / number[a, b] if number[a, b] > 0 else np.nan
            mean[a, b] = first[b] - second[b]
        for q in range(queries):
            value_a = values[q, a]
            for b in range(a, systems):
                off, other_off = value_a - first[b], values[q, b] - second[b]
                square = off * off + other_off * other_off
                squares[b] += square if square == square else 0.0
        _write_deviations(a, 2, squares, tolerance, mean, deviation, number)


@jit
def mirror(square: Array, sign: Int) -> None:
    """Fill the lower triangle of `square` from the upper, times `sign`; without -0.0."""
    for a in range(square.shape[0]):
        for b in range(a):
            square[a, b] = sign * square[b, a] + 0.0


@jit
def count_signs(values: Array, tolerance: Array, plus: Array, minus: Array) -> None:
    """Count for each pair of systems the queries with a larger or smaller value of the first.

    `values` is float64 [query, system]; NaN and differences up to the larger `tolerance` of the
    pair, float64 [system], are not counted. `plus` and `minus` are int32 [system, system], zero,
    written above the diagonal.
    """
    for a in range(values.shape[1]):
        for q in range(values.shape[0]):
            value = values[q, a]
            for b in range(a + 1, values.shape[1]):
                difference = value - values[q, b]
                within = max(tolerance[a], tolerance[b])
                plus[a, b] += difference > within
                minus[a, b] += difference < -within


@jit
def tie_magnitudes(differences: Array, order: Array, within: Array, noise: Array) -> None:
    """Set the magnitudes of differences that are equal but for rounding to the least of them.

    In ascending order, magnitudes are linked that are at most `within` apart. Of linked magnitudes
    that span more than `within` not all can be equal: then only those at most `noise` apart are.
    `differences`: float64 [pair, query]; NaN: zero or undefined. Changed in place. `order`: int64
    [pair, query]: the queries by ascending magnitude, NaN last. `within`, `noise`: float64 [pair]:
    tolerances, of values as they were printed and of floats.
    """
    for i in range(differences.shape[0]):
        row, places = differences[i], order[i]
        end = len(row)
        while end > 0 and row[places[end - 1]] != row[places[end - 1]]:
            end -= 1
        low = 0
        while low < end:
            high = low + 1
            while high < end and abs(row[places[high]]) - abs(row[places[high - 1]]) <= within[i]:
                high += 1
            span = abs(row[places[high - 1]]) - abs(row[places[low]])
            link = noise[i] if span > within[i] else within[i]
            size = last = abs(row[places[low]])
            for k in range(low, high):
                magnitude = abs(row[places[k]])
                if magnitude - last > link:
                    size = magnitude
                last = magnitude
                row[places[k]] = np.copysign(size, row[places[k]])
            low = high


@jit
def signed_ranks(differences: Array, order: Array, plus: Array, number: Array, ties: Array) -> None:
    """Compute Wilcoxon's sum of the ranks of the positive differences, without zeros.

    `differences`: float64 [pair, query]; NaN: zero or undefined. `order`: int64 [pair, query]: the
    queries by ascending magnitude, NaN last. `plus`, `number`, `ties`: float64, int64 and float64
    [pair]; written: the sum of the mean ranks of the positive differences, the number of
    differences, and the sum of t^3 - t over groups of t ties.
    """
    for i in range(differences.shape[0]):
        end = differences.shape[1]
        while end > 0 and differences[i, order[i, end - 1]] != differences[i, order[i, end - 1]]:
            end -= 1
        total, correction = 0.0, 0.0
        low = 0
        while low < end:
            size = abs(differences[i, order[i, low]])
            high = low
            positive = 0
            while high < end and abs(differences[i, order[i, high]]) == size:
                positive += differences[i, order[i, high]] > 0
                high += 1
            alike = high - low
            total += positive * (low + high + 1) / 2
            correction += float(alike) * alike * alike - alike
            low = high
        plus[i] = total
        number[i] = end
        ties[i] = correction


@jit
def signed_rank_tails(
    differences: Array, order: Array, number: Array, plus: Array, side: Int, ways: Array, p: Array
) -> None:
    """Compute p-values of rank sums with ties over all sign assignments.

    The first arguments are as in `signed_ranks`, whose results `number` and `plus` are read.
    `side`: 0 two-sided; 1 large sums, -1 small sums have a small p. `ways`: float64 [n (n + 1) + 1]
    for n queries: working space. `p`: float64 [pair]; written.
    """
    for i in range(differences.shape[0]):
        end = number[i]
        ways[:] = 0.0
        ways[0] = 1.0
        reached = 0
        low = 0
        while low < end:
            size = abs(differences[i, order[i, low]])
            high = low
            while high < end and abs(differences[i, order[i, high]]) == size:
                high += 1
            twice = low + high + 1  # a mean rank is a multiple of 1/2
            for _ in range(low, high):
                reached += twice
                for total in range(reached, twice - 1, -1):
                    ways[total] += ways[total - twice]
            low = high
        twice_plus = round(2 * plus[i])
        if side > 0:
            least = reached - twice_plus
        elif side < 0:
            least = twice_plus
        else:
            least = min(twice_plus, reached - twice_plus)
        tail = 0.0
        for total in range(least + 1):
            tail += ways[total]
        p[i] = min(1.0, (1.0 if side else 2.0) * tail / 2.0**end)


@jit
def subset_means(values: Array, subsets: Array, out: Array) -> None:
    """Compute the mean of each column over each set of rows, summed in the set's order.

    `values` is float64 [rows, columns], `subsets` int64 [sets, size], `out` [sets, columns].
    """
    size = subsets.shape[1]
    for t in range(len(subsets)):
        out[t] = 0.0
        for i in range(size):
            row = subsets[t, i]
            for s in range(values.shape[1]):
                out[t, s] += values[row, s]
        for s in range(values.shape[1]):
            out[t, s] /= size


@jit
def add_wins(means: Array, least: float, share: float, wins: Array) -> None:
    """Count the trials in which one system's mean is above another's by more than a margin.

    `means`: float64 [systems, trials]. `least`, `share`: the margin is `least` plus `share` times
    the larger of the two |means|. `wins`: int32 [systems, systems]; added to: number of trials
    where the row is above the column.
    """
    systems, trials = means.shape
    for a in range(systems):
        for b in range(a + 1, systems):
            above = below = 0
            for t in range(trials):
                x, y = means[a, t], means[b, t]
                margin = least + share * max(abs(x), abs(y))
                above += x - y > margin
                below += y - x > margin
            wins[a, b] += above
            wins[b, a] += below


@jit
def add_swaps(
    first: Array, second: Array, width: Int, slack: float, comparisons: Array, swaps: Array
) -> None:
    """Count pairs by |difference| in one half, and the pairs that the other half swaps.

    `first`, `second`: float64 [systems, trials]: means on the first and second half. `width`: width
    of a bin; the last bin has no upper bound. `slack`: Rounding error: differences up to `slack`
    are 0, and bins begin `slack` earlier. `comparisons`, `swaps`: int64 [bins]; added to.
    """
    systems, trials = first.shape
    last = len(comparisons) - 1
    for a in range(systems):
        for b in range(a + 1, systems):
            for t in range(trials):
                d = first[a, t] - first[b, t]
                e = second[a, t] - second[b, t]
                bin_ = int(min((abs(d) + slack) / width, float(last)))
                comparisons[bin_] += 1
                if (d > slack and e < -slack) or (d < -slack and e > slack):
                    swaps[bin_] += 1


@jit
def count_as_far(sums: Array, threshold: Array, count: Array) -> None:
    """Count the resamples where the sums of two systems differ by at least the threshold.

    `sums`: float64 [system, resample]. `threshold`, `count`: float64 and int64 [system, system];
    only the upper triangle is used. `count` is added to.
    """
    for a in range(sums.shape[0]):
        for b in range(a + 1, sums.shape[0]):
            limit = threshold[a, b]
            exceeding = 0
            for r in range(sums.shape[1]):
                exceeding += abs(sums[a, r] - sums[b, r]) >= limit
            count[a, b] += exceeding


@jit
def weighted_sums(values: Array, times: Array, out: Array) -> None:
    """Add the product of values [system, query] and [query, resample] to `out` [system, resample].

    The last bits of BLAS would depend on its number of threads.
    """
    for s in range(values.shape[0]):
        for q in range(values.shape[1]):
            value = values[s, q]
            for r in range(times.shape[1]):
                out[s, r] += value * times[q, r]


@jit
def resampled_means(differences: Array, draws: Array, out: Array) -> None:
    """Compute means over queries drawn with replacement from those where a pair has a difference.

    `differences`: float64 [pair, query]; NaN: undefined. `draws`: float32 in [0, 1) [resample,
    query]: relative index in the pair's list of queries. `out`: float64 [pair, resample]; written
    for pairs with a query.
    """
    for i in range(differences.shape[0]):
        known = differences[i][differences[i] == differences[i]]
        number = len(known)
        if number == 0:
            continue
        for r in range(draws.shape[0]):
            total = 0.0
            for k in range(number):
                total += known[int(float(draws[r, k]) * number)]
            out[i, r] = total / number

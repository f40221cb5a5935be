"""Signs and signed ranks of the differences of many pairs of systems."""

from irmeta.kernels.jit import jit


@jit
def count_signs(values, tie, plus, minus):
    """Count for each pair of systems the queries with a larger or smaller value of the first.

    `values` is float64 [query, system]; NaN and differences up to `tie` are not counted. `plus` and
    `minus` are int32 [system, system], zero, written above the diagonal.
    """
    for a in range(values.shape[1]):
        for q in range(values.shape[0]):
            value = values[q, a]
            for b in range(a + 1, values.shape[1]):
                difference = value - values[q, b]
                plus[a, b] += difference > tie
                minus[a, b] += difference < -tie


@jit
def signed_ranks(differences, order, plus, number, ties):
    """Compute Wilcoxon's sum of the ranks of the positive differences, without zeros.

    Parameters
    ----------
    differences
        float64 [pair, query]; NaN: zero or undefined.
    order
        int64 [pair, query]: the queries by ascending magnitude, NaN last.
    plus, number, ties
        float64, int64 and float64 [pair]; written: the sum of the mean ranks of the positive
        differences, the number of differences, and the sum of t^3 - t over groups of t ties.
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
def signed_rank_tails(differences, order, number, plus, ways, p):
    """Compute two-sided p-values of rank sums with ties over all sign assignments.

    The first arguments are as in `signed_ranks`, whose results `number` and `plus` are read.

    Parameters
    ----------
    ways
        float64 [n (n + 1) + 1] for n queries: working space.
    p
        float64 [pair]; written.
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
        least = min(twice_plus, reached - twice_plus)
        tail = 0.0
        for total in range(least + 1):
            tail += ways[total]
        p[i] = min(1.0, 2 * tail / 2.0**end)

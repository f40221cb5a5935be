"""Moments of the values of all pairs of systems, over the queries where both have a value.

Each pair's moments depend only on its values, query after query. Systems are the inner loop: LLVM
computes several pairs in parallel.

In all kernels `values` is float64 [query, system], NaN where undefined. `mean` and `deviation` are
float64 [system, system], `number` is int32 of the same shape and zero; the upper triangle with the
diagonal is written. A deviation up to the share `rounding` of the pair's largest value is rounding
error and becomes 0, like a mean that small. The deviation of fewer than two queries and the mean of
no query are NaN.
"""

import numpy as np

from irmeta.kernels.jit import inner, jit


@inner
def _write_deviations(a, freedom, squares, largest, rounding, mean, deviation, number):
    """Write the deviations of the pairs of system `a` from their sums of squares."""
    for b in range(a, len(squares)):
        if number[a, b] < 2:
            deviation[a, b] = np.nan
            continue
        deviation[a, b] = np.sqrt(squares[b] / (freedom * (number[a, b] - 1)))
        if deviation[a, b] <= rounding * largest[b]:
            deviation[a, b] = 0.0
            if abs(mean[a, b]) <= rounding * largest[b]:
                mean[a, b] = 0.0


@jit
def paired_moments(values, rounding, mean, deviation, number):
    """Compute mean and standard deviation of the differences, in two passes."""
    queries, systems = values.shape
    total, squares, largest = np.empty((3, systems))
    for a in range(systems):
        total[:] = 0.0
        squares[:] = 0.0
        largest[:] = 0.0
        for q in range(queries):
            value = values[q, a]
            for b in range(a, systems):
                difference = value - values[q, b]
                known = difference == difference
                number[a, b] += known
                total[b] += difference if known else 0.0
                size = max(abs(value), abs(values[q, b]))
                largest[b] = max(largest[b], size if known else 0.0)
        for b in range(a, systems):
            mean[a, b] = total[b] / number[a, b] if number[a, b] > 0 else np.nan
        for q in range(queries):
            value = values[q, a]
            for b in range(a, systems):
                off = value - values[q, b] - mean[a, b]
                squares[b] += off * off if off == off else 0.0
        _write_deviations(a, 1, squares, largest, rounding, mean, deviation, number)


@jit
def pooled_moments(values, rounding, mean, deviation, number):
    """Compute the difference of the means and the pooled standard deviation, in two passes."""
    queries, systems = values.shape
    first, second, squares, largest = np.empty((4, systems))
    for a in range(systems):
        first[:] = 0.0
        second[:] = 0.0
        squares[:] = 0.0
        largest[:] = 0.0
        for q in range(queries):
            value_a = values[q, a]
            for b in range(a, systems):
                value_b = values[q, b]
                known = value_a == value_a and value_b == value_b
                number[a, b] += known
                first[b] += value_a if known else 0.0
                second[b] += value_b if known else 0.0
                largest[b] = max(largest[b], max(abs(value_a), abs(value_b)) if known else 0.0)
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
        _write_deviations(a, 2, squares, largest, rounding, mean, deviation, number)


@jit
def mirror(square, sign):
    """Fill the lower triangle of `square` from the upper, times `sign`."""
    for a in range(square.shape[0]):
        for b in range(a):
            square[a, b] = sign * square[b, a]

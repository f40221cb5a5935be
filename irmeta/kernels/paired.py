"""Moments of two systems' values where sums of squares cancel."""

from math import sqrt

from irmeta.kernels.jit import jit


@jit
def paired_moments(values, first, second, rounding, mean, deviation):
    """Mean and standard deviation of the differences of some pairs, from the differences.

    Parameters
    ----------
    values
        float64 [system, query]; NaN: undefined.
    first, second
        int64 [pair]: places of systems.
    rounding
        A spread up to this share of the greatest value is rounding: none; the mean too, then.
    mean, deviation
        float64 [pair]; written where two queries or more have both values.
    """
    for i in range(len(first)):
        a, b = first[i], second[i]
        number, total, largest = 0, 0.0, 0.0
        for q in range(values.shape[1]):
            difference = values[a, q] - values[b, q]
            if difference == difference:
                number += 1
                total += difference
                largest = max(largest, abs(values[a, q]), abs(values[b, q]))
        if number < 2:
            continue
        centre = total / number
        squares = 0.0
        for q in range(values.shape[1]):
            difference = values[a, q] - values[b, q]
            if difference == difference:
                squares += (difference - centre) ** 2
        spread = sqrt(squares / (number - 1))
        if spread <= rounding * largest:
            spread = 0.0
            if abs(centre) <= rounding * largest:
                centre = 0.0
        mean[i] = centre
        deviation[i] = spread


@jit
def pooled_moments(values, first, second, rounding, mean, deviation):
    """Difference of the means and pooled standard deviation of some pairs, in two passes.

    The arguments are as in `paired_moments`.
    """
    for i in range(len(first)):
        a, b = first[i], second[i]
        number, total_a, total_b, largest = 0, 0.0, 0.0, 0.0
        for q in range(values.shape[1]):
            if values[a, q] == values[a, q] and values[b, q] == values[b, q]:
                number += 1
                total_a += values[a, q]
                total_b += values[b, q]
                largest = max(largest, abs(values[a, q]), abs(values[b, q]))
        if number < 2:
            continue
        mean_a, mean_b = total_a / number, total_b / number
        squares = 0.0
        for q in range(values.shape[1]):
            if values[a, q] == values[a, q] and values[b, q] == values[b, q]:
                squares += (values[a, q] - mean_a) ** 2 + (values[b, q] - mean_b) ** 2
        spread = sqrt(squares / (2 * number - 2))
        centre = mean_a - mean_b
        if spread <= rounding * largest:
            spread = 0.0
            if abs(centre) <= rounding * largest:
                centre = 0.0
        mean[i] = centre
        deviation[i] = spread


@jit
def mirror(square, sign):
    """Fill the part of `square` below the diagonal from the part above it, times `sign`."""
    for a in range(square.shape[0]):
        for b in range(a):
            square[a, b] = sign * square[b, a]

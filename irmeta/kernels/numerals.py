"""Printed numbers to numbers: eight digits at a time."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import inlined
from irmeta.kernels.vector import load_word, trailing_zeros

POWERS = np.array([float(f"1e{power}") for power in range(23)])  # exact: one rounding to come
_WHOLE_POWERS = np.array([10**i for i in range(9)], np.uint64)
EXACT = np.uint64(2**53)  # whole numbers up to here are floats
MOST_DIGITS = 19  # that a uint64 holds, whatever they are

NO_NUMBER, HARD, EASY = 0, 1, 2


@inlined
def digits_in(word):
    """How many of the leading (least significant) bytes of a word are digits."""
    high = (word & np.uint64(0xF0F0F0F0F0F0F0F0)) ^ np.uint64(0x3030303030303030)
    carried = word + np.uint64(0x0606060606060606)
    over = (carried & np.uint64(0xF0F0F0F0F0F0F0F0)) ^ np.uint64(0x3030303030303030)
    odd = high | over
    if odd == np.uint64(0):
        return np.int64(8)
    return trailing_zeros(odd) >> 3


@inlined
def digits_value(word, count):
    """The number that the first `count` bytes of a word, digits, print."""
    shift = np.uint64(8 * (8 - count))
    if count == 0:
        return np.uint64(0)
    word = (word << shift) | (
        np.uint64(0x3030303030303030) & ~(np.uint64(0xFFFFFFFFFFFFFFFF) << shift)
    )
    word = word - np.uint64(0x3030303030303030)
    word = word * np.uint64(10) + (word >> np.uint64(8))
    low = (word & np.uint64(0x000000FF000000FF)) * np.uint64(0x000F424000000064)
    high = ((word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(0x0000271000000001)
    return (low + high) >> np.uint64(32)


@inlined
def digit_run(data, start, end, value):
    """Digits from `start` on, appended to `value`: the number, and where they end.

    The number wraps around beyond 64 bits.
    """
    at = start
    while at < end:
        word = load_word(data, at)
        count = min(digits_in(word), end - at)
        value = value * _WHOLE_POWERS[count] + digits_value(word, count)
        at += count
        if count < 8:
            break
    return value, at


@inlined
def parse_score(data, start, end):
    """What a field prints: its kind, its value where that is ``EASY``, and whether it has a comma.

    ``EASY``: sign, digits, point or comma, digits, and so few of them that the nearest float is one
    division away. ``HARD``: a number too, with an exponent or more digits. Else ``NO_NUMBER``.
    """
    at = start
    negative = data[at] == 45
    if negative or data[at] == 43:
        at += 1
    first = at
    value, at = digit_run(data, at, end, np.uint64(0))
    whole, fraction, comma = at - first, 0, False
    if at < end and (data[at] == 46 or data[at] == 44):
        comma = data[at] == 44
        first = at + 1
        value, at = digit_run(data, first, end, value)
        fraction = at - first
        if comma and fraction == 0:
            return NO_NUMBER, 0.0, False
    if whole + fraction == 0:
        return NO_NUMBER, 0.0, False
    if at < end:
        if not _is_exponent(data, at, end):
            return NO_NUMBER, 0.0, False
        return HARD, 0.0, comma
    if whole + fraction > MOST_DIGITS or fraction > 22 or value > EXACT:
        return HARD, 0.0, comma
    score = np.float64(value) / POWERS[fraction]
    return EASY, -score if negative else score, comma


@inlined
def _is_exponent(data, at, end):
    if data[at] != 101 and data[at] != 69:
        return False
    at += 1
    if at < end and (data[at] == 45 or data[at] == 43):
        at += 1
    _, stop = digit_run(data, at, end, np.uint64(0))
    return at < end and stop == end


@inlined
def parse_whole(data, start, end):
    """Whether a field is a whole number, and the number; it may be too long to be right."""
    at = start
    negative = data[at] == 45
    if negative or data[at] == 43:
        at += 1
    value, stop = digit_run(data, at, end, np.uint64(0))
    number = np.int64(value)
    return at < end and stop == end, -number if negative else number

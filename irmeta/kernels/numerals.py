"""Parse printed numbers, eight digits at a time, to the nearest float.

A field is given by the addresses of its begin and of the white space at its end (see
irmeta.kernels.vector).
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Int, inlined
from irmeta.kernels.vector import (
    as_float,
    high_product,
    leading_zeros,
    load_byte,
    load_word,
    trailing_zeros,
)

MOST_DIGITS = 19  # any number of 19 digits fits into a uint64
FARTHEST = 65  # largest magnitude of a power of ten with a row in _FIVES
_WHOLE_POWERS = np.array([10**i for i in range(9)], np.uint64)

NO_NUMBER, HARD, EASY = 0, 1, 2


def _power_of_five(power: int) -> tuple[int, int]:
    """Return the leading 128 bits of ``5**power`` as two words.

    The bits are truncated, but 5**-27 to 5**-1 are rounded up, as the proof needs (`decimal`).
    """
    five: int = 5 ** abs(power)
    if power >= 0:
        leading = five << 128 >> five.bit_length()
    else:
        leading = (1 << (five.bit_length() + 127)) // five + (power >= -27)
    return leading >> 64, leading & (2**64 - 1)


_FIVES = np.array([_power_of_five(p) for p in range(-FARTHEST, FARTHEST + 1)], np.uint64)


@inlined
def digits_in(word: Int) -> Int:
    """Count the leading (least significant) bytes of a word that are digits."""
    high = (word & np.uint64(0xF0F0F0F0F0F0F0F0)) ^ np.uint64(0x3030303030303030)
    carried = word + np.uint64(0x0606060606060606)
    over = (carried & np.uint64(0xF0F0F0F0F0F0F0F0)) ^ np.uint64(0x3030303030303030)
    return trailing_zeros(high | over) >> 3


@inlined
def digits_value(word: Int, count: Int) -> Int:
    """Return the number printed by the first `count` bytes of a word, all digits."""
    half = np.uint64(4 * (8 - count))  # a shift by 64 is undefined, and by 32 twice is 0
    word = (word ^ np.uint64(0x3030303030303030)) << half << half
    word = word * np.uint64(10) + (word >> np.uint64(8))
    low = (word & np.uint64(0x000000FF000000FF)) * np.uint64(0x000F424000000064)
    high = ((word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(0x0000271000000001)
    return (low + high) >> np.uint64(32)


@inlined
def digit_run(pointer: Int, value: Int) -> tuple[Int, Int]:
    """Append the digits at `pointer` to `value`; return the number and the end of the digits.

    The number wraps around beyond 64 bits.
    """
    while True:
        word = load_word(pointer)
        count = digits_in(word)
        value = value * _WHOLE_POWERS[count] + digits_value(word, count)
        pointer += count
        if count < 8:
            return value, pointer


@inlined
def decimal(digits: Int, power: Int, negative: bool) -> float:
    """Return the float64 nearest to ``digits * 10**power``, ties to even, up to `FARTHEST`.

    Lemire, Number parsing at a gigabyte per second (2021, DOI 10.1002/spe.2984), algorithm 1;
    Mushtak and Lemire (2023, DOI 10.1002/spe.3198) prove that two words of a power of five always
    decide. No such number is subnormal or infinite.
    """
    sign = np.uint64(negative) << np.uint64(63)
    if digits == np.uint64(0):
        return as_float(sign)
    shift = leading_zeros(digits)
    word = digits << np.uint64(shift)
    row = power + FARTHEST
    high, low = high_product(word, _FIVES[row, 0]), word * _FIVES[row, 0]
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):  # the second word may carry into the mantissa
        more = high_product(word, _FIVES[row, 1])
        low += more
        high += np.uint64(low < more)
    upper = high >> np.uint64(63)
    dropped = upper + np.uint64(9)  # of the product's 64 bits, 53 remain, and one for rounding
    mantissa = high >> dropped
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(upper) - shift
    halfway = low <= np.uint64(1) and mantissa & np.uint64(3) == np.uint64(1)
    if halfway and -4 <= power <= 23 and mantissa << dropped == high:
        mantissa ^= np.uint64(1)  # exactly between two floats: round down to even
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    # A mantissa that is one bit longer after rounding carries into the exponent.
    bits = (np.uint64(exponent) << np.uint64(52)) + (mantissa - (np.uint64(1) << np.uint64(52)))
    return as_float(sign | bits)


@inlined
def _after_sign(pointer):
    """Return whether there is a minus, and the address after a plus or minus."""
    byte = load_byte(pointer)
    return byte == 45, pointer + (byte == 45 or byte == 43)


@inlined
def parse_score(start: Int, end: Int) -> tuple[Int, float, bool]:
    """Parse a field: return its kind, the value of an ``EASY`` field, and whether it has a comma.

    ``EASY``: at most 19 digits after leading zeros, and no power of ten beyond `FARTHEST`; the
    value is the nearest float. ``HARD``: any other number. ``NO_NUMBER``: any other text.
    """
    negative, begin = _after_sign(start)
    value, pointer = digit_run(begin, np.uint64(0))
    digits, power, comma = pointer - begin, 0, False
    byte = load_byte(pointer)
    if byte == 46 or byte == 44:
        comma = byte == 44
        first = pointer + 1
        value, pointer = digit_run(first, value)
        power = first - pointer
        digits -= power
        if comma and power == 0:
            return NO_NUMBER, 0.0, False
    if digits == 0:
        return NO_NUMBER, 0.0, False
    if pointer < end:
        exponent, kind = _exponent(pointer, end)
        if kind != EASY:
            return kind, 0.0, comma and kind == HARD
        power += exponent
    if digits > MOST_DIGITS:
        digits -= _zeros_first(begin)
    if digits > MOST_DIGITS or not -FARTHEST <= power <= FARTHEST:
        return HARD, 0.0, comma
    return EASY, decimal(value, power, negative), comma


@inlined
def _zeros_first(pointer):
    """Count the zeros before other digits, or before the end."""
    zeros = 0
    byte = load_byte(pointer)
    while byte == 48 or byte == 46 or byte == 44:
        zeros += byte == 48
        pointer += 1
        byte = load_byte(pointer)
    return zeros


@inlined
def _exponent(pointer, end):
    """Parse the exponent at `pointer`; return its value and its kind."""
    byte = load_byte(pointer)
    if byte != 101 and byte != 69:
        return 0, NO_NUMBER
    negative, first = _after_sign(pointer + 1)
    value, stop = digit_run(first, np.uint64(0))
    if stop == first or stop != end:
        return 0, NO_NUMBER
    if end - first > 9:
        return 0, HARD
    exponent = np.int64(value)
    return -exponent if negative else exponent, EASY


@inlined
def parse_whole(start: Int, end: Int) -> tuple[bool, Int]:
    """Return whether a field is a whole number, and the number, which may have overflowed."""
    negative, first = _after_sign(start)
    value, stop = digit_run(first, np.uint64(0))
    number = np.int64(value)
    return first < stop == end, -number if negative else number

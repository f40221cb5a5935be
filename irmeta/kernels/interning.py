"""Map names to numbers: a hash table of places in one array with every name once.

A name's record is three things at a multiple of eight bytes: its length and its number (uint32
each), a word that belongs to whoever looks names up (zero at first), and its bytes, padded with
zeros. Records lie in the order of their numbers. An entry of the table is a word: the upper 24 bits
of the name's hash, and where its record is, in eights and plus 1; 0 is a free place.

Places are addresses, see irmeta.kernels.vector.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import inlined, jit
from irmeta.kernels.vector import address, load_word, store_word

HEAD = 16  # bytes of a record before its name
COUNT, USED = 0, 1  # words of `state`: how many names there are, and how many bytes of `names`

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HASH = np.uint64(0xFFFFFF0000000000)


@inlined
def last_word(place, length):
    """Load the `length` bytes from `place` on, 0 to 8, as a word with zeros above."""
    half = np.uint64(4 * (8 - length))  # a shift by 64 is undefined, and by 32 twice is 0
    return load_word(place) & (_ALL >> half >> half)


@inlined
def hash_of(place, length):
    """Return a 64-bit hash of a name; reads up to 8 bytes beyond its end."""
    word = np.uint64(length) * np.uint64(0xA0761D6478BD642F)
    while length > 8:
        word = (word ^ load_word(place)) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(32)
        place += 8
        length -= 8
    word = (word ^ last_word(place, length)) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(29))) * np.uint64(0xD6E8FEB86659FD93)
    return word ^ (word >> np.uint64(32))


@inlined
def same_bytes(a, b, length):
    """Check whether two places have the same `length` bytes."""
    while length > 8:
        if load_word(a) != load_word(b):
            return False
        a += 8
        b += 8
        length -= 8
    return last_word(a, length) == last_word(b, length)


@inlined
def record_of(entry):
    """Return where the record of a table's entry begins among the names."""
    return np.int64((entry & ~_HASH) - np.uint64(1)) << 3


@inlined
def length_of(record):
    """Return the length in bytes of the name of the record at a place."""
    return np.int64(load_word(record) & np.uint64(0xFFFFFFFF))


@inlined
def number_of(record):
    """Return the number of the name of the record at a place."""
    return np.int64(load_word(record) >> np.uint64(32))


@inlined
def find(table, last, names, hashed, place, length):
    """Find the record of a name.

    Parameters
    ----------
    table
        Where the table begins. Its length is a power of two, greater than the number of names.
    last
        Its length less 1, uint64.
    names
        Where the records begin.
    hashed
        The name's `hash_of`.

    Returns
    -------
    Where the record begins among the names, -1 if there is none; and the place in the table of its
    entry, or of the free one that would be.
    """
    at = hashed & last
    while True:
        entry = load_word(table + (np.int64(at) << 3))
        if entry == np.uint64(0):
            return np.int64(-1), at
        if entry & _HASH == hashed & _HASH:
            record = record_of(entry)
            if length_of(names + record) == length and same_bytes(
                names + record + HEAD, place, length
            ):
                return record, at
        at = (at + np.uint64(1)) & last


@inlined
def _padded(length):
    return 8 * max(1, (length + 7) >> 3)


@inlined
def add(table, at, names, state, hashed, place, length):
    """Add a record with its entry at the free place `at` of the table; return where it begins.

    `table`, `names` and `state` are where these begin; there must be room.
    """
    count, record = load_word(state + 8 * COUNT), load_word(state + 8 * USED)
    to = names + np.int64(record)
    store_word(to, np.uint64(length) | count << np.uint64(32))
    store_word(to + 8, np.uint64(0))
    to += HEAD
    left = length
    while left > 8:
        store_word(to, load_word(place))
        to += 8
        place += 8
        left -= 8
    store_word(to, last_word(place, left))
    entry = (hashed & _HASH) | ((record >> np.uint64(3)) + np.uint64(1))
    store_word(table + (np.int64(at) << 3), entry)
    store_word(state + 8 * COUNT, count + np.uint64(1))
    store_word(state + 8 * USED, record + np.uint64(HEAD + _padded(length)))
    return np.int64(record)


@jit
def intern(data, ends, table, names, state, numbers):
    """Look up the number of each name, counting up for new names.

    `data` holds the names end to end, which `ends` tells, and 8 bytes more; `numbers` int32.
    """
    entries, records, last = address(table), address(names), np.uint64(len(table) - 1)
    start = 0
    for i in range(len(ends)):
        place, length = address(data) + start, ends[i] - start
        hashed = hash_of(place, length)
        record, at = find(entries, last, records, hashed, place, length)
        if record < 0:
            record = add(entries, at, records, address(state), hashed, place, length)
        numbers[i] = number_of(records + record)
        start = ends[i]


@jit
def fill(table, names, state):
    """Enter every name into an empty table."""
    last = np.uint64(len(table) - 1)
    record = 0
    while record < state[USED]:
        place = address(names) + record
        length = length_of(place)
        hashed = hash_of(place + HEAD, length)
        at = hashed & last
        while table[at] != np.uint64(0):
            at = (at + np.uint64(1)) & last
        table[at] = (hashed & _HASH) | np.uint64((record >> 3) + 1)
        record += HEAD + _padded(length)


@jit
def spell(names, state, out, ends):
    """Write all names by number, end to end, into `out` (uint8), and where they end into `ends`.

    `out` has room for eight bytes more.
    """
    record = to = number = 0
    while record < state[USED]:
        place = address(names) + record
        length = length_of(place)
        for at in range(0, length, 8):
            store_word(address(out) + to + at, load_word(place + HEAD + at))
        to += length
        ends[number] = to
        number += 1
        record += HEAD + _padded(length)

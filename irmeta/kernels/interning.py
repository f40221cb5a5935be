"""Map names to numbers: a hash table of offsets into one array of distinct names.

The record of a name is aligned to eight bytes: its length and number (uint32 each), an extra word
for the caller (initially zero), and its bytes, padded with zeros. Records are in the order of their
numbers. An entry of the table is a word: the upper 24 bits of the name's hash, and the offset of
the record divided by eight, plus 1; 0 is a free slot.

Pointers are addresses, see irmeta.kernels.vector.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, inlined, jit
from irmeta.kernels.vector import address, load_word, store_word

HEAD = 16  # bytes of a record before its name
COUNT, USED = 0, 1  # words of `state`: number of names, and used bytes of `names`

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_HASH = np.uint64(0xFFFFFF0000000000)


@inlined
def last_word(pointer: Int, length: Int) -> Int:
    """Load `length` bytes at `pointer`, 0 to 8, as a word padded with zeros."""
    half = np.uint64(4 * (8 - length))  # a shift by 64 is undefined, and by 32 twice is 0
    return load_word(pointer) & (_ALL >> half >> half)


@inlined
def hash_of(pointer: Int, length: Int) -> Int:
    """Return a 64-bit hash of a name; reads up to 8 bytes beyond its end."""
    word = np.uint64(length) * np.uint64(0xA0761D6478BD642F)
    while length > 8:
        word = (word ^ load_word(pointer)) * np.uint64(0x9E3779B97F4A7C15)
        word ^= word >> np.uint64(32)
        pointer += 8
        length -= 8
    word = (word ^ last_word(pointer, length)) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(29))) * np.uint64(0xD6E8FEB86659FD93)
    return word ^ (word >> np.uint64(32))


@inlined
def same_bytes(a: Int, b: Int, length: Int) -> bool:
    """Check whether `length` bytes at two addresses are equal."""
    while length > 8:
        if load_word(a) != load_word(b):
            return False
        a += 8
        b += 8
        length -= 8
    return last_word(a, length) == last_word(b, length)


@inlined
def record_of(entry: Int) -> Int:
    """Return the offset of an entry's record in the names."""
    return np.int64((entry & ~_HASH) - np.uint64(1)) << 3


@inlined
def length_of(record: Int) -> Int:
    """Return the length in bytes of the name of a record at an address."""
    return np.int64(load_word(record) & np.uint64(0xFFFFFFFF))


@inlined
def number_of(record: Int) -> Int:
    """Return the number of the name of a record at an address."""
    return np.int64(load_word(record) >> np.uint64(32))


@inlined
def find(
    table: Int, last: Int, names: Int, hashed: Int, pointer: Int, length: Int
) -> tuple[Int, Int]:
    """Find the record of a name.

    `table` and `names` are addresses. The length of the table, a power of two, is larger than the
    number of names; `last` is that length minus 1; `hashed` is the name's `hash_of`. Returns the
    offset of the record in the names, -1 if there is none; and the slot of its entry in the table,
    or a free slot.
    """
    slot = hashed & last
    while True:
        entry = load_word(table + (np.int64(slot) << 3))
        if entry == np.uint64(0):
            return np.int64(-1), slot
        if entry & _HASH == hashed & _HASH:
            record = record_of(entry)
            if length_of(names + record) == length and same_bytes(
                names + record + HEAD, pointer, length
            ):
                return record, slot
        slot = (slot + np.uint64(1)) & last


@inlined
def _padded(length):
    return 8 * max(1, (length + 7) >> 3)


@inlined
def add(
    table: Int, slot: Int, names: Int, state: Int, hashed: Int, pointer: Int, length: Int
) -> Int:
    """Add a record with its entry at a free slot of the table; return the record's offset.

    `table`, `names` and `state` are addresses; there must be room.
    """
    count, record = load_word(state + 8 * COUNT), load_word(state + 8 * USED)
    to = names + np.int64(record)
    store_word(to, np.uint64(length) | count << np.uint64(32))
    store_word(to + 8, np.uint64(0))
    to += HEAD
    left = length
    while left > 8:
        store_word(to, load_word(pointer))
        to += 8
        pointer += 8
        left -= 8
    store_word(to, last_word(pointer, left))
    entry = (hashed & _HASH) | ((record >> np.uint64(3)) + np.uint64(1))
    store_word(table + (np.int64(slot) << 3), entry)
    store_word(state + 8 * COUNT, count + np.uint64(1))
    store_word(state + 8 * USED, record + np.uint64(HEAD + _padded(length)))
    return np.int64(record)


@jit
def intern(
    data: Array, ends: Array, table: Array, names: Array, state: Array, numbers: Array
) -> None:
    """Look up the number of each name, and number new names consecutively.

    `data` holds the concatenated names, with the given `ends`, and 8 more bytes; `numbers` int32.
    """
    entries, records, last = address(table), address(names), np.uint64(len(table) - 1)
    start = 0
    for i in range(len(ends)):
        pointer, length = address(data) + start, ends[i] - start
        hashed = hash_of(pointer, length)
        record, slot = find(entries, last, records, hashed, pointer, length)
        if record < 0:
            record = add(entries, slot, records, address(state), hashed, pointer, length)
        numbers[i] = number_of(records + record)
        start = ends[i]


@jit
def absorb(
    others: Array,
    start: Int,
    others_state: Array,
    table: Array,
    names: Array,
    state: Array,
    numbers: Array,
) -> Int:
    """Look up the number of each name of another table's `others`, and number new names.

    Begins at the record with offset `start`. Stops at a name for which the table or `names` may
    lack room. Returns the offset at which it stopped: the used bytes of `others` at the end.
    """
    entries, records, last = address(table), address(names), np.uint64(len(table) - 1)
    record = start
    while record < others_state[USED]:
        pointer = address(others) + record
        length, number = length_of(pointer), number_of(pointer)
        size = HEAD + _padded(length)
        if 2 * (state[COUNT] + 1) > len(table) or state[USED] + size + 8 > len(names):
            break
        hashed = hash_of(pointer + HEAD, length)
        held, slot = find(entries, last, records, hashed, pointer + HEAD, length)
        if held < 0:
            held = add(entries, slot, records, address(state), hashed, pointer + HEAD, length)
        numbers[number] = number_of(records + held)
        record += size
    return record


@jit
def fill(table: Array, names: Array, state: Array) -> None:
    """Enter every name into an empty table."""
    last = np.uint64(len(table) - 1)
    record = 0
    while record < state[USED]:
        pointer = address(names) + record
        length = length_of(pointer)
        hashed = hash_of(pointer + HEAD, length)
        slot = hashed & last
        while table[slot] != np.uint64(0):
            slot = (slot + np.uint64(1)) & last
        table[slot] = (hashed & _HASH) | np.uint64((record >> 3) + 1)
        record += HEAD + _padded(length)


@jit
def spell(names: Array, state: Array, out: Array, ends: Array) -> None:
    """Write all names by number, concatenated, into `out` (uint8), and their ends into `ends`.

    `out` has room for eight more bytes.
    """
    record = to = number = 0
    while record < state[USED]:
        pointer = address(names) + record
        length = length_of(pointer)
        for offset in range(0, length, 8):
            store_word(address(out) + to + offset, load_word(pointer + HEAD + offset))
        to += length
        ends[number] = to
        number += 1
        record += HEAD + _padded(length)


@jit
def locate(names: Array, state: Array, offsets: Array) -> None:
    """Write the offset in `names` of each name's bytes, by number, into int64 `offsets`."""
    record = number = 0
    while record < state[USED]:
        offsets[number] = record + HEAD
        number += 1
        record += HEAD + _padded(length_of(address(names) + record))


@jit
def name_words(names: Array, offsets: Array, step: Int, words: Array) -> None:
    """Write eight bytes of each name into uint64 `words`, from byte ``8 * step``; 0 after its end.

    `offsets` are those of `locate`.
    """
    for i in range(len(offsets)):
        pointer = address(names) + offsets[i]
        words[i] = np.uint64(0)
        if 8 * step < length_of(pointer - HEAD):
            words[i] = load_word(pointer + 8 * step)


@jit
def number_judged(
    docs: Array,
    starts: Array,
    queries: Array,
    firsts: Array,
    bounds: Array,
    content: Array,
    table: Array,
    names: Array,
    seen: Array,
    numbers: Array,
) -> None:
    """Find the number of each row's doc: judged docs of the query first, then others by row.

    `docs`, `starts`: int32 number in `names` of each row's doc; list i has the rows
    ``starts[i]:starts[i + 1]``. `queries`: int64 index of the query of each list in `firsts`; -1:
    no doc is judged. `firsts`, `bounds`, `content`: the judged docs of query q are
    ``firsts[q]:firsts[q + 1]``; the name of judged doc j is ``content[bounds[j]:bounds[j + 1]]``,
    uint8, with 8 more bytes at the end. `table`, `names`: see irmeta.kernels.interning. `seen`:
    int64, -1, by number in `names`: working space. `numbers`: int32, by row; written.
    """
    entries, records, last = address(table), address(names), np.uint64(len(table) - 1)
    for i in range(len(starts) - 1):
        known = 0
        if queries[i] >= 0:
            first = firsts[queries[i]]
            known = firsts[queries[i] + 1] - first
            for index in range(known):
                start = bounds[first + index]
                pointer, length = address(content) + start, bounds[first + index + 1] - start
                hashed = hash_of(pointer, length)
                record, _slot = find(entries, last, records, hashed, pointer, length)
                if record >= 0:
                    seen[number_of(records + record)] = i << 32 | index
        for row in range(starts[i], starts[i + 1]):
            entry = seen[docs[row]]
            if entry >> 32 == i:
                numbers[row] = entry & 0xFFFFFFFF
            else:
                numbers[row] = known
                known += 1

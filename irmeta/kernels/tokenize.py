"""Parse the lines of a run file to columns: a block of bytes at a time, one loop per task.

A single loop would wait for memory at every doc; a loop per task has many lines in flight.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.interning import (
    COUNT,
    HEAD,
    USED,
    add,
    find,
    hash_of,
    number_of,
    record_of,
    same_bytes,
)
from irmeta.kernels.jit import inlined, inner, jit
from irmeta.kernels.numerals import EASY, NO_NUMBER, parse_score, parse_whole
from irmeta.kernels.vector import (
    address,
    load_byte,
    load_word,
    newline_mask,
    odd_mask,
    prefetch,
    store_word,
    trailing_zeros,
    white_mask,
)

BLOCK = 1 << 13  # bytes that are worked on at once: all that is known of them stays near the core
LONGEST = 1 << 16  # of a line, in bytes
PAD = 128  # bytes that `data` must be longer than its content
SHORTEST = 10  # bytes of a row: five fields, four spaces, a newline
_FAR = np.int64(1) << 62

# Indices into `found`
AT, ROWS, LISTS, TAGS, HARD, COMMAS, ODD_RANKS, REPEATS = range(8)
FOUND = 8
# Return values of `tokenize`
DONE, NEEDS_ROOM, NO_ROW, HAS_ODD_BYTES = range(4)


@inner
def _index_block(base, start, stop, edges, lines):
    """Find where tokens begin and end, and where lines end, in ``data[start:stop]``.

    Parameters
    ----------
    base
        Where the data begin; what is found are places too.
    edges
        int64, longer by 16 than there can be bytes: begins and ends by turns, then far away ones.
    lines
        int64: the newlines.

    Returns
    -------
    How many lines there are, and whether a byte there is NUL or not ASCII.
    ``data[start - 1]`` ends a line, if there is one.
    """
    edge, line = 0, 0
    before, odd = np.uint64(1), np.uint64(0)
    for at in range(start, stop, 64):
        place = base + at
        white, ends, strange = white_mask(place), newline_mask(place), odd_mask(place)
        if stop - at < 64:
            inside = (np.uint64(1) << np.uint64(stop - at)) - np.uint64(1)
            white |= ~inside
            ends &= inside
            strange &= inside
        odd |= strange
        turns = white ^ ((white << np.uint64(1)) | before)
        before = white >> np.uint64(63)
        while turns != np.uint64(0):
            edges[edge] = place + trailing_zeros(turns)
            edge += 1
            turns &= turns - np.uint64(1)
        while ends != np.uint64(0):
            lines[line] = place + trailing_zeros(ends)
            line += 1
            ends &= ends - np.uint64(1)
    if edge & 1:  # a token goes up to `stop`
        edges[edge] = base + stop
        edge += 1
    for far in range(16):
        edges[edge + far] = _FAR
    return line, odd != np.uint64(0)


@inner
def _mark_rows(begin, width, edges, lines, count, firsts, tag_ends):
    """Find the lines that are rows: the edge at which each begins, and the end of its tag.

    `begin` is where the first line begins.

    Returns
    -------
    How many rows there are; -1 at a line that is neither a row nor blank nor a comment.
    """
    row, edge = 0, 0
    for line in range(count):
        end, first = lines[line], edge
        if edges[first + 11] <= end and edges[first + 12] > end:
            edge = first + 12
        else:
            while edges[edge] < end:
                edge += 2
        is_comment = load_byte(begin) == 35
        begin = end + 1
        if edge == first or is_comment:
            continue
        fields = (edge - first) >> 1
        if fields < width or (width == 5 and fields > 5):
            return -1
        firsts[row], tag_ends[row] = first, edges[edge - 1]
        row += 1
    return row


@inner
def _mark_tags(base, edges, firsts, tag_ends, count, tags, found):
    """Record where a tag differs from that of the row before: int64 [tags, 2].

    The row before this block's first has the tag that was noted last, if any was.
    """
    tag, length = np.int64(0), np.int64(-1)
    if found[TAGS] > 0:
        before = tags[found[TAGS] - 1]
        tag, length = base + before[0], before[1] - before[0]
    for row in range(count):
        own = edges[firsts[row] + 10]
        own_length = tag_ends[row] - own
        if own_length != length or not same_bytes(own, tag, length):
            tag, length = own, own_length
            at = found[TAGS]
            tags[at, 0], tags[at, 1] = own - base, own - base + length
            found[TAGS] += 1


@inner
def _number_queries(edges, firsts, count, table, names, state, queries, starts, own, found):
    """Look up each row's query in `own`, and find the lists: consecutive rows of one query.

    `queries` (int32) and `starts` (int64) go on after ``found[LISTS]``. The first place of
    `queries` is no list's, and -1.
    """
    entries, records, last = address(table), address(names), np.uint64(len(table) - 1)
    place, length, number = np.int64(0), np.int64(-1), np.int64(-1)
    for row in range(count):
        first = firsts[row]
        own_length = edges[first + 1] - edges[first]
        if own_length != length or not same_bytes(edges[first], place, length):
            place, length = edges[first], own_length
            hashed = hash_of(place, length)
            record, at = find(entries, last, records, hashed, place, length)
            if record < 0:
                record = add(entries, at, records, address(state), hashed, place, length)
            number = number_of(records + record)
            lists = found[LISTS]
            if queries[lists] != number:
                found[LISTS] = lists + 1
                queries[lists + 1], starts[lists + 1] = number, found[ROWS] + row
        own[row] = number


@inner
def _parse_ranks(needs_rank, edges, firsts, count, ranks, found):
    """Parse the rank of each row: int32, its minimum where the rank is no 32-bit whole number.

    Returns
    -------
    False at a rank that is no whole number, if it `needs_rank`.
    """
    for row in range(count):
        start, end = edges[firsts[row] + 6], edges[firsts[row] + 7]
        whole, rank = parse_whole(start, end)
        if whole and end - start < 12 and -2147483648 < rank < 2147483648:
            ranks[row] = rank
        else:
            ranks[row] = -2147483648
            found[ODD_RANKS] += 1
            if needs_rank and not whole:
                return False
    return True


@inner
def _parse_scores(base, edges, firsts, count, scores, hard, found):
    """Parse the score of each row: float64.

    Parameters
    ----------
    hard
        int64 [hard, 3], a row of the file and where its numeral begins and ends: the scores that
        are left to others.

    Returns
    -------
    False at a score that is no number.
    """
    for row in range(count):
        start, end = edges[firsts[row] + 8], edges[firsts[row] + 9]
        kind, score, comma = parse_score(start, end)
        if kind == NO_NUMBER:
            return False
        scores[row] = score
        if comma:
            found[COMMAS] += 1
        if kind != EASY:
            at = found[HARD]
            hard[at, 0], hard[at, 1], hard[at, 2] = found[ROWS] + row, start - base, end - base
            found[HARD] += 1
    return True


@inner
def _number_docs(file, edges, firsts, count, table, names, state, own, hashes, docs, found):
    """Look up the number of each row's doc, and count the duplicates within lists.

    `own` and `hashes` are this block's: the query's number, and working space. A doc's own word in
    `names` is the list, of all lists of all files, in which it was seen last.
    """
    entries, records, last = address(table), address(names), np.uint64(len(table) - 1)
    for row in range(count):
        first = firsts[row] + 4
        hashed = hash_of(edges[first], edges[first + 1] - edges[first])
        hashes[row] = hashed
        prefetch(entries + (np.int64(hashed & last) << 3))
    for row in range(count):
        entry = load_word(entries + (np.int64(hashes[row] & last) << 3))
        if entry != np.uint64(0):
            prefetch(records + record_of(entry))
    repeats = 0
    for row in range(count):
        place = edges[firsts[row] + 4]
        length = edges[firsts[row] + 5] - place
        record, at = find(entries, last, records, hashes[row], place, length)
        if record < 0:
            record = add(entries, at, records, address(state), hashes[row], place, length)
        docs[row] = number_of(records + record)
        seen = np.uint64(file) << np.uint64(32) | np.uint64(own[row])
        repeats += load_word(records + record + 8) == seen
        store_word(records + record + 8, seen)
    found[REPEATS] += repeats


@inlined
def _has_room(count, table, names, state, size):
    """Check for room for `count` names of `size` bytes in total, with the table half empty."""
    most = state[USED] + size + (HEAD + 8) * count + PAD
    return 2 * (state[COUNT] + count) <= len(table) and most <= len(names)


@jit
def tokenize(
    data, size, width, file, space, queries, starts, query_table, query_names, query_state,
    doc_table, doc_names, doc_state, docs, ranks, scores, tags, hard, is_text, found,
):  # fmt: skip
    """Parse every line of ``data[:size]`` as a row, from ``found[AT]`` on.

    Parameters
    ----------
    data
        uint8, `PAD` longer than `size`, which is after a newline.
    width
        6, or 5 where no line has a tag.
    file
        A number, from 1, that no other file has.
    space
        int64 [6, `LONGEST` + `PAD`]: working space.
    queries, starts
        Of each list after the first place: int32 query and int64 first row. The first place of
        `queries` is -1.
    query_table to doc_state
        See irmeta.kernels.interning.
    docs, ranks, scores
        By row: int32, int32, float64.
    tags, hard
        As long as ``data`` can have rows. See `_mark_tags` and `_parse_scores`.
    is_text
        Whether it is known that `data` is UTF-8 without NUL.
    found
        int64 [`FOUND`], by the names above; it goes on from what it holds.

    Returns
    -------
    `DONE`; `NEEDS_ROOM` in tables, names, or arrays by row, and a call with more goes on; `NO_ROW`
    at a line that is no row, or longer than `LONGEST`; `HAS_ODD_BYTES` where it must be known
    whether they are text, before any of them becomes a name.
    """
    edges, lines, firsts = space[0], space[1], space[2]
    tag_ends, own, hashes = space[3], space[4], space[5].view(np.uint64)
    base, reach = address(data), BLOCK
    while found[AT] < size:
        at, done = found[AT], found[ROWS]
        stop = min(size, at + reach)
        most = (stop - at) // SHORTEST + 1
        if not (
            done + most < len(docs)
            and _has_room(most, query_table, query_names, query_state, stop - at)
            and _has_room(most, doc_table, doc_names, doc_state, stop - at)
        ):
            return NEEDS_ROOM
        count, odd = _index_block(base, at, stop, edges, lines)
        if odd and not is_text:
            return HAS_ODD_BYTES
        if count == 0:
            if reach == LONGEST:
                return NO_ROW
            reach = LONGEST
            continue
        rows = _mark_rows(base + at, width, edges, lines, count, firsts, tag_ends)
        if (
            rows < 0
            or not _parse_ranks(width == 5, edges, firsts, rows, ranks[done:], found)
            or not _parse_scores(base, edges, firsts, rows, scores[done:], hard, found)
        ):
            return NO_ROW
        if width == 6:
            _mark_tags(base, edges, firsts, tag_ends, rows, tags, found)
        _number_queries(
            edges, firsts, rows, query_table, query_names, query_state, queries, starts, own, found,
        )  # fmt: skip
        _number_docs(
            file, edges, firsts, rows, doc_table, doc_names, doc_state, own, hashes, docs[done:],
            found,
        )  # fmt: skip
        found[ROWS] += rows
        found[AT] = lines[count - 1] - base + 1
        reach = BLOCK
    return DONE

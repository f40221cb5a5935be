"""The lines of a run file to columns: a block of bytes at a time, a loop for each job."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import inlined, jit
from irmeta.kernels.numerals import EASY, NO_NUMBER, parse_score, parse_whole
from irmeta.kernels.vector import (
    load_word,
    newline_mask,
    store_word,
    trailing_zeros,
    white_mask,
)

BLOCK = 1 << 15  # bytes that are worked on at once: all that is known of them stays near the core
PAD = 128  # bytes that `data` must be longer than its content
_FAR = np.int64(1) << 62

# Places in `found`
LINES, ROWS, HARD, HARD_BYTES, CHANGES, COMMAS, ODD_RANKS, DOC_BYTES = range(8)
QUERY, QUERY_LENGTH, TAG, TAG_LENGTH = range(8, 12)
FOUND = 12


@jit
def _index_block(data, start, stop, edges, lines):
    """Where tokens begin and end, and where lines end, in ``data[start:stop]``.

    Parameters
    ----------
    edges
        int64, longer by 16 than there can be bytes: begins and ends by turns, then far away ones.
    lines
        int64: the newlines.

    Returns
    -------
    How many lines there are. ``data[start - 1]`` ends a line, if there is one.
    """
    edge, line = 0, 0
    before = np.uint64(1)
    for at in range(start, stop, 64):
        white, ends = white_mask(data, at), newline_mask(data, at)
        if stop - at < 64:
            inside = (np.uint64(1) << np.uint64(stop - at)) - np.uint64(1)
            white |= ~inside
            ends &= inside
        turns = white ^ ((white << np.uint64(1)) | before)
        before = white >> np.uint64(63)
        while turns != np.uint64(0):
            edges[edge] = at + trailing_zeros(turns)
            edge += 1
            turns &= turns - np.uint64(1)
        while ends != np.uint64(0):
            lines[line] = at + trailing_zeros(ends)
            line += 1
            ends &= ends - np.uint64(1)
    if edge & 1:  # a token goes up to `stop`
        edges[edge] = stop
        edge += 1
    for far in range(16):
        edges[edge + far] = _FAR
    return line


@jit
def _mark_rows(data, start, width, edges, lines, count, firsts, tag_ends, numbers, found):
    """Which lines are rows: the edge at which each begins, the end of its tag, its line number.

    Returns
    -------
    How many rows there are; -1 at a line that is neither a row nor blank nor a comment, whose
    number is then in `found`.
    """
    row, edge, begin = 0, 0, start
    for line in range(count):
        end, first = lines[line], edge
        found[LINES] += 1
        if edges[first + 11] <= end and edges[first + 12] > end:
            edge = first + 12
        else:
            while edges[edge] < end:
                edge += 2
        is_comment = data[begin] == 35
        begin = end + 1
        if edge == first or is_comment:
            continue
        fields = (edge - first) >> 1
        if fields < width or (width == 5 and fields > 5):
            return -1
        firsts[row], tag_ends[row], numbers[row] = first, edges[edge - 1], found[LINES]
        row += 1
    return row


@inlined
def _same_bytes(data, a, b, length):
    """Whether two stretches of `data` hold the same bytes."""
    at = 0
    while length - at >= 8:
        if load_word(data, a + at) != load_word(data, b + at):
            return False
        at += 8
    if at == length:
        return True
    kept = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(8 * (8 - (length - at)))
    return ((load_word(data, a + at) ^ load_word(data, b + at)) & kept) == np.uint64(0)


@jit
def _mark_changes(data, kind, edges, field, ends, firsts, count, current, changes, found):
    """Note the rows whose query or tag is another than that of the row before.

    Parameters
    ----------
    kind
        0: the query, 1: the tag; written into `changes`.
    field
        The edge of a row at which the token begins.
    ends
        Where it ends, by row; empty: at the edge after.
    current
        The place in `found` of the begin and the length of the row before's.
    """
    start, length = found[current], found[current + 1]
    for row in range(count):
        first = firsts[row] + field
        own = edges[first]
        own_length = (ends[row] if len(ends) else edges[first + 1]) - own
        if own_length != length or not _same_bytes(data, own, start, length):
            change = found[CHANGES]
            changes[change, 0], changes[change, 1] = kind, found[ROWS] + row
            changes[change, 2], changes[change, 3] = own, own + own_length
            found[CHANGES] += 1
            start, length = own, own_length
    found[current], found[current + 1] = start, length


@jit
def _parse_numbers(data, needs_rank, edges, firsts, count, ranks, scores, hard, numerals, found):
    """The rank and score of each row.

    Parameters
    ----------
    needs_rank
        Whether a rank that is no whole number ends the reading.
    ranks, scores
        int32 and float64, of this block's rows on; a rank keeps what stands there where it is no
        whole number of 32 bits.
    hard, numerals
        int64 [hard, 2], a row and where its numeral ends in `numerals` (uint8): the scores that are
        left to others, without plus and with a point for a comma.

    Returns
    -------
    -1, or the first row whose score is no number.
    """
    for row in range(count):
        first = firsts[row]
        start, end = edges[first + 6], edges[first + 7]
        whole, rank = parse_whole(data, start, end)
        if whole and end - start < 12 and -2147483648 < rank < 2147483648:
            ranks[row] = rank
        else:
            found[ODD_RANKS] += 1
            if needs_rank and not whole:
                return row
        start, end = edges[first + 8], edges[first + 9]
        kind, score, comma = parse_score(data, start, end)
        if kind == NO_NUMBER:
            return row
        found[COMMAS] += comma
        scores[row] = score
        if kind != EASY:
            at = found[HARD_BYTES]
            for place in range(start + (data[start] == 43), end):
                numerals[at] = 46 if data[place] == 44 else data[place]
                at += 1
            hard[found[HARD], 0], hard[found[HARD], 1] = found[ROWS] + row, at
            found[HARD] += 1
            found[HARD_BYTES] = at
    return -1


@jit
def _copy_docs(data, edges, firsts, count, docs, ends, found):
    """The docs of the rows into `docs`, which has room for eight bytes more, and where they end."""
    to = found[DOC_BYTES]
    for row in range(count):
        first = firsts[row] + 4
        start, end = edges[first], edges[first + 1]
        for at in range(0, end - start, 8):
            store_word(docs, to + at, load_word(data, start + at))
        to += end - start
        ends[row] = to
    found[DOC_BYTES] = to


@jit
def tokenize(data, size, width, space, numbers, ranks, scores, docs, ends, hard, numerals, changes):
    """Every line of ``data[:size]`` as a row.

    Parameters
    ----------
    data
        uint8, `PAD` longer than `size`, newlines behind its content.
    width
        6, or 5 where no line has a tag.
    space
        int64 [4, `BLOCK` + `PAD`]: working space.
    numbers, ranks, scores, ends
        By row: int32 line numbers; int32; float64; int32, where its doc ends in `docs`.
    docs, numerals
        uint8, as long as `data`.
    hard, changes
        See `_parse_numbers` and `_mark_changes`.

    Returns
    -------
    int64 [`FOUND`], by the names above; `ROWS` is -1 where a line is no row, or longer than a
    block.
    """
    edges, lines, firsts, tag_ends = space[0], space[1], space[2], space[3]
    found = np.zeros(FOUND, np.int64)
    found[QUERY_LENGTH] = found[TAG_LENGTH] = -1
    none = tag_ends[:0]
    at = 0
    while at < size:
        stop = min(size, at + BLOCK)
        count = _index_block(data, at, stop, edges, lines)
        if stop == size and data[size - 1] != 10:
            lines[count] = size
            count += 1
        done, rows, wrong = found[ROWS], -1, -1
        if count:
            rows = _mark_rows(
                data, at, width, edges, lines, count, firsts, tag_ends, numbers[done:], found
            )
        if rows >= 0:
            _mark_changes(data, 0, edges, 0, none, firsts, rows, QUERY, changes, found)
            if width == 6:
                _mark_changes(data, 1, edges, 10, tag_ends, firsts, rows, TAG, changes, found)
            wrong = _parse_numbers(
                data, width == 5, edges, firsts, rows, ranks[done:], scores[done:], hard, numerals,
                found,
            )  # fmt: skip
        if rows < 0 or wrong >= 0:
            found[ROWS] = -1
            return found
        _copy_docs(data, edges, firsts, rows, docs, ends[done:], found)
        found[ROWS] += rows
        at = lines[count - 1] + 1
    return found

"""Parse the lines of a run file to columns, one block of bytes at a time, with one loop per task.

A single loop would wait for memory at every doc; separate loops process many lines in parallel. The
reader parses 945 MB/s on one core, where splitting lines in Python makes 381 and copying the bytes
2,114 with AVX-512 (benchmarks/bench_read.py). Normalising the text for a CSV reader took about four
times as long.
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
from irmeta.kernels.jit import Array, Int, inlined, inner, jit
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

BLOCK = 1 << 13  # bytes per step, so that working arrays stay in the fastest cache
LONGEST = 1 << 16  # of a line, in bytes
PAD = 128  # bytes that `data` must be longer than its content
SHORTEST = 10  # bytes of a row: five fields, four spaces, a newline
_FAR = np.int64(1) << 62

# Indices into `counters`
AT, ROWS, LISTS, TAGS, HARD, COMMAS, ODD_RANKS, REPEATS, COMMENTS = range(9)
FOUND = 9
# Return values of `tokenize`
DONE, NEEDS_ROOM, NO_ROW, HAS_ODD_BYTES = range(4)


@inner
def _index_block(base, start, stop, edges, lines):
    """Find tokens and lines in ``data[start:stop]``, which begins a line; `base` is its address.

    Returns the number of lines, and whether a byte is NUL or not ASCII.
    """
    # `edges` (int64, longer than the number of bytes by 16) become addresses of the begins and ends
    # of tokens, in turn, then addresses beyond the data; `lines` (int64) those of newlines.
    edge, line = 0, 0
    before, odd = np.uint64(1), np.uint64(0)
    for offset in range(start, stop, 64):
        pointer = base + offset
        white, ends, strange = white_mask(pointer), newline_mask(pointer), odd_mask(pointer)
        if stop - offset < 64:
            inside = (np.uint64(1) << np.uint64(stop - offset)) - np.uint64(1)
            white |= ~inside
            ends &= inside
            strange &= inside
        odd |= strange
        turns = white ^ ((white << np.uint64(1)) | before)
        before = white >> np.uint64(63)
        while turns != np.uint64(0):
            edges[edge] = pointer + trailing_zeros(turns)
            edge += 1
            turns &= turns - np.uint64(1)
        while ends != np.uint64(0):
            lines[line] = pointer + trailing_zeros(ends)
            line += 1
            ends &= ends - np.uint64(1)
    if edge & 1:  # the last token ends at `stop`
        edges[edge] = base + stop
        edge += 1
    for far in range(16):  # `_mark_rows` looks up to 12 edges ahead without a check
        edges[edge + far] = _FAR
    return line, odd != np.uint64(0)


@inner
def _mark_rows(begin, width, edges, lines, count, firsts, tag_ends, counters):
    """Find the lines that are rows: the index of each row's first edge, and the end of its tag.

    Returns their number; -1 if a line is no row, blank line or comment, or may be a row with #.
    """
    # `begin` is the address of the line that is looked at.
    row, edge = 0, 0
    for line in range(count):
        end, first = lines[line], edge
        # Nearly all lines have six fields, that is 12 edges: two comparisons instead of a loop.
        if edges[first + 11] <= end and edges[first + 12] > end:
            edge = first + 12
        else:
            while edges[edge] < end:
                edge += 2
        is_comment = load_byte(begin) == 35
        begin = end + 1
        if edge == first:
            continue
        fields = (edge - first) >> 1
        if is_comment:
            if fields >= width and edges[first + 1] - edges[first] > 1:
                return -1
            counters[COMMENTS] += 1
            continue
        if fields < width or (width == 5 and fields > 5):
            return -1
        firsts[row], tag_ends[row] = first, edges[edge - 1]
        row += 1
    return row


@inner
def _mark_tags(base, edges, firsts, tag_ends, count, tags, counters):
    """Record bounds of tags that differ from the previous row's tag: int64 [tags, 2].

    The row before this block has the last recorded tag, if any.
    """
    tag, length = np.int64(0), np.int64(-1)
    if counters[TAGS] > 0:
        before = tags[counters[TAGS] - 1]
        tag, length = base + before[0], before[1] - before[0]
    for row in range(count):
        begin = edges[firsts[row] + 10]
        own_length = tag_ends[row] - begin
        if own_length != length or not same_bytes(begin, tag, length):
            tag, length = begin, own_length
            row_of_tag = counters[TAGS]
            tags[row_of_tag, 0], tags[row_of_tag, 1] = begin - base, begin - base + length
            counters[TAGS] += 1


@inner
def _number_queries(
    edges, firsts, count, table, names, state, queries, starts, row_queries, counters
):
    """Write each row's query into `row_queries`, and find the lists: consecutive rows of one query.

    Lists go to `queries` (int32) and `starts` (int64) from ``counters[LISTS] + 1`` on.
    """
    # The first element of `queries` is -1 and belongs to no list: every query differs from it.
    entries, records, last = address(table), address(names), np.uint64(len(table) - 1)
    pointer, length, number = np.int64(0), np.int64(-1), np.int64(-1)
    for row in range(count):
        first = firsts[row]
        own_length = edges[first + 1] - edges[first]
        if own_length != length or not same_bytes(edges[first], pointer, length):
            pointer, length = edges[first], own_length
            hashed = hash_of(pointer, length)
            record, slot = find(entries, last, records, hashed, pointer, length)
            if record < 0:
                record = add(entries, slot, records, address(state), hashed, pointer, length)
            number = number_of(records + record)
            lists = counters[LISTS]
            if queries[lists] != number:
                counters[LISTS] = lists + 1
                queries[lists + 1], starts[lists + 1] = number, counters[ROWS] + row
        row_queries[row] = number


@inner
def _parse_ranks(needs_rank, edges, firsts, count, ranks, counters):
    """Parse the rank of each row: int32, its minimum if the rank is not a 32-bit whole number.

    Returns False if `needs_rank` and a rank is not a whole number.
    """
    for row in range(count):
        start, end = edges[firsts[row] + 6], edges[firsts[row] + 7]
        is_whole, rank = parse_whole(start, end)
        if is_whole and end - start < 12 and -2147483648 < rank < 2147483648:
            ranks[row] = rank
        else:
            ranks[row] = -2147483648
            counters[ODD_RANKS] += 1
            if needs_rank and not is_whole:
                return False
    return True


@inner
def _parse_scores(base, edges, firsts, count, scores, hard, counters):
    """Parse the score of each row: float64. Return False if one is not a number.

    `hard`: int64 [hard, 3]: row of the file, begin and end of scores to be parsed by the caller.
    """
    for row in range(count):
        start, end = edges[firsts[row] + 8], edges[firsts[row] + 9]
        kind, score, comma = parse_score(start, end)
        if kind == NO_NUMBER:
            return False
        scores[row] = score
        if comma:
            counters[COMMAS] += 1
        if kind != EASY:
            index = counters[HARD]
            hard[index, 0], hard[index, 1], hard[index, 2] = (
                counters[ROWS] + row,
                start - base,
                end - base,
            )
            counters[HARD] += 1
    return True


@inner
def _number_docs(
    file, edges, firsts, count, table, names, state, row_queries, hashes, docs, counters
):
    """Look up the number of each row's doc, and count the duplicates within lists.

    `row_queries` are query numbers of this block, `hashes` working space.
    """
    # The extra word of a doc's record is the last list, of all lists of all files, with the doc.
    # The docs of a track do not fit the caches. Each of three loops prefetches what the next one
    # reads: the entry of the table, then the record of the name.
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
        pointer = edges[firsts[row] + 4]
        length = edges[firsts[row] + 5] - pointer
        record, slot = find(entries, last, records, hashes[row], pointer, length)
        if record < 0:
            record = add(entries, slot, records, address(state), hashes[row], pointer, length)
        docs[row] = number_of(records + record)
        seen = np.uint64(file) << np.uint64(32) | np.uint64(row_queries[row])
        repeats += load_word(records + record + 8) == seen
        store_word(records + record + 8, seen)
    counters[REPEATS] += repeats


@inlined
def _has_room(count, table, names, state, size):
    """Check for room for `count` names of `size` bytes in total, and a table at most half full."""
    most = state[USED] + size + (HEAD + 8) * count + PAD
    return 2 * (state[COUNT] + count) <= len(table) and most <= len(names)


@jit
def tokenize(
    data: Array,
    size: Int,
    width: Int,
    file: Int,
    space: Array,
    queries: Array,
    starts: Array,
    query_table: Array,
    query_names: Array,
    query_state: Array,
    doc_table: Array,
    doc_names: Array,
    doc_state: Array,
    docs: Array,
    ranks: Array,
    scores: Array,
    tags: Array,
    hard: Array,
    is_text: bool,
    counters: Array,
) -> Int:
    """Parse every line of ``data[:size]`` as a row, from ``counters[AT]`` on.

    `data`: uint8, longer than `size` by `PAD`; the byte before `size` is a newline. `width`: 6, or
    5 without tags. `file`: Unique number of the file, from 1. `space`: int64 [6, `LONGEST` +
    `PAD`]: working space. `queries`, `starts`: By list, after the first element: int32 query and
    int64 first row. The first element of `queries` is -1. query_table to doc_state: see
    irmeta.kernels.interning. `docs`, `ranks`, `scores`: By row: int32, int32, float64. `tags`,
    `hard`: As long as the largest number of rows. See `_mark_tags` and `_parse_scores`. `is_text`:
    whether `data` is known to be UTF-8 without NUL. `counters`: int64 [`FOUND`], indexed by the
    constants above; parsing resumes from its values. Returns `DONE`; `NEEDS_ROOM` if tables, names,
    or arrays by row are full, and a call with larger ones resumes; `NO_ROW` for a line that is not
    a row, or longer than `LONGEST`; `HAS_ODD_BYTES` for NUL or non-ASCII bytes, which the caller
    must check before they become names.
    """
    edges, lines, firsts = space[0], space[1], space[2]
    tag_ends, row_queries, hashes = space[3], space[4], space[5].view(np.uint64)
    base, reach = address(data), BLOCK
    while counters[AT] < size:
        offset, done = counters[AT], counters[ROWS]
        stop = min(size, offset + reach)
        most = (stop - offset) // SHORTEST + 1
        if not (
            done + most < len(docs)
            and _has_room(most, query_table, query_names, query_state, stop - offset)
            and _has_room(most, doc_table, doc_names, doc_state, stop - offset)
        ):
            return NEEDS_ROOM
        count, odd = _index_block(base, offset, stop, edges, lines)
        if odd and not is_text:
            return HAS_ODD_BYTES
        if count == 0:
            if reach == LONGEST:
                return NO_ROW
            reach = LONGEST
            continue
        rows = _mark_rows(base + offset, width, edges, lines, count, firsts, tag_ends, counters)
        if (
            rows < 0
            or not _parse_ranks(width == 5, edges, firsts, rows, ranks[done:], counters)
            or not _parse_scores(base, edges, firsts, rows, scores[done:], hard, counters)
        ):
            return NO_ROW
        if width == 6:
            _mark_tags(base, edges, firsts, tag_ends, rows, tags, counters)
        _number_queries(
            edges, firsts, rows, query_table, query_names, query_state, queries, starts,
            row_queries, counters,
        )  # fmt: skip
        _number_docs(
            file, edges, firsts, rows, doc_table, doc_names, doc_state, row_queries, hashes,
            docs[done:], counters,
        )  # fmt: skip
        counters[ROWS] += rows
        counters[AT] = lines[count - 1] - base + 1
        reach = BLOCK
    return DONE

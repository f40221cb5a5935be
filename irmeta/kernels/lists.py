"""Single passes over lists in file order, and arrays of their docs and rows.

Most lists are already sorted. Docs are mapped to numbers that are dense within a query, judged docs
first, and to their grades.

The gathering kernels copy the rows of lists from all runs into one array in one pass: 6 ns a row,
where cutting out, joining and ordering the rows of each run took 40. The arrays are given
by int64 addresses; the caller keeps them alive. List i has ``lengths[i]`` rows of the array
``source[i]``, starting at its row ``starts[i]``.
"""

from __future__ import annotations

import numpy as np

from irmeta.kernels.jit import Array, Int, inner, jit
from irmeta.kernels.vector import as_float, load_int, load_word

FALLS, NEVER_RISES, RISES = range(3)  # strictly falling, falling with ties, rising somewhere


@jit
def score_states(starts: Array, scores: Array, states: Array) -> None:
    """Classify the float64 `scores` of each list, compared as float32, into uint8 `states`.

    List i has the rows ``starts[i]:starts[i + 1]``.
    """
    for i in range(len(starts) - 1):
        states[i] = 0
        for row in range(starts[i] + 1, starts[i + 1]):
            # As trec_eval 7-9. Rounding is monotonic: what falls as float32 falls as float64.
            above, below = np.float32(scores[row - 1]), np.float32(scores[row])
            if below > above:
                states[i] = 2
                break
            if below == above:
                states[i] = 1


@jit
def ranks_fall(starts: Array, ranks: Array, fall: Array) -> None:
    """Check whether the ranks of each list fall somewhere, into the bool array `fall`."""
    for i in range(len(starts) - 1):
        fall[i] = False
        for row in range(starts[i] + 1, starts[i + 1]):
            if ranks[row] < ranks[row - 1]:
                fall[i] = True
                break


@jit
def ranks_contradict(
    starts: Array, scores: Array, ranks: Array, no_rank: Int, contradict: Array
) -> None:
    """Check whether a lower score has a better rank in each list, into bool `contradict`.

    The float64 `scores`, compared as float32, must never rise within a list. Rows whose rank is
    `no_rank` are ignored.
    """
    for i in range(len(starts) - 1):
        contradict[i] = False
        above = deepest = no_rank  # deepest rank of rows with higher scores, and of all so far
        for row in range(starts[i], starts[i + 1]):
            if row > starts[i] and np.float32(scores[row]) < np.float32(scores[row - 1]):
                above = deepest
            if ranks[row] == no_rank:
                continue
            if ranks[row] < above:
                contradict[i] = True
                break
            deepest = max(deepest, ranks[row])


@jit
def order_ties(
    starts: Array,
    which: Array,
    scores: Array,
    docs: Array,
    longest: Int,
    rows: Array,
    source_index: Array,
    has_long_tie: Array,
) -> Int:
    """Find the permutation that sorts rows of equal scores by doc, descending.

    `which`: int64: the lists to sort; their scores, compared as float32, never rise. `docs`: int32,
    by row. `longest`: Longest block of tied rows to sort, because insertion sort is quadratic.
    `rows`, `source_index`: int64, by row; written: the changed rows, and the row whose values each
    of them takes. `has_long_tie`: bool, by list of `which`; written: whether a block of the list
    remains unsorted. Returns the number of changed rows.
    """
    count = 0
    block = np.empty(longest, np.int64)
    for i in range(len(which)):
        has_long_tie[i] = False
        top, end = starts[which[i]], starts[which[i] + 1]
        for row in range(top + 1, end + 1):
            if row < end and np.float32(scores[row]) == np.float32(scores[top]):
                continue
            if row - top > longest:
                has_long_tie[i] = True
            elif row - top > 1:
                _sort_block(docs, top, row, block)
                for index in range(row - top):
                    if block[index] != top + index:
                        rows[count], source_index[count] = top + index, block[index]
                        count += 1
            top = row
    return count


@inner
def _sort_block(docs, top, end, block):
    """Sort the rows from `top` up to `end` by insertion into `block`, by doc descending."""
    for row in range(top, end):
        index = row - top
        while index > 0 and docs[block[index - 1]] < docs[row]:
            block[index] = block[index - 1]
            index -= 1
        block[index] = row


@jit
def count_tied(starts: Array, which: Array, scores: Array, tied: Array, rounded: Array) -> None:
    """Count the rows of some lists that share their score, as float32, with an adjacent row.

    The counts of the lists in int64 `which` are written into int64 `tied`, by list, and into int64
    `rounded` those of blocks whose float64 scores differ.
    """
    for i in which:
        count = differing = 0
        top, differs = starts[i], False
        for row in range(starts[i] + 1, starts[i + 1] + 1):
            if row < starts[i + 1] and np.float32(scores[row]) == np.float32(scores[top]):
                differs = differs or scores[row] != scores[top]
                continue
            if row - top > 1:
                count += row - top
                differing += (row - top) * differs
            top, differs = row, False
        tied[i], rounded[i] = count, differing


@inner
def _mixed(value):
    """Return the finalizer of SplitMix64 of a uint64."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@jit
def summarize_judged(
    query: Array,
    place: Array,
    starts: Array,
    doc_id: Array,
    firsts: Array,
    primary: Array,
    no_grade: Int,
    judged: Array,
    hashes: Array,
) -> None:
    """Count and hash the judged docs of each list.

    Equal hashes mean, up to chance, a query's judged docs at the same ranks of lists of one length.
    `query`, `place`: int64 [lists]: number of the query, and its index in `firsts`; -1: it is not
    judged. `firsts`, `primary`: int64 [queries + 1] and int32 [judged docs]: the first judged doc
    of each query, and the grade of each in the primary set, or `no_grade`. Docs are judged if their
    number in the int32 `doc_id` is below the number of the query's judged docs. `judged`, `hashes`:
    int64 and uint64 [lists], written: docs judged in the primary set; and the hash, 0 for a query
    that is not judged.
    """
    for i in range(len(query)):
        judged[i], hashes[i] = 0, 0
        first = firsts[place[i]] if place[i] >= 0 else 0
        width = firsts[place[i] + 1] - first if place[i] >= 0 else 0
        if width == 0:
            continue
        found = np.uint64(0)
        for row in range(starts[i], starts[i + 1]):
            number = doc_id[row]
            if number < width:
                judged[i] += primary[first + number] != no_grade
                found += _mixed(np.uint64(row - starts[i] + 1) << np.uint64(32) | np.uint64(number))
        length = np.uint64(starts[i + 1] - starts[i])
        found ^= np.uint64(query[i] + 1) << np.uint64(32) | length
        hashes[i] = _mixed(found)


@jit
def spread(starts: Array, lengths: Array, rows: Array) -> None:
    """Write the row numbers of lists with these `starts`, list after list, into int64 `rows`."""
    target = 0
    for i in range(len(starts)):
        for index in range(lengths[i]):
            rows[target] = starts[i] + index
            target += 1


@jit
def count_up(starts: Array, ranks: Array) -> None:
    """Write the ranks 1, 2, ... of the rows of each list into int32 `ranks`."""
    for i in range(len(starts) - 1):
        for index in range(starts[i + 1] - starts[i]):
            ranks[starts[i] + index] = index + 1


@jit
def list_starts(query: Array, system: Array) -> Array:
    """Return the first row of each list, int64, from int32 columns of the long table."""
    starts, lists = np.empty(len(query), np.int64), 0
    for i in range(len(query)):
        starts[lists] = i  # overwritten unless a list begins here
        lists += i == 0 or query[i] != query[i - 1] or system[i] != system[i - 1]
    return starts[:lists].copy()


@jit
def scatter(
    query: Array,
    system: Array,
    starts: Array,
    doc_id: Array,
    row_of: Array,
    first_row: Array,
    values: Array,
    out: Array,
) -> None:
    """Write the values of judged docs' rows of the long table to their row and system in `out`.

    `query`, `system`: int32 [lists]. `starts`: int64 [lists + 1]: first row of each list. `doc_id`,
    `values`: int32 columns of the long table. `row_of`, `first_row`: the row of `out` for a judged
    doc is ``row_of[first_row[query] + doc_id]``, for doc_id below ``first_row[query + 1] -
    first_row[query]``; -1: judged only in another set. `out`: [rows, systems], filled with the
    value for not retrieved; written.
    """
    for i in range(len(query)):
        first, s = first_row[query[i]], system[i]
        width = first_row[query[i] + 1] - first
        for index in range(starts[i], starts[i + 1]):
            if doc_id[index] < width:
                row = row_of[first + doc_id[index]]
                if row >= 0:
                    out[row, s] = values[index]


@jit
def gather_ints(addresses: Array, source: Array, starts: Array, lengths: Array, out: Array) -> None:
    """Copy rows of int32 arrays into int32 `out`."""
    target = 0
    for i in range(len(source)):
        pointer = addresses[source[i]] + 4 * starts[i]
        for row in range(lengths[i]):
            out[target + row] = load_int(pointer + 4 * row)
        target += lengths[i]


@jit
def gather_floats(
    addresses: Array, source: Array, starts: Array, lengths: Array, out: Array
) -> None:
    """Copy rows of float64 arrays into float64 `out`."""
    target = 0
    for i in range(len(source)):
        pointer = addresses[source[i]] + 8 * starts[i]
        for row in range(lengths[i]):
            out[target + row] = as_float(load_word(pointer + 8 * row))
        target += lengths[i]


@jit
def gather_names(
    addresses: Array, tables: Array, source: Array, starts: Array, lengths: Array, out: Array
) -> None:
    """Copy rows of int32 arrays, mapped by each array's int32 table, into int32 `out`."""
    target = 0
    for i in range(len(source)):
        pointer, table = addresses[source[i]] + 4 * starts[i], tables[source[i]]
        for row in range(lengths[i]):
            out[target + row] = load_int(table + 4 * load_int(pointer + 4 * row))
        target += lengths[i]


@jit
def collect(
    docs: Array,
    starts: Array,
    judged: Array,
    judged_starts: Array,
    seen: Array,
    stamp: Int,
    unjudged: Array,
    ends: Array,
) -> None:
    """Collect the distinct unjudged docs of each query, in order of first appearance.

    `docs`: int32, by row; query q has the rows ``starts[q]:starts[q + 1]``. `judged`: int32, by
    query in the same way. `seen`: int32, by doc: the last stamp of the doc. `stamp`: a stamp that
    `seen` does not contain; query q uses ``stamp + q``. `unjudged`: int32, as long as `docs`;
    written. `ends`: int64: the end of each query's unjudged docs; written.
    """
    count = 0
    for q in range(len(starts) - 1):
        for index in range(judged_starts[q], judged_starts[q + 1]):
            seen[judged[index]] = stamp + q
        for row in range(starts[q], starts[q + 1]):
            if seen[docs[row]] != stamp + q:
                seen[docs[row]] = stamp + q
                unjudged[count] = docs[row]
                count += 1
        ends[q] = count


@jit
def number(
    docs: Array,
    starts: Array,
    judged: Array,
    judged_starts: Array,
    primary: Array,
    unjudged: Array,
    ends: Array,
    number_of: Array,
    grade_of: Array,
    no_grade: Int,
    numbers: Array,
    grades: Array,
) -> None:
    """Look up the number and the grade of each row's doc.

    The first arguments are as in `collect`; judged docs are numbered first, then unjudged docs.
    `primary`: int32: the grades of `judged`. `number_of`, `grade_of`: int32, by doc: working space.
    `numbers`, `grades`: int32, by row; written. Unjudged docs have `no_grade`.
    """
    # Tables as long as the docs of a query give numbers and grades without a branch: 1.3 ns a row
    # where they took 3.2.
    first = 0
    for q in range(len(starts) - 1):
        top = judged_starts[q]
        known = judged_starts[q + 1] - top
        for index in range(known):
            number_of[judged[top + index]] = index
            grade_of[index] = primary[top + index]
        for index in range(ends[q] - first):
            number_of[unjudged[first + index]] = known + index
            grade_of[known + index] = no_grade
        first = ends[q]
        rows = slice(starts[q], starts[q + 1])
        look_up(number_of, docs[rows], numbers[rows])
        look_up(grade_of, numbers[rows], grades[rows])


@inner
def look_up(table: Array, indices: Array, out: Array) -> None:
    """Write ``table[indices]`` into `out`, for int32 indices within the table."""
    for row in range(len(indices)):
        out[row] = table[
            np.uint32(indices[row])
        ]  # for signed indices, numba would handle negative ones

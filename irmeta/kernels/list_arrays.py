"""Rows of lists: their starts, arrays [judged docs, systems], and rows gathered from many arrays.

The gathering kernels copy the rows of lists into one array, list after list. The arrays are given
by int64 addresses; the caller keeps them alive. List i has ``lengths[i]`` rows of the array
``source[i]``, starting at its row ``starts[i]``.
"""

import numpy as np

from irmeta.kernels.jit import jit
from irmeta.kernels.vector import as_float, load_int, load_word


@jit
def list_starts(query, system):
    """Return the first row of each list, int64, from int32 columns of the long table."""
    starts, lists = np.empty(len(query), np.int64), 0
    for i in range(len(query)):
        starts[lists] = i  # overwritten unless a list begins here
        lists += i == 0 or query[i] != query[i - 1] or system[i] != system[i - 1]
    return starts[:lists].copy()


@jit
def scatter(query, system, starts, doc_id, row_of, first_row, values, out):
    """Write the values of judged docs' rows of the long table to their row and system in `out`.

    Parameters
    ----------
    query, system
        int32 [lists].
    starts
        int64 [lists + 1]: first row of each list.
    doc_id, values
        int32 columns of the long table.
    row_of, first_row
        The row of `out` for a judged doc is ``row_of[first_row[query] + doc_id]``, for doc_id
        below ``first_row[query + 1] - first_row[query]``; -1: judged only in another set.
    out
        [rows, systems], filled with the value for not retrieved; written.
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
def gather_ints(addresses, source, starts, lengths, out):
    """Copy rows of int32 arrays into int32 `out`."""
    target = 0
    for i in range(len(source)):
        pointer = addresses[source[i]] + 4 * starts[i]
        for row in range(lengths[i]):
            out[target + row] = load_int(pointer + 4 * row)
        target += lengths[i]


@jit
def gather_floats(addresses, source, starts, lengths, out):
    """Copy rows of float64 arrays into float64 `out`."""
    target = 0
    for i in range(len(source)):
        pointer = addresses[source[i]] + 8 * starts[i]
        for row in range(lengths[i]):
            out[target + row] = as_float(load_word(pointer + 8 * row))
        target += lengths[i]


@jit
def gather_names(addresses, tables, source, starts, lengths, out):
    """Copy rows of int32 arrays, mapped by each array's int32 table, into int32 `out`."""
    target = 0
    for i in range(len(source)):
        pointer, table = addresses[source[i]] + 4 * starts[i], tables[source[i]]
        for row in range(lengths[i]):
            out[target + row] = load_int(table + 4 * load_int(pointer + 4 * row))
        target += lengths[i]

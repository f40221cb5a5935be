"""Rows of lists that lie in many arrays, list after list into one.

The arrays are given by their addresses, int64; whoever calls holds them. List i has
``lengths[i]`` rows of the array ``source[i]``, from its row ``starts[i]`` on.
"""

from irmeta.kernels.jit import jit
from irmeta.kernels.vector import as_float, load_int, load_word


@jit
def gather_ints(addresses, source, starts, lengths, out):
    """Of int32 arrays, into int32 `out`."""
    at = 0
    for i in range(len(source)):
        place = addresses[source[i]] + 4 * starts[i]
        for row in range(lengths[i]):
            out[at + row] = load_int(place + 4 * row)
        at += lengths[i]


@jit
def gather_floats(addresses, source, starts, lengths, out):
    """Of float64 arrays, into float64 `out`."""
    at = 0
    for i in range(len(source)):
        place = addresses[source[i]] + 8 * starts[i]
        for row in range(lengths[i]):
            out[at + row] = as_float(load_word(place + 8 * row))
        at += lengths[i]


@jit
def gather_names(addresses, tables, source, starts, lengths, out):
    """Of int32 arrays, what each number stands for in its array's int32 table, into int32 `out`."""
    at = 0
    for i in range(len(source)):
        place, table = addresses[source[i]] + 4 * starts[i], tables[source[i]]
        for row in range(lengths[i]):
            out[at + row] = load_int(table + 4 * load_int(place + 4 * row))
        at += lengths[i]

"""Copy the rows of lists from many arrays into one, list after list.

The arrays are given by their addresses, int64; the caller keeps them alive. List i has
``lengths[i]`` rows of the array ``source[i]``, from its row ``starts[i]`` on.
"""

from irmeta.kernels.jit import jit
from irmeta.kernels.vector import as_float, load_int, load_word


@jit
def gather_ints(addresses, source, starts, lengths, out):
    """Copy rows of int32 arrays into int32 `out`."""
    at = 0
    for i in range(len(source)):
        place = addresses[source[i]] + 4 * starts[i]
        for row in range(lengths[i]):
            out[at + row] = load_int(place + 4 * row)
        at += lengths[i]


@jit
def gather_floats(addresses, source, starts, lengths, out):
    """Copy rows of float64 arrays into float64 `out`."""
    at = 0
    for i in range(len(source)):
        place = addresses[source[i]] + 8 * starts[i]
        for row in range(lengths[i]):
            out[at + row] = as_float(load_word(place + 8 * row))
        at += lengths[i]


@jit
def gather_names(addresses, tables, source, starts, lengths, out):
    """Copy rows of int32 arrays, mapped by each array's int32 table, into int32 `out`."""
    at = 0
    for i in range(len(source)):
        place, table = addresses[source[i]] + 4 * starts[i], tables[source[i]]
        for row in range(lengths[i]):
            out[at + row] = load_int(table + 4 * load_int(place + 4 * row))
        at += lengths[i]

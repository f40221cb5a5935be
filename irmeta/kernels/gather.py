"""Copy the rows of lists from many arrays into one, list after list.

The arrays are given by int64 addresses; the caller keeps them alive. List i has ``lengths[i]`` rows
of the array ``source[i]``, starting at its row ``starts[i]``.
"""

from irmeta.kernels.jit import jit
from irmeta.kernels.vector import as_float, load_int, load_word


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

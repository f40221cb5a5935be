"""Reciprocal ranks at the first recall level where two systems differ."""

from irmeta.kernels.jit import jit


@jit
def reciprocal_differences(ranks, start, stop, missing, out):
    """Compute the difference of reciprocal ranks at the first differing level of all pairs.

    `ranks` is unsigned [levels, systems], each system's ranks ascending within the rows
    ``start:stop`` of the query; `missing` has the reciprocal 0. `out` float64 [systems, systems] is
    written: 1 / rank of the row's system minus that of the column's, 0 for equal lists.
    """
    for a in range(ranks.shape[1]):
        out[a, a] = 0.0
        for b in range(a + 1, ranks.shape[1]):
            level = start
            while level < stop and ranks[level, a] == ranks[level, b]:
                level += 1
            value = 0.0
            if level < stop:
                x, y = ranks[level, a], ranks[level, b]
                value = (0.0 if x == missing else 1.0 / x) - (0.0 if y == missing else 1.0 / y)
            out[a, b] = value
            out[b, a] = 0.0 - value

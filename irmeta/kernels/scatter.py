"""Rows of the long table to arrays of judged docs by systems, and of queries by systems."""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def scatter(query, system, doc_id, row_of, first_row, values, out):
    """Put a value of each judged doc's row of the long table where it belongs.

    Parameters
    ----------
    query, system, doc_id, values
        int32 columns of the long table.
    row_of, first_row
        The row of `out` for a judged doc is ``row_of[first_row[query] + doc_id]``, for doc_id
        below ``first_row[query + 1] - first_row[query]``; -1: judged in another set only.
    out
        [rows, systems], filled with what stands for not retrieved; written.
    """
    for i in range(len(query)):
        at = first_row[query[i]] + doc_id[i]
        if at < first_row[query[i] + 1]:
            row = row_of[at]
            if row >= 0:
                out[row, system[i]] = values[i]


@jit
def list_lengths(query, system, rank, lengths):
    """Write the greatest rank of each list into `lengths`, uint32 [queries, systems], zero."""
    for i in range(len(query)):
        q, s = query[i], system[i]
        lengths[q, s] = max(lengths[q, s], np.uint32(rank[i]))

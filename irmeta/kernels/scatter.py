"""Rows of the long table to the judged-docs-by-systems array of ranks."""

import numpy as np

from irmeta.kernels.jit import jit


@jit
def scatter_ranks(query, system, rank, doc_id, row_of, first_row, ranks, lengths):
    """Put each judged doc's rank where it belongs, and note how long each list is.

    Parameters
    ----------
    query, system, rank, doc_id
        int32 columns of the long table; query -1: not judged, the row is passed over.
    row_of, first_row
        The row of `ranks` for a judged doc is ``row_of[first_row[query] + doc_id]``, for doc_id
        below ``first_row[query + 1] - first_row[query]``; -1: judged in another set only.
    ranks
        [rows, systems], filled with its greatest value (not retrieved); written.
    lengths
        uint32 [queries, systems], zero; written.
    """
    for i in range(len(query)):
        q = query[i]
        if q < 0:
            continue
        s = system[i]
        lengths[q, s] = max(lengths[q, s], np.uint32(rank[i]))
        at = first_row[q] + doc_id[i]
        if at < first_row[q + 1]:
            row = row_of[at]
            if row >= 0:
                ranks[row, s] = rank[i]

"""Search lengths: the number of non-relevant docs above each relevant doc, plus 1."""

from irmeta.kernels.jit import jit


@jit
def search_lengths(ranks, offsets, missing, unretrieved, out):
    """Compute the search length of every relevant doc in every system.

    Parameters
    ----------
    ranks
        Ascending ranks [docs, systems] of the relevant docs, `missing` where not retrieved; query q
        has the rows ``offsets[q]:offsets[q + 1]``.
    unretrieved
        float64 [queries, systems]: the search length of a doc that is not retrieved.
    out
        float64 [docs, systems]; written. Ascending within a query, unretrieved docs last.
    """
    for q in range(len(offsets) - 1):
        for row in range(offsets[q], offsets[q + 1]):
            above = row - offsets[q]
            for s in range(ranks.shape[1]):
                if ranks[row, s] == missing:
                    out[row, s] = unretrieved[q, s]
                else:
                    out[row, s] = ranks[row, s] - above


@jit
def mean_of_first(lengths, offsets, firsts, out):
    """Compute the mean of the first rows of each query, for several numbers of rows.

    `lengths` is [docs, systems], `firsts` int64, `out` float64 [firsts, queries, systems], zero.
    Queries without rows are not written.
    """
    for f in range(len(firsts)):
        for q in range(len(offsets) - 1):
            taken = min(offsets[q + 1] - offsets[q], firsts[f])
            for row in range(offsets[q], offsets[q] + taken):
                for s in range(lengths.shape[1]):
                    out[f, q, s] += lengths[row, s]
            for s in range(lengths.shape[1]):
                if taken > 0:
                    out[f, q, s] /= taken

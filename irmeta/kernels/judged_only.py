"""Measures over judged docs only."""

from irmeta.kernels.jit import jit


@jit
def bpref_sum(relevant, relevant_offsets, nonrelevant, nonrelevant_offsets, missing, out):
    """Sum over retrieved relevant docs 1 minus the share of judged non-relevant docs above each.

    Parameters
    ----------
    relevant, other
        Ascending ranks [docs, systems] of the relevant and the judged non-relevant docs.
    missing
        The rank of a doc that is not retrieved.
    out
        float64 [queries, systems], zero; written.
    """
    for q in range(len(relevant_offsets) - 1):
        first, last = relevant_offsets[q], relevant_offsets[q + 1]
        start, stop = nonrelevant_offsets[q], nonrelevant_offsets[q + 1]
        bound = min(stop - start, last - first)
        for s in range(relevant.shape[1]):
            above = start
            for row in range(first, last):
                rank = relevant[row, s]
                if rank == missing:
                    break
                while above < stop and nonrelevant[above, s] < rank:
                    above += 1
                share = min(above - start, last - first) / bound if above > start else 0.0
                out[q, s] += 1.0 - share


@jit
def inferred_sum(
    relevant,
    relevant_offsets,
    nonrelevant,
    nonrelevant_offsets,
    unjudged,
    unjudged_offsets,
    missing,
    epsilon,
    out,
):
    """Sum the expected precisions at the retrieved relevant docs.

    Parameters
    ----------
    relevant, other, unjudged
        Ascending ranks [docs, systems] of the relevant docs, of the judged non-relevant docs, and
        of the unjudged docs in the pool.
    missing
        The rank of a doc that is not retrieved.
    epsilon
        Smoothing constant of the share of relevant docs among the judged docs above.
    out
        float64 [queries, systems], zero; written.
    """
    for q in range(len(relevant_offsets) - 1):
        first, last = relevant_offsets[q], relevant_offsets[q + 1]
        start, stop = nonrelevant_offsets[q], nonrelevant_offsets[q + 1]
        begin, end = unjudged_offsets[q], unjudged_offsets[q + 1]
        for s in range(relevant.shape[1]):
            above, pooled = start, begin
            for row in range(first, last):
                rank = relevant[row, s]
                if rank == missing:
                    break
                while above < stop and nonrelevant[above, s] < rank:
                    above += 1
                while pooled < end and unjudged[pooled, s] < rank:
                    pooled += 1
                if rank == 1:
                    out[q, s] += 1.0
                    continue
                better, worse, higher = row - first, above - start, rank - 1.0
                in_pool = (better + worse + pooled - begin) / higher
                share = (better + epsilon) / (better + worse + 2.0 * epsilon)
                # The order of operations of m_infap.c, for bitwise equal results.
                out[q, s] += 1.0 / rank + higher / rank * in_pool * share

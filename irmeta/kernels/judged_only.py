"""Measures over judged docs only.

Ranks are [docs, systems], `missing` where not retrieved; `out` is float64 [queries, systems], zero.
"""

from irmeta.kernels.jit import jit


@jit
def bpref_sum(
    relevant, relevant_offsets, nonrelevant, nonrelevant_offsets, missing, more, bound_by, out
):
    """Sum over retrieved relevant docs 1 minus the share of judged non-relevant docs above each.

    `relevant` and `nonrelevant` are ascending ranks of the judged docs. At most R + `more` docs
    count, and the share is of R + `more`; of fewer, if `bound_by` is 1 and fewer non-relevant docs
    are judged, or if it is 2 and the list has fewer of them.
    """
    for q in range(len(relevant_offsets) - 1):
        first, last = relevant_offsets[q], relevant_offsets[q + 1]
        start, stop = nonrelevant_offsets[q], nonrelevant_offsets[q + 1]
        most = last - first + more
        bound = min(stop - start, most) if bound_by == 1 else most
        for s in range(relevant.shape[1]):
            if bound_by == 2:
                last_retrieved = start
                while last_retrieved < stop and nonrelevant[last_retrieved, s] != missing:
                    last_retrieved += 1
                bound = min(last_retrieved - start, most)
            above = start
            for row in range(first, last):
                rank = relevant[row, s]
                if rank == missing:
                    break
                while above < stop and nonrelevant[above, s] < rank:
                    above += 1
                share = min(above - start, most) / bound if above > start else 0.0
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

    `relevant`, `nonrelevant` and `unjudged` are ascending ranks of the judged docs and of the
    unjudged docs in the pool; `epsilon` smooths the share of relevant docs among judged docs above.
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

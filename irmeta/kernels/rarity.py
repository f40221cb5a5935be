"""Number of systems that retrieve a doc."""

from irmeta.kernels.jit import jit


@jit
def systems_within(ranks, depth, out):
    """Count for each row of `ranks` [docs, systems] the systems with a rank within `depth`.

    `depth` is below the rank of docs that are not retrieved; `out` int32 [docs], zero.
    """
    for row in range(ranks.shape[0]):
        for s in range(ranks.shape[1]):
            out[row] += ranks[row, s] <= depth

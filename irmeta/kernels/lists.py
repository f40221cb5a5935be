"""What a pass over lists as they were read tells: most are in order already."""

import numpy as np

from irmeta.kernels.jit import jit

FALLS, NEVER_RISES, RISES = range(3)  # strictly, with ties, somewhere


@jit
def score_states(starts, scores, states):
    """How the float64 `scores` of each list go, compared as float32; written into uint8 `states`.

    List i has the rows ``starts[i]:starts[i + 1]``.
    """
    for i in range(len(starts) - 1):
        states[i] = 0
        for row in range(starts[i] + 1, starts[i + 1]):
            above, below = np.float32(scores[row - 1]), np.float32(scores[row])
            if below > above:
                states[i] = 2
                break
            if below == above:
                states[i] = 1


@jit
def ranks_fall(starts, ranks, fall):
    """Whether the ranks of each list fall somewhere; written into the bool array `fall`."""
    for i in range(len(starts) - 1):
        fall[i] = False
        for row in range(starts[i] + 1, starts[i + 1]):
            if ranks[row] < ranks[row - 1]:
                fall[i] = True
                break


@jit
def ranks_contradict(starts, scores, ranks, no_rank, contradict):
    """Whether in each list a lower score has a better rank; written into bool `contradict`.

    The float64 `scores`, compared as float32, must never rise within a list. Rows whose rank is
    `no_rank` say nothing.
    """
    for i in range(len(starts) - 1):
        contradict[i] = False
        above = deepest = no_rank  # of the rows with higher scores, and of all so far
        for row in range(starts[i], starts[i + 1]):
            if row > starts[i] and np.float32(scores[row]) < np.float32(scores[row - 1]):
                above = deepest
            if ranks[row] == no_rank:
                continue
            if ranks[row] < above:
                contradict[i] = True
                break
            deepest = max(deepest, ranks[row])


@jit
def spread(starts, lengths, rows):
    """The rows of lists that begin at `starts`, list after list, into int64 `rows`."""
    at = 0
    for i in range(len(starts)):
        for place in range(lengths[i]):
            rows[at] = starts[i] + place
            at += 1


@jit
def count_up(starts, ranks):
    """The ranks 1, 2, ... of the rows of each list into int32 `ranks`."""
    for i in range(len(starts) - 1):
        for place in range(starts[i + 1] - starts[i]):
            ranks[starts[i] + place] = place + 1

"""What a pass over lists as they were read tells: most are in order already."""

import numpy as np

from irmeta.kernels.jit import inner, jit

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
def order_ties(starts, which, scores, docs, longest, rows, whence, left):
    """Which rows change places, so that those of equal scores go by their docs, the greatest first.

    Parameters
    ----------
    which
        int64: the lists to order; their scores, compared as float32, never rise.
    docs
        int32, by row.
    longest
        A block of more tied rows than these is left alone: it would take the square of them.
    rows, whence
        int64, as long as there are rows; written: the rows that change, and where what they are to
        hold is now.
    left
        bool, by list of `which`; written: whether it has a block that is left alone.

    Returns
    -------
    How many rows change.
    """
    count = 0
    block = np.empty(longest, np.int64)
    for i in range(len(which)):
        left[i] = False
        top, end = starts[which[i]], starts[which[i] + 1]
        for row in range(top + 1, end + 1):
            if row < end and np.float32(scores[row]) == np.float32(scores[top]):
                continue
            if row - top > longest:
                left[i] = True
            elif row - top > 1:
                _sort_block(docs, top, row, block)
                for place in range(row - top):
                    if block[place] != top + place:
                        rows[count], whence[count] = top + place, block[place]
                        count += 1
            top = row
    return count


@inner
def _sort_block(docs, top, end, block):
    """The rows from `top` up to `end` by insertion into `block`, those of greater docs first."""
    for row in range(top, end):
        place = row - top
        while place > 0 and docs[block[place - 1]] < docs[row]:
            block[place] = block[place - 1]
            place -= 1
        block[place] = row


@jit
def count_tied(starts, which, scores, tied):
    """How many rows of some lists share their score, as float32, with a neighbour: into `tied`.

    `which` and `tied` are int64, `tied` by list.
    """
    for i in which:
        count, top = 0, starts[i]
        for row in range(starts[i] + 1, starts[i + 1] + 1):
            if row < starts[i + 1] and np.float32(scores[row]) == np.float32(scores[top]):
                continue
            if row - top > 1:
                count += row - top
            top = row
        tied[i] = count


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

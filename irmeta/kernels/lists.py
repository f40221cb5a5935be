"""Single passes over lists in file order; most lists are already sorted."""

import numpy as np

from irmeta.kernels.jit import inner, jit

FALLS, NEVER_RISES, RISES = range(3)  # strictly falling, falling with ties, rising somewhere


@jit
def score_states(starts, scores, states):
    """Classify the float64 `scores` of each list, compared as float32, into uint8 `states`.

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
    """Check whether the ranks of each list fall somewhere, into the bool array `fall`."""
    for i in range(len(starts) - 1):
        fall[i] = False
        for row in range(starts[i] + 1, starts[i + 1]):
            if ranks[row] < ranks[row - 1]:
                fall[i] = True
                break


@jit
def ranks_contradict(starts, scores, ranks, no_rank, contradict):
    """Check whether a lower score has a better rank in each list, into bool `contradict`.

    The float64 `scores`, compared as float32, must never rise within a list. Rows whose rank is
    `no_rank` are ignored.
    """
    for i in range(len(starts) - 1):
        contradict[i] = False
        above = deepest = no_rank  # deepest rank of rows with higher scores, and of all so far
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
def order_ties(starts, which, scores, docs, longest, rows, source_index, has_long_tie):
    """Find the permutation that sorts rows of equal scores by doc, descending.

    Parameters
    ----------
    which
        int64: the lists to sort; their scores, compared as float32, never rise.
    docs
        int32, by row.
    longest
        Longest block of tied rows to sort, because insertion sort is quadratic.
    rows, source_index
        int64, by row; written: the changed rows, and the row whose values each of them takes.
    has_long_tie
        bool, by list of `which`; written: whether a block of the list remains unsorted.

    Returns
    -------
    The number of changed rows.
    """
    count = 0
    block = np.empty(longest, np.int64)
    for i in range(len(which)):
        has_long_tie[i] = False
        top, end = starts[which[i]], starts[which[i] + 1]
        for row in range(top + 1, end + 1):
            if row < end and np.float32(scores[row]) == np.float32(scores[top]):
                continue
            if row - top > longest:
                has_long_tie[i] = True
            elif row - top > 1:
                _sort_block(docs, top, row, block)
                for index in range(row - top):
                    if block[index] != top + index:
                        rows[count], source_index[count] = top + index, block[index]
                        count += 1
            top = row
    return count


@inner
def _sort_block(docs, top, end, block):
    """Sort the rows from `top` up to `end` by insertion into `block`, by doc descending."""
    for row in range(top, end):
        index = row - top
        while index > 0 and docs[block[index - 1]] < docs[row]:
            block[index] = block[index - 1]
            index -= 1
        block[index] = row


@jit
def count_tied(starts, which, scores, tied):
    """Count the rows of some lists that share their score, as float32, with an adjacent row.

    The counts of the lists in int64 `which` are written into int64 `tied`, by list.
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
    """Write the row numbers of lists with these `starts`, list after list, into int64 `rows`."""
    target = 0
    for i in range(len(starts)):
        for index in range(lengths[i]):
            rows[target] = starts[i] + index
            target += 1


@jit
def count_up(starts, ranks):
    """Write the ranks 1, 2, ... of the rows of each list into int32 `ranks`."""
    for i in range(len(starts) - 1):
        for index in range(starts[i + 1] - starts[i]):
            ranks[starts[i] + index] = index + 1

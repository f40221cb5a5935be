"""Docs to numbers that are dense within a query, judged ones first, and to their grades."""

import numpy as np

from irmeta.kernels.jit import inner, jit


@jit
def collect(docs, starts, judged, judged_starts, seen, stamp, found, ends):
    """The docs that no one judged of each query, each once, in the order in which they come.

    Parameters
    ----------
    docs
        int32, by row; query q has the rows ``starts[q]:starts[q + 1]``.
    judged
        int32, by query likewise.
    seen
        int32, as long as there are docs: the stamp under which each was seen last.
    stamp
        One that none of them has; as many more, counting up, are used as there are queries.
    found
        int32, as long as `docs`; written.
    ends
        int64: where the found docs of each query end; written.
    """
    count = 0
    for q in range(len(starts) - 1):
        for place in range(judged_starts[q], judged_starts[q + 1]):
            seen[judged[place]] = stamp + q
        for row in range(starts[q], starts[q + 1]):
            if seen[docs[row]] != stamp + q:
                seen[docs[row]] = stamp + q
                found[count] = docs[row]
                count += 1
        ends[q] = count


@jit
def number(
    docs, starts, judged, judged_starts, primary, found, ends, number_of, grade_of, no_grade,
    numbers, grades,
):  # fmt: skip
    """The number and the grade of each row's doc.

    Parameters
    ----------
    docs, starts, judged, judged_starts, found, ends
        As in `collect`; judged docs are numbered first, then those found, in their order.
    primary
        int16: the grades of `judged`.
    number_of, grade_of
        int32 and int16, as long as there are docs: working space.
    numbers, grades
        int32 and int16, by row; written. Docs that no one judged have `no_grade`.
    """
    first = 0
    for q in range(len(starts) - 1):
        top = judged_starts[q]
        known = judged_starts[q + 1] - top
        for place in range(known):
            number_of[judged[top + place]] = place
            grade_of[place] = primary[top + place]
        for place in range(ends[q] - first):
            number_of[found[first + place]] = known + place
            grade_of[known + place] = no_grade
        first = ends[q]
        own = slice(starts[q], starts[q + 1])
        _look_up(number_of, docs[own], numbers[own])
        _look_up(grade_of, numbers[own], grades[own])


@inner
def _look_up(table, places, out):
    """``table[places]`` into `out`, for int32 places that are in the table."""
    for row in range(len(places)):
        out[row] = table[np.uint32(places[row])]  # signed, numba would look for places below 0

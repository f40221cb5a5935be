"""Map docs to numbers that are dense within a query, judged docs first, and to their grades."""

import numpy as np

from irmeta.kernels.jit import inner, jit


@jit
def collect(docs, starts, judged, judged_starts, seen, stamp, unjudged, ends):
    """Collect the distinct unjudged docs of each query, in order of first appearance.

    Parameters
    ----------
    docs
        int32, by row; query q has the rows ``starts[q]:starts[q + 1]``.
    judged
        int32, by query in the same way.
    seen
        int32, by doc: the last stamp of the doc.
    stamp
        A stamp that `seen` does not contain; query q uses ``stamp + q``.
    unjudged
        int32, as long as `docs`; written.
    ends
        int64: the end of each query's unjudged docs; written.
    """
    count = 0
    for q in range(len(starts) - 1):
        for index in range(judged_starts[q], judged_starts[q + 1]):
            seen[judged[index]] = stamp + q
        for row in range(starts[q], starts[q + 1]):
            if seen[docs[row]] != stamp + q:
                seen[docs[row]] = stamp + q
                unjudged[count] = docs[row]
                count += 1
        ends[q] = count


@jit
def number(
    docs, starts, judged, judged_starts, primary, unjudged, ends, number_of, grade_of, no_grade,
    numbers, grades,
):  # fmt: skip
    """Look up the number and the grade of each row's doc.

    The first arguments are as in `collect`; judged docs are numbered first, then unjudged docs.

    Parameters
    ----------
    primary
        int16: the grades of `judged`.
    number_of, grade_of
        int32 and int16, by doc: working space.
    numbers, grades
        int32 and int16, by row; written. Unjudged docs have `no_grade`.
    """
    first = 0
    for q in range(len(starts) - 1):
        top = judged_starts[q]
        known = judged_starts[q + 1] - top
        for index in range(known):
            number_of[judged[top + index]] = index
            grade_of[index] = primary[top + index]
        for index in range(ends[q] - first):
            number_of[unjudged[first + index]] = known + index
            grade_of[known + index] = no_grade
        first = ends[q]
        rows = slice(starts[q], starts[q + 1])
        look_up(number_of, docs[rows], numbers[rows])
        look_up(grade_of, numbers[rows], grades[rows])


@inner
def look_up(table, indices, out):
    """Write ``table[indices]`` into `out`, for int32 indices within the table."""
    for row in range(len(indices)):
        out[row] = table[
            np.uint32(indices[row])
        ]  # for signed indices, numba would handle negative ones

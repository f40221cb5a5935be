"""Numbering and grading of docs: sets and dicts as reference."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from irmeta.kernels.lists import collect, number
from twins import reading as naive

DOCS = "abcdefghij"
QUERY = st.tuples(
    st.lists(st.lists(st.sampled_from(DOCS), unique=True), max_size=4),
    st.dictionaries(st.sampled_from(DOCS), st.integers(-2, 4), max_size=6),
)


@given(st.lists(QUERY, min_size=1, max_size=4), st.integers(0, 3))
def test_collect_and_number__equal_naive_implementation(queries: list, before: int):
    rows = [[DOCS.index(doc) for own in lists for doc in own] for lists, _ in queries]
    judged = [sorted((DOCS.index(doc), grade) for doc, grade in own.items()) for _, own in queries]
    docs = np.array([doc for own in rows for doc in own], np.int32)
    starts = np.cumsum([0, *map(len, rows)])
    places = np.array([doc for own in judged for doc, _ in own], np.int32)
    primary = np.array([grade for own in judged for _, grade in own], np.int16)
    judged_starts = np.cumsum([0, *map(len, judged)])
    seen = np.full(len(DOCS), before, np.int32)  # marks of earlier calls
    found, ends = np.empty(len(docs), np.int32), np.empty(len(queries), np.int64)
    collect(docs, starts, places, judged_starts, seen, before + 1, found, ends)
    for start, stop in pairwise([0, *ends.tolist()]):
        found[start:stop].sort()
    numbers, grades = np.empty(len(docs), np.int32), np.empty(len(docs), np.int16)
    spaces = np.empty(len(DOCS), np.int32), np.empty(len(DOCS), np.int16)
    number(docs, starts, places, judged_starts, primary, found, ends, *spaces, 999, numbers, grades)
    right_numbers, right_grades = [], []
    for lists, own in queries:
        place, graded = naive.numbered(lists, own)
        right_numbers += [place[doc] for docs in lists for doc in docs]
        right_grades += [999 if g is None else g for grades in graded for g in grades]
    assert numbers.tolist() == right_numbers
    assert grades.tolist() == right_grades

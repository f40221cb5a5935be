"""Numbering of names and of values: a Python dict as reference."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irmeta.kernels import interning
from irmeta.kernels.jit import jit
from irmeta.kernels.lists import collect, number
from irmeta.kernels.vector import address
from irmeta.trec.numbered_names import Names, in_order
from twins import reading as naive
from twins.reading import numbers

NAME = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=30),
    st.text("ab", min_size=1, max_size=20),
    st.integers(0, 300).map(lambda n: "d" * n + "x"),
)


@given(st.lists(st.lists(NAME)))
@example([["a" * 7, "a" * 8, "a" * 9, "a" * 15, "a" * 16, "a" * 17, "a"]])
def test_names__numbered_in_order_of_first_occurrence(batches: list[list[str]]):
    names, every = Names(), [name for batch in batches for name in batch]
    found = [names.numbers(pl.Series(batch, dtype=pl.String)) for batch in batches]
    assert np.concatenate([[], *found]).tolist() == numbers(every)
    assert names.strings().to_list() == list(dict.fromkeys(every))
    assert len(names) == len(set(every))


@pytest.mark.exhaustive
def test_names__table_and_content_grow():
    every = [f"name-{i * 7919 % 100_003}" for i in range(150_000)]
    names = Names()
    assert names.numbers(pl.Series(every)).tolist() == numbers(every)
    assert names.strings().to_list() == list(dict.fromkeys(every))
    assert len(names.table) >= 2 * len(names)


@given(st.lists(st.lists(NAME, unique=True), min_size=1, max_size=4))
def test_in_order__merges_names_sorted_by_bytes(several: list[list[str]]):
    own = [Names() for _ in several]
    for names, given_names in zip(own, several, strict=True):
        names.numbers(pl.Series(given_names, dtype=pl.String))
    found, places = in_order(own)
    every = sorted({name for names in several for name in names}, key=str.encode)
    assert found.to_list() == every
    for given_names, place in zip(several, places, strict=True):
        numbered = [every.index(name) for name in given_names]
        assert place[: len(given_names)].tolist() == numbered


@given(st.lists(NAME), st.lists(NAME))
def test_names__absorb_numbers_the_names_of_another(first: list[str], second: list[str]):
    names, other = Names(), Names()
    names.numbers(pl.Series(first, dtype=pl.String))
    other.numbers(pl.Series(second, dtype=pl.String))
    found = names.absorb(other)
    every = numbers([*first, *dict.fromkeys(second)])
    assert found.tolist() == every[len(first) :]
    assert names.strings().to_list() == list(dict.fromkeys([*first, *second]))


@jit
def hashed(data, start, length):
    return interning.hash_of(address(data) + start, length)


@jit
def same(data, a, b, length):
    return interning.same_bytes(address(data) + a, address(data) + b, length)


@pytest.mark.exhaustive
@given(st.binary(min_size=1, max_size=40), st.binary(min_size=20, max_size=20), st.integers(0, 9))
def test_hash_of__depends_on_the_bytes_of_the_name_only(name: bytes, around: bytes, before: int):
    spread = around[:before] + name + around
    one = np.frombuffer(spread + b"\0" * 8, np.uint8).copy()
    other = np.frombuffer(name + b"\xff" * 30, np.uint8).copy()
    assert hashed(one, before, len(name)) == hashed(other, 0, len(name))


@pytest.mark.exhaustive
@given(st.binary(min_size=1, max_size=40), st.integers(0, 39))
def test_same_bytes__compares_all_bytes(name: bytes, at: int):
    other = bytearray(name)
    other[at % len(name)] ^= 1
    data = np.frombuffer(name + b"ab" + name + b"cd" + other + b"\0" * 8, np.uint8).copy()
    length = len(name)
    assert same(data, 0, length + 2, length)
    assert not same(data, 0, 2 * length + 4, length)


@jit
def intern_as(data, ends, hashed, table, content, state, found):
    """Intern names that all have the same hash."""
    start = 0
    for i in range(len(ends)):
        place, length = address(data) + start, ends[i] - start
        begin, last = address(content), np.uint64(len(table) - 1)
        record, at = interning.find(address(table), last, begin, hashed, place, length)
        if record < 0:
            record = interning.add(address(table), at, begin, address(state), hashed, place, length)
        found[i] = interning.number_of(begin + record)
        start = ends[i]


@pytest.mark.exhaustive
@given(st.lists(st.text("ab", min_size=1, max_size=20), min_size=1, max_size=40))
@example(["abc", "ab", "abcd", "abc", "a" * 8, "a" * 9, "a" * 16, "a" * 17])
def test_find__distinguishes_names_with_equal_hashes(names: list[str]):
    content, state = np.empty(1 << 14, np.uint8), np.zeros(2, np.int64)
    data = np.frombuffer("".join(names).encode() + b"\0" * 16, np.uint8).copy()
    ends, found = np.cumsum([len(name) for name in names]), np.empty(len(names), np.int32)
    table = np.zeros(64, np.uint64)
    intern_as(data, ends, np.uint64(7 << 40 | 61), table, content, state, found)
    assert found.tolist() == numbers(names)


def test_intern__distinguishes_names_in_a_full_table():
    """Most names collide in a table with few slots."""
    every = [f"{i}" for i in range(60)]
    content, state = np.empty(1 << 14, np.uint8), np.zeros(2, np.int64)
    table = np.zeros(64, np.uint64)
    text = "".join(every).encode()
    data = np.frombuffer(text + b"\0" * 16, np.uint8).copy()
    ends = np.cumsum([len(name) for name in every])
    found = np.empty(len(every), np.int32)
    for _ in range(2):
        interning.intern(data, ends, table, content, state, found)
        assert found.tolist() == list(range(60))
    again = np.zeros(128, np.uint64)
    interning.fill(again, content, state)
    interning.intern(data, ends, again, content, state, found)
    assert found.tolist() == list(range(60))
    assert state[interning.COUNT] == 60


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

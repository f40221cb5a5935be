"""Gathering rows of lists from many arrays: slices of Python lists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.kernels.lists import gather_floats, gather_ints, gather_names

INTS = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=9)
FLOATS = st.lists(st.floats(allow_nan=False), min_size=1, max_size=9)


@st.composite
def places(draw: st.DrawFn, arrays: list[list]) -> list[tuple[int, int, int]]:
    """Draw lists as (array, first row, number of rows)."""
    found = []
    for _ in range(draw(st.integers(0, 6))):
        source = draw(st.integers(0, len(arrays) - 1))
        start = draw(st.integers(0, len(arrays[source])))
        found.append((source, start, draw(st.integers(0, len(arrays[source]) - start))))
    return found


def columns(chosen: list[tuple[int, int, int]]) -> tuple[np.ndarray, ...]:
    return tuple(np.array([place[i] for place in chosen], np.int64) for i in range(3))


def addresses(arrays: list[np.ndarray]) -> np.ndarray:
    return np.array([array.ctypes.data for array in arrays], np.int64)


@pytest.mark.parametrize(
    ("gather", "kind", "values"), [(gather_ints, np.int32, INTS), (gather_floats, float, FLOATS)]
)
@given(data=st.data())
def test_gather__equals_slices_bit_for_bit(gather, kind, values, data: st.DataObject):
    arrays = data.draw(st.lists(values, min_size=1, max_size=4))
    chosen = data.draw(places(arrays))
    held = [np.array(own, kind) for own in arrays]
    right = [value for i, start, size in chosen for value in arrays[i][start : start + size]]
    out = np.empty(len(right), kind)
    gather(addresses(held), *columns(chosen), out)
    assert out.tobytes() == np.array(right, kind).tobytes()


@given(st.data(), st.lists(st.lists(st.integers(0, 4), min_size=1), min_size=1, max_size=4))
def test_gather_names__maps_values_by_the_table_of_each_array(
    data: st.DataObject, arrays: list[list[int]]
):
    chosen = data.draw(places(arrays))
    tables = [data.draw(st.lists(st.integers(0, 99), min_size=5, max_size=5)) for _ in arrays]
    held = [np.array(own, np.int32) for own in arrays]
    kept = [np.array(own, np.int32) for own in tables]
    right = [tables[i][n] for i, start, size in chosen for n in arrays[i][start : start + size]]
    out = np.empty(len(right), np.int32)
    gather_names(addresses(held), addresses(kept), *columns(chosen), out)
    assert out.tolist() == right

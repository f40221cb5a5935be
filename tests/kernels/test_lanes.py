"""Vector operations over systems: scalar Python as reference."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.kernels import lanes
from irmeta.kernels.jit import jit

DTYPES = (np.uint16, np.uint32)
LANES = {np.uint16: lanes.BITS // 16, np.uint32: lanes.BITS // 32}


@jit
def count_of(array):
    return lanes.lane_count(array)


@jit
def copy(source, at, to, place):
    lanes.copy_lanes(source, at, to, place)


@jit
def fuse(a, b, c):
    return lanes.fused(a, b, c)


@jit
def add(blocks, near, far, first, stop, shift, counts, at):
    lanes.add_signs(blocks, near, far, first, stop, shift, counts, at)


def plain_signs(blocks, near, far, first, stop, shift, counts, at):
    for row in range(first, stop):
        for step in range(lanes.STEPS):
            for lane in range(counts.shape[1]):
                x, y = blocks[near, row, lane], blocks[far, row, shift + step + lane]
                counts[at + step, lane] += int(y > x) - int(y < x)


def edge_ranks(rng: np.random.Generator, dtype: type, shape: tuple[int, ...]) -> np.ndarray:
    """Return ranks with many ties, adjacent values and limits of the dtype."""
    top = int(np.iinfo(dtype).max)
    values = [0, 1, 2, top // 2, top // 2 + 1, top - 1, top, *rng.integers(0, top, 4)]
    return rng.choice(np.array(values, dtype), shape)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lane_count__matches_the_dtype(dtype):
    assert count_of(np.zeros(3, dtype)) == LANES[dtype]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("at", "place"), [(0, 0), (3, 1), (1, 40)])
def test_copy_lanes__copies_a_full_vector(dtype, at, place):
    source, to = np.arange(1, 90).astype(dtype), np.zeros(80, dtype)
    expected = to.copy()
    expected[place : place + LANES[dtype]] = source[at : at + LANES[dtype]]
    copy(source, at, to, place)
    np.testing.assert_array_equal(to, expected)


whole = st.integers(-(2**53), 2**53).map(float)


@given(whole, whole, whole)
def test_fused__multiply_add_rounds_once(a: float, b: float, c: float):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assert fuse(a, b, c) == exact.numerator / exact.denominator


@jit
def add_weighted(blocks, near, far, first, stop, shift, weights, sums):
    lanes.add_weighted_signs(blocks, near, far, first, stop, shift, weights, sums)


@pytest.mark.exhaustive
@given(st.sampled_from(DTYPES), st.integers(0, 2**32), st.data())
def test_add_weighted_signs__equals_plain_python(dtype, seed: int, data):
    rng = np.random.default_rng(seed)
    rows, width = data.draw(st.integers(0, 9)), LANES[dtype]
    first = data.draw(st.integers(0, rows))
    shift = data.draw(st.integers(0, width - lanes.WEIGHTED_STEPS))
    blocks, weights = edge_ranks(rng, dtype, (2, rows, 2 * width)), rng.random(rows)
    sums = np.full((lanes.WEIGHTED_STEPS, width), 99.0)
    add_weighted(blocks, 0, 1, first, rows, shift, weights, sums)
    expected = np.zeros(sums.shape)
    for row in range(first, rows):
        for step, lane in np.ndindex(*sums.shape):
            x, y = blocks[0, row, lane], blocks[1, row, shift + step + lane]
            expected[step, lane] += weights[row] * (int(y > x) - int(y < x))
    np.testing.assert_array_equal(sums, expected)


@pytest.mark.exhaustive
@given(st.sampled_from(DTYPES), st.integers(0, 2**32), st.data())
def test_add_signs__equals_plain_python(dtype, seed: int, data):
    rng = np.random.default_rng(seed)
    count = LANES[dtype]
    blocks = edge_ranks(rng, dtype, (3, 5, 2 * count))
    near, far = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    first, stop = sorted(data.draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))
    shift = data.draw(st.integers(0, count - lanes.STEPS + 1))
    counts, at = rng.integers(-9, 9, (lanes.STEPS + 3, count)).astype(np.int32), rng.integers(0, 4)
    expected = counts.copy()
    plain_signs(blocks, near, far, first, stop, shift, expected, at)
    add(blocks, near, far, first, stop, shift, counts, at)
    np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wins", [True, False])
def test_add_signs__maximum_number_of_rows_does_not_overflow(dtype, wins):
    """Sums of ranks near the maximum of the dtype overflow many times."""
    rows, count = 2**15 - 1, LANES[dtype]
    top = np.iinfo(dtype).max
    blocks = np.full((2, rows, 2 * count), top - 1, dtype)
    blocks[1] = top if wins else 1
    counts = np.zeros((lanes.STEPS, count), np.int32)
    add(blocks, 0, 1, 0, rows, 1, counts, 0)
    assert (counts == (rows if wins else -rows)).all()

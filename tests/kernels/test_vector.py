"""Vector operations and lanes: plain Python as reference."""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irmeta.kernels import lanes, vector
from irmeta.kernels.jit import jit


@jit
def masks(data, offset):
    place = vector.address(data) + offset
    return vector.white_mask(place), vector.newline_mask(place)


@jit
def word_at(data, offset):
    place = vector.address(data) + offset
    return vector.load_word(place), vector.load_byte(place)


@jit
def int_at(data, offset):
    return vector.load_int(vector.address(data) + offset)


@jit
def put(data, offset, word):
    vector.store_word(vector.address(data) + offset, word)


@jit
def odd(data, offset):
    return vector.odd_mask(vector.address(data) + offset)


@jit
def zeros(word):
    return vector.trailing_zeros(word), vector.leading_zeros(word)


@jit
def high_product(a, b):
    return vector.high_product(a, b)


@jit
def as_float(word):
    return vector.as_float(word)


@jit
def asked_for(data, offset):
    vector.prefetch(vector.address(data) + offset)
    return data[offset]


def plain_mask(data: bytes, wanted: bytes) -> int:
    return sum(1 << i for i, byte in enumerate(data[:64]) if byte in wanted)


BYTES = st.binary(min_size=64, max_size=64)
NEAR = st.lists(st.sampled_from(b"\0\x08\t\n\v\f\r\x0e\x1f !0\x7f\x80\xff"), min_size=64).map(bytes)


@pytest.mark.exhaustive
@given(st.one_of(BYTES, NEAR), st.integers(0, 9))
def test_masks__whitespace_newlines_and_non_ascii_bytes(found: bytes, offset: int):
    data = np.frombuffer(b"x" * offset + found + b" " * 64, np.uint8).copy()
    white, newlines = masks(data, offset)
    assert int(white) == plain_mask(found, b" \t\n\v\f\r")
    assert int(newlines) == plain_mask(found, b"\n")
    assert int(odd(data, offset)) == plain_mask(found, bytes([0, *range(128, 256)]))


def test_white_mask__same_bytes_as_isspace():
    for byte in range(256):
        data = np.full(128, 65, np.uint8)
        data[70] = byte
        assert bool(int(masks(data, 7)[0]) >> 63) is bytes([byte]).isspace(), byte


@pytest.mark.exhaustive
@given(BYTES, st.integers(0, 50), st.integers(0, 2**64 - 1))
def test_words__load_and_store_little_endian(found: bytes, offset: int, word: int):
    data = np.frombuffer(found, np.uint8).copy()
    given, byte = word_at(data, offset)
    assert int(given) == int.from_bytes(found[offset : offset + 8], "little")
    assert byte == found[offset]
    assert int_at(data, offset) == int.from_bytes(found[offset : offset + 4], "little", signed=True)
    put(data, offset, np.uint64(word))
    changed = found[:offset] + word.to_bytes(8, "little") + found[offset + 8 :]
    assert data.tobytes() == changed


@given(st.integers(0, 2**64 - 1))
@example(0)
def test_trailing_and_leading_zeros__any_word(word: int):
    trailing, leading = zeros(np.uint64(word))
    assert trailing == ((word & -word).bit_length() - 1 if word else 64)
    assert leading == 64 - word.bit_length()


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_high_product__upper_64_bits(a: int, b: int):
    assert int(high_product(np.uint64(a), np.uint64(b))) == a * b >> 64


@pytest.mark.exhaustive
@given(st.floats(allow_nan=False))
def test_as_float__reinterprets_the_bits(value: float):
    (word,) = struct.unpack("Q", struct.pack("d", value))
    assert struct.pack("d", as_float(np.uint64(word))) == struct.pack("d", value)


def test_prefetch__does_not_change_the_data():
    data = np.arange(9, dtype=np.uint8)
    assert asked_for(data, 8) == 8
    assert data.tolist() == list(range(9))


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

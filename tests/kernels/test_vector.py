"""Vector operations: bytes in plain Python as reference."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irmeta.kernels import vector
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

"""The vector words against what they say, a byte at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irmeta.kernels import vector
from irmeta.kernels.jit import jit


@jit
def masks(data, offset):
    return vector.white_mask(data, offset), vector.newline_mask(data, offset)


@jit
def word_at(data, offset):
    return vector.load_word(data, offset)


@jit
def put(data, offset, word):
    vector.store_word(data, offset, word)


@jit
def zeros(word):
    return vector.trailing_zeros(word)


def plain_mask(data: bytes, wanted: bytes) -> int:
    return sum(1 << i for i, byte in enumerate(data[:64]) if byte in wanted)


BYTES = st.binary(min_size=64, max_size=64)
NEAR = st.lists(st.sampled_from(b"\0\x08\t\n\v\f\r\x0e\x1f !0\x7f\x80\xff"), min_size=64).map(bytes)


@given(st.one_of(BYTES, NEAR), st.integers(0, 9))
def test_masks(found: bytes, offset: int):
    data = np.frombuffer(b"x" * offset + found + b" " * 64, np.uint8).copy()
    white, newlines = masks(data, offset)
    assert int(white) == plain_mask(found, b" \t\n\v\f\r")
    assert int(newlines) == plain_mask(found, b"\n")


@pytest.mark.parametrize("byte", range(256))
def test_every_byte_is_white_or_not_as_python_says(byte: int):
    data = np.full(128, 65, np.uint8)
    data[70] = byte
    assert bool(int(masks(data, 7)[0]) >> 63) is bytes([byte]).isspace()


@given(BYTES, st.integers(0, 50), st.integers(0, 2**64 - 1))
def test_words(found: bytes, offset: int, word: int):
    data = np.frombuffer(found, np.uint8).copy()
    assert int(word_at(data, offset)) == int.from_bytes(found[offset : offset + 8], "little")
    put(data, offset, np.uint64(word))
    changed = found[:offset] + word.to_bytes(8, "little") + found[offset + 8 :]
    assert data.tobytes() == changed


@given(st.integers(1, 2**64 - 1))
def test_trailing_zeros(word: int):
    assert zeros(np.uint64(word)) == (word & -word).bit_length() - 1

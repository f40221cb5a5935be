"""Parsing of numbers: Python as reference, bit for bit."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irmeta.kernels import numerals
from irmeta.kernels.jit import jit
from irmeta.kernels.numerals import EASY, HARD, NO_NUMBER
from irmeta.kernels.vector import address

POINT = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\Z")


@jit
def score_of(data, start, end):
    return numerals.parse_score(address(data) + start, address(data) + end)


@jit
def whole_of(data, start, end):
    return numerals.parse_whole(address(data) + start, address(data) + end)


def within(field: bytes, before: bytes = b"8 ", after: bytes = b" 7e") -> tuple:
    data = np.frombuffer(before + field + after + b"\n" * 64, np.uint8).copy()
    return data, len(before), len(before) + len(field)


def check_score(field: bytes) -> None:
    kind, value, comma = score_of(*within(field))
    number = POINT.match(field) or COMMA.match(field)
    assert (kind != NO_NUMBER) == bool(number), field
    if number:
        assert comma == (b"," in field)
    if kind == EASY:
        right = float(field.replace(b",", b"."))
        assert struct.pack("d", value) == struct.pack("d", right), field


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_parse_score__repr_of_floats(value: float):
    check_score(repr(value).encode())


@given(st.integers(-(10**17), 10**17), st.integers(0, 22))
def test_parse_score__decimal_point_at_any_position(value: int, places: int):
    check_score(f"{value / 10**places:.{places}f}".encode())
    check_score(str(value).encode())


@given(st.text("0123456789+-.,eE", min_size=1, max_size=24))
@example("1e")
@example("-")
@example("+.")
@example("1,")
@example(",5")
@example("1.")
@example("9007199254740993")
@example("9007199254740992")
@example("00000000000000000000001")
@example("1.5.2")
@example("1e5e5")
def test_parse_score__accepts_numbers_only(field: str):
    check_score(field.encode())


@given(
    st.binary(min_size=1, max_size=20).filter(
        lambda b: not b.split() or len(b.split()[0]) == len(b)
    )
)
def test_parse_score__any_bytes(field: bytes):
    check_score(field)


@given(st.integers(0, 2**64 - 1), st.integers(-65, 65))
@example(2**53 + 1, 0)
@example((2**53 + 1) * 10**3, -3)
@example((2**53 - 1) * 2 + 1, 0)
@example(2**64 - 1, 0)
@example(9007199254740993, 22)
def test_parse_score__19_digits_give_the_nearest_float(digits: int, power: int):
    digits %= 10**19
    field = f"{digits}e{power}".encode()
    assert score_of(*within(field))[0] == EASY
    check_score(field)
    check_score(b"-" + field)


@given(st.integers(2**52, 2**53 - 1), st.integers(-10, 10), st.integers(-1, 1))
def test_parse_score__midpoints_between_two_floats(mantissa: int, power: int, beside: int):
    """Midpoints of two adjacent floats, and the nearest decimals."""
    middle = (2 * mantissa + 1) * 2**power if power >= 0 else (2 * mantissa + 1) * 5**-power
    check_score(f"{middle + beside}e{min(power, 0)}".encode())


def test_parse_score__common_scores_need_no_slow_path():
    usual = "16.359402 -3 0.12345678901234567 7,25 -0 1e-3 15E-65 0.00001234567890123456789"
    for field in usual.split():
        assert score_of(*within(field.encode()))[0] == EASY
    for field in (b"0.12345678901234567890", b"12345678901234567890", b"1e-66", b"1e0000000001"):
        assert score_of(*within(field))[0] == HARD


@given(st.text("0123456789+-.x", min_size=1, max_size=14))
def test_parse_whole__accepts_integers_only(field: str):
    whole, value = whole_of(*within(field.encode()))
    assert whole == bool(re.fullmatch(r"[+-]?\d+", field))
    if whole:
        assert value == int(field)


@pytest.mark.parametrize("length", range(1, 20))
def test_parse_whole__any_number_of_digits(length: int):
    field = "1234567890123456789"[:length]
    assert whole_of(*within(field.encode()))[1] == int(field)

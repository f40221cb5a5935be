"""Numbers that another program printed, against computed ones."""

from __future__ import annotations

from collections.abc import Iterator


def differing(pairs: Iterator[tuple[object, str, float]]) -> list[tuple[object, str, float]]:
    """Those (what, printed, computed) that differ in a printed digit; there must be some to see."""
    compared = list(pairs)
    assert compared
    return [
        (what, printed, value)
        for what, printed, value in compared
        if not abs(float(printed) - value) <= half_a_digit(printed)
    ]


def half_a_digit(printed: str) -> float:
    """How far rounding to the printed digits may be from the value."""
    digits = len(printed.partition(".")[2])
    return 0.5 * 10**-digits + 1e-9

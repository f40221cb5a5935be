"""Comparison of computed values with the rounded output of another program."""

from __future__ import annotations

from collections.abc import Iterator


def differing(pairs: Iterator[tuple[object, str, float]]) -> list[tuple[object, str, float]]:
    """Return the (label, printed, computed) triples that differ in a printed digit."""
    compared = list(pairs)
    assert compared
    return [
        (what, printed, value)
        for what, printed, value in compared
        if not abs(float(printed) - value) <= half_a_digit(printed)
    ]


def half_a_digit(printed: str) -> float:
    """Return the largest rounding error of a printed number."""
    digits = len(printed.partition(".")[2])
    return 0.5 * 10**-digits + 1e-9

"""Phrases on pages."""

from __future__ import annotations

import pytest

from irmeta.phrases import count, listed


@pytest.mark.parametrize(
    ("number", "words", "expected"),
    [
        (1, ("track",), "1 track"),
        (0, ("track",), "0 tracks"),
        (1234, ("query", "queries"), "1,234 queries"),
    ],
)
def test_count__number_with_singular_or_plural(number: int, words: tuple[str, ...], expected: str):
    assert count(number, *words) == expected


@pytest.mark.parametrize(
    ("names", "most", "expected"),
    [
        ("a", 0, "a"),
        ("ab", 0, "a and b"),
        ("abc", 0, "a, b and c"),
        ("abc", 3, "a, b and c"),
        ("abcd", 2, "a, b and 2 more"),
    ],
)
def test_listed__names_up_to_a_number(names: str, most: int, expected: str):
    assert listed([*names], most) == expected

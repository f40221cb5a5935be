"""Phrases on the pages of all studies."""

from __future__ import annotations


def count(number: int, one: str, several: str = "") -> str:
    """Return a count and what is counted, e.g. "1 track" and "2 queries"."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"

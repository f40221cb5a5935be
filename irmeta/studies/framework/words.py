"""Phrases on the pages of all studies."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, one: str, several: str = "") -> str:
    """Return a count and what is counted, e.g. "1 track" and "2 queries"."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def listed(names: Sequence[str], most: int = 0) -> str:
    """Return names as "a", "a and b" or "a, b and c"; with `most`, e.g. "a, b and 5 more"."""
    if most and len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

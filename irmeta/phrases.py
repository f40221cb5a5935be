"""Phrases of texts and pages: counts with their nouns, and lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun in singular or plural.

    Examples
    --------
    >>> from irmeta.phrases import count
    >>> count(1, "system"), count(1200, "query"), count(2, "run is", "runs are")
    ('1 system', '1,200 queries', '2 runs are')
    """
    is_y = one.endswith("y") and one[-2:-1] not in "aeiou"
    plural = several or (f"{one[:-1]}ies" if is_y else f"{one}s")
    return f"{number:,} {agreeing(number, one, plural)}"


def agreeing(number: int, singular: str, plural: str) -> str:
    """Return the form of a verb or noun that agrees with a number."""
    return singular if number == 1 else plural


def listed(names: Sequence[str], most: int = 0) -> str:
    """Return names as "a", "a and b" or "a, b and c"; with `most`, e.g. "a, b and 5 more"."""
    if most and len(names) > most:
        names = [*names[:most], f"{len(names) - most:,} more"]
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last

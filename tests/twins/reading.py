"""Slow, obvious twins of what happens to rows on their way from text to a store."""

from __future__ import annotations

import struct
from itertools import pairwise


def float32(score: float) -> float:
    """The nearest number that four bytes hold."""
    try:
        return struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")


def numbers(names: list[str]) -> list[int]:
    """Names by the order in which they first come."""
    seen: dict[str, int] = {}
    return [seen.setdefault(name, len(seen)) for name in names]


def goes(scores: list[float]) -> int:
    """How scores go as float32 down a list: 0 always falling, 1 with ties, 2 rising somewhere."""
    pairs = [(float32(a), float32(b)) for a, b in pairwise(scores)]
    if any(b > a for a, b in pairs):
        return 2
    return 1 if any(b == a for a, b in pairs) else 0


def contradicts(scores: list[float], ranks: list[int | None]) -> bool:
    """Whether some doc has a better rank than one with a higher score."""
    rows = [(float32(s), r) for s, r in zip(scores, ranks, strict=True) if r is not None]
    return any(s < t and r < q for s, r in rows for t, q in rows)


def numbered(
    lists: list[list[str]], judged: dict[str, int]
) -> tuple[dict[str, int], list[list[int | None]]]:
    """A query's docs by number, the judged ones first, each part in order; and each row's grade."""
    found = {doc for docs in lists for doc in docs} - judged.keys()
    place = {doc: i for i, doc in enumerate([*sorted(judged), *sorted(found)])}
    return place, [[judged.get(doc) for doc in docs] for docs in lists]

"""Relevant docs of one list as plain values, for the traces of preferences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irmeta.preferences.spec import PairTerm

Found = tuple[int | None, str | None]
"""Rank and name of a relevant doc; None: not retrieved."""


def found_docs(docs: Iterable[tuple[int | None, str, int]], k: int | None) -> list[Found]:
    """Return rank and name of docs by rank; docs that are not retrieved up to `k` follow."""
    within = [(r, doc) for r, doc, _ in docs if r is not None and (k is None or r <= k)]
    number = sum(1 for _ in docs) - len(within)
    return [*sorted(within), *[(None, None)] * number]


def sign_of(one: Found, other: Found) -> int:
    """Return 1 where the first doc has the smaller rank, -1 where the greater, 0 for a tie."""
    a, b = (float("inf") if rank is None else rank for rank, _ in (one, other))
    return (a < b) - (a > b)


def level_terms(
    part: str, own: Sequence[Found], other: Sequence[Found], weights: Sequence[float]
) -> list[PairTerm]:
    """Return the terms of the recall levels of one set of relevant docs."""
    return [
        PairTerm(part, i, *f, *g, sign_of(f, g), weight)
        for i, (f, g, weight) in enumerate(zip(own, other, weights, strict=True), 1)
    ]

"""Relative reduction in error: paper 1, Section 4.3."""

from __future__ import annotations


def reduction_in_error(baseline: float, contender: float, direction: int) -> float:
    """Return RRIE: by how much of its distance from a perfect system the contender is better.

    Eq. 11 where greater is better and 1 is perfect, Eq. 12 for search lengths, whose least is 1.
    NaN for a baseline that is perfect, and where either is beyond perfect: Eq. 3 gives lists
    without a non-relevant doc search lengths below 1.
    """
    left, now = (
        (1.0 - baseline, 1.0 - contender) if direction > 0 else (baseline - 1.0, contender - 1.0)
    )
    return (left - now) / left if left > 0 and now >= 0 else float("nan")

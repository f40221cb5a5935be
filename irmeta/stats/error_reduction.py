"""Relative reduction in error: paper 1, Section 4.3."""

from __future__ import annotations


def reduction_in_error(baseline: float, contender: float, direction: int) -> float:
    """Return RRIE: the relative reduction of the baseline's distance from a perfect system.

    Eq. 11 applies where greater is better and 1 is perfect, Eq. 12 to search lengths, whose least
    is 1. The result is NaN for a perfect baseline, and where either value is beyond perfect: Eq. 3
    gives lists without a non-relevant doc search lengths below 1.
    """
    before, after = (
        (1.0 - baseline, 1.0 - contender) if direction > 0 else (baseline - 1.0, contender - 1.0)
    )
    return (before - after) / before if before > 0 and after >= 0 else float("nan")

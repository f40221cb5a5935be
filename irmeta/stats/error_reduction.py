"""Relative reduction in error.

Equations, sections and tables are those of Alex, Hall and Metzler (2022), Atomized Search Length.
"""

from __future__ import annotations


def reduction_in_error(baseline: float, contender: float, direction: int) -> float:
    """Compute RRIE: the relative reduction of the baseline's distance from a perfect system.

    Parameters
    ----------
    baseline, contender : float
        Means of both systems.
    direction : {1, -1}
        1: greater is better and 1 is perfect (Eq. 11); -1: search lengths, least 1 (Eq. 12).

    Returns
    -------
    float
        At most 1, negative where the contender is worse. NaN for a perfect baseline, and where
        either value is beyond perfect: Eq. 3 gives lists without a non-relevant doc search lengths
        below 1.

    References
    ----------
    .. [1] Alex, Hall and Metzler (2022). Atomized search length: beyond user models, Section 4.3.

    Examples
    --------
    >>> round(irmeta.stats.reduction_in_error(0.5, 0.6, 1), 3)
    0.2
    """
    before, after = (
        (1.0 - baseline, 1.0 - contender) if direction > 0 else (baseline - 1.0, contender - 1.0)
    )
    return (before - after) / before if before > 0 and after >= 0 else float("nan")

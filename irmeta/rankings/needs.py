"""Arrays of `JudgedRanks` that only some measures read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from irmeta.errors import UsageError, check_choice
from irmeta.rankings.pool import POOL_ARRAYS

Need = Literal["ties", "pool", "retrieved", "subtopics", "sample"]
"""Arrays that only some measures read: see `JudgedRanks`."""
NEEDED: Mapping[Need, tuple[str, ...]] = {
    "ties": ("ties",),
    "pool": POOL_ARRAYS,
    "retrieved": ("retrieved",),
    "subtopics": ("subtopics", "diversity"),
    "sample": ("sample",),
}
"""The arrays of a view for each need."""


def check_needs(needs: Collection[str]) -> None:
    """Raise `UsageError` for a need that is not in `NEEDED`."""
    if isinstance(needs, str):
        raise UsageError(f"needs = {needs!r} must be a list of names, e.g. [{needs!r}].")
    for need in needs:
        check_choice("need", need, NEEDED)

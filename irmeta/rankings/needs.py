"""Arrays of `JudgedRanks` that only some measures read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, Protocol

from irmeta.errors import UsageError, check_choice
from irmeta.rankings.pool import POOL_ARRAYS

Need = Literal["ties", "pool", "retrieved", "subtopics", "sample", "costs"]
"""Arrays that only some measures read: see `JudgedRanks`."""
NEEDED: Mapping[Need, tuple[str, ...]] = {
    "ties": ("ties",),
    "pool": POOL_ARRAYS,
    "retrieved": ("retrieved",),
    "subtopics": ("subtopics", "diversity"),
    "sample": ("sample",),
    "costs": ("costs",),
}
"""The arrays of a view for each need."""


class Reader(Protocol):
    """A measure or preference that reads arrays of a view."""

    @property
    def needs(self) -> Collection[Need]:
        """Arrays that are read beyond ranks and grades."""
        ...


def needs_of(specs: Iterable[Reader]) -> set[Need]:
    """Return the arrays that measures or preferences read beyond ranks and grades."""
    return {need for spec in specs for need in spec.needs}


def check_needs(needs: Collection[str]) -> None:
    """Raise `UsageError` for a need that is not in `NEEDED`."""
    if isinstance(needs, str):
        raise UsageError(f"needs = {needs!r} must be a list of names, e.g. [{needs!r}].")
    for need in needs:
        check_choice("need", need, NEEDED)

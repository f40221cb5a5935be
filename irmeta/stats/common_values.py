"""Values of the same systems on the same queries under a reference and under judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from irmeta.errors import UsageError, first_few
from irmeta.results.matrix import Matrix


@dataclass(frozen=True)
class CommonValues:
    """Values under a reference and under judges, greater is better.

    Attributes
    ----------
    queries, systems
        Names: the queries on which all values are defined.
    reference
        float64 [query, system].
    judges
        float64 [query, system] by name.
    """

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    reference: np.ndarray
    judges: dict[str, np.ndarray]


def common_values(reference: Matrix, judges: Mapping[str, Matrix]) -> CommonValues:
    """Align the values of judges with the queries and systems of the reference.

    Queries on which the reference or a judge has an undefined or infinite value are excluded. The
    reference is never cut to what a judge judged.

    Raises
    ------
    UsageError
        If a judge lacks a system or a query of the reference, or a measure has another direction.
    """
    values = {name: ordered_as(reference, judge, name) for name, judge in judges.items()}
    known = np.isfinite(reference.values).all(axis=1)
    for one in values.values():
        known &= np.isfinite(one).all(axis=1)
    queries = tuple(reference.queries[i] for i in np.flatnonzero(known))
    cut = {name: one[known] for name, one in values.items()}
    return CommonValues(queries, reference.systems, reference.oriented[known], cut)


def ordered_as(reference: Matrix, judge: Matrix, name: str) -> np.ndarray:
    """Return the oriented values of a judge for the queries and systems of the reference."""
    if judge.direction != reference.direction:
        raise UsageError(f"{name} and the reference differ in which values are better.")
    rows = _places(reference.queries, judge.queries, "query", name)
    columns = _places(reference.systems, judge.systems, "system", name)
    return judge.oriented[np.ix_(rows, columns)]


def _places(wanted: tuple[str, ...], names: tuple[str, ...], what: str, judge: str) -> list[int]:
    place = {name: i for i, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        listed = first_few(missing, "all of the reference")
        raise UsageError(f"{judge} has no value of {what} {listed}: give it one, such as 0.")
    return [place[name] for name in wanted]

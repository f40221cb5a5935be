"""`Verdicts`: which system is better on each query."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix

TIE = 1e-12
"""Two values that differ by no more than this are a tie."""


@dataclass(frozen=True)
class Verdicts:
    """For every query, how the systems compare two by two.

    Attributes
    ----------
    sign
        From the place of a query to int8 [system, system], antisymmetric: 1 where the row's system
        is better than the column's, -1 where it is worse, 0 where they tie or either has no value.
        Made a query at a time: 2,000 systems x 50 queries at once would take 0.2 GB.
    """

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    sign: Callable[[int], np.ndarray]
    name: str = ""
    track: str = ""

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.sign(q) for q in range(len(self.queries)))

    @classmethod
    def of(cls, matrix: Matrix) -> Verdicts:
        """Greater values are better, or less, as the measure's direction says."""
        values = matrix.oriented

        def sign(query: int) -> np.ndarray:
            with np.errstate(invalid="ignore"):  # of two infinities
                return _signs(values[query][:, None] - values[query])

        return cls(matrix.queries, matrix.systems, sign, matrix.measure, matrix.track)

    @classmethod
    def from_signs(
        cls, signs: np.ndarray, queries: tuple[str, ...], systems: tuple[str, ...], name: str = ""
    ) -> Verdicts:
        """Verdicts that are there already, as signs or preferences: [query, system, system].

        Raises
        ------
        UsageError
            If the array has another shape or is not antisymmetric.
        """
        size = len(systems)
        fits = signs.shape == (len(queries), size, size)
        if not fits or (signs + signs.transpose(0, 2, 1)).any():
            raise UsageError("signs must be an antisymmetric array [query, system, system].")
        held = _signs(signs)
        return cls(queries, systems, lambda query: held[query], name)


def _signs(differences: np.ndarray) -> np.ndarray:
    # NaN compares false both ways, so an undefined value ties with every other.
    return (differences > TIE).astype(np.int8) - (differences < -TIE).astype(np.int8)

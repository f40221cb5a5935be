"""Comparisons of all pairs of systems on each query: `Verdicts` and `Preference`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from irmeta import equality
from irmeta.equality import TIE, of_pairs
from irmeta.errors import UsageError
from irmeta.results.matrix import Matrix


@dataclass(frozen=True)
class Verdicts:
    """Per-query comparisons of all pairs of systems.

    Attributes
    ----------
    sign
        Function from the index of a query to int8 [system, system], antisymmetric: 1 where the
        row's system is better than the column's, -1 where worse, 0 where they tie or either has no
        value. One query is computed at a time: 2,000 systems x 50 queries would take 0.2 GB.
    values
        If verdicts compare values, these: float64 [query, system], greater is better.
    tolerances
        Largest difference of these values that is a tie: see `Matrix.tolerances`.
    """

    queries: tuple[str, ...]
    systems: tuple[str, ...]
    sign: Callable[[int], np.ndarray]
    name: str = ""
    track: str = ""
    values: np.ndarray | None = field(default=None, compare=False, repr=False)
    tolerances: np.ndarray | None = field(default=None, compare=False, repr=False)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.sign(q) for q in range(len(self.queries)))

    @classmethod
    def of(cls, matrix: Matrix) -> Verdicts:
        """Compare the values of a matrix, in the measure's direction."""
        values, within = matrix.oriented, of_pairs(matrix.tolerances)

        def sign(query: int) -> np.ndarray:
            with np.errstate(invalid="ignore"):  # of two infinities
                return equality.signs(values[query][:, None] - values[query], within)

        names = (matrix.measure, matrix.track)
        return cls(matrix.queries, matrix.systems, sign, *names, values, matrix.tolerances)

    @classmethod
    def from_signs(
        cls, signs: np.ndarray, queries: tuple[str, ...], systems: tuple[str, ...], name: str = ""
    ) -> Verdicts:
        """Return verdicts from an array of signs or preferences: [query, system, system].

        Raises
        ------
        UsageError
            If the array has another shape or is not antisymmetric.
        """
        size = len(systems)
        fits = signs.shape == (len(queries), size, size)
        if not fits or (signs + signs.transpose(0, 2, 1)).any():
            raise UsageError("signs must be an antisymmetric array [query, system, system].")
        verdicts = equality.signs(signs)
        return cls(queries, systems, lambda query: verdicts[query], name)


@dataclass(frozen=True)
class Preference:
    """Differences between all pairs of systems for every query.

    Preferences need not be differences of values: those of RPP are none.

    Parameters
    ----------
    name : str
        The measure.
    queries : tuple of str
        Names of the queries.
    systems : tuple of str
        Names of the systems.
    difference : callable
        Function from the index of a query to a float64 array of shape (systems, systems). The
        array is antisymmetric, positive where the row's system is better, and NaN where a
        preference is undefined. One query at a time is computed, as with `Verdicts.sign`.
    """

    name: str
    queries: tuple[str, ...]
    systems: tuple[str, ...]
    difference: Callable[[int], np.ndarray]

    @classmethod
    def of(cls, source: Source) -> Preference:
        """Return the preferences that a matrix, verdicts or preferences hold.

        Parameters
        ----------
        source : Matrix, Verdicts or Preference
            A matrix gives the differences of its values, in the direction that is better, 0 where
            these are equal by `irmeta.equality`; verdicts
            give their signs; preferences are returned as they are.

        Returns
        -------
        Preference
        """
        if isinstance(source, Preference):
            return source
        if isinstance(source, Verdicts):
            signs = source.sign
            return cls(
                source.name, source.queries, source.systems, lambda q: signs(q).astype(np.float64)
            )
        values, within = source.oriented, of_pairs(source.tolerances)

        def difference(query: int) -> np.ndarray:
            with np.errstate(invalid="ignore"):  # infinity minus infinity is undefined too
                found = values[query][:, None] - values[query]
            found[np.abs(found) <= within] = 0.0
            return found

        return cls(source.measure, source.queries, source.systems, difference)

    def tie_counts(self) -> tuple[int, int]:
        """Count the points, pairs of systems on a query with a preference, and the tied points."""
        upper = np.triu_indices(len(self.systems), 1)
        points = tied = 0
        for query in range(len(self.queries)):
            values = self.difference(query)[upper]
            points += int(np.count_nonzero(~np.isnan(values)))
            tied += int(np.count_nonzero(np.abs(values) <= TIE))
        return points, tied


Source = Matrix | Verdicts | Preference
"""What preferences can be made of."""

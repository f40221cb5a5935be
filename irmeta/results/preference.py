"""`Preference`: differences between all pairs of systems on each query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from irmeta.results.matrix import Matrix
from irmeta.results.verdicts import TIE, Verdicts


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
            A matrix gives the differences of its values, in the direction that is better; verdicts
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
        values = source.oriented

        def difference(query: int) -> np.ndarray:
            with np.errstate(invalid="ignore"):  # infinity minus infinity is undefined too
                return values[query][:, None] - values[query]

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

"""Student's paired t-test of all pairs of systems, for many matrices in turn."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from irmeta.results.matrix import Matrix
from irmeta.stats.paired import Differences, paired_differences
from irmeta.stats.pairs import check_alpha, check_finite


class PairedT:
    """The test ``t`` of `irmeta.stats.pairwise`, without effect sizes and intervals.

    Which pairs are significantly different is known without most of the p-values.

    Attributes
    ----------
    direction
        Direction of the measure.
    differences
        Moments of the differences of all pairs.

    Raises
    ------
    UsageError
        If a value is infinite.
    """

    lead: None = None
    """The test favours the greater mean: see `Pairs.lead`."""

    def __init__(self, matrix: Matrix) -> None:
        check_finite(matrix)
        self.direction: int = matrix.direction
        self.differences: Differences = paired_differences(matrix.values)
        self._better = dict[float, np.ndarray]()

    @property
    def difference(self) -> np.ndarray:
        """The row's mean minus the column's: float64 [system, system]."""
        return self.differences.mean

    @property
    def upper(self) -> np.ndarray:
        """Mask of the pairs, each once: bool [system, system]."""
        return self.differences.upper

    @cached_property
    def p(self) -> np.ndarray:
        """The p-values: see `Pairs.p`."""
        return self.differences.p()

    def separated(self, alpha: float = 0.05) -> np.ndarray:
        """Return whether p <= `alpha`: see `Pairs.separated`."""
        check_alpha(alpha)
        found = np.zeros(self.difference.shape, bool)
        found[self.upper] = self.differences.separated(alpha)
        return found | found.T

    def better(self, alpha: float = 0.05) -> np.ndarray:
        """Return whether the row is significantly better than the column: bool [system, system]."""
        if alpha not in self._better:  # a reference is compared with many measures
            is_greater = np.sign(self.difference) * self.direction > 0
            self._better[alpha] = self.separated(alpha) & is_greater
        return self._better[alpha]

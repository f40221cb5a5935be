"""A measure as a step function of its cutoff: what each doc adds at its rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Events:
    """Where a measure steps, for every query and system of a block.

    The value at k is the sum of the amounts at ranks up to k, times `scale`, over the divisor at k.
    Docs that are not retrieved add nothing at any k, whatever their amount.

    Attributes
    ----------
    ranks
        [docs, systems], as `JudgedRanks.ranks`, ascending in the rows of a query for each system:
        amounts are added up in that order, as `compute` should.
    offsets
        int64 [queries + 1] into those rows.
    amounts
        float64 [docs, systems].
    divisors
        From int64 [k] to float64 [k, queries]; or [1, queries], if it is the same at every k.
    undefined
        The value where the divisor is 0.
    scale
        What every sum is multiplied by.
    """

    ranks: np.ndarray
    offsets: np.ndarray
    amounts: np.ndarray
    divisors: Callable[[np.ndarray], np.ndarray]
    undefined: float = 0.0
    scale: float = 1.0

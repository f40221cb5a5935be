"""Measures as step functions of their cutoff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Steps = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Ranks, offsets and amounts, as the first fields of `Events` and the arguments of `add_up`."""


@dataclass(frozen=True)
class Events:
    """Steps of a measure for every query and system of a block.

    The value at k is the sum of the amounts at ranks up to k, times `scale`, over the divisor at k.
    Docs that are not retrieved add 0 at every k, whatever their amount.

    Attributes
    ----------
    ranks
        [docs, systems], as `JudgedRanks.ranks`, ascending in the rows of a query for each system.
        Amounts are added up in this order; `compute` should use the same order.
    offsets
        int64 [queries + 1]: first row of each query.
    amounts
        float64 [docs, systems].
    divisors
        Function from int64 [k] to float64 [k, queries], or [1, queries] if equal for all k.
    undefined
        Value where the divisor is 0.
    scale
        Factor of every sum.
    """

    ranks: np.ndarray
    offsets: np.ndarray
    amounts: np.ndarray
    divisors: Callable[[np.ndarray], np.ndarray]
    undefined: float = 0.0
    scale: float = 1.0

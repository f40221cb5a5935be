"""`PermutedMeans`: means of systems by the labels of a judge, and by permutations of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irmeta.phrases import count
from irmeta.summaries import Summarized, Summary


@dataclass(frozen=True, repr=False)
class PermutedMeans(Summarized):
    """Means of a measure by a judge's labels, and by permutations of them.

    Attributes
    ----------
    track, judge, measure : str
        Names of the track, of the judge, and of the measure as it was asked for.
    systems : sequence of str
        Names of the systems.
    direction : {1, -1}
        1: greater is better; -1: less is better.
    queries : int
        Number of queries averaged: those with labels by the reference and by the judge.
    values : ndarray of float64, shape (1 + draws, systems)
        Means by the labels of the judge, then by permuted ones.
    unjudged : ndarray of float64, shape (systems,)
        Mean share of the first ten ranks without a label by the judge.
    """

    track: str
    judge: str
    measure: str
    systems: Sequence[str]
    direction: int
    queries: int
    values: np.ndarray
    unjudged: np.ndarray

    def _summary(self) -> Summary:
        draws, systems = self.values.shape
        facts = [count(systems, "system"), count(draws - 1, "draw")]
        return Summary(f"{self.measure} by {self.judge}", facts)

"""Atomized measures: the worth of each relevant doc alone, and its search length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from irmeta.measures.gains import gains
from irmeta.rankings.judged import JudgedRanks

Discount = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Chain:
    """A measure that discounts ranks, and its discount.

    Attributes
    ----------
    discount
        c: function from search lengths to the worth of a doc at that length, 1 at length 1.
    gain
        Kind of gain (see irmeta.measures.gains) that weights the relevant docs. Unless ``binary``,
        every doc of grade 1 and above has a gain.
    """

    name: str
    discount: Discount
    gain: str = "binary"

    @property
    def graded(self) -> bool:
        """Whether docs of different grades have different weights."""
        return self.gain != "binary"


class Atomized(NamedTuple):
    """Means over the relevant docs of each query, float64 [query, system].

    Attributes
    ----------
    worth
        Weighted mean worth of the relevant docs, each alone; NaN without relevant docs.
    length
        Mean search length of the relevant docs, with the same weights.
    """

    worth: np.ndarray
    length: np.ndarray

    @classmethod
    def concat(cls, blocks: Sequence[Atomized]) -> Atomized:
        """Concatenate the blocks of a track."""
        return cls(*(np.concatenate(values) for values in zip(*blocks, strict=True)))


def atomized(view: JudgedRanks, chain: Chain, rel: float, lengths: np.ndarray) -> Atomized:
    """Return a block's values; `lengths` are at least 1, from `lengths_by_doc` for `rel`."""
    rows = view.relevant_rows(rel)
    bounds = np.searchsorted(view.query_of(rows), np.arange(len(view.queries) + 1))
    weights = gains(view.grades[rows], chain.gain, rel, view.facts.highest_grade)
    worth = chain.discount(lengths)
    means = np.full((2, len(view.queries), len(view.systems)), np.nan)
    for query, (start, stop) in enumerate(pairwise(bounds)):
        if start < stop:
            shares = weights[start:stop] / weights[start:stop].sum()
            means[0, query] = shares @ worth[start:stop]
            means[1, query] = shares @ lengths[start:stop]
    return Atomized(*means)

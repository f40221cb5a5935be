"""Measures taken apart: what each relevant doc is worth by itself, and its search length."""

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
    """A measure that discounts ranks, and how.

    Attributes
    ----------
    discount
        c: from search lengths to what a doc found there is worth, 1 at length 1.
    gain
        The kind of gain (see irmeta.measures.gains) that weights the relevant docs. With another
        than ``binary`` every doc of grade 1 and above has one.
    """

    name: str
    discount: Discount
    gain: str = "binary"

    @property
    def graded(self) -> bool:
        return self.gain != "binary"


class Atomized(NamedTuple):
    """Means over the relevant docs of each query, float64 [query, system].

    Attributes
    ----------
    worth
        The mean worth of the relevant docs, each by itself; NaN: no relevant doc.
    length
        The mean of their search lengths, with the same weights.
    """

    worth: np.ndarray
    length: np.ndarray

    @classmethod
    def concat(cls, blocks: Sequence[Atomized]) -> Atomized:
        """The blocks of a track, one after another."""
        return cls(*(np.concatenate(values) for values in zip(*blocks, strict=True)))


def atomized(view: JudgedRanks, chain: Chain, rel: int, lengths: np.ndarray) -> Atomized:
    """Return a block's values; `lengths` as `lengths_by_doc` gives them, 1 at least, for `rel`."""
    rows = view.relevant_rows(rel)
    bounds = np.searchsorted(view.query_of(rows), np.arange(len(view.queries) + 1))
    weights = gains(view.grades[rows], chain.gain, rel, view.facts.highest_grade)
    worth = chain.discount(lengths)
    found = np.full((2, len(view.queries), len(view.systems)), np.nan)
    for query, (start, stop) in enumerate(pairwise(bounds)):
        if start < stop:
            own = weights[start:stop] / weights[start:stop].sum()
            found[0, query] = own @ worth[start:stop]
            found[1, query] = own @ lengths[start:stop]
    return Atomized(*found)

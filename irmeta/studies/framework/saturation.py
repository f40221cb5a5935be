"""The rule by which studies exclude tracks whose lists hold relevant docs only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from irmeta.measures.search_length import irrelevant_retrieved
from irmeta.rankings.judged import JudgedRanks


class Saturation(NamedTuple):
    """Numbers of lists for queries with a relevant doc.

    Attributes
    ----------
    saturated
        Lists without a doc that is not relevant.
    lists
        All lists.
    """

    saturated: int
    lists: int

    @classmethod
    def of(cls, view: JudgedRanks, rel: int) -> Saturation:
        """Count the lists of one block."""
        has_list = (view.lengths > 0) & (view.counts(rel) > 0)[:, None]
        is_saturated = has_list & (irrelevant_retrieved(view, rel) == 0)
        return cls(int(np.count_nonzero(is_saturated)), int(np.count_nonzero(has_list)))

    @property
    def is_most(self) -> bool:
        """Whether most lists are saturated, so that the ranks of relevant docs say nothing."""
        return 2 * self.saturated > self.lists

    def reason(self, consequence: str) -> str:
        """Return why a track is excluded."""
        return (
            f"{self.saturated:,} of {self.lists:,} lists hold no doc that is not relevant, so "
            f"{consequence}"
        )


def total_saturation(blocks: Iterable[Saturation]) -> Saturation:
    """Add the counts of the blocks of a track."""
    counts = list(blocks)
    return Saturation(sum(c.saturated for c in counts), sum(c.lists for c in counts))

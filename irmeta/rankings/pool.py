"""What the systems of a track retrieve together."""

from __future__ import annotations

import numpy as np

from irmeta.kernels.rarity import systems_within
from irmeta.rankings.judged import JudgedRanks


def retrieved_by(view: JudgedRanks, depth: int, rel: int) -> np.ndarray:
    """How many systems retrieve each relevant doc at a rank up to `depth`: int32 [doc].

    Docs as `JudgedRanks.relevant_rows` says.
    """
    ranks = np.ascontiguousarray(view.ranks[view.relevant_rows(rel)])
    out = np.zeros(len(ranks), np.int32)
    systems_within(ranks, min(depth, view.missing - 1), out)
    return out

"""Made views of the shape of real tracks, for benchmarks that start from arrays."""

from __future__ import annotations

import numpy as np

from irmeta.rankings.judged import JudgedRanks

JUDGED, RELEVANT = 1700, 95
"""Docs of a query, about as TREC-8's ad hoc task has them."""


def judged_view(
    systems: int, queries: int, depth: int, seed: int = 0, judged: int = JUDGED
) -> JudgedRanks:
    """A view in which every system's list is `depth` docs long and holds about half of the pool.

    Relevant docs have grades 1 to 3 and stand higher than others.
    """
    rng = np.random.default_rng(seed)
    rows = queries * judged
    ranks = np.full((rows, systems), np.iinfo(np.uint16).max, np.uint16)
    grades = np.zeros(rows, np.int8)
    for q in range(queries):
        own = slice(q * judged, (q + 1) * judged)
        grades[own][:RELEVANT] = np.sort(rng.integers(1, 4, RELEVANT))[::-1]
        for s in range(systems):
            found = rng.choice(judged, min(judged, depth) // 2, replace=False)
            # Ranks are drawn evenly; the relevant docs found take the smaller of two draws.
            places = np.sort(rng.permutation(depth)[: len(found)] + 1)
            order = rng.random(len(found)) * np.where(found < RELEVANT, 0.3, 1.0)
            ranks[own][found[np.argsort(order)], s] = places
    return JudgedRanks.from_arrays(
        ranks,
        grades,
        offsets=np.arange(0, rows + 1, judged),
        lengths=np.full((queries, systems), depth),
        deepest_rank=depth,
        track="made",
    )

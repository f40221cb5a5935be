"""Short rankings and the relations between them, for Figures 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from irmeta.naming.numbered_rankings import NumberedRankings
from irmeta.stats.properties import PAPER
from irmeta.studies.papers.properties.property_rows import Row


def nodes(rankings: NumberedRankings) -> Iterator[Row]:
    """Yield all rankings."""
    numbers = np.arange(rankings.count)
    lengths = rankings.lengths(numbers)
    for number, length in zip(numbers.tolist(), lengths.tolist(), strict=True):
        yield {"number": number, "ranking": rankings.name(number), "length": length}


def edges(rankings: NumberedRankings) -> Iterator[Row]:
    """Yield the pairs that each property relates; of induction, those that no other does."""
    seen = set[tuple[int, int]]()
    for one in PAPER:
        for _, lower, upper in one.pairs(rankings, ()):
            ends = (end.ravel().tolist() for end in np.broadcast_arrays(lower[:, None], upper))
            for pair in zip(*ends, strict=True):
                if pair in seen:
                    continue
                seen.add(pair)
                lower_name, upper_name = rankings.names(pair)
                yield {
                    "property": one.name,
                    "lower": lower_name,
                    "upper": upper_name,
                    "with_empty": 0 in pair,
                }

"""Relevant docs by the number of systems that retrieve them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irmeta.rankings.holders import holders_within
from irmeta.rankings.judged import JudgedRanks
from irmeta.studies.papers.innovation.options import InnovationOptions as Options

Row = dict[str, Any]


def docs_by_holders(views: Sequence[JudgedRanks], options: Options) -> Iterator[Row]:
    """Yield the rows of the table `docs_by_holders`."""
    blocks = [
        holders_within(view, view.grades >= options.rel, options.held_to, options.counted_docs)
        for view in views
    ]
    held = np.concatenate([block.retrieved_by[:, 0] for block in blocks])
    rarity = np.concatenate([block.rarity(options.rarity)[:, 0] for block in blocks])
    numbers, first, docs = np.unique(held, return_index=True, return_counts=True)
    for number, rare, of_number in zip(numbers, rarity[first], docs, strict=True):
        yield {
            "retrieved_by": number,
            "counted": blocks[0].total[0],
            "rarity": rare,
            "docs": of_number,
        }

"""Orders of fewer systems by their own rarity: Table 3."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from irmeta.stats.resampling import is_enumerated, spread, system_subsets
from irmeta.studies.papers.innovation import paper
from irmeta.studies.papers.innovation.options import MEASURES
from irmeta.studies.papers.innovation.rare_track import RareTrack

Row = dict[str, Any]
DRAWN = "TREC-8"
"""The collection of the paper's Table 3."""


def table_3(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `table_3`."""
    options, systems = track.options, len(track.facts.systems)
    sizes, alphas = options.sizes_of(systems), options.drawn_weights
    cases = {f"{m} {alpha!r}": (m, alpha) for m, alpha in product(MEASURES, alphas)}

    def means_of(members: np.ndarray) -> np.ndarray:
        sums = track.parts.rare_sums(members, options.rarity, options.counted)
        plain = track.parts.plain[:, None]
        means = [p + alpha * rare for p, rare in zip(plain, sums, strict=True) for alpha in alphas]
        return np.stack(means)

    if not sizes:
        return
    found = system_subsets(means_of, list(cases), systems, sizes, options.draws, rng=options.seed)
    for row in spread(found).iter_rows(named=True):
        (measure, alpha), size = cases[row["measure"]], row["size"]
        is_printed = track.collection == DRAWN and alpha == 1
        yield {
            "measure": options.family(measure),
            "alpha": alpha,
            "systems": size,
            "draws": row["replicates"],
            "undefined": row["undefined"],
            "enumerated": is_enumerated(systems, size, options.draws),
            "tau_b": row["mean"],
            "sd": row["sd"],
            "printed": paper.FEWER_SYSTEMS.get((measure, size)) if is_printed else None,
        }

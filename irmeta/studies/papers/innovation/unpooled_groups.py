"""Scores and ranks of groups that neither the pool nor S_d knew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from irmeta.measures.evaluate import evaluate_block
from irmeta.measures.names import parse_measures
from irmeta.rankings.judged import JudgedRanks
from irmeta.results.scores import Scores
from irmeta.studies.papers.innovation.options import MEASURES
from irmeta.studies.papers.innovation.options import InnovationOptions as Options
from irmeta.studies.papers.innovation.rare_track import RareTrack, parts_of, ranks

Row = dict[str, Any]
ALPHAS = (0.0, 1.0)


def left_out_groups(track: RareTrack) -> dict[str, list[int]]:
    """Return the systems of each group with a contributor, unless the group is the whole pool."""
    contributors = set(track.facts.contributors)
    return {
        name: systems
        for name, systems in track.groups.items()
        if 0 < len(contributors.intersection(systems)) < len(contributors)
    }


def pool_bias(track: RareTrack) -> Iterator[Row]:
    """Yield the rows of the table `pool_bias`."""
    facts, options = track.facts, track.options
    names = [options.name(measure, alpha) for measure in MEASURES for alpha in ALPHAS]
    before = track.means(ALPHAS).reshape(len(names), -1)
    ranks_before, docs_before = ranks(before), _docs(track.views, options.rel)
    for group, systems in left_out_groups(track).items():
        pools = _without(track, systems)
        after, judged = _means(track, pools, systems), _judged(pools, options)
        ranks_after = ranks(after)
        lost = docs_before - _docs(pools, options.rel)
        for row, name in enumerate(names):
            for system in systems:
                yield {
                    "left_out": group,
                    "system": facts.systems[system],
                    "measure": name,
                    "pooled": facts.pooled[system] if facts.pool_known else None,
                    "value_before": before[row, system],
                    "value_after": after[row, system],
                    "rank_before": ranks_before[row, system],
                    "rank_after": ranks_after[row, system],
                    "judged": judged[system],
                    "judged_lost": lost[0],
                    "relevant_lost": lost[1],
                }


def _without(track: RareTrack, systems: Sequence[int]) -> list[JudgedRanks]:
    """Return the blocks without the docs that only these systems contributed to the pool."""
    contributing = set(track.facts.contributors).intersection(systems)
    names = [track.facts.systems[system] for system in sorted(contributing)]
    return [view.with_pool(None, names) for view in track.views]


def _means(track: RareTrack, pools: Sequence[JudgedRanks], systems: Sequence[int]) -> np.ndarray:
    """Compute the means of all systems, where S and S_d count none of `systems`."""
    parts, options = parts_of(pools, track.options), track.options
    members = np.ones((1, len(track.facts.systems)), bool)
    members[0, systems] = False
    rare = parts.rare_sums(members, options.rarity, options.counted, all_scored=True)[:, 0]
    return np.stack([p + a * r for p, r in zip(parts.plain, rare, strict=True) for a in ALPHAS])


def _judged(pools: Sequence[JudgedRanks], options: Options) -> np.ndarray:
    """Compute the mean share of judged docs within the cutoff: float64 [systems]."""
    specs = parse_measures([f"Judged@{options.k}"])
    blocks = [evaluate_block(pool, specs, options.policy) for pool in pools]
    return Scores.concat(blocks).mean_values()[0]


def _docs(views: Sequence[JudgedRanks], rel: int) -> np.ndarray:
    """Count the judged and the relevant docs: int64 [2]."""
    return np.sum([(view.is_judged.sum(), view.counts(rel).sum()) for view in views], axis=0)

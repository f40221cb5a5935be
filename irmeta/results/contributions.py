"""Relevant docs that each system retrieves, and those that no other system retrieves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from irmeta.kernels.cutoff_sums import systems_within_by_group
from irmeta.rankings.holders import groups_of
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.track_facts import TrackFacts


@dataclass(frozen=True)
class Contributions:
    """Numbers of relevant docs of a block of queries; all are int64 [system], but `union`.

    Attributes
    ----------
    found, unique, unique_to_group
        Docs that the system retrieves; of them docs that no other system retrieves, and docs that
        no system outside its group retrieves.
    holders
        Sum of S_d, the number of systems that retrieve a doc, over the docs in `found`.
    union
        Docs that any system retrieves.
    """

    found: np.ndarray
    unique: np.ndarray
    unique_to_group: np.ndarray
    holders: np.ndarray
    union: int


def count_contributions(view: JudgedRanks, depth: int, rel: float) -> Contributions:
    """Count the relevant docs that each system retrieves at ranks up to `depth`."""
    ranks = np.ascontiguousarray(view.ranks[view.relevant_rows(rel)])
    depth, (groups, sizes) = min(depth, view.missing - 1), groups_of(view.facts)
    by_group = np.zeros((len(ranks), len(sizes)), np.int32)
    systems_within_by_group(ranks, depth, groups, by_group)
    is_within, by_all = ranks <= depth, by_group.sum(axis=1, dtype=np.int64)
    return Contributions(
        found=is_within.sum(axis=0),
        unique=is_within[by_all == 1].sum(axis=0),
        unique_to_group=(is_within & (by_group == by_all[:, None])[:, groups]).sum(axis=0),
        holders=by_all @ is_within,
        union=int(np.count_nonzero(by_all)),
    )


def contributions_frame(facts: TrackFacts, blocks: Sequence[Contributions]) -> pl.DataFrame:
    """Return one row per system with the numbers of all blocks of a track, sorted by system."""
    found, unique, unique_to_group, holders = (
        sum((getattr(b, name) for b in blocks), np.zeros(len(facts.systems), np.int64))
        for name in ("found", "unique", "unique_to_group", "holders")
    )
    union = sum(block.union for block in blocks)
    # The mean of 1 - S_d / S, from sums of integers: no order of queries changes it.
    mean_holders = np.where(found > 0, holders / np.maximum(found, 1), np.nan)
    groups = pl.Series(unique_to_group, dtype=pl.Int64)
    return pl.DataFrame(
        {
            "track": pl.repeat(facts.track, len(found), eager=True, dtype=pl.String),
            "system": pl.Series(list(facts.systems), dtype=pl.String),
            "found": found,
            "unique": unique,
            "unique_to_group": groups
            if any(facts.groups)
            else pl.repeat(None, len(found), eager=True, dtype=pl.Int64),
            "share": found / union if union else np.full(len(found), np.nan),
            "mean_rarity": 1.0 - mean_holders / len(facts.systems),
        }
    )

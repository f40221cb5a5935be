"""Systems or groups that retrieve a doc within a depth, and the rarity that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from irmeta.kernels.cutoff_sums import systems_within, systems_within_by_group
from irmeta.policies import Counted, Rarity
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.track_facts import TrackFacts

COUNTED: tuple[Counted, ...] = get_args(Counted)
RARITIES: tuple[Rarity, ...] = get_args(Rarity)


@dataclass(frozen=True)
class Holders:
    """Number of systems that retrieve docs within a depth.

    S_d (`retrieved_by`) is int64 [docs, columns], S (`total`) [columns]; `column` is that of each
    system: all share one, unless each group counts the others. `is_retrieved`: by any system,
    counted or not.
    """

    retrieved_by: np.ndarray
    total: np.ndarray
    column: np.ndarray
    is_retrieved: np.ndarray

    def rarity(self, kind: Rarity) -> np.ndarray:
        """Compute the rarity of each doc: float64 [docs, columns], from 0 to 1.

        ``linear``: 1 - S_d / S (Eq. 2). ``revised``: 1 - (S_d - 1) / (S - 1) (Section 5.2).
        ``idf``: log(S / S_d) / log(S). ``unique``: 1 if S_d = 1, else 0. A doc with S_d = 0 has 1;
        any other has 0 if S = 1.
        """
        return rarity_of(self.retrieved_by, self.total, kind)


def rarity_of(retrieved_by: np.ndarray, total: np.ndarray | int, kind: Rarity) -> np.ndarray:
    """Compute the rarity of docs from S_d and S, of any broadcastable shapes: see `Holders`."""
    held, most = np.maximum(retrieved_by, 1), np.maximum(total, 2)  # other cases follow below
    if kind == "linear":
        rarity = 1.0 - held / most
    elif kind == "revised":
        rarity = 1.0 - (held - 1) / (most - 1)
    elif kind == "idf":
        rarity = np.log(most / held) / np.log(most)
    else:
        rarity = (held == 1).astype(np.float64)
    return np.where(retrieved_by == 0, 1.0, np.where(np.asarray(total) < 2, 0.0, rarity))


def holders_within(view: JudgedRanks, rows: np.ndarray, depth: int, counted: Counted) -> Holders:
    """Count the systems or groups that retrieve docs, rows of the view, at ranks up to `depth`.

    ``groups`` retrieve a doc if one of their systems does; a system without a group is one.
    ``others`` are, for each group, the systems outside it and the group. ``pooled`` are the systems
    that contributed to the pool (all, where this is unknown). All systems of the track are counted,
    also where the view shows some.
    """
    if view.facts.is_selection:
        holders = holders_within(view.of_all_systems, rows, depth, counted)
        places = view.of_all_systems.facts.indices(view.systems)
        return replace(holders, column=holders.column[places])
    ranks, depth = np.ascontiguousarray(view.ranks[rows]), min(depth, view.missing - 1)
    one_column = np.zeros(ranks.shape[1], np.int64)
    if counted in ("systems", "pooled"):
        chosen = view.facts.contributors if counted == "pooled" else range(ranks.shape[1])
        is_whole = len(chosen) == ranks.shape[1]
        by_all = _count(ranks, depth)
        by_chosen = by_all if is_whole else _count(np.ascontiguousarray(ranks[:, chosen]), depth)
        return Holders(by_chosen[:, None], np.array([len(chosen)]), one_column, by_all > 0)
    groups, sizes = groups_of(view.facts)
    by_group = np.zeros((len(ranks), len(sizes)), np.int32)
    systems_within_by_group(ranks, depth, groups, by_group)
    by_all = by_group.sum(axis=1, dtype=np.int64)
    if counted == "groups":
        held = np.count_nonzero(by_group, axis=1)[:, None]
        return Holders(held, np.array([len(sizes)]), one_column, by_all > 0)
    outside = by_all[:, None] - by_group
    return Holders(outside + 1, ranks.shape[1] - sizes + 1, groups, by_all > 0)


def groups_of(facts: TrackFacts) -> tuple[np.ndarray, np.ndarray]:
    """Return the group of each system, int64 [systems], and the number of systems of each group.

    A system whose group is unknown is a group of its own.
    """
    return number_names(facts.groups or [None] * len(facts.systems))


def number_names(names: Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for the name of each system, and the number of systems of each name.

    Both are int64, [systems] and [numbers]. Each None has a number of its own.
    """
    numbers: dict[object, int] = {}
    keys = [("alone", s) if name is None else ("group", name) for s, name in enumerate(names)]
    groups = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
    return groups, np.bincount(groups, minlength=len(numbers))


def totals(facts: TrackFacts) -> dict[str, int]:
    """Return the numbers of systems, groups and pooled systems that `holders_within` counts."""
    groups, pooled = groups_of(facts)[1], facts.contributors
    return {"systems": len(facts.systems), "groups": len(groups), "pooled": len(pooled)}


def _count(ranks: np.ndarray, depth: int) -> np.ndarray:
    out = np.zeros(len(ranks), np.int32)
    systems_within(ranks, depth, out)
    return out.astype(np.int64)

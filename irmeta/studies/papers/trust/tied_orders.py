"""How orders of systems depend on the order of tied docs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from irmeta.equality import TIE
from irmeta.measures.evaluate import dependence, evaluate_block
from irmeta.rankings.derive.changes import changed, take_systems
from irmeta.rankings.derive.tied_docs import Order, reorder_ties, tied_systems
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need, needs_of
from irmeta.results.scores import Scores
from irmeta.stats.orders import kendall_tau_b, over_common, round_means
from irmeta.studies.papers.trust.options import DRAWS
from irmeta.studies.papers.trust.trusted_track import TrustedTrack

Row = dict[str, Any]
Means = Callable[[Order, int], np.ndarray]
"""Function from an order of ties and a seed to means: float64 [measure, system]."""


def tied_orders(trusted: TrustedTrack, detectable: Sequence[float]) -> list[Row]:
    """Return for each measure what the order of tied docs changes.

    Parameters
    ----------
    detectable
        By measure, the difference of means from which on a system is named.
    """
    means, seed = _means(trusted), trusted.options.seed
    signs = np.array(list(trusted.scores.directions.values()))[:, None]
    draws = [signs * round_means(means("random", seed + i)) for i in range(2 * DRAWS)]
    taus = np.array(
        [
            over_common(kendall_tau_b, a, b, True)
            for a, b in zip(draws[::2], draws[1::2], strict=True)
        ]
    )
    ends = np.stack([means("best", 0), means("worst", 0)])
    low, high = ends.min(axis=0), ends.max(axis=0)
    systems = np.array(trusted.scores.systems, object)
    return [
        {
            "tie_tau": float(taus[:, i].mean()),
            "tie_tau_low": float(taus[:, i].min()),
            "tie_tau_high": float(taus[:, i].max()),
            "tie_pairs": _overlapping(low[i], high[i]),
            "tie_movers": int((is_moved := high[i] - low[i] > least + TIE).sum()),
            "tie_movers_named": "; ".join(systems[is_moved]) or None,
        }
        for i, least in enumerate(detectable)
    ]


def _overlapping(low: np.ndarray, high: np.ndarray) -> float:
    """Return the share of pairs of systems that either may lead: their ranges of means overlap."""
    a, b = np.triu_indices(len(low), 1)
    known = ~np.isnan(low[a] + low[b])
    overlap = (low[a] < high[b] - TIE) & (low[b] < high[a] - TIE)
    return float(overlap[known].mean()) if known.any() else np.nan


def _means(trusted: TrustedTrack) -> Means:
    """Return a function that scores again the systems with ties, where no other depends on them."""
    alone = [spec for spec in trusted.specs if dependence(spec) is None]
    own = trusted.scores.mean_values()
    needs: set[Need] = {"ties", *needs_of(alone)}
    tied = [
        changed(view, ties=read.ties, diversity=_with_ties(view.diversity, read.diversity))
        for view, read in zip(trusted.views, trusted.track.blocks(needs), strict=True)
    ]
    systems = sorted({i for view in tied for i in tied_systems(view)})
    some = [_only(view, systems) for view in tied]

    def means(order: Order, seed: int) -> np.ndarray:
        found = own.copy()
        if not systems:
            return found
        policy = trusted.options.policy
        reordered = [reorder_ties(view, order, seed) for view in tied]
        if alone:
            parts = [
                evaluate_block(_with_ranks(view, whole, systems), alone, policy)
                for view, whole in zip(some, reordered, strict=True)
            ]
            places = [trusted.scores.measures.index(spec.name) for spec in alone]
            found[np.ix_(places, systems)] = Scores.concat(parts).mean_values()
        if others := [spec for spec in trusted.specs if spec not in alone]:
            parts = [evaluate_block(view, others, policy) for view in reordered]
            places = [trusted.scores.measures.index(spec.name) for spec in others]
            found[places] = Scores.concat(parts).mean_values()
        if trusted.preferences:
            rates = trusted.rates(reordered, trusted.preferences)
            found[len(trusted.specs) :] = [one.means for one in rates]
        return found

    return means


def _with_ties(view: JudgedRanks | None, read: JudgedRanks | None) -> JudgedRanks | None:
    return view if view is None or read is None else changed(view, ties=read.ties)


def _with_ranks(view: JudgedRanks, whole: JudgedRanks, systems: list[int]) -> JudgedRanks:
    """Return a view of some systems with the ranks of another view of all systems."""
    diversity = view.diversity
    if diversity is not None and whole.diversity is not None:
        diversity = _with_ranks(diversity, whole.diversity, systems)
    return changed(view, ranks=np.take(whole.ranks, systems, axis=1), diversity=diversity)


def _only(view: JudgedRanks, systems: list[int]) -> JudgedRanks:
    """Return the view of some systems, for measures of single lists, with the same deepest rank."""
    made = take_systems(changed(view, pooled_lists=None, pool_depth=None), systems)
    facts = replace(made.facts, deepest_rank=view.facts.deepest_rank)
    diversity = None if view.diversity is None else _only(view.diversity, systems)
    return changed(made, facts=facts, diversity=diversity)

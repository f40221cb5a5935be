"""Means of RareP@k and RareAP@k for any alpha, rarity and set of systems, in linear form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from irmeta.errors import UsageError, check_positive, check_whole
from irmeta.measures.average_precision import compute_average_precision
from irmeta.measures.cutoffs import divide
from irmeta.measures.precision import compute_precision
from irmeta.measures.rareness import weights_in_precisions
from irmeta.policies import Averaged, Counted, Rarity
from irmeta.rankings.holders import groups_of, rarity_of
from irmeta.rankings.judged import JudgedRanks

_BLOCK = 1 << 20  # docs x draws at a time


@dataclass(frozen=True)
class RareParts:
    """Parts of the means of RareP@k and RareAP@k over queries: P + alpha B and AP + alpha C.

    B and C are sums of weight times rarity over docs. The weights depend neither on alpha nor on
    the rarity, so other systems, which change S and S_d alone, need no lists.

    Attributes
    ----------
    systems
        Names of the systems.
    plain
        float64 [2, systems]: means of P@k and AP@k.
    weights
        float64 [2, docs, systems]: weights of the relevant docs in B and C.
    hits
        bool [docs, runs]: whether a run retrieves a doc at a rank that S_d counts. The runs are the
        systems, and after them those of `with_runs`.
    groups
        int64 [runs]: number of the group of each run.
    pooled
        bool [runs]: whether a run contributed to the pool.
    """

    systems: Sequence[str]
    plain: np.ndarray
    weights: np.ndarray
    hits: np.ndarray
    groups: np.ndarray
    pooled: np.ndarray

    def with_runs(self, hits: np.ndarray, groups: np.ndarray) -> RareParts:
        """Add runs that are counted in S and S_d, and that are not scored.

        Parameters
        ----------
        hits
            bool [docs, runs]: whether a run retrieves a doc.
        groups
            int64 [runs]: number of the group of each run, see `groups`.
        """
        return replace(
            self,
            hits=np.hstack([self.hits, hits]),
            groups=np.concatenate([self.groups, groups]),
            pooled=np.concatenate([self.pooled, np.ones(len(groups), bool)]),
        )

    def means(
        self,
        members: np.ndarray,
        alpha: float = 1.0,
        rarity: Rarity = "linear",
        counted: Counted = "systems",
    ) -> np.ndarray:
        """Compute the means as if only some runs had taken part, for many choices of runs.

        Parameters
        ----------
        members
            bool [draws, runs]: the runs of each draw; or whole numbers, how often each run took
            part (2: the run and a copy of it).
        alpha
            Weight of rarity.
        rarity
            Kind of rarity, see `irmeta.rankings.holders.Holders`.
        counted
            What S and S_d count, see `irmeta.rankings.holders.holders_within`.

        Returns
        -------
        ndarray of float64, shape (2, draws, systems)
            Means of RareP@k and RareAP@k, to rounding those of the measures on the lists of the
            draw alone; NaN for systems that are not in the draw.

        References
        ----------
        .. [1] Tuerkmen, Lease and Kutlu (2023), Algorithm 1. doi:10.1007/978-3-031-28238-6_16

        Examples
        --------
        >>> parts = rare_parts(store.views("news"), 20)
        >>> first = np.arange(20) < 10
        >>> parts.means(first[None])[0, 0].round(3)[:2].tolist()
        [0.609, 0.84]
        """
        members = np.asarray(members)
        means = self.plain[:, None] + alpha * self.rare_sums(members, rarity, counted)
        return np.where(members[:, : len(self.systems)] > 0, means, np.nan)

    def rare_sums(
        self,
        members: np.ndarray,
        rarity: Rarity = "linear",
        counted: Counted = "systems",
        *,
        all_scored: bool = False,
    ) -> np.ndarray:
        """Compute B and C of all systems, in the draw or not: float64 [2, draws, systems].

        Parameters
        ----------
        members, rarity, counted
            See `means`.
        all_scored
            Whether systems that are not in a draw are scored too: a doc that only they retrieve has
            rarity 1 instead of 0.
        """
        members = np.asarray(members)
        is_counts = members.dtype == bool or members.dtype.kind in "iu"
        if not is_counts or members.shape[1:] != (self.hits.shape[1],):
            raise UsageError(
                f"members is {members.dtype} {members.shape}, not bool (draws, "
                f"{self.hits.shape[1]} runs)."
            )
        # The sum over docs is faster for few draws, the sum over runs for many.
        is_linear = rarity == "linear" and counted != "groups" and self._is_own_hit
        if is_linear and len(members) > len(self.systems):
            return self._linear_sums(members.astype(np.float64), counted)
        out = np.zeros((len(self.weights), len(members), len(self.systems)))
        by_any = self.hits[:, : len(self.systems)].any(axis=1, keepdims=True)
        step = max(1, _BLOCK // max(1, len(self.hits)))
        for first in range(0, len(members), step):
            chosen = members[first : first + step].astype(np.int64)
            is_retrieved = by_any if all_scored else self._held(chosen) > 0
            for systems, held, total in self._counts(chosen, counted):
                by_draw = np.where(is_retrieved, rarity_of(held, total, rarity), 0.0).T
                out[:, first : first + step, systems] = by_draw @ self.weights[:, :, systems]
        return out

    @cached_property
    def _is_own_hit(self) -> bool:
        """Whether S_d counts every doc of a system that has a weight."""
        return not ((self.weights > 0) & ~self.hits[:, : len(self.systems)]).any()

    @cached_property
    def _weighted_hits(self) -> np.ndarray:
        """Weights of a system's docs that a run retrieves: float64 [2, systems, runs]."""
        return self.weights.transpose(0, 2, 1) @ self.hits.astype(np.float64)

    def _linear_sums(self, members: np.ndarray, counted: Counted) -> np.ndarray:
        """Compute `rare_sums` for 1 - S_d / S, whose sum over docs is a sum over runs."""
        totals = self.weights.sum(axis=1)[:, None]
        if counted == "pooled":
            members = members * self.pooled
        total = np.repeat(members.sum(axis=1)[:, None], len(self.systems), axis=1)
        held = members @ self._weighted_hits.transpose(0, 2, 1)
        if counted == "others":
            groups = self.groups[: len(self.systems)]
            is_same = groups[:, None] == self.groups
            total += 1.0 - members @ is_same.T
            held += totals - members @ (self._weighted_hits * is_same).transpose(0, 2, 1)
        return np.where(total > 0, totals - held / np.maximum(total, 1.0), totals)

    def _held(self, members: np.ndarray, runs: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Count the members among some runs that retrieve each doc: int64 [docs, draws]."""
        # Counts below 2^24 are exact in float32, which halves the time of the product.
        counts = self.hits[:, runs].astype(np.float32) @ members[:, runs].T.astype(np.float32)
        return counts.astype(np.int64)

    def _counts(
        self, members: np.ndarray, counted: Counted
    ) -> Iterator[tuple[np.ndarray | slice, np.ndarray, np.ndarray]]:
        """Yield systems with S_d [docs, draws] and S [draws] as they see them."""
        every = slice(None)
        if counted == "systems":
            yield every, self._held(members), members.sum(axis=1)
        elif counted == "pooled":
            yield every, self._held(members, self.pooled), members[:, self.pooled].sum(axis=1)
        elif counted == "groups":
            held = np.zeros((len(self.hits), len(members)), np.int64)
            total = np.zeros(len(members), np.int64)
            for group in np.unique(self.groups):
                runs = self.groups == group
                held += self._held(members, runs) > 0
                total += members[:, runs].any(axis=1)
            yield every, held, total
        else:
            held, total = self._held(members), members.sum(axis=1)
            groups = self.groups[: len(self.systems)]
            for group in np.unique(groups):
                runs = self.groups == group
                outside = total - members[:, runs].sum(axis=1) + 1
                yield groups == group, held - self._held(members, runs) + 1, outside


def rare_parts(
    views: Iterable[JudgedRanks],
    k: int,
    rel: float = 1,
    depth: int | None = None,
    queries: Averaged = "judged",
) -> RareParts:
    """Return the parts of the means of RareP@k and RareAP@k over the queries of a track.

    `depth` is the deepest rank at which S_d counts a doc; default the cutoff.
    """
    check_whole("k", k)
    rel = check_positive("rel", rel)
    depth = k if depth is None else check_whole("depth", depth)
    if queries == "retrieved":
        raise UsageError(
            "queries=retrieved averages other queries for each system, but the effect of rarity on "
            "means is computed over the same queries. Use queries=judged."
        )
    blocks = list(views)
    if not blocks:
        raise UsageError("there are no queries: give at least one view.")
    params = {"rel": rel, "norm": "all"}
    hits, plain, weights, number = [], [], [], 0
    for view in blocks:
        relevant = view.counts(rel)
        number += len(relevant) if queries == "judged" else int((relevant > 0).sum())
        rows = np.flatnonzero(view.grades >= rel)
        deepest = min(max(k, depth), view.missing - 1)
        rows = rows[(view.ranks[rows] <= deepest).any(axis=1)]  # any other doc adds nothing
        is_chosen = np.zeros(len(view.grades), bool)
        is_chosen[rows] = True
        ranks, cut = np.ascontiguousarray(view.ranks[rows]), min(k, view.missing - 1)
        tails = weights_in_precisions(view, is_chosen, ranks, cut)
        of_measures = compute_precision, compute_average_precision
        hits.append(ranks <= min(depth, view.missing - 1))
        plain.append([f(view, params, [k])[0].sum(axis=0) for f in of_measures])
        of_query = relevant[view.query_of(rows)][:, None]
        weights.append(np.stack([(ranks <= cut) / k, divide(tails, of_query, 0.0)]))
    facts, of_mean = blocks[0].facts, max(number, 1)
    is_pooled = np.zeros(len(facts.systems), bool)
    is_pooled[facts.contributors] = True
    return RareParts(
        systems=blocks[0].systems,
        plain=np.sum(plain, axis=0) / of_mean,
        weights=np.concatenate(weights, axis=1) / of_mean,
        hits=np.concatenate(hits),
        groups=groups_of(facts)[0],
        pooled=is_pooled,
    )

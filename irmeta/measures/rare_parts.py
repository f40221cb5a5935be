"""Means of RareP@k and RareAP@k for any alpha, rarity and subset of systems, in linear form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from irmeta.errors import UsageError, check_whole
from irmeta.measures.average_precision import compute_average_precision
from irmeta.measures.cuts import divide
from irmeta.measures.precision import compute_precision
from irmeta.measures.rareness import weights_in_precisions
from irmeta.policies import Rarity
from irmeta.rankings.holders import rarity_of
from irmeta.rankings.judged import JudgedRanks


@dataclass(frozen=True)
class RareParts:
    """Parts of the means of RareP@k and RareAP@k over all queries: P + alpha B and AP + alpha C.

    B and C are sums of weight times rarity over docs. The weights depend neither on alpha nor on
    the rarity, so other systems, which change S and S_d alone, need no lists.

    Attributes
    ----------
    systems
        Names of the systems.
    hits
        bool [docs, systems]: whether a system retrieves a relevant doc within k.
    plain
        float64 [2, systems]: means of P@k and AP@k.
    weights
        float64 [2, docs, systems]: weights of the docs in B and C.
    """

    systems: Sequence[str]
    hits: np.ndarray
    plain: np.ndarray
    weights: np.ndarray

    def means(
        self, members: np.ndarray, alpha: float = 1.0, rarity: Rarity = "linear"
    ) -> np.ndarray:
        """Compute the means as if only some systems had taken part, for many choices of systems.

        Parameters
        ----------
        members
            bool [draws, systems]: the systems of each draw.
        alpha
            Weight of rarity.
        rarity
            Kind of rarity, see `irmeta.rankings.holders.Holders`.

        Returns
        -------
        ndarray of float64, shape (2, draws, systems)
            Means of RareP@k and RareAP@k, to rounding those of the measures on the lists of the
            draw alone; NaN for systems that are not in the draw.

        Raises
        ------
        UsageError
            If `members` has another shape or type.

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
        if members.dtype != bool or members.shape[1:] != (len(self.systems),):
            raise UsageError(
                f"members is {members.dtype} {members.shape}, not bool (draws, "
                f"{len(self.systems)} systems)."
            )
        # Counts below 2^24 are exact in float32, which halves the time of the product.
        counts = self.hits.astype(np.float32) @ members.T.astype(np.float32)
        held, systems = counts.astype(np.int64), members.sum(axis=1)
        # A doc that no system of the draw retrieves has weight 0 for all of them.
        by_draw = rarity_of(held, systems, rarity).T
        means = self.plain[:, None] + alpha * (by_draw @ self.weights)
        return np.where(members, means, np.nan)


def rare_parts(views: Iterable[JudgedRanks], k: int, rel: int = 1) -> RareParts:
    """Return the parts of the means of RareP@k and RareAP@k over all queries of a track.

    Parameters
    ----------
    views
        Blocks of queries of one track.
    k
        Cutoff of the measures, and depth of S_d.
    rel
        Smallest relevant grade.

    Raises
    ------
    UsageError
        If there is no block, or `k` or `rel` is not a whole number from 1.
    """
    check_whole("k", k)
    check_whole("rel", rel)
    blocks = list(views)
    if not blocks:
        raise UsageError("there are no queries: give at least one view.")
    queries = sum(len(view.queries) for view in blocks)
    params = {"rel": rel, "norm": "all"}
    hits, plain, weights = [], [], []
    for view in blocks:
        rows = view.grades >= rel
        ranks, cut = np.ascontiguousarray(view.ranks[rows]), min(k, view.missing - 1)
        relevant = view.counts(rel)[view.query_of(np.flatnonzero(rows))][:, None]
        is_hit = ranks <= cut
        tails = weights_in_precisions(view, rows, ranks, cut)
        of_measures = compute_precision, compute_average_precision
        hits.append(is_hit)
        plain.append([f(view, params, [k])[0].sum(axis=0) for f in of_measures])
        weights.append(np.stack([is_hit / k, divide(tails, relevant, 0.0)]) / queries)
    return RareParts(
        systems=blocks[0].systems,
        hits=np.concatenate(hits),
        plain=np.sum(plain, axis=0) / queries,
        weights=np.concatenate(weights, axis=1),
    )

"""Gains of docs by subtopic, along each list and along the ideal list."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from irmeta.kernels.subtopic_gains import greedy_gains, novelty_gains
from irmeta.measures.cutoffs import positions
from irmeta.measures.spec import Steps
from irmeta.measures.weighted import discounts
from irmeta.rankings.judged import JudgedRanks


@dataclass(frozen=True)
class GainPairs:
    """The pairs of docs and subtopics with a gain, by the docs that have any.

    Attributes
    ----------
    rows
        bool [rows of the view]: the docs with a pair.
    offsets
        int64 [queries + 1]: the docs of each query.
    starts
        int64 [docs + 1]: the pairs of each doc.
    subtopic
        int32 [pairs], numbered within the query, ascending within a doc.
    gains, keeps
        float64 [pairs]: see irmeta.kernels.subtopic_gains.
    """

    rows: np.ndarray
    offsets: np.ndarray
    starts: np.ndarray
    subtopic: np.ndarray
    gains: np.ndarray
    keeps: np.ndarray

    @classmethod
    def of(cls, view: JudgedRanks, gains: np.ndarray, keeps: np.ndarray | float) -> GainPairs:
        """Return the pairs of a view with a gain other than 0, given float64 [pairs]."""
        subtopics = view.require("subtopics")
        is_gain = gains != 0
        pairs = np.bincount(subtopics.rows[is_gain], minlength=len(view.grades))
        rows = pairs > 0
        return cls(
            rows=rows,
            offsets=view.offsets_of(rows),
            starts=np.concatenate([[0], np.cumsum(pairs[rows])]),
            subtopic=subtopics.subtopic[is_gain],
            gains=gains[is_gain],
            keeps=np.broadcast_to(keeps, gains.shape)[is_gain],
        )

    @classmethod
    def relevant(cls, view: JudgedRanks, rel: float, keep: float) -> GainPairs:
        """Return the pairs of grade >= `rel`, each with gain 1."""
        grades = view.require("subtopics").grade
        return cls.of(view, (grades >= rel).astype(np.float64), keep)

    def by_rank(self, view: JudgedRanks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sort the docs by rank: see `JudgedRanks.sort_by_rank`; labels are numbers of docs."""
        return view.sort_by_rank(self.rows, np.arange(len(self.starts) - 1, dtype=np.uint32))


def gains_by_rank(view: JudgedRanks, pairs: GainPairs, shares: np.ndarray) -> Steps:
    """Compute the gain of each doc of each list, given what the list has above it.

    Parameters
    ----------
    shares
        float64 [names of subtopics]: the weight of each subtopic at rank 1.

    Returns
    -------
    ranks, offsets
        As `JudgedRanks.sort_by_rank`, of the docs with a pair.
    gains
        float64 [docs, systems], 0 for docs that are not retrieved.
    """
    subtopics = view.require("subtopics")
    ranks, docs, offsets = pairs.by_rank(view)
    gains = np.zeros(ranks.shape)
    novelty_gains(
        ranks,
        docs,
        offsets,
        view.missing,
        pairs.starts,
        pairs.subtopic,
        pairs.gains,
        pairs.keeps,
        shares,
        subtopics.offsets,
        np.empty((int(subtopics.counts.max(initial=0)), ranks.shape[1])),
        gains,
    )
    return ranks, offsets, gains


def greedy_ideal(view: JudgedRanks, rel: float, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the gain at each rank of the greedy ideal list of each query.

    The list has the docs of any subtopic: at each rank the doc of greatest gain, of equal ones the
    greatest name. The result is cached, so that measures share it.

    Returns
    -------
    gains
        float64 [relevant docs].
    offsets
        int64 [queries + 1].
    """

    def compute() -> np.ndarray:
        pairs = GainPairs.relevant(view, rel, 1.0 - alpha)
        gains, bounds = np.zeros((2, len(pairs.starts) - 1))
        weights = np.empty(int(view.require("subtopics").counts.max(initial=0)))
        names = view.doc_ids[pairs.rows]
        greedy_gains(
            pairs.offsets, names, pairs.starts, pairs.subtopic, 1.0 - alpha, weights, bounds, gains
        )
        return gains

    rows = np.zeros(len(view.grades), bool)
    subtopics = view.require("subtopics")
    rows[subtopics.rows[subtopics.grade >= rel]] = True
    return view.cached(("greedy", rel, alpha), compute), view.offsets_of(rows)


def by_rank(weights: np.ndarray, ranks: np.ndarray, missing: int) -> np.ndarray:
    """Return the weight of each rank, given float64 [rank] with 0 at rank 0; 0 if not retrieved."""
    return weights[np.where(ranks == missing, 0, ranks)]


def discount_weights(deepest: int, discount: str) -> np.ndarray:
    """Return 1 / log2(rank + 1) or, for ``zipf``, 1 / rank: float64 [rank], 0 at rank 0."""
    return 1.0 / discounts(deepest, discount)


def weights_at_positions(weights: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the weight of the rank of each doc of the ideal lists."""
    return weights[positions(offsets)]

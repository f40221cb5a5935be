"""`JudgedRanks`: the rank of each judged doc in each system's list, for a block of queries."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from irmeta.policies import Negative
from irmeta.store.scan import TrackFacts

NOT_POOLED = int(np.iinfo(np.int64).max)
Need = Literal["ties", "pool", "retrieved"]
"""What only some measures read: see `JudgedRanks`."""


@dataclass(frozen=True)
class JudgedRanks:
    """The main view of a block of queries.

    Attributes
    ----------
    queries, systems
        Names, sorted.
    offsets
        int64 [queries + 1]; the rows of query q are ``offsets[q]:offsets[q + 1]``.
    ranks
        uint16 or uint32 [rows, systems], C order; `missing` where the doc is not retrieved.
    grades
        int8 [rows], descending within a query: its relevant docs are its leading rows at any `rel`.
    docs, doc_ids
        [rows], names and their int32 numbers in the store, which sort alike within a query.
    lengths
        uint32 [queries, systems]; 0: the system has no list for the query.
    ties
        Where needed, the first and the last rank of the block of tied docs that each doc is in: two
        arrays like `ranks`.
    blocks
        Along with `ties`, of unjudged docs too: int64 [queries, systems], where each list begins in
        the second array, which is int32: list by list, the last rank of the block of tied docs that
        the doc at each rank is in. None where lists are not as they were read.
    pool_depth
        Where needed, int64 [rows]: the rank from which on a doc is in the pool; `NOT_POOLED` where
        no contributing system retrieves it.
    complete_depth
        Along with `pool_depth`, int64 [queries]: the depth to which the pool is complete (see
        `irmeta.rankings.pool.complete_depths`), or the one that the collection states.
    retrieved
        Where needed, int64 [queries]: how many distinct docs all systems together retrieve.
    condensed
        Whether unjudged docs were left out of the lists.
    assumed, assumed_gain
        Where unjudged docs are taken to be relevant (see irmeta.rankings.unjudged): bool [rows],
        the rows that stand for such docs, and the gain they have: ``one`` or ``gmax``.
    """

    facts: TrackFacts
    negative: Negative
    queries: tuple[str, ...]
    offsets: np.ndarray
    ranks: np.ndarray
    grades: np.ndarray
    docs: pl.Series
    doc_ids: np.ndarray
    lengths: np.ndarray
    ties: tuple[np.ndarray, np.ndarray] | None = None
    blocks: tuple[np.ndarray, np.ndarray] | None = None
    pool_depth: np.ndarray | None = None
    complete_depth: np.ndarray | None = None
    retrieved: np.ndarray | None = None
    condensed: bool = False
    assumed: np.ndarray | None = None
    assumed_gain: str = "one"
    _sorted: dict[tuple[bytes, bytes], tuple[np.ndarray, np.ndarray]] = field(
        default_factory=dict, repr=False
    )

    @property
    def systems(self) -> tuple[str, ...]:
        return self.facts.systems

    @property
    def missing(self) -> int:
        """The value in `ranks` of a doc that is not retrieved."""
        return int(np.iinfo(self.ranks.dtype).max)

    @property
    def is_judged(self) -> np.ndarray:
        """bool [rows]: without those whose negative grade means unjudged."""
        if self.negative == "nonrelevant":
            return np.ones(len(self.grades), bool)
        return self.grades >= 0

    def counts(self, low: int, high: int = 127) -> np.ndarray:
        """int64 [queries]: how many judged docs of each query have a grade in low..high."""
        found = (self.grades >= low) & (self.grades <= high)
        return np.diff(self.offsets_of(found))

    def offsets_of(self, kept: np.ndarray) -> np.ndarray:
        """`offsets` into the rows that the bool array `kept` leaves."""
        return np.concatenate([[0], np.cumsum(kept)])[self.offsets]

    def sorted_ranks(self, low: int, high: int = 127) -> tuple[np.ndarray, np.ndarray]:
        """The ranks of the docs with a grade in low..high, ascending for each query and system.

        Returns
        -------
        ranks
            [docs, systems]: in the rows of a query, each system's ranks ascend downwards, with the
            missing ones last.
        offsets
            int64 [queries + 1] into those rows.
        """
        ranks, _, offsets = self.sort_by_rank((self.grades >= low) & (self.grades <= high))
        return ranks, offsets

    def sort_by_rank(
        self, rows: np.ndarray, labels: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sort some judged docs by rank, for each query and system.

        The result is kept, so that measures that ask for the same rows share it.

        Parameters
        ----------
        rows
            bool [rows]: which docs.
        labels
            uint8, one for each of these docs, that goes along with its rank; None: 0 for all.

        Returns
        -------
        ranks, labels
            [docs, systems], like `ranks` and uint8: in the rows of a query, each system's ranks
            ascend downwards, with the missing ones last.
        offsets
            int64 [queries + 1] into those rows.
        """
        offsets = self.offsets_of(rows)
        key = rows.tobytes(), b"" if labels is None else labels.tobytes()
        if key not in self._sorted:
            self._sorted[key] = _sorted_by_rank(self.ranks[rows], labels, offsets)
        return *self._sorted[key], offsets

    def only_rows(self, kept: np.ndarray) -> JudgedRanks:
        """The view without the docs whose row is not in the bool array `kept`."""
        return replace(
            self,
            offsets=self.offsets_of(kept),
            ranks=self.ranks[kept],
            grades=self.grades[kept],
            docs=self.docs.filter(pl.Series(kept)),
            doc_ids=self.doc_ids[kept],
            ties=None if self.ties is None else (self.ties[0][kept], self.ties[1][kept]),
            pool_depth=None if self.pool_depth is None else self.pool_depth[kept],
            assumed=None if self.assumed is None else self.assumed[kept],
            _sorted={},
        )

    def cut_to(self, depth: int) -> JudgedRanks:
        """The view of lists that end at rank `depth`: deeper docs are not retrieved.

        It has no `ties`, `blocks` and `retrieved`.
        """
        facts = replace(self.facts, deepest_rank=min(self.facts.deepest_rank, depth))
        return replace(
            self,
            facts=facts,
            ranks=np.where(self.ranks > depth, self.ranks.dtype.type(self.missing), self.ranks),
            lengths=np.minimum(self.lengths, np.uint32(depth)),
            ties=None,
            blocks=None,
            retrieved=None,
            _sorted={},
        )

    def relevant_rows(self, rel: int) -> np.ndarray:
        """The rows of the relevant docs: by query, and within a query by doc."""
        rows = np.flatnonzero(self.grades >= rel)
        return rows[np.lexsort((self.doc_ids[rows], self.query_of(rows)))]

    def query_of(self, rows: np.ndarray) -> np.ndarray:
        """The place in `queries` of each of the rows."""
        return np.searchsorted(self.offsets, rows, side="right") - 1

    def nonrelevant(self, rel: int) -> tuple[int, int]:
        """The range of grades that counts as judged non-relevant at `rel`."""
        return (-128 if self.negative == "nonrelevant" else 0), rel - 1


def _sorted_by_rank(
    ranks: np.ndarray, labels: np.ndarray | None, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and labels [docs, systems] as `JudgedRanks.sort_by_rank` returns them."""
    if labels is None:
        _sort_queries(ranks, offsets)
        return ranks, np.zeros(ranks.shape, np.uint8)
    # Rank and label as one number: sorting it is much faster than sorting places.
    wide = np.uint32 if ranks.dtype == np.uint16 else np.uint64
    keys = ranks.astype(wide) << wide(8) | labels.astype(wide)[:, None]
    _sort_queries(keys, offsets)
    return (keys >> wide(8)).astype(ranks.dtype), keys.astype(np.uint8)


def _sort_queries(keys: np.ndarray, offsets: np.ndarray) -> None:
    """Sort the rows of each query, every column on its own."""
    for start, stop in pairwise(offsets):
        keys[start:stop].sort(axis=0)

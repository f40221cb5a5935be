"""All rankings over a few subtopics, as the systems of one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_whole
from irmeta.numbered_rankings import NONRELEVANT, NumberedRankings
from irmeta.policies import ReadPolicy
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.judgments import Subtopics
from irmeta.rankings.pool import POOL_ARRAYS
from irmeta.rankings.track_facts import TrackFacts

CELLS = 2**20
"""Cells of `ranks` in one view: the arrays that measures make of it stay within the caches."""
QUERY = "q"


@dataclass(frozen=True)
class RankingSpace(NumberedRankings):
    """Rankings with the judgments of their docs.

    A ranking takes the docs of a subtopic in order: a1 is its first doc for a. The first `relevant`
    docs of each subtopic (0: all) have grade 1, later ones and x1, x2, ... are judged non-relevant.
    Subtopics are of type "inf", with equal weights unless `weights` are given.
    """

    relevant: int = 0
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("relevant", self.relevant, 0)
        are_positive = all(0 < weight < np.inf for weight in self.weights)
        if self.weights and not (len(self.weights) == self.subtopics and are_positive):
            raise UsageError(
                f"weights = {self.weights} are not {self.subtopics} numbers above 0, one for each "
                "subtopic."
            )

    @property
    def relevant_docs(self) -> int:
        """Relevant docs per subtopic."""
        return self.relevant or self.length

    def chunks(self) -> Iterator[np.ndarray]:
        """Yield the numbers of all rankings, in consecutive parts of bounded size."""
        size = self._chunk_size
        for first in range(0, self.count, size):
            yield np.arange(first, min(first + size, self.count))

    @property
    def chunk_count(self) -> int:
        """Number of the parts that `chunks` yields."""
        return -(-self.count // self._chunk_size)

    @property
    def _chunk_size(self) -> int:
        return max(1, CELLS // len(self._grades))

    @property
    def longest(self) -> np.ndarray:
        """Numbers of the longest rankings of a single label: int64 [labels]."""
        numbers = np.zeros(self.branching, np.int64)
        for _ in range(self.length):
            numbers = self.branching * numbers + 1 + np.arange(self.branching)
        return numbers

    def view(self, numbers: Sequence[int] | np.ndarray) -> JudgedRanks:
        """Return a view whose systems are rankings, by their numbers.

        The deepest rank is that of all rankings. Beside `longest`, which together have every doc
        that any ranking has, the value of a ranking does not depend on others of the view.
        """
        chosen = np.asarray(numbers, np.int64)
        ranks = self._ranks(self.labels(chosen))
        rows = len(self._grades)
        docs = pl.Series(self._docs, dtype=pl.String)
        return JudgedRanks(
            facts=TrackFacts(
                track=f"rankings of up to {self.length} docs",
                systems=RankingNames(self, chosen),
                deepest_rank=self.length,
                qrels="rankings",
                highest_grade=1,
                policy=ReadPolicy(tie_order="file").record(),
                lowest_grade=0,
            ),
            negative="unjudged",
            queries=(QUERY,),
            offsets=np.array([0, rows]),
            ranks=ranks,
            grades=self._grades,
            docs=docs,
            doc_ids=(docs.rank("ordinal").to_numpy() - 1).astype(np.int32),
            lengths=self.lengths(chosen).astype(np.uint32)[None, :],
            ties=(ranks, ranks),
            retrieved=(ranks < np.iinfo(ranks.dtype).max).any(axis=1).sum(keepdims=True),
            subtopics=self._subtopics,
            lacks=dict.fromkeys(POOL_ARRAYS, "enumerated rankings make no pool"),
        )

    @property
    def _kinds(self) -> list[tuple[int, int]]:
        """Label and number (from 0) of the doc of each row; the relevant docs come first."""
        most = max(self.relevant_docs, self.length)
        docs = [(label, i) for label in range(self.subtopics) for i in range(most)]
        relevant = [doc for doc in docs if doc[1] < self.relevant_docs]
        beyond = [doc for doc in docs if doc[1] >= self.relevant_docs]
        return [*relevant, *beyond, *((self.nonrelevant, i) for i in range(self.length))]

    @property
    def _grades(self) -> np.ndarray:
        is_relevant = [
            label != self.nonrelevant and i < self.relevant_docs for label, i in self._kinds
        ]
        return np.array(is_relevant, np.int8)

    @property
    def _docs(self) -> list[str]:
        width = len(str(max(self.relevant_docs, self.length)))
        letters = self.letters
        return [f"{letters[label]}{i + 1:0{width}}" for label, i in self._kinds]

    @property
    def _subtopics(self) -> Subtopics:
        is_relevant = self._grades > 0
        labels = np.array([label for label, _ in self._kinds], np.int32)
        return Subtopics(
            names=tuple(self.letters.removesuffix(NONRELEVANT)),
            offsets=np.array([0, self.subtopics]),
            starts=np.concatenate([[0], np.cumsum(is_relevant)]),
            subtopic=labels[is_relevant],
            grade=self._grades[is_relevant],
            weights=np.array(self.weights or [np.nan] * self.subtopics, np.float64),
            types=("inf",) * self.subtopics,
        )

    def _ranks(self, labels: np.ndarray) -> np.ndarray:
        """Return the rank of each doc in each ranking: uint16 [rows, rankings]."""
        kinds = self._kinds
        row_of = np.zeros((self.branching, max(self.relevant_docs, self.length)), np.int64)
        row_of[tuple(np.array(kinds).T)] = np.arange(len(kinds))
        columns = np.arange(labels.shape[1])
        taken = np.zeros((self.branching, labels.shape[1]), np.int64)
        ranks = np.full((len(kinds), labels.shape[1]), np.iinfo(np.uint16).max, np.uint16)
        for rank, label in enumerate(labels, 1):
            listed = columns[label >= 0]
            doc = label[listed].astype(np.int64), listed
            ranks[row_of[doc[0], taken[doc]], listed] = rank
            taken[doc] += 1
        return ranks


class RankingNames(Sequence[str]):
    """Names of rankings, made when they are asked for."""

    def __init__(self, rankings: NumberedRankings, numbers: np.ndarray) -> None:
        self._rankings, self._numbers = rankings, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return RankingNames(self._rankings, self._numbers[index])
        return self._rankings.name(int(self._numbers[index]))

"""`JudgedRanks`: the rank of each judged doc in each system's list, for a block of queries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice
from irmeta.policies import Negative
from irmeta.rankings.arrays import sorted_by_rank, view_arrays, view_summary
from irmeta.rankings.needs import NEEDED
from irmeta.rankings.pool import PooledLists
from irmeta.rankings.sample import Sample
from irmeta.rankings.subtopics import Subtopics
from irmeta.rankings.track_facts import TrackFacts
from irmeta.summaries import Summarized, Summary

Made = TypeVar("Made")


@dataclass(frozen=True, repr=False)
class JudgedRanks(Summarized):
    """The main view of a block of queries: the rank of each judged doc in each system's list.

    Attributes
    ----------
    queries, systems
        Names; sorted if they were read from a store.
    offsets
        int64 [queries + 1]; the rows of query q are ``offsets[q]:offsets[q + 1]``.
    ranks
        uint16 or uint32 [rows, systems], C order; `missing` where the doc is not retrieved.
    grades
        int8 [rows], float64 if the set has other grades than whole numbers of -128 to 127;
        descending within a query: its relevant docs are its leading rows at any `rel`.
    docs, doc_ids
        [rows], names and their int32 numbers in the store, in the same order within a query.
    lengths
        uint32 [queries, systems]; 0: the system has no list for the query.
    ties
        If needed, the first and last rank of each doc's block of tied docs: two arrays like
        `ranks`.
    pooled_lists
        If needed, the lists that made the pool.
    pool_depth
        With `pooled_lists`, int64 [rows]: the smallest pool depth that includes the doc;
        `NOT_POOLED` if no contributing system retrieves it.
    complete_depth
        With `pooled_lists`, int64 [queries]: the depth to which the pool is complete (see
        `irmeta.rankings.pool.complete_depths`), or the depth stated in the collection.
    pooled_to
        Pool depth to which the judgments were cut; None if they were not cut.
    retrieved
        If needed, int64 [queries]: number of distinct docs that all systems retrieve together.
    subtopics
        If needed, and `grades` are of a qrels set with subtopics: the grade of each doc for each
        subtopic. `grades` are then the maxima over subtopics.
    diversity
        If subtopics are needed, and `grades` are of an ad hoc qrels set: the view of the same
        queries and lists under the track's qrels set with subtopics.
    sample
        If needed, and `grades` are of a qrels set of a sampled pool: how each doc was sampled.
    costs
        If needed and given, the costs of the docs of all lists, float64, and for each query and
        system where its list begins among them, int64 [queries, systems]. None: all costs are 1.
    in_qrels
        With `diversity`, bool [queries]: whether the qrels set of this view judges the query. None:
        it judges all queries.
    condensed
        Whether unjudged docs were removed from the lists.
    assumed, assumed_gain
        After `assume_relevant`, bool [rows]: the rows of unjudged docs assumed to be relevant; and
        their gain: ``one`` or ``gmax``.
    lacks
        Reasons why the view lacks an array such as `ties` or `retrieved`, by its name.
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
    pooled_lists: PooledLists | None = None
    pool_depth: np.ndarray | None = None
    complete_depth: np.ndarray | None = None
    pooled_to: int | None = None
    retrieved: np.ndarray | None = None
    subtopics: Subtopics | None = None
    diversity: JudgedRanks | None = None
    sample: Sample | None = None
    costs: tuple[np.ndarray, np.ndarray] | None = None
    in_qrels: np.ndarray | None = None
    condensed: bool = False
    assumed: np.ndarray | None = None
    assumed_gain: str = "one"
    lacks: Mapping[str, str] = field(default_factory=dict)
    _cache: dict[Hashable, Any] = field(default_factory=dict)

    def _summary(self) -> Summary:
        return view_summary(self)

    # Derived views: functions as methods. Imported instead of assigned, they have declared types.
    from irmeta.rankings.derive.changes import assume_relevant, condense
    from irmeta.rankings.derive.fewer_judgments import (
        drop_relevant,
        each_subtopic,
        one_subtopic,
        with_pool,
    )
    from irmeta.rankings.derive.other_labels import alter_labels
    from irmeta.rankings.derive.other_lists import (
        cut_to,
        only_queries,
        only_systems,
        without_systems,
    )

    @classmethod
    def from_arrays(
        cls,
        ranks: np.ndarray,
        grades: np.ndarray,
        *,
        offsets: Sequence[int] | np.ndarray | None = None,
        lengths: np.ndarray | None = None,
        ties: tuple[np.ndarray, np.ndarray] | None = None,
        retrieved: Sequence[int] | np.ndarray | None = None,
        queries: Sequence[str] | None = None,
        systems: Sequence[str] | None = None,
        docs: Sequence[str] | None = None,
        pooled: Sequence[bool] | None = None,
        highest_grade: float | None = None,
        deepest_rank: int | None = None,
        negative: Negative = "unjudged",
        track: str = "arrays",
    ) -> JudgedRanks:
        """Make a view of rankings that no store holds, such as enumerated or synthetic ones.

        Parameters
        ----------
        ranks
            Whole numbers [rows, systems], a row for each judged doc: its rank from 1 in the list of
            each system, 0 where it is not retrieved. In uint16 and uint32 the greatest value stands
            for that too; without zeros, such an array in C order is not copied.
        grades
            Numbers [rows];
            descending within a query.
        offsets
            [queries + 1]: the rows of query q are ``offsets[q]:offsets[q + 1]``. Default: all rows
            are of one query.
        lengths
            [queries, systems]: length of each list, 0 where there is none. Default: every list ends
            at its last judged doc.
        ties
            The first and the last rank of the block of tied docs of each doc, two arrays like
            `ranks`. Default: no docs are tied.
        retrieved
            [queries]: how many distinct docs all systems together retrieve. Default: as many as
            there are judged docs in any list, if all docs of all lists are judged. Otherwise it is
            unknown, and a measure that reads it (AvgSL, TSL) asks for it.
        queries, systems, docs
            Names in the order of the arrays, each once; those of docs once in a query. Default: a
            letter and a number; those of systems are made when they are asked for.
        pooled
            For each system whether it contributed to the pool. Default: all did.
        highest_grade
            Scale of the grades, which graded gains are divided by. Default: the highest in
            `grades`, at least 1.
        deepest_rank
            Deepest rank of the collection, for ``unretrieved=depth``. Default: the longest list.
        negative
            Meaning of grades below 0, as in `EvalPolicy`.
        track
            Name of the track in results.

        Raises
        ------
        UsageError
            If an array has another shape or type, a value is out of range, grades do not descend
            within a query, a rank occurs twice in a list or lies below its end, or a name is
            repeated.

        Examples
        --------
        Two rankings of three docs, of which the first doc is relevant:

        >>> view = irmeta.JudgedRanks.from_arrays(
        ...     np.array([[1, 3], [2, 1], [3, 2]]), np.array([1, 0, 0])
        ... )
        >>> irmeta.scores_of(view, "RR").values.tolist()
        [[[1.0, 0.3333333333333333]]]
        """
        arrays = view_arrays(
            ranks,
            grades,
            offsets=offsets,
            lengths=lengths,
            ties=ties,
            retrieved=retrieved,
            queries=queries,
            systems=systems,
            docs=docs,
            pooled=pooled,
            highest_grade=highest_grade,
            deepest_rank=deepest_rank,
            track=track,
        )
        check_choice("negative", negative, get_args(Negative))
        return cls(negative=negative, **arrays)

    @property
    def systems(self) -> Sequence[str]:
        """Names of the systems, in the order of the columns of `ranks`."""
        return self.facts.systems

    @property
    def judged_queries(self) -> tuple[str, ...]:
        """Queries that the qrels set of the view judges."""
        if self.in_qrels is None:
            return self.queries
        return tuple(
            q for q, is_judged in zip(self.queries, self.in_qrels, strict=True) if is_judged
        )

    @property
    def missing(self) -> int:
        """Value in `ranks` of a doc that is not retrieved."""
        return int(np.iinfo(self.ranks.dtype).max)

    @property
    def is_judged(self) -> np.ndarray:
        """Whether each row counts as judged: bool [rows]; a negative grade may mean unjudged."""
        if self.negative == "nonrelevant":
            return np.ones(len(self.grades), bool)
        return self.grades >= 0

    def counts(self, low: float, below: float | None = None) -> np.ndarray:
        """Count the judged docs of each query by grade, as `sorted_ranks`: int64 [queries]."""
        return np.diff(self.offsets_of(self._with_grade(low, below)))

    def _with_grade(self, low: float, below: float | None) -> np.ndarray:
        rows = self.grades >= low
        return rows if below is None else rows & (self.grades < below)

    def offsets_of(self, selected: np.ndarray) -> np.ndarray:
        """Return the `offsets` of the rows selected by a bool array."""
        return np.concatenate([[0], np.cumsum(selected)])[self.offsets]

    def sorted_ranks(self, low: float, below: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Sort the ranks of docs with a grade from `low` within each query and system.

        Grades are less than `below`, if it is given.

        Returns
        -------
        ranks
            [docs, systems]: each system's ranks ascend within the rows of a query, missing ranks
            last.
        offsets
            int64 [queries + 1]: the rows of each query.
        """
        ranks, _, offsets = self.sort_by_rank(self._with_grade(low, below))
        return ranks, offsets

    def sort_by_rank(
        self, rows: np.ndarray, labels: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sort some judged docs by rank, for each query and system.

        The result is cached, so that measures share it.

        Parameters
        ----------
        rows
            bool [rows]: the selected docs.
        labels
            uint8, uint16 or uint32: a label of each selected doc, sorted with its rank; None:
            0 for all.

        Returns
        -------
        ranks, labels
            [docs, systems], of the types of `ranks` and `labels`: each system's ranks ascend within
            the rows of a query, missing ranks last.
        offsets
            int64 [queries + 1]: the rows of each query.
        """
        offsets = self.offsets_of(rows)
        key = "sorted", rows.tobytes(), b"" if labels is None else labels.tobytes()
        sorted_docs = self.cached(key, lambda: sorted_by_rank(self.ranks[rows], labels, offsets))
        return *sorted_docs, offsets

    def cached(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what a function makes of the view, which is called once per key."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def sort_sets(self, rows: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Sort the ranks of sets of judged docs, for each system.

        The result is cached, so that preferences share it.

        Parameters
        ----------
        rows
            int64 [docs]: the docs of the sets; a doc may be in several.
        offsets
            int64 [sets + 1]: the docs of each set.

        Returns
        -------
        [docs, systems]: each system's ranks ascend within a set, missing ranks last.
        """
        key = "sets", rows.tobytes(), offsets.tobytes()
        return self.cached(key, lambda: sorted_by_rank(self.ranks[rows], None, offsets)[0])

    def require(self, name: str) -> Any:
        """Return one of the arrays that only some measures read.

        Raises
        ------
        UsageError
            If the view lacks the array.
        """
        array = getattr(self, name)
        if array is None:
            need = next(need for need, names in NEEDED.items() if name in names)
            why = self.lacks.get(name, f"ask for it by needs=({need!r},) when the view is made")
            raise UsageError(f"the view of track {self.facts.track!r} has no `{name}`: {why}.")
        return array

    def by_subtopic(self) -> JudgedRanks:
        """Return the view with judgments by subtopic: this view, or its `diversity`.

        Raises
        ------
        UsageError
            If the view was made without subtopics.
        """
        return self if self.subtopics is not None else self.require("diversity")

    def relevant_rows(self, rel: float) -> np.ndarray:
        """Return the rows of the relevant docs, sorted by query, then doc."""
        rows = np.flatnonzero(self.grades >= rel)
        return rows[np.lexsort((self.doc_ids[rows], self.query_of(rows)))]

    def query_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the index in `queries` of the query of each row."""
        return np.searchsorted(self.offsets, rows, side="right") - 1

    def nonrelevant(self, rel: float) -> tuple[float, float]:
        """Return the lowest grade that counts as judged non-relevant at `rel`, and `rel`."""
        return (-np.inf if self.negative == "nonrelevant" else 0), rel

"""`JudgedRanks`: the rank of each judged doc in each system's list, for a block of queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, Self, TypeVar, cast, get_args

import numpy as np
import polars as pl

from irmeta.errors import check_choice
from irmeta.parallel import check_not_forked
from irmeta.policies import Negative, ReadPolicy
from irmeta.rankings import arrays
from irmeta.rankings.derive import drop, lists, relabel, sample, select
from irmeta.rankings.pool import PooledLists, pool_depths
from irmeta.rankings.track_facts import TrackFacts
from irmeta.rankings.view import JudgedView

Made = TypeVar("Made")
Function = TypeVar("Function", bound=Callable[..., Any])


class JudgedRanks(JudgedView):
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
    all_systems
        Where a policy selects systems, the view of all of them: what depends on several systems,
        such as pools and rarity, is derived from it. None: the view shows all its systems.
    lacks
        Reasons why the view lacks an array such as `ties` or `retrieved`, by its name.
    """

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
    ) -> Self:
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
        check_not_forked()
        ranks = arrays.rank_array("ranks", ranks)
        rows, count = ranks.shape
        offsets = arrays.offset_array([0, rows] if offsets is None else offsets, rows)
        grades = arrays.grade_array(grades, offsets)
        lengths = arrays.length_array(ranks, offsets, lengths)
        facts = TrackFacts(
            track=track,
            systems=arrays.names_of("systems", systems, "s", count),
            deepest_rank=arrays.deepest_of(deepest_rank, int(lengths.max(initial=1))),
            deepest_ranks=() if deepest_rank else tuple(lengths.max(axis=0, initial=0).tolist()),
            qrels="arrays",
            highest_grade=arrays.highest_of(highest_grade, grades),
            levels=None if grades.dtype == np.int8 else tuple(np.unique(grades).tolist()),
            policy=ReadPolicy(tie_order="file").record(),
            pooled=() if pooled is None else arrays.pooled_of(pooled, count),
            pool_known=pooled is not None,
        )
        ties = (ranks, ranks) if ties is None else arrays.tie_arrays(ties, ranks, offsets, lengths)
        pooled_lists = PooledLists.of(facts, ranks, offsets, lengths)
        retrieved, reason = arrays.retrieved_of(retrieved, ranks, offsets, lengths)
        doc_names, doc_ids = arrays.docs_of(docs, offsets)
        query_names = tuple(arrays.names_of("queries", queries, "q", len(lengths)))
        check_choice("negative", negative, get_args(Negative))
        no_subtopics = "from_arrays takes no subtopics"
        return cls(
            facts=facts,
            negative=negative,
            queries=query_names,
            offsets=offsets,
            ranks=ranks,
            grades=grades,
            docs=doc_names,
            doc_ids=doc_ids,
            lengths=lengths,
            ties=ties,
            retrieved=retrieved,
            lacks={"subtopics": no_subtopics, "diversity": no_subtopics, **reason},
            pooled_lists=pooled_lists,
            pool_depth=pool_depths(pooled_lists.ranks, facts.contributors),
            complete_depth=pooled_lists.complete(facts, query_names),
        )

    def condense(self) -> Self:
        """Drop the unjudged docs of every list; the docs below them move up.

        The pool is unchanged.
        """
        return select.condense(self)

    def assume_relevant(self, deepest: int, gain: str) -> Self:
        """Assume that all unjudged docs of a list, down to rank `deepest`, are relevant.

        These docs differ between lists, so row i stands for the i-th unjudged doc of each list.
        `gain` is ``one`` or ``gmax``: the gain of these docs.
        """
        return select.assume_relevant(self, deepest, gain)

    def with_pool(self, depth: int | None = None, without: str | Iterable[str] = ()) -> Self:
        """Keep the judgments of a shallower pool, or of a pool of fewer systems.

        Parameters
        ----------
        depth
            Keep the docs that a contributing system ranks at `depth` or above. None: drop only docs
            that no system except those in `without` ranks within the complete depth of the pool;
            docs judged for other reasons remain.
        without
            Contributing systems to remove from the pool, see `TrackFacts.indices`. Their lists
            remain.

        Raises
        ------
        UsageError
            If the view has no pool, a system in `without` did not contribute, no system remains, or
            `depth` is not a whole number from 1.
        """
        return drop.with_pool(self, depth, without)

    def drop_relevant(
        self,
        share: float,
        order: drop.DropOrder = "random",
        *,
        rel: float = 1,
        rng: int | np.random.Generator = 0,
    ) -> Self:
        """Drop the judgments of some relevant docs of each query, which become unjudged.

        Parameters
        ----------
        share
            Share of the relevant docs of each query, from 0 to 1. Fractions of a doc are rounded
            down.
        order
            ``random``, or ``least-retrieved``: first the docs retrieved by the fewest systems, ties
            by name.
        rel
            The least grade that is relevant.
        rng
            Random seed, or a Generator that draws one. The order of docs depends only on the seed
            and on names, not on other queries or qrels sets.

        Raises
        ------
        UsageError
            If `share` is not from 0 to 1, there is no such `order`, or `rng` is not a seed.
        """
        return drop.drop_relevant_shares(self, (share,), order, rel=rel, rng=rng)[0]

    def alter_labels(
        self,
        confusion: relabel.Confusion,
        by_query: bool = False,
        *,
        rng: int | np.random.Generator = 0,
    ) -> Self:
        """Draw other labels of the judged docs, as another judge might have given them.

        Unjudged docs stay unjudged, and grades below 0 stay as they are. In a qrels set with
        subtopics each judged pair of doc and subtopic has a label; pairs that are not judged stay
        so.

        Parameters
        ----------
        confusion
            A share from 0 to 1: so many labels, at random, move up or down by one grade, with equal
            chances; the lowest (0) only up, the highest only down. Or the confusion matrix of a
            judge, which need not be symmetric: for each grade of the view the weights of the new
            grades, such as counts of docs, as ``{grade: {new grade: weight}}`` or as a frame with
            the columns reference_grade, judge_grade and docs (`JudgeAgreement.confusion` of one
            judge).
        by_query
            Whether the labels of a query err in one direction, as those of one assessor: for each
            query at random, all of its new grades are drawn from the lower or all from the upper
            half of their distribution. The confusion matrix over many queries is the same, but
            errors do not average out within a query.
        rng
            Random seed, or a Generator that draws one. The label of a doc depends only on the seed
            and on names (query, doc, subtopic), not on other docs, queries or systems.

        Raises
        ------
        UsageError
            If a share is not from 0 to 1, a grade of the view has no weights, a weight is negative,
            all weights of a grade are 0, or `rng` is not a seed.
        """
        return relabel.alter_labels(self, confusion, by_query, sample.seed_of(rng))

    def cut_to(self, depth: int) -> Self:
        """Cut every list at rank `depth`: deeper docs are not retrieved.

        The pool is unchanged.

        Raises
        ------
        UsageError
            If `depth` is not a whole number from 1.
        """
        return lists.cut_to(self, depth)

    def without_systems(self, systems: str | Iterable[str]) -> Self:
        """Remove systems, as if they had submitted no run; the judgments remain.

        Parameters
        ----------
        systems
            Names of systems, ``group=NAME`` or ``type=NAME``.

        Raises
        ------
        UsageError
            If there is no such system, group or type, or no system is left.
        """
        return select.without_systems(self, systems)

    def only_systems(self, systems: str | Iterable[str]) -> Self:
        """Keep only some systems, as if no other had submitted a run: see `without_systems`.

        Raises
        ------
        UsageError
            If there is no such system, group or type, or no system is given.
        """
        return select.only_systems(self, systems)

    def only_queries(self, queries: str | Collection[str]) -> Self:
        """Keep only the queries of the view that are among `queries`; other names are ignored.

        Raises
        ------
        UsageError
            If a name is not a text.
        """
        return select.only_queries(self, queries)

    def one_subtopic(self, name: str) -> Self:
        """Keep the judgments of one subtopic, and its grades.

        Queries without a doc judged for the subtopic are dropped.

        Raises
        ------
        UsageError
            If the view has no subtopics.
        """
        return select.one_subtopic(self, name)

    def each_subtopic(self) -> Self:
        """Return a view with a query for each subtopic of each query, judged for it alone.

        Its queries are in the order of `Subtopics.names`, so that names of queries are repeated.

        Raises
        ------
        UsageError
            If the view has no subtopics.
        """
        return select.each_subtopic(self)


class ReadOnlyRanks(JudgedRanks):
    """A view whose arrays, and the arrays that its methods cache, cannot be written.

    Arrays that irmeta's views cache stay writeable: kernels would compile twice for read-only ones.
    """

    def cached(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what a function makes of the view, read-only."""
        return super().cached(key, lambda: read_only(make()))


def with_read_only_view(function: Function) -> Function:
    """Wrap a function whose first argument is a view, so that it cannot change the view."""

    @wraps(function)
    def protected(view: JudgedRanks, *arguments: Any) -> Any:
        protected_view = view.cached("read-only", lambda: _of_view(view))
        return function(protected_view, *arguments)

    return cast(Function, protected)


def _of_view(view: JudgedRanks) -> JudgedRanks:
    if isinstance(view, ReadOnlyRanks):
        return view
    field_names = (field.name for field in fields(view) if field.name != "_cache")
    return ReadOnlyRanks(**{name: read_only(getattr(view, name)) for name in field_names})


def read_only(value: Any) -> Any:
    """Return a value with all its arrays read-only; the arrays share memory with those given."""
    if isinstance(value, np.ndarray):
        return _read_only_array(cast(np.ndarray, value))
    if isinstance(value, pl.Series):
        return value.clone()  # assignment to an element replaces the buffer of this object alone
    if isinstance(value, JudgedRanks):
        return _of_view(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(read_only, cast(tuple[Any, ...], value)))
    if isinstance(value, Mapping):
        return {key: read_only(item) for key, item in cast(Mapping[Any, Any], value).items()}
    if is_dataclass(value) and not isinstance(value, type):
        copied = copy(value)
        for field in fields(value):
            object.__setattr__(copied, field.name, read_only(getattr(value, field.name)))
        return copied
    return value


def _read_only_array(array: np.ndarray) -> np.ndarray:
    """Return an array over a read-only buffer: its `writeable` flag cannot be set again."""
    if array.dtype.hasobject or array.size == 0:
        array = array.copy()
        array.flags.writeable = False
        return array
    return np.asarray(memoryview(cast(Any, array)).toreadonly())

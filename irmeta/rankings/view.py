"""`JudgedView`: the arrays of a block of queries, and how measures and derived views read them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, Self, TypeVar

import numpy as np
import polars as pl

from irmeta.errors import UsageError, check_choice
from irmeta.phrases import count
from irmeta.policies import Negative
from irmeta.rankings.arrays import sorted_by_rank
from irmeta.rankings.judgments import Sample, Subtopics
from irmeta.rankings.pool import POOL_ARRAYS, PooledLists
from irmeta.rankings.track_facts import TrackFacts
from irmeta.summaries import Summarized, Summary

Need = Literal["ties", "pool", "retrieved", "subtopics", "sample", "costs"]
"""Arrays that only some measures read: see `JudgedRanks`."""
NEEDED: Mapping[Need, tuple[str, ...]] = {
    "ties": ("ties",),
    "pool": POOL_ARRAYS,
    "retrieved": ("retrieved",),
    "subtopics": ("subtopics", "diversity"),
    "sample": ("sample",),
    "costs": ("costs",),
}
"""The arrays of a view for each need."""


class Reader(Protocol):
    """A measure or preference that reads arrays of a view."""

    @property
    def needs(self) -> Collection[Need]:
        """Arrays that are read beyond ranks and grades."""
        ...


def needs_of(specs: Iterable[Reader]) -> set[Need]:
    """Return the arrays that measures or preferences read beyond ranks and grades."""
    return {need for spec in specs for need in spec.needs}


def check_needs(needs: Collection[str]) -> None:
    """Raise `UsageError` for a need that is not in `NEEDED`."""
    if isinstance(needs, str):
        raise UsageError(f"needs = {needs!r} must be a list of names, e.g. [{needs!r}].")
    for need in needs:
        check_choice("need", need, NEEDED)


P = ParamSpec("P")
Made = TypeVar("Made")
View = TypeVar("View", bound="JudgedView")


@dataclass(frozen=True, repr=False)
class JudgedView(Summarized):
    """The arrays of `JudgedRanks`, which documents them, without the methods that derive views."""

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
    diversity: Self | None = None
    sample: Sample | None = None
    costs: tuple[np.ndarray, np.ndarray] | None = None
    in_qrels: np.ndarray | None = None
    condensed: bool = False
    assumed: np.ndarray | None = None
    assumed_gain: str = "one"
    all_systems: Self | None = None
    lacks: Mapping[str, str] = field(default_factory=dict)
    _cache: dict[Hashable, Any] = field(default_factory=dict)

    def _summary(self) -> Summary:
        sizes = {"query": self.queries, "system": self.systems, "judged doc": self.docs}
        return Summary(self.facts.track, [count(len(items), noun) for noun, items in sizes.items()])

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

    @property
    def of_all_systems(self) -> Self:
        """The view of all systems, of which this one may show only selected ones.

        Raises
        ------
        UsageError
            If the view shows selected systems, and was derived in a way that forgets the others.
        """
        return self.require("all_systems") if self.facts.is_selection else self

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
            need = next((need for need, arrays in NEEDED.items() if name in arrays), name)
            why = self.lacks.get(name, f"ask for it by needs=({need!r},) when the view is made")
            raise UsageError(f"the view of track {self.facts.track!r} has no `{name}`: {why}.")
        return array

    def by_subtopic(self) -> Self:
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


FORGOTTEN = {"all_systems": "it was derived from a view of selected systems alone"}


def replace_arrays(view: View, lacks: dict[str, str] | None = None, /, **arrays: Any) -> View:
    """Return the view with other arrays, without those in `lacks`, for the given reasons.

    A view of selected systems forgets the others: see `through_all_systems`.
    """
    lacks = {**FORGOTTEN, **(lacks or {})}
    lost = {name: why for name, why in lacks.items() if getattr(view, name) is not None}
    arrays |= dict.fromkeys(lost)
    return replace(view, **arrays, lacks={**view.lacks, **lost}, _cache={})


def also_subtopics(
    derive: Callable[Concatenate[View, P], View],
) -> Callable[Concatenate[View, P], View]:
    """Make a function also derive the view of the diversity qrels."""

    @wraps(derive)
    def derive_both(view: View, *args: P.args, **kwargs: P.kwargs) -> View:
        derived = derive(view, *args, **kwargs)
        if view.diversity is None:
            return derived
        return replace(derived, diversity=derive(view.diversity, *args, **kwargs))

    return derive_both


@also_subtopics
def show_systems(view: View, systems: Collection[str]) -> View:
    """Return a view that shows only some systems, of which no array depends on the selection.

    Pool, number of retrieved docs and deepest rank are those of all systems.
    """
    shown = [i for i, name in enumerate(view.systems) if name in systems]
    if not shown:
        raise UsageError(f"no system of track {view.facts.track!r} is left.")

    def columns(array: np.ndarray) -> np.ndarray:
        return np.take(array, shown, axis=1)  # in C order for kernels

    ties, of_all = view.ties, "it holds the lists of all systems: see `all_systems`"
    arrays = {
        "facts": view.facts.show(shown),
        "ranks": columns(view.ranks),
        "lengths": columns(view.lengths),
        "ties": None if ties is None else (columns(ties[0]), columns(ties[1])),
        "costs": None if view.costs is None else (view.costs[0], columns(view.costs[1])),
    }
    return replace(
        replace_arrays(view, {"pooled_lists": of_all}, **arrays),
        all_systems=view,
    )


def through_all_systems(
    derive: Callable[Concatenate[View, P], View],
) -> Callable[Concatenate[View, P], View]:
    """Make a function derive a view of selected systems from the view of all systems."""

    @wraps(derive)
    def derive_shown(view: View, *args: P.args, **kwargs: P.kwargs) -> View:
        if view.all_systems is None:
            return derive(view, *args, **kwargs)
        return show_systems(derive(view.all_systems, *args, **kwargs), view.systems)

    return derive_shown


def also_diversity(
    derive: Callable[Concatenate[View, P], View],
) -> Callable[Concatenate[View, P], View]:
    """Make a function also derive the view of the diversity qrels; see `through_all_systems`."""
    return through_all_systems(also_subtopics(derive))

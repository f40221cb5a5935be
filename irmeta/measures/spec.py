"""What a measure is: its registration, its parameters, and how its name is printed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from irmeta.measures.events import Events
from irmeta.measures.parameters import (
    REL,
    Parameter,
    average_parameter,
    printed,
    unjudged_parameter,
)
from irmeta.rankings.judged import JudgedRanks, Need

TREC_EVAL = "trec_eval 9.0.8, m_{}.c"
"""Where most definitions come from: the source of a measure in trec_eval."""
Params = Mapping[str, Any]
Cutoff = int | float | None
Cutoffs = Sequence[Any]


class Compute(Protocol):
    """A measure's values: float64 [cutoff, query, system], for one block of queries."""

    def __call__(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray: ...


@dataclass(frozen=True)
class Term:
    """One doc's share of a value: where it is and what it adds."""

    rank: int | None
    doc: str
    grade: int
    arithmetic: str
    amount: float


@dataclass(frozen=True)
class Trace:
    """The arithmetic behind one value: the terms added up, over a divisor.

    ``value = sum(term.amount) / divisor``, or `undefined` where there is nothing to divide by.
    """

    terms: tuple[Term, ...]
    divisor: float
    divisor_is: str
    undefined: float | None = None

    @property
    def value(self) -> float:
        if self.undefined is not None:
            return self.undefined
        return sum(t.amount for t in self.terms) / self.divisor


@dataclass(frozen=True)
class OneList:
    """One system's list for one query, as plain Python values, for `Trace`.

    Attributes
    ----------
    judged
        (rank or None, doc, grade) of every judged doc, retrieved ones first by rank. Where unjudged
        docs are given a gain, they are among them, as `UNJUDGED_DOC`.
    length
        How long the list is; 0: there is none.
    ties
        By rank, the first and last rank of its block of tied docs; for measures that need it.
    pool_depth
        By doc, the rank from which on it is in the pool; for measures that need it.
    complete_depth
        The depth to which the pool of the query is complete; ditto.
    retrieved
        How many distinct docs all systems together retrieve; ditto.
    unretrieved_by_all
        The judged docs that no system retrieves.
    subtopics
        Names of the subtopics of the query; for measures that need them.
    subtopic_grades
        By doc, its grade for each subtopic that it is judged for; for measures that need them.
    """

    judged: tuple[tuple[int | None, str, int], ...]
    length: int
    deepest_rank: int
    highest_grade: int
    negative: str
    condensed: bool = False
    assumed_gain: str | None = None
    ties: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    pool_depth: Mapping[str, float] = field(default_factory=dict)
    complete_depth: int = 0
    retrieved: int = 0
    unretrieved_by_all: frozenset[str] = frozenset()
    subtopics: tuple[str, ...] = ()
    subtopic_grades: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def relevant(self, rel: int) -> list[tuple[int | None, str, int]]:
        """The relevant docs, retrieved ones first by rank."""
        return [d for d in self.judged if d[2] >= rel]

    def within(self, k: int | None) -> list[tuple[int, str, int]]:
        """The judged docs at ranks up to k, by rank."""
        last = self.length if k is None else k
        return [(r, doc, grade) for r, doc, grade in self.judged if r is not None and r <= last]

    def counts_as_judged(self, grade: int) -> bool:
        """Whether a doc of this grade is judged, under the policy for grades below 0."""
        return grade >= 0 or self.negative == "nonrelevant"

    def pooled_at(self, k: int) -> OneList:
        """The list as it is judged by the pool of depth k, where the query's pool is deeper."""
        if k >= self.complete_depth:
            return self
        kept = tuple(d for d in self.judged if self.pool_depth[d[1]] <= k)
        if not self.condensed:
            return replace(self, judged=kept)
        listed = [d for d in kept if d[0] is not None]
        renumbered = [(rank, doc, grade) for rank, (_, doc, grade) in enumerate(listed, 1)]
        lost = [d for d in kept if d[0] is None]
        return replace(self, judged=(*renumbered, *lost), length=len(renumbered))


@dataclass(frozen=True)
class Measure:
    """One measure's registration.

    Attributes
    ----------
    cutoff
        Whether ``@k`` may or must follow the name; `cutoff_prefix` stands before k (ASL@g10).
    cutoff_is
        ``rank``: a whole number of at least 1; ``level``: a number from 0 to 1 (IPrec@0.1).
    direction
        1: greater is better; -1: less is better.
    bounds
        Least and greatest value possible.
    no_relevant
        The value for a query without relevant docs: 0 where trec_eval prints 0, else NaN; None:
        relevant docs do not matter to it.
    empty_list
        In words, what a judged query without a list scores: the measure's own worst.
    family
        ``utility`` (the user stops somewhere), ``recall`` (every relevant doc counts), ``count``
        (facts rather than quality).
    monotone
        Whether the value can only rise as the cutoff does, under the default parameters.
    counts_irrelevant
        Whether means say how many lists hold no non-relevant doc.
    unjudged
        What else than non-relevant unjudged docs may be; None: ``condensed``, and for the family
        ``utility`` ``upper`` and ``upper-gmax`` as well.
    average
        The usual mean over queries.
    needs
        What of `JudgedRanks` beyond ranks and grades it reads under some parameters.
    events
        The measure as a step function of k, where it is one; None where not under these parameters.
    revision
        Raised when a change of the code changes numbers.
    printed
        The parameters that a canonical name prints; None: those that are not the default. It
        refuses those that do not go together, and is told the cutoff.
    """

    name: str
    summary: str
    compute: Compute
    trace: Callable[[OneList, Params, Any], Trace]
    source: str
    parameters: tuple[Parameter, ...] = (REL,)
    cutoff: Literal["none", "optional", "required"] = "optional"
    cutoff_prefix: str = ""
    cutoff_is: Literal["rank", "level"] = "rank"
    direction: Literal[1, -1] = 1
    bounds: tuple[float, float] = (0.0, 1.0)
    no_relevant: float | None = 0.0
    empty_list: str = "0"
    family: Literal["utility", "recall", "count"] = "recall"
    monotone: bool = True
    counts_irrelevant: bool = False
    unjudged: tuple[str, ...] | None = None
    average: str = "arithmetic"
    needs: Callable[[Params], Collection[Need]] = lambda params: ()
    events: Callable[[JudgedRanks, Params], Events | None] | None = None
    revision: int = 1
    printed: Callable[[Params, Cutoff], Sequence[str]] | None = None

    @property
    def display(self) -> str:
        """How values print: a `format` of irmeta.schema.Column."""
        if self.family == "count":
            return "count"
        return "score" if max(map(abs, self.bounds)) <= 1 else "length"

    @cached_property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """Its own parameters, and those that every measure takes."""
        choices = self.unjudged
        if choices is None:
            upper = ("upper", "upper-gmax") if self.family == "utility" else ()
            choices = ("condensed", *upper)
        shared = [unjudged_parameter(choices)] if choices else []
        return (*self.parameters, *shared, average_parameter(self.average))


@dataclass(frozen=True)
class Spec:
    """A measure with its parameters and cutoff settled: what a name stands for."""

    measure: Measure
    params: tuple[tuple[str, Any], ...]
    cutoff: Cutoff

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.params)

    @cached_property
    def name(self) -> str:
        """The canonical name: it prints every parameter that changes the number."""
        settings, measure = self.settings, self.measure
        own = {p.name for p in measure.parameters}
        changed = [p.name for p in measure.all_parameters if settings[p.name] != p.default]
        shown = changed
        if measure.printed is not None:
            shared = [name for name in changed if name not in own]
            shown = [*measure.printed(settings, self.cutoff), *shared]
        inside = ",".join(f"{name}={printed(settings[name])}" for name in shown)
        cut = "" if self.cutoff is None else f"@{measure.cutoff_prefix}{printed(self.cutoff)}"
        return measure.name + (f"({inside})" if inside else "") + cut

    @property
    def rel(self) -> int:
        """The least grade that is relevant to this measure."""
        return self.settings.get("rel", 1)

    @property
    def unjudged(self) -> str:
        """What unjudged docs of a list are."""
        return self.settings.get("unjudged", "nonrelevant")

    @property
    def average(self) -> str:
        """How its values become one for all queries."""
        return self.settings["average"]

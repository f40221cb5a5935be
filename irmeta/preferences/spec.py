"""Registration of preferences: parameters, traces and canonical names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from irmeta.naming.grammar import Cutoff, Params, format_name
from irmeta.naming.parameters import REL, Parameter, unjudged_parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need
from irmeta.rankings.one_list import OneList
from irmeta.results.pair_preferences import BlockPreferences


class Compare(Protocol):
    """Function that compares all pairs of systems on one block of queries."""

    def __call__(self, view: JudgedRanks, params: Params, k: int | None) -> BlockPreferences:
        """Compare the systems; ranks beyond `k` are not retrieved."""
        ...


@dataclass(frozen=True)
class PairTerm:
    """Contribution of one recall level to a preference.

    Attributes
    ----------
    part
        Grade, subtopic or list that the level belongs to; empty if there is only one part.
    level
        Recall level i, from 1, within the part.
    rank, doc, other_rank, other_doc
        Rank and name of the i-th relevant doc in each list; None if not retrieved.
    sign
        1 where the first list is better, -1 where worse, 0 for a tie.
    weight
        Weight of the level; the term is sign x weight.
    """

    part: str
    level: int
    rank: int | None
    doc: str | None
    other_rank: int | None
    other_doc: str | None
    sign: int
    weight: float


@dataclass(frozen=True)
class PairTrace:
    """Arithmetic behind one preference: the sum of its terms; undefined without any level."""

    terms: tuple[PairTerm, ...]

    @property
    def value(self) -> float | None:
        """The preference; None if it is undefined."""
        return sum(t.sign * t.weight for t in self.terms) if self.terms else None


class Trace(Protocol):
    """Function that recomputes one preference in plain Python."""

    def __call__(self, one: OneList, other: OneList, params: Params, k: int | None, /) -> PairTrace:
        """Return the terms of the preference of the first list over the second."""
        ...


@dataclass(frozen=True)
class PreferenceRule:
    """Registration of one preference.

    A preference is antisymmetric, so it has no direction: above 0 the first list is better. It is
    undefined for a query without relevant docs.

    Attributes
    ----------
    compare
        See `Compare`.
    trace
        See `Trace`.
    source
        Reference with DOI and equation.
    cutoff
        Whether ``@k`` may or must follow the name: ranks beyond k are not retrieved.
    needs
        Function from parameters to the arrays of `JudgedRanks` that are read beyond ranks and
        grades.
    revision
        Incremented when a change of the code changes values.
    printed
        Function from parameters and cutoff to the parameters that a canonical name prints; raises
        an error for parameters that cannot be combined. None: print all that are not the default.
    """

    name: str
    summary: str
    compare: Compare
    trace: Trace
    source: str
    parameters: tuple[Parameter, ...] = (REL,)
    cutoff: Literal["none", "optional", "required"] = "optional"
    needs: Callable[[Params], Collection[Need]] = lambda params: ()
    revision: int = 1
    printed: Callable[[Params, Cutoff], Sequence[str]] | None = None
    cutoff_prefix: str = ""
    cutoff_is: Literal["rank", "level"] = "rank"

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the preference, then the parameters of every preference."""
        return (*self.parameters, unjudged_parameter(("condensed",)))


@dataclass(frozen=True)
class PreferenceSpec:
    """A preference with the values of its parameters and its cutoff: the meaning of a name."""

    rule: PreferenceRule
    params: tuple[tuple[str, Any], ...]
    cutoff: int | None

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters by name."""
        return dict(self.params)

    @cached_property
    def name(self) -> str:
        """Canonical name, which prints every parameter that changes the value."""
        return format_name(self.rule, self.settings, self.cutoff)

    @property
    def rel(self) -> int:
        """Least grade that is relevant to this preference."""
        return self.settings.get("rel", 1)

    @property
    def needs(self) -> frozenset[Need]:
        """Arrays that the preference reads beyond ranks and grades."""
        return frozenset(self.rule.needs(self.settings))

    @property
    def background(self) -> str | None:
        """The qrels set of the background interest, if it is another than that of the subtopics."""
        background = self.settings.get("background")
        return None if background in ("yes", "no") else background

"""Registration of preferences, and the traces that their functions return."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from irmeta.naming import Parameter, Params, Registration, unjudged_parameter
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.one_list import OneList
from irmeta.rankings.view import Need
from irmeta.results.verdicts import BlockPreferences


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


@dataclass(frozen=True, kw_only=True)
class PreferenceRule(Registration):
    """Registration of one preference; for name, parameters and cutoff see `Registration`.

    A preference is antisymmetric, so it has no direction: above 0 the first list is better. It is
    undefined for a query without relevant docs. Ranks beyond the cutoff are not retrieved.

    Attributes
    ----------
    compare
        See `Compare`.
    trace
        See `Trace`.
    needs
        Function from parameters to the arrays of `JudgedRanks` that are read beyond ranks and
        grades.
    """

    compare: Compare
    trace: Trace
    needs: Callable[[Params], Collection[Need]] = lambda params: ()

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the preference, then the parameters of every preference."""
        return (*self.parameters, unjudged_parameter(("condensed",)))

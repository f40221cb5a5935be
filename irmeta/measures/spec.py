"""Registration of measures, and what their functions return: traces and step functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from irmeta.naming import (
    Cutoff,
    Parameter,
    Params,
    Registration,
    average_parameter,
    unjudged_parameter,
)
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.one_list import OneList
from irmeta.rankings.view import Need
from irmeta.schema.columns import Display

TREC_EVAL = "trec_eval 9.0.8, m_{}.c"
"""Format of `Measure.source` for a measure that trec_eval defines."""
Cutoffs = Sequence[Any]


class Compute(Protocol):
    """Function that computes values, float64 [cutoff, query, system], of one block of queries."""

    def __call__(self, view: JudgedRanks, params: Params, ks: Cutoffs) -> np.ndarray:
        """Compute the values at each cutoff."""
        ...


@dataclass(frozen=True)
class Term:
    """Contribution of one doc to a value."""

    rank: int | None
    doc: str
    grade: float
    arithmetic: str
    amount: float


@dataclass(frozen=True)
class Trace:
    """Arithmetic behind one value: a sum of terms over a divisor.

    ``value = sum(term.amount) / divisor``, or `undefined` where the divisor is 0.
    """

    terms: tuple[Term, ...]
    divisor: float
    divisor_is: str
    undefined: float | None = None

    @property
    def value(self) -> float:
        """Value of the measure: the sum of the terms over the divisor."""
        if self.undefined is not None:
            return self.undefined
        return sum(t.amount for t in self.terms) / self.divisor


Steps = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Ranks, offsets and amounts, as the first fields of `Events` and the arguments of `add_up`."""


@dataclass(frozen=True)
class Events:
    """Steps of a measure for every query and system of a block.

    The value at k is the sum of the amounts at ranks up to k, times `scale`, over the divisor at k.
    Docs that are not retrieved add 0 at every k, whatever their amount.

    Attributes
    ----------
    ranks
        [docs, systems], as `JudgedRanks.ranks`, ascending in the rows of a query for each system.
        Amounts are added up in this order; `compute` should use the same order.
    offsets
        int64 [queries + 1]: first row of each query.
    amounts
        float64 [docs, systems].
    divisors
        Function from int64 [k] to float64 [k, queries], or [1, queries] if equal for all k.
    undefined
        Value where the divisor is 0.
    scale
        Factor of every sum.
    """

    ranks: np.ndarray
    offsets: np.ndarray
    amounts: np.ndarray
    divisors: Callable[[np.ndarray], np.ndarray]
    undefined: float = 0.0
    scale: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Measure(Registration):
    """Registration of one measure; for name, parameters and cutoff see `Registration`.

    Attributes
    ----------
    direction
        1: greater is better; -1: less is better.
    format, unit
        How values are shown: see `irmeta.schema.columns.Display`.
    bounds
        Least and greatest possible value.
    no_relevant
        Value for a query without relevant docs: 0 where trec_eval prints 0, else NaN; None: the
        measure does not depend on relevant docs.
    empty_list
        Description of the score of a judged query without a list: the measure's worst value.
    family
        ``utility`` (the user stops somewhere), ``recall`` (every relevant doc counts), ``count``
        (facts instead of quality).
    monotone
        Whether the value never falls as the cutoff grows, under the default parameters.
    counts_irrelevant
        Whether tables of means count the lists without a non-relevant doc.
    gained_only
        Whether values depend on the judged docs of a grade above 0 alone, under gains that give no
        other doc one, and without `unjudged` and `needs`.
    unjudged
        Alternatives to counting unjudged docs as non-relevant; None: ``condensed``, and for the
        family ``utility`` also ``upper`` and ``upper-gmax``.
    average
        Default mean over queries.
    needs
        Function from parameters to the arrays of `JudgedRanks` that are read beyond ranks and
        grades.
    events
        Function that returns the measure as a step function of k, or None where the parameters
        allow none.
    simplify
        Function from parameters and cutoff to the parameters, with None for a value that equals the
        default under the other parameters and the cutoff: one measure then has one name.
    """

    compute: Compute
    trace: Callable[[OneList, Params, Any], Trace]
    direction: Literal[1, -1] = 1
    format: Literal["score", "length", "count"] = "score"
    unit: str = ""
    bounds: tuple[float, float] = (0.0, 1.0)
    no_relevant: float | None = 0.0
    empty_list: str = "0"
    family: Literal["utility", "recall", "count"] = "recall"
    monotone: bool = True
    counts_irrelevant: bool = False
    gained_only: bool = False
    unjudged: tuple[str, ...] | None = None
    average: str = "arithmetic"
    needs: Callable[[Params], Collection[Need]] = lambda params: ()
    events: Callable[[JudgedRanks, Params], Events | None] | None = None
    simplify: Callable[[Params, Cutoff], dict[str, Any]] | None = None

    @property
    def display(self) -> Display:
        """How values are shown."""
        return Display(self.format, self.unit, self.direction)

    @property
    def all_parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the measure, then the parameters of every measure."""
        choices = self.unjudged
        if choices is None:
            upper = ("upper", "upper-gmax") if self.family == "utility" else ()
            choices = ("condensed", *upper)
        shared = [unjudged_parameter(choices)] if choices else []
        return (*self.parameters, *shared, average_parameter(self.average))

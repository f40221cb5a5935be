"""Registration of measures: parameters, traces, step functions and canonical names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from irmeta.errors import IrmetaError, MeasureError, short
from irmeta.naming.grammar import Cutoff, Params, format_name
from irmeta.naming.parameters import (
    REL,
    Parameter,
    average_parameter,
    unjudged_parameter,
)
from irmeta.rankings.judged import JudgedRanks
from irmeta.rankings.needs import Need
from irmeta.rankings.one_list import OneList
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
    grade: int
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


@dataclass(frozen=True)
class Measure:
    """Registration of one measure.

    Attributes
    ----------
    cutoff
        Whether ``@k`` may or must follow the name; `cutoff_prefix` precedes k (ASL@g10).
    cutoff_is
        ``rank``: an integer of at least 1; ``level``: a number from 0 to 1 (IPrec@0.1).
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
    revision
        Incremented when a change of the code changes values.
    printed
        Function from parameters and cutoff to the parameters that a canonical name prints; raises
        an error for parameters that cannot be combined. None: print all that are not the default.
    simplify
        Function from parameters and cutoff to the parameters, with None for a value that equals the
        default under the other parameters and the cutoff: one measure then has one name.
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
    format: Literal["score", "length", "count"] = "score"
    unit: str = ""
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


@dataclass(frozen=True)
class Spec:
    """A measure with the values of its parameters and its cutoff: the meaning of a name.

    `asked` is the name as the user wrote it, `asked_too` other names of the measure that the user
    wrote; specs that differ only in these are equal.
    """

    measure: Measure
    params: tuple[tuple[str, Any], ...]
    cutoff: Cutoff
    asked: str = field(default="", compare=False)
    asked_too: tuple[str, ...] = field(default=(), compare=False)

    def compute(self, view: JudgedRanks, ks: Cutoffs) -> np.ndarray:
        """Return the values at each cutoff, float64 [cutoff, query, system].

        Raises
        ------
        MeasureError
            If a measure of another package fails, or returns another shape or type.
        """
        try:
            values = self.measure.compute(view, self.settings, ks)
        except IrmetaError:
            raise
        except (Exception, SystemExit) as error:
            if self.measure.compute.__module__.partition(".")[0] == "irmeta":
                raise
            reason = short(" ".join(f"{type(error).__name__}: {error}".split()))
            raise MeasureError(f"measure {self.name} failed: {reason}") from error
        expected = (len(ks), *view.lengths.shape)
        shape, dtype = np.shape(values), getattr(values, "dtype", type(values).__name__)
        if shape != expected or dtype != np.float64:
            raise MeasureError(
                f"measure {self.name} returned {dtype} of shape {shape}, not float64 of shape "
                f"{expected}, that is [cutoff, query, system]: its package must be mended."
            )
        return values

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle names: another process has the measure's functions, which need no pickling."""
        from irmeta.measures.names import named_spec  # imports this module

        return named_spec, (self.name, self.asked, self.asked_too)

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters by name."""
        return dict(self.params)

    @cached_property
    def name(self) -> str:
        """Canonical name, which prints every parameter that changes the value."""
        return format_name(self.measure, self.settings, self.cutoff)

    @property
    def names(self) -> tuple[str, ...]:
        """Names as the user wrote them, in order; the canonical name if nobody wrote one."""
        return (self.asked or self.name, *self.asked_too)

    @property
    def rel(self) -> int:
        """Least grade that is relevant to this measure."""
        return self.settings.get("rel", 1)

    @property
    def unjudged(self) -> str:
        """Treatment of the unjudged docs of a list."""
        return self.settings.get("unjudged", "nonrelevant")

    @property
    def average(self) -> str:
        """Kind of mean over queries."""
        return self.settings["average"]


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

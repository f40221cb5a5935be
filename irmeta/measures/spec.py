"""What a measure is: its registration, its parameters, and how its name is printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from irmeta.errors import MeasureError, did_you_mean
from irmeta.rankings.judged import JudgedRanks

Params = Mapping[str, Any]
Cutoffs = Sequence[int | None]


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
        (rank or None, doc, grade) of every judged doc, retrieved ones first by rank.
    length
        How long the list is; 0: there is none.
    """

    judged: tuple[tuple[int | None, str, int], ...]
    length: int
    deepest_rank: int
    highest_grade: int
    negative: str

    def relevant(self, rel: int) -> list[tuple[int | None, str, int]]:
        """The relevant docs, retrieved ones first by rank."""
        return [d for d in self.judged if d[2] >= rel]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a measure.

    Attributes
    ----------
    kind
        ``whole`` or ``number`` with `low` and `high` as bounds (`open` ones excluded), or
        ``choice``.
    """

    name: str
    default: Any
    meaning: str
    kind: Literal["whole", "number", "choice"] = "whole"
    low: float = 1
    high: float = float("inf")
    open: bool = False
    choices: tuple[str, ...] = ()

    def read(self, text: str, of: str) -> Any:
        """The value that `text` writes, checked."""
        if self.kind == "choice":
            if text not in self.choices:
                hint = did_you_mean(text, self.choices)
                raise MeasureError(f"{of}: {self.name}={text} is not a choice. {hint}")
            return text
        try:
            value = int(text) if self.kind == "whole" else float(text)
        except ValueError:
            kind = "a whole number" if self.kind == "whole" else "a number"
            raise MeasureError(f"{of}: {self.name}={text} is not {kind}.") from None
        inside = self.low < value < self.high if self.open else self.low <= value <= self.high
        if not inside:
            within = f"between {self.low:g} and {self.high:g}"
            raise MeasureError(f"{of}: {self.name}={text} is not {within}.")
        return value


REL = Parameter("rel", 1, "least grade that is relevant", high=127)


@dataclass(frozen=True)
class Measure:
    """One measure's registration.

    Attributes
    ----------
    cutoff
        Whether ``@k`` may or must follow the name; `cutoff_prefix` stands before k (ASL@g10).
    direction
        1: greater is better; -1: less is better.
    bounds
        Least and greatest value possible.
    no_relevant
        The value for a query without relevant docs: 0 where trec_eval prints 0, else NaN.
    empty_list
        In words, what a judged query without a list scores: the measure's own worst.
    family
        ``utility`` (the user stops somewhere) or ``recall`` (every relevant doc counts).
    monotone
        Whether the value can only rise as a list goes on, for a fixed query.
    counts_irrelevant
        Whether means say how many lists hold no non-relevant doc.
    revision
        Raised when a change of the code changes numbers.
    printed
        The parameters that a canonical name prints; None: those that are not the default.
    """

    name: str
    summary: str
    compute: Compute
    trace: Callable[[OneList, Params, int | None], Trace]
    source: str
    parameters: tuple[Parameter, ...] = (REL,)
    cutoff: Literal["none", "optional", "required"] = "optional"
    cutoff_prefix: str = ""
    direction: Literal[1, -1] = 1
    bounds: tuple[float, float] = (0.0, 1.0)
    no_relevant: float = 0.0
    empty_list: str = "0"
    family: Literal["utility", "recall"] = "recall"
    monotone: bool = True
    counts_irrelevant: bool = False
    revision: int = 1
    printed: Callable[[Params], Sequence[str]] | None = None


@dataclass(frozen=True)
class Spec:
    """A measure with its parameters and cutoff settled: what a name stands for."""

    measure: Measure
    params: tuple[tuple[str, Any], ...]
    cutoff: int | None

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.params)

    @property
    def name(self) -> str:
        """The canonical name: it prints every parameter that changes the number."""
        settings = self.settings
        if self.measure.printed is not None:
            shown = list(self.measure.printed(settings))
        else:
            shown = [p.name for p in self.measure.parameters if settings[p.name] != p.default]
        inside = ",".join(f"{name}={_printed(settings[name])}" for name in shown)
        cut = "" if self.cutoff is None else f"@{self.measure.cutoff_prefix}{self.cutoff}"
        return self.measure.name + (f"({inside})" if inside else "") + cut

    @property
    def rel(self) -> int:
        """The least grade that is relevant to this measure."""
        return self.settings.get("rel", 1)


def _printed(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)

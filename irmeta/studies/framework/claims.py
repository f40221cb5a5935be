"""`Claim`: a claim of a paper, declared beside the tables of its study.

A study names a function of its options that yields its claims. The statistic of a claim is a
function of tables that the study has made, of one track or of all, so that claims read no store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from irmeta.errors import IrmetaError
from irmeta.schema.columns import Column, Table, stored

if TYPE_CHECKING:
    import polars as pl

    from irmeta.studies.framework.study import Tables

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be said"
FEWEST = 5
"""Systems below which neither the best system nor an order of systems says much."""

CLAIMS = Table(
    "claims",
    ("claim", "track"),
    {
        "claim": Column("name", "short name of the claim"),
        "track": Column("name", "track; null: over tracks, or without a track", null=True),
        "text": Column("text", "the claim", show="none"),
        "where": Column("text", "where the paper states it", label="in the paper", show="none"),
        "kind": Column(
            "name",
            "paper: as the paper computes it; check: by another test, margin, measure or parameter",
        ),
        "statistic": Column("text", "what the number is"),
        "number": stored("real", "the number; NaN: none can be computed"),
        "shown": Column("text", "the number as text; null: none", null=True, label="here"),
        "condition": Column("text", "numbers for which the claim holds", label="holds for"),
        "verdict": Column("name", f"{HOLDS}, {FAILS} or {OPEN}"),
        "why": Column(
            "text", "why it cannot be said, or what makes up the number; null: nothing", null=True
        ),
        "printed": Column(
            "text", "the paper's number; null: none", null=True, format="paper", label="the paper"
        ),
        "tracks": stored("count", "over tracks: tracks with a verdict; null: another row", True),
        "holding": stored("count", "over tracks: of these, tracks on which it holds", True),
    },
    caption="The claims of the paper, over the tracks and on each track.",
    by="all",
)
"""The table that every study with claims has."""


class CannotBeSaid(Exception):  # noqa: N818  # a verdict, not an error
    """Raised by a statistic that the tables cannot give; the message is the reason."""


class Found(NamedTuple):
    """A number with its components in words.

    Attributes
    ----------
    why
        The parts of the number, e.g. "3,825 pairs against 3,666".
    printed
        The paper's number for the same track; empty: none.
    """

    number: float
    why: str = ""
    printed: str = ""


@dataclass(frozen=True)
class Condition:
    """An interval of numbers.

    Attributes
    ----------
    low, high
        The bounds.
    strict
        Whether the bounds are excluded.
    """

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    @classmethod
    def of(cls, text: str) -> Condition:
        """Parse ``> 0.5``, ``>= 0.5``, ``< 0.5``, ``<= 0.5`` or ``0.4 to 0.6``, ends included.

        Raises
        ------
        IrmetaError
            For another text: an error in the study.
        """
        sign, _, bound = text.partition(" ")
        try:
            if sign in (">", ">="):
                return cls(low=float(bound), strict=sign == ">")
            if sign in ("<", "<="):
                return cls(high=float(bound), strict=sign == "<")
            low, high = map(float, text.split(" to "))
        except ValueError:
            raise IrmetaError(f"not a condition of a claim: {text!r}") from None
        return cls(low, high)

    def __call__(self, number: float) -> bool:
        """Check whether a number is in the interval, but for rounding errors."""
        from irmeta.equality import TIE  # imported late: commands start without numpy

        slack = -TIE if self.strict else TIE
        return self.low - slack <= number <= self.high + slack

    def text(self, written: Callable[[float], str]) -> str:
        """Return the interval in words, with bounds as `written` writes them."""
        if math.isinf(self.high):
            return f"{'above' if self.strict else 'at least'} {written(self.low)}"
        if math.isinf(self.low):
            return f"{'below' if self.strict else 'at most'} {written(self.high)}"
        return f"{written(self.low)} to {written(self.high)}"


SHARES: Mapping[object, Condition] = {
    name: Condition.of(text)
    for name, text in {
        "most": "> 0.5",
        "nearly all": ">= 0.9",
        "all": ">= 1",
        "about half": "0.4 to 0.6",
    }.items()
}
"""Conditions of the share of tracks on which a claim holds, by the words of the papers."""

Statistic = Callable[["Tables"], "float | Found"]
"""Function of tables that returns a number, or raises `CannotBeSaid`.

The tables of one track, or all tables for a claim without tracks; tables over tracks are the same
in both.
"""
Over = Literal["most", "nearly all", "all", "about half", "mean", "once"] | Statistic


@dataclass(frozen=True)
class Claim:
    """A claim of a paper: a number and the condition under which the claim holds.

    Attributes
    ----------
    name
        Short name, unique in its study.
    text, where
        The claim as a sentence, and the section, table or figure of the paper.
    number
        What the number is, e.g. "best ASL@g10".
    statistic, holds
        The number of a track, and the condition under which the claim holds: see `Condition.of`.
    over
        The verdict over tracks. A key of `SHARES`: the share of tracks on which the claim holds,
        among those with a verdict, meets that condition; ``mean``: the mean number of these tracks
        meets `holds`; a statistic: its number of all tables meets `holds`; ``once``: the claim is
        about no single track, and its statistic is computed once, from all tables.
    printed
        The paper's number; empty: none.
    format
        Format of the number: see `irmeta.schema.columns.Column`.
    systems
        Fewest systems of a track with a verdict.
    check
        Whether the claim is computed in another way than in the paper.
    """

    name: str
    text: str
    where: str
    number: str
    statistic: Statistic
    holds: str
    over: Over = "most"
    printed: str = ""
    format: str = ".3f"
    systems: int = FEWEST
    check: bool = False

    @cached_property
    def condition(self) -> Condition:
        """The condition under which the claim holds."""
        return Condition.of(self.holds)


def value(tables: Tables, table: str, column: str, /, **row: object) -> float:
    """Return the number in the only row of a table with some values.

    Raises
    ------
    CannotBeSaid
        If there is no such row, or its number is null or NaN.
    """
    rows = tables[table].filter(**row)
    number = rows[column].item() if rows.height else None
    if number is None or math.isnan(number):
        named = ", ".join(str(one) for one in row.values())
        raise CannotBeSaid(f"no {column.replace('_', ' ')}{' of ' * bool(named)}{named}")
    return float(number)


Number = Callable[["Tables"], float]


def cell(table: str, column: str, /, **row: object) -> Number:
    """Return the statistic that is a `value` of a table."""
    return lambda tables: value(tables, table, column, **row)


def over_rows(
    table: str, column: str, /, how: str, why: str, *kept: pl.Expr, **row: object
) -> Number:
    """Return the statistic over the defined numbers of several rows of a table.

    Parameters
    ----------
    how
        Method of a polars Series, such as ``mean`` or ``min``.
    why
        Why it cannot be said if no row has a number.
    *kept, **row
        Rows to keep, as for `polars.DataFrame.filter`.
    """

    def statistic(tables: Tables) -> float:
        numbers = tables[table].filter(*kept, **row)[column].drop_nulls().drop_nans()
        if numbers.is_empty():
            raise CannotBeSaid(why)
        return float(getattr(numbers, how)())

    return statistic


def minus(one: Number, other: Number, form: str = ".3f") -> Callable[[Tables], Found]:
    """Return the statistic that is a difference; it states both numbers in a format of Python."""

    def statistic(tables: Tables) -> Found:
        a, b = one(tables), other(tables)
        return Found(a - b, f"{a:{form}} against {b:{form}}".replace("-", "\u2212"))

    return statistic

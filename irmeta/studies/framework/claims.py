"""`Claim`: a claim of a paper, declared beside the tables of its study; and the verdicts on claims.

A study names a function of its options that yields its claims. The statistic of a claim is a
function of tables that the study has made, of one track or of all, so that claims read no store.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import polars as pl

from irmeta.errors import IrmetaError
from irmeta.options import Options
from irmeta.phrases import count
from irmeta.report.table_grid import format_value
from irmeta.schema.columns import Column
from irmeta.studies.framework.study import (
    FAILS,
    HOLDS,
    NO_INTERVAL,
    OPEN,
    STUDIED_TRACKS,
    Study,
    Tables,
)

FEWEST = 5
"""Systems below which neither the best system nor an order of systems says much."""
FEWEST_TRACKS = 5
"""Tracks below which a correlation over tracks says little."""
Statistic = Callable[[Tables], "float | Found"]
"""Function of tables that returns a number, or raises `CannotBeSaid`.

The tables of one track, or all tables for a claim without tracks; tables over tracks are the same
in both.
"""
Over = Literal["most", "nearly all", "all", "about half", "mean", "once"] | Statistic
Number = Callable[[Tables], float]
Row = dict[str, Any]
UNKNOWN = (
    *("low", "high", "se", "tracks", "holding", "undecided", "open", "share_low", "share_high"),
    *("mean", "mean_low", "mean_high", "next_low", "next_high"),
)
"""Columns of the table `claims` that are null unless a row says otherwise."""


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
    """An interval of numbers; `strict`: without its bounds."""

    low: float = -math.inf
    high: float = math.inf
    strict: bool = False

    @classmethod
    def of(cls, text: str) -> Condition:
        """Parse ``> 0.5``, ``>= 0.5``, ``< 0.5``, ``<= 0.5`` or ``0.4 to 0.6``, ends included."""
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

    def distance(self, number: float) -> float:
        """Return the distance of a number to the nearest bound, negative out of the interval."""
        return min(number - self.low, self.high - number)

    @property
    def bounds(self) -> dict[str, float | None]:
        """The bounds as columns of the table `claims`."""
        bounds = {"bound_low": self.low, "bound_high": self.high}
        return {name: None if math.isinf(bound) else bound for name, bound in bounds.items()}

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
    about
        ``systems``: on orders or pairs of systems, which a track of few systems cannot decide;
        ``queries``: on queries or docs.
    beside
        Name of the check that is another reading of the claim, whose verdict is in the row of this
        claim too, and words for that reading; None: there is none.
    bound
        Who states the bounds of `holds`: the ``paper``, or ``irmeta`` where the paper states none.
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
    about: Literal["systems", "queries"] = "systems"
    bound: Literal["paper", "irmeta"] = "paper"
    beside: tuple[str, str] | None = None

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
        named = ", ".join(map(str, row.values()))
        raise CannotBeSaid(f"no {column.replace('_', ' ')}{' of ' * bool(named)}{named}")
    return float(number)


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


def rho_of_tracks(tracks: pl.DataFrame, first: str, second: str) -> Found:
    """Return Spearman's rho of two columns of a frame with a row for each track.

    Raises
    ------
    CannotBeSaid
        If fewer than `FEWEST_TRACKS` tracks have both numbers, or all have the same.
    """
    known = tracks.select(first, second).drop_nulls().drop_nans()
    if known.height < FEWEST_TRACKS:
        raise CannotBeSaid(f"{count(known.height, 'track')}, fewer than {FEWEST_TRACKS}")
    rho = known.select(pl.corr(first, second, method="spearman")).item()
    if math.isnan(rho):
        raise CannotBeSaid("all tracks have the same number")
    return Found(rho, f"over {known.height} tracks")


class Verdict(NamedTuple):
    """Whether a claim holds, with its number and why."""

    verdict: str
    computed: Found


class TablesOfTrack(dict[str, pl.DataFrame]):
    """The tables of one track, each filtered at its first use; tables over tracks are complete."""

    def __init__(self, tables: Tables, track: str) -> None:
        super().__init__()
        self._tables, self._track = tables, track

    def __missing__(self, name: str) -> pl.DataFrame:
        frame = self._tables[name]
        rows = frame.filter(track=self._track) if "track" in frame.columns else frame
        return self.setdefault(name, rows)


def claim_rows(study: Study, tables: Tables, options: Options) -> Iterator[Row]:
    """Yield the rows of the table `claims`: all claims over tracks, then those of each track.

    `tables` have the rows of included tracks; `studied_tracks` has all tracks.
    """
    studied = tables.get(STUDIED_TRACKS.name)
    tracks = [] if studied is None else studied.rows(named=True)
    of_track = {row["track"]: TablesOfTrack(tables, row["track"]) for row in tracks}
    by_track: dict[str, list[Row]] = {track: [] for track in of_track}
    claims = list[Claim](study.call("claims", options))
    over = list[Row]()
    for claim in claims:
        printed = {"printed": claim.printed or None}
        if claim.over == "once":
            over.append(_row(claim, _verdict(claim.statistic, claim.condition, tables)) | printed)
            continue
        verdicts = {row["track"]: _on_track(claim, row, of_track[row["track"]]) for row in tracks}
        over.append(_over_tracks(claim, [*verdicts.values()], tables) | printed)
        for track, verdict in verdicts.items():
            by_track[track].append(_row(claim, verdict) | {"track": track})
    yield from _with_readings(claims, [*over, *chain.from_iterable(by_track.values())])


def _with_readings(claims: Sequence[Claim], rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows, those of a claim with the verdict of the check `beside` it as part of `why`."""
    beside = {claim.name: claim.beside for claim in claims if claim.beside}
    by_key = {(row["claim"], row["track"]): row for row in rows}
    for row in rows:
        if row["claim"] in beside:
            name, words = beside[row["claim"]]
            check = by_key[name, row["track"]]
            if check["verdict"] != OPEN:
                reading = ", ".join(filter(None, (check["shown"], check["verdict"])))
                row["why"] = "; ".join(filter(None, (row["why"], f"{words}: {reading}")))
        yield row


def _on_track(claim: Claim, studied: Row, tables: Tables) -> Verdict:
    """Return the verdict on one track."""
    if not studied["used"]:
        return _open(f"the track is left out: {studied['left_out']}")
    if studied["systems"] < claim.systems:
        return _open(f"{count(studied['systems'], 'system')}, fewer than {claim.systems}")
    return _verdict(claim.statistic, claim.condition, tables)


def _verdict(statistic: Statistic, holds: Condition, tables: Tables) -> Verdict:
    try:
        computed = statistic(tables)
    except CannotBeSaid as reason:
        return _open(str(reason))
    computed = computed if isinstance(computed, Found) else Found(computed)
    if math.isnan(computed.number):
        return _open(computed.why or "the number is undefined")
    return Verdict(HOLDS if holds(computed.number) else FAILS, computed)


def _open(why: str) -> Verdict:
    return Verdict(OPEN, Found(math.nan, why))


def _over_tracks(claim: Claim, by_track: Sequence[Verdict], tables: Tables) -> Row:
    """Return the row of a claim over tracks."""
    decided = [decision for decision in by_track if decision.verdict != OPEN]
    holding = sum(decision.verdict == HOLDS for decision in decided)
    on = f"{holding} of {count(len(decided), 'track')}"
    if not decided:
        why, *others = dict.fromkeys(decision.computed.why for decision in by_track) or (
            "there is no track",
        )
        verdict = _open("it cannot be said on any track" if others else why)
    elif claim.over in SHARES:
        share = Found(holding / len(decided), f"holds on {on}")
        verdict = _verdict(lambda _: share, SHARES[claim.over], tables)
    elif claim.over == "mean":
        mean = math.fsum(decision.computed.number for decision in decided) / len(decided)
        verdict = _verdict(lambda _: Found(mean, f"mean; holds on {on}"), claim.condition, tables)
    else:
        assert callable(claim.over)
        verdict = _verdict(claim.over, claim.condition, tables)
    counts = {"tracks": len(decided), "holding": holding, "undecided": 0}
    row = _row(claim, verdict) | counts | {"open": len(by_track) - len(decided)}
    if claim.over in SHARES:
        row["distance"] = _distance(SHARES[claim.over], verdict.computed.number)
        bound = claim.condition.text(partial(_written, claim.format))
        row["statistic"] = f"share of the tracks whose {claim.number} is {bound}"
        row["shown"] = on if decided else None
        row["condition"] = SHARES[claim.over].text(partial(_written, "percent"))
        row |= SHARES[claim.over].bounds
    return row


def _row(claim: Claim, verdict: Verdict) -> Row:
    """Return the row of a verdict; that of no track."""
    number, why, printed = verdict.computed
    written = partial(_written, claim.format)
    return {
        "claim": claim.name,
        "track": None,
        "text": claim.text,
        "where": claim.where,
        "kind": "check" if claim.check else "paper",
        "statistic": claim.number,
        "number": number,
        "shown": None if math.isnan(number) else written(number),
        "condition": claim.condition.text(written),
        **claim.condition.bounds,
        "verdict": verdict.verdict,
        "why": why or None,
        "printed": printed or None,
        "interval": NO_INTERVAL,
        "bound_by": claim.bound,
        "distance": _distance(claim.condition, number),
        **dict.fromkeys(UNKNOWN),
    }


def _distance(condition: Condition, number: float) -> float | None:
    return None if math.isnan(number) else condition.distance(number)


def _written(form: str, number: float) -> str:
    return format_value(float(number), Column("real", "", format=form))


def margin(row: Row) -> str:
    """Return k of n of a claim over tracks, or the verdict of a claim about no track."""
    return row["verdict"] if row["tracks"] is None else f"{row['holding']} of {row['tracks']}"


def steps_after(condition: str) -> bool:
    """Check whether the share of tracks between two swept bounds is that of the lower bound."""
    return not condition.startswith(("at least", "below"))

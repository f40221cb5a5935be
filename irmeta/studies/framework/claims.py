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
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from irmeta.errors import IrmetaError
from irmeta.options import Options
from irmeta.phrases import count
from irmeta.report.table_grid import ABSENT, format_value
from irmeta.schema.columns import Column
from irmeta.stats.random_effects import FEWEST, random_effects, share_interval
from irmeta.studies.framework.study import (
    FAILS,
    HOLDS,
    NO_INTERVAL,
    OPEN,
    STUDIED_TRACKS,
    UNDECIDED,
    Row,
    Study,
    Tables,
)

FEWEST_TRACKS = 5
"""Tracks below which a correlation over tracks says little."""
Statistic = Callable[[Tables], "float | Found"]
"""Function of tables that returns a number, or raises `CannotBeSaid`.

The tables of one track, or all tables for a claim without tracks; tables over tracks are the same
in both.
"""
Over = Literal["most", "nearly all", "all", "about half", "mean", "once"] | Statistic
Number = Callable[[Tables], float]
UNKNOWN = (
    *("low", "high", "se", "tracks", "holding", "undecided", "open", "votes", "votes_holding"),
    *("share_low", "share_high"),
    *("mean", "mean_low", "mean_high", "next_low", "next_high"),
)
"""Columns of the table `claims` that are null unless a row says otherwise."""


MANY_TRACKS = 3
"""Tracks from which a share of the tracks decides; of fewer, the claim holds on all or on none."""


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

    def decides(self, low: float, high: float) -> bool:
        """Check whether all numbers from `low` to `high` are in the interval, or none is."""
        ends = self(low), self(high)
        is_apart = high <= self.low or low >= self.high
        return all(ends) or (not any(ends) and is_apart)

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
        among those on which it holds or fails, meets that condition (of fewer than `MANY_TRACKS`,
        it holds on each); ``mean``: the mean number of these tracks
        meets `holds`; a statistic: its number of all tables meets `holds`; ``once``: the claim is
        about no single track, and its statistic is computed once, from all tables.
    printed
        The paper's number; empty: none.
    format
        Format of the number: see `irmeta.schema.columns.Column`.
    check
        Whether the claim is computed in another way than in the paper.
    about
        ``systems``: on orders or pairs of systems, which neither a track of few systems nor a
        saturated one can decide; ``queries``: on queries or docs.
    beside
        Name of the check that is another reading of the claim, whose verdict is in the row of this
        claim too, and words for that reading; None: there is none.
    bound
        Who states the bounds of `holds`: the ``paper``, or ``irmeta`` where the paper states none.
    of_queries
        Whether the number is of all queries, so that parts of them give its interval.
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
    check: bool = False
    about: Literal["systems", "queries"] = "systems"
    bound: Literal["paper", "irmeta"] = "paper"
    beside: tuple[str, str] | None = None
    of_queries: bool = True

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


def row_minus(
    table: str, column: str, form: str, one: Row, other: Row, /, **row: object
) -> Callable[[Tables], Found]:
    """Return the statistic that is the difference of two rows, with the numbers of the paper."""
    keys = {**row, **one}, {**row, **other}
    first, second = (cell(table, column, **key) for key in keys)
    difference = minus(first, second, form)

    def statistic(tables: Tables) -> Found:
        computed = difference(tables)
        printed = [tables[table].filter(**key)["printed"].item() for key in keys]
        return computed if None in printed else computed._replace(printed=" against ".join(printed))

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


class Interval(NamedTuple):
    """A confidence interval of a number, with its standard error and method in words."""

    low: float
    high: float
    se: float
    method: str


IntervalOf = Callable[[str, str, float], Interval | None]
"""Function of the name of a claim, a track and its number; None: there is no interval."""


class Verdict(NamedTuple):
    """Whether a claim holds, with its number, why, and the interval of the number."""

    verdict: str
    computed: Found
    interval: Interval | None = None


class TablesOfTrack(dict[str, pl.DataFrame]):
    """The tables of one track, each filtered at its first use; tables over tracks are complete."""

    def __init__(self, tables: Tables, track: str) -> None:
        super().__init__()
        self._tables, self._track = tables, track

    def __missing__(self, name: str) -> pl.DataFrame:
        frame = self._tables[name]
        rows = frame.filter(track=self._track) if "track" in frame.columns else frame
        return self.setdefault(name, rows)


def claim_rows(
    study: Study,
    tables: Tables,
    options: Options,
    interval_of: IntervalOf = lambda claim, track, number: None,
    groups: Mapping[str, str] | None = None,
) -> Iterator[Row]:
    """Yield the rows of the table `claims`: all claims over tracks, then those of each track.

    `tables` have the rows of included tracks; `studied_tracks` has all tracks. `groups` are by
    track: see `ClaimRunOptions.independent_by`.
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
        verdicts = {
            row["track"]: _decided(
                claim, _on_track(claim, row, of_track[row["track"]]),
                partial(interval_of, claim.name, row["track"]),
            )
            for row in tracks
        }  # fmt: skip
        votes = {} if groups is None else _votes(verdicts, groups)
        of_tracks = _over_tracks(claim, [*verdicts.values()], tables)
        why = _joined(of_tracks["why"], votes.pop("why", None))
        over.append(of_tracks | votes | printed | {"why": why})
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
    if claim.about == "systems" and studied["not_compared"]:
        return _open(studied["not_compared"])
    return _verdict(claim.statistic, claim.condition, tables)


def _decided(
    claim: Claim, verdict: Verdict, interval_of: Callable[[float], Interval | None]
) -> Verdict:
    """Return the verdict with its interval; undecided where the interval crosses a bound."""
    number = verdict.computed.number
    interval = None if math.isnan(number) else interval_of(number)
    if interval is None:
        return verdict
    is_decided = claim.condition.decides(interval.low, interval.high)
    return Verdict(verdict.verdict if is_decided else UNDECIDED, verdict.computed, interval)


def _votes(verdicts: Mapping[str, Verdict], groups: Mapping[str, str]) -> Row:
    """Return the exact interval of the share of groups of tracks that hold.

    A group votes as most of its tracks that hold or fail; equally many, or none, are no vote.
    """
    ballots: dict[str, int] = {}
    for track, decision in verdicts.items():
        vote = {HOLDS: 1, FAILS: -1}.get(decision.verdict, 0)
        ballots[groups[track]] = ballots.get(groups[track], 0) + vote
    votes = [vote > 0 for vote in ballots.values() if vote]
    if not votes:
        return {}
    holding = sum(votes)
    low, high = share_interval(holding, len(votes))
    why = f"{holding} of {count(len(votes), 'group')} ({low:.0%} to {high:.0%})"
    return {"votes": len(votes), "votes_holding": holding, "share_low": low, "share_high": high,
            "why": why}  # fmt: skip


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
    decided = [decision for decision in by_track if decision.verdict in (HOLDS, FAILS)]
    holding = sum(decision.verdict == HOLDS for decision in decided)
    undecided = sum(decision.verdict == UNDECIDED for decision in by_track)
    pooled = _pooled(by_track)
    cannot = len(by_track) - len(decided) - undecided
    on = f"{holding} of {count(len(decided), 'track')}"
    held = f"holds on {on}"
    held += f"; undecided on {undecided}" if undecided else ""
    held += f"; cannot be said on {cannot}" if cannot else ""
    if not (decided or (undecided and claim.over not in SHARES)):
        verdict = _without_decided(by_track)
    elif claim.over in SHARES:
        verdict = _by_share(SHARES[claim.over], holding, len(decided), held)
    elif claim.over == "mean":
        numbers = [decision.computed.number for decision in by_track if decision.verdict != OPEN]
        average = Found(math.fsum(numbers) / len(numbers), f"mean; {held}")
        verdict = _verdict(lambda _: average, claim.condition, tables)
        if pooled:  # the interval and the plain mean must be on one side of the bound
            ends = average.number, pooled["mean_low"], pooled["mean_high"]
            if not claim.condition.decides(min(ends), max(ends)):
                verdict = verdict._replace(verdict=UNDECIDED)
    else:
        assert callable(claim.over)
        verdict = _verdict(claim.over, claim.condition, tables)
    counts = {"tracks": len(decided), "holding": holding, "undecided": undecided}
    row: Row = _row(claim, verdict) | counts | pooled
    row["open"] = cannot
    if pooled:
        mean, low, high, *another = (_written(claim.format, number) for number in pooled.values())
        mean = f"random-effects mean {mean} ({low} to {high})"
        row["why"] = _joined(row["why"], mean, f"another track {' to '.join(another)}")
    if claim.over in SHARES:
        bound, share = claim.condition.text(partial(_written, claim.format)), SHARES[claim.over]
        row["statistic"] = f"share of the tracks whose {claim.number} is {bound}"
        row["shown"] = None if verdict.verdict == OPEN else on
        is_each = share.low >= 1
        row["condition"] = "100%" if is_each else share.text(partial(_written, "percent"))
        row["distance"] = _distance(share, verdict.computed.number)
        row |= share.bounds
        if 0 < len(decided) < MANY_TRACKS and math.isinf(share.high):
            row["condition"] = f"{len(decided)} of {count(len(decided), 'track')}"
            row |= dict.fromkeys(("distance", *share.bounds))
    return row


def _pooled(by_track: Sequence[Verdict]) -> Row:
    """Return the random-effects mean over tracks, where enough have a standard error."""
    drawn = [
        (verdict.computed.number, verdict.interval.se) for verdict in by_track if verdict.interval
    ]
    if len(drawn) < FEWEST:
        return {}
    pooled = random_effects(*np.array(drawn).T)
    columns = ("mean", "mean_low", "mean_high", "next_low", "next_high")
    return dict(zip(columns, pooled, strict=False))


def _without_decided(by_track: Sequence[Verdict]) -> Verdict:
    """Return the verdict over tracks none of which holds or fails."""
    if any(decision.verdict == UNDECIDED for decision in by_track):
        return Verdict(UNDECIDED, Found(math.nan, "it is decided on no track"))
    why, *others = dict.fromkeys(decision.computed.why for decision in by_track) or (
        "there is no track",
    )
    return _open("it cannot be said on any track" if others else why)


def _by_share(holds: Condition, holding: int, decided: int, why: str) -> Verdict:
    """Return the verdict by the share of tracks on which a claim holds; few must agree."""
    share = Found(holding / decided, why)
    if holds.high < 1 and decided <= MANY_TRACKS:  # no share of three tracks is about half
        return _open(f"about half takes at least {MANY_TRACKS + 1} tracks; {why}")
    if decided >= MANY_TRACKS:
        return Verdict(HOLDS if holds(share.number) else FAILS, share)
    return Verdict({0: FAILS, decided: HOLDS}.get(holding, UNDECIDED), share)


def _row(claim: Claim, verdict: Verdict) -> Row:
    """Return the row of a verdict; that of no track."""
    number, why, printed = verdict.computed
    written = partial(_written, claim.format)
    if verdict.interval is not None:
        low, high = map(written, verdict.interval[:2])
        why = _joined(why, f"95% interval {low} to {high}")
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
        "bound_by": claim.bound,
        **dict.fromkeys(UNKNOWN),
        "interval": NO_INTERVAL,
        "distance": _distance(claim.condition, number, verdict.interval),
        **(
            {}
            if verdict.interval is None
            else dict(zip(("low", "high", "se", "interval"), verdict.interval, strict=True))
        ),
    }


def _distance(
    condition: Condition, number: float, interval: Interval | None = None
) -> float | None:
    """Return the distance of a number to the nearest bound, in standard errors above 0."""
    unit = 1.0 if interval is None else interval.se or 1.0
    return None if math.isnan(number) else condition.distance(number) / unit


def _joined(*texts: str | None) -> str | None:
    return "; ".join(filter(None, texts)) or None


def _written(form: str, number: float) -> str:
    return format_value(float(number), Column("real", "", format=form))


def margin(row: Row) -> str:
    """Return k of n of a claim over tracks, or the verdict of a claim about no track.

    No number where the claim holds or fails on no track.
    """
    counts = f"{row['holding']} of {row['tracks']}" if row["tracks"] else ABSENT
    return row["verdict"] if row["tracks"] is None else counts


def steps_after(condition: str) -> bool:
    """Check whether the share of tracks between two swept bounds is that of the lower bound."""
    return not condition.startswith(("at least", "below"))

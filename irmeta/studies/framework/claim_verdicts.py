"""The verdicts on the claims of a study, on each track and over tracks: the table `claims`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from irmeta.options import Options
from irmeta.phrases import count
from irmeta.report.table_grid import format_value
from irmeta.schema.columns import Column
from irmeta.studies.framework.claims import (
    FAILS,
    HOLDS,
    OPEN,
    SHARES,
    CannotBeSaid,
    Claim,
    Condition,
    Found,
    Statistic,
)
from irmeta.studies.framework.study import STUDIED_TRACKS, Study, Tables

Row = dict[str, Any]


class Verdict(NamedTuple):
    """Whether a claim holds, with its number and why."""

    verdict: str
    found: Found


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

    Parameters
    ----------
    tables
        The joined tables, with the rows of included tracks; `studied_tracks` has all tracks.
    """
    studied = tables.get(STUDIED_TRACKS.name)
    tracks = [] if studied is None else studied.rows(named=True)
    of_track = {row["track"]: TablesOfTrack(tables, row["track"]) for row in tracks}
    by_track: dict[str, list[Row]] = {track: [] for track in of_track}
    for claim in study.call("claims", options):
        printed = {"printed": claim.printed or None}
        if claim.over == "once":
            yield _row(claim, _verdict(claim.statistic, claim.condition, tables)) | printed
            continue
        verdicts = {row["track"]: _on_track(claim, row, of_track[row["track"]]) for row in tracks}
        yield _over_tracks(claim, [*verdicts.values()], tables) | printed
        for track, verdict in verdicts.items():
            by_track[track].append(_row(claim, verdict) | {"track": track})
    yield from chain.from_iterable(by_track.values())


def _on_track(claim: Claim, studied: Row, tables: Tables) -> Verdict:
    """Return the verdict on one track."""
    if not studied["used"]:
        return _open(f"the track is left out: {studied['left_out']}")
    if studied["systems"] < claim.systems:
        return _open(f"{count(studied['systems'], 'system')}, fewer than {claim.systems}")
    return _verdict(claim.statistic, claim.condition, tables)


def _verdict(statistic: Statistic, holds: Condition, tables: Tables) -> Verdict:
    try:
        found = statistic(tables)
    except CannotBeSaid as reason:
        return _open(str(reason))
    found = found if isinstance(found, Found) else Found(found)
    if math.isnan(found.number):
        return _open(found.why or "the number is undefined")
    return Verdict(HOLDS if holds(found.number) else FAILS, found)


def _open(why: str) -> Verdict:
    return Verdict(OPEN, Found(math.nan, why))


def _over_tracks(claim: Claim, by_track: Sequence[Verdict], tables: Tables) -> Row:
    """Return the row of a claim over tracks."""
    decided = [one for one in by_track if one.verdict != OPEN]
    holding = sum(one.verdict == HOLDS for one in decided)
    on = f"{holding} of {count(len(decided), 'track')}"
    if not decided:
        why, *others = dict.fromkeys(one.found.why for one in by_track) or ("there is no track",)
        verdict = _open("it cannot be said on any track" if others else why)
    elif claim.over in SHARES:
        share = Found(holding / len(decided), f"holds on {on}")
        verdict = _verdict(lambda _: share, SHARES[claim.over], tables)
    elif claim.over == "mean":
        mean = math.fsum(one.found.number for one in decided) / len(decided)
        verdict = _verdict(lambda _: Found(mean, f"mean; holds on {on}"), claim.condition, tables)
    else:
        assert callable(claim.over)
        verdict = _verdict(claim.over, claim.condition, tables)
    row = _row(claim, verdict) | {"tracks": len(decided), "holding": holding}
    if claim.over in SHARES:
        bound = claim.condition.text(partial(_written, claim.format))
        row["statistic"] = f"share of the tracks whose {claim.number} is {bound}"
        row["shown"] = on if decided else None
        row["condition"] = SHARES[claim.over].text(partial(_written, "percent"))
    return row


def _row(claim: Claim, verdict: Verdict) -> Row:
    """Return the row of a verdict; that of no track."""
    number, why, printed = verdict.found
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
        "verdict": verdict.verdict,
        "why": why or None,
        "printed": printed or None,
        "tracks": None,
        "holding": None,
    }


def _written(form: str, number: float) -> str:
    return format_value(float(number), Column("real", "", format=form))

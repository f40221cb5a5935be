"""Sections of pages that several studies share: data, printed numbers, notes and claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from irmeta.phrases import count, listed
from irmeta.policies import TrackOptions
from irmeta.report.html_page import ClaimLine, ClaimTable, Mark
from irmeta.report.table_grid import Grid, grid
from irmeta.schema.columns import Paper, Table
from irmeta.studies.framework.study import (
    CLAIMS,
    FAILS,
    HOLDS,
    OPEN,
    PAPER_NUMBERS,
    UNDECIDED,
    Section,
    Show,
    Tables,
)

MOST_NAMED = 5  # tracks in a caption or a note
MOST_SENTENCES = 10  # tracks; the conclusions on more are only in the sections of the tracks
POINTER = "The figures of each track are in its section below."
MOST_TRACKS = 6  # with the number of each verdict; more tracks have signs alone
NOT_EXAMINED = Mark("out", "not examined", title="The study did not examine this track.")
SIGNS = {HOLDS: "yes", FAILS: "no", UNDECIDED: "open", OPEN: "open"}
PRINTED = ("text", "where", "printed", "shown", "condition", "verdict")
"""Columns of the table for a paper."""
DETAILS = ("claim", "track", "statistic", "shown", "condition", "verdict", "why", "printed")
READING = (
    "A claim holds where its number meets the condition that the tooltip states; the numbers are "
    "from the tables {}. It cannot be said where the track lacks what the claim is about."
)
Row = Mapping[str, Any]


def data_section(
    tables: Tables, options: TrackOptions, heading: str = "Data", paper: Paper | None = None
) -> Section:
    """Return the section on data: tracks, systems and queries, and the excluded tracks."""
    tracks = tables["studied_tracks"]
    used = tracks.filter("used")
    systems, queries = (int(used[name].sum()) for name in ("systems", "queries"))
    text = (
        f"The study uses {count(used.height, 'track')}, {count(systems, 'system')} and "
        f"{count(queries, 'query', 'queries')} with a relevant doc"
        + (f" (the paper: {paper.value})." if paper else ".")
    )
    if options.min_systems > 1:
        text += f" A track with fewer than {count(options.min_systems, 'system')} is left out."
    left_out = tracks.filter(~pl.col("used")).iter_rows(named=True)
    notes = [f"{row['track']} is left out: {row['left_out']}." for row in left_out]
    if not used.height:
        notes.append("No track is left; each is described below.")
    return Section(heading, [text], ["studied_tracks"], notes=notes)


def show_printed(item: str, index: Sequence[str] = ("row",)) -> Show:
    """Return the paper's numbers of a table or figure, folded; `index` identifies its rows."""
    name = f"paper_{re.sub('[^a-z0-9]+', '_', item.lower()).strip('_')}"
    caption = f"The paper's {item}, as printed."
    return Show(
        PAPER_NUMBERS, (*index, "column", "value"), {"item": (item,)}, "column", name, caption
    )


def sentences(tables: Tables, about: Callable[[Tables, str], Iterable[str]]) -> list[str]:
    """Return the sentences about each included track; a pointer if there are many tracks."""
    tracks = tables["studied_tracks"].filter("used")["track"].to_list()
    if len(tracks) > MOST_SENTENCES:
        return ["The section of each track below states the conclusions."]
    return [sentence for track in tracks for sentence in about(tables, track)]


def absent(
    declared: Mapping[str, Table],
    tables: Tables,
    *names: str,
    reason: str = "see the notes on the track",
) -> list[str]:
    """Return a note per table on the included tracks without rows, by the declared caption."""
    without = {name: tracks_without(tables, tables[name]) for name in names}
    return [
        f"{declared[name].caption.removesuffix('.')}: absent on {tracks}: {reason}."
        for name, tracks in without.items()
        if tracks
    ]


def tracks_without(tables: Tables, rows: pl.DataFrame) -> str:
    """Return the names of the included tracks that have none of some rows; empty without any."""
    used = tables["studied_tracks"].filter("used")
    return name_tracks(used.join(rows, on="track", how="anti"))


def name_tracks(rows: pl.DataFrame) -> str:
    """Return the tracks of some rows as text, at most five by name; empty without rows."""
    return listed(rows["track"].to_list(), MOST_NAMED) if rows.height else ""


def claim_table(rows: pl.DataFrame, used: Sequence[str]) -> ClaimTable:
    """Return the claims of a page from the table `claims` and the included tracks."""
    tracks = list(used) if len(used) > 1 else []
    lines = _lines(rows, used, tracks)
    return ClaimTable(
        text=[_sentence(rows, len(used)), READING.format("below")],
        over="over tracks" if tracks else "verdict",
        tracks=tracks,
        claims=lines["paper"],
        checks=lines["check"],
        details=grid(CLAIMS, rows, columns=DETAILS, caption="Verdicts on the claims."),
        is_compact=len(tracks) > MOST_TRACKS,
    )


def claim_matrix(claims: Mapping[str, pl.DataFrame]) -> ClaimTable:
    """Return the claims of several studies on all their tracks.

    Parameters
    ----------
    claims
        The table `claims` of each study, by the heading of its claims.
    """
    rows = pl.concat(claims.values())
    tracks = rows["track"].drop_nulls().unique(maintain_order=True).to_list()
    by_kind: dict[str, list[ClaimLine]] = {"paper": [], "check": []}
    for heading, of_study in claims.items():
        for kind, lines in _lines(of_study, tracks, tracks).items():
            headings = [heading, *[""] * len(lines)]
            by_kind[kind] += [
                line._replace(group=group) for line, group in zip(lines, headings, strict=False)
            ]
    counts = rows.filter(kind="paper").group_by("track").agg(
        holding=(pl.col("verdict") == HOLDS).sum(),
        decided=pl.col("verdict").is_in([HOLDS, FAILS]).sum(),
    )  # fmt: skip
    of_track = {track: f"{holding}/{decided}" for track, holding, decided in counts.iter_rows()}
    return ClaimTable(
        text=[
            _sentence(rows, len(tracks)).replace("of the paper", "of the papers"),
            READING.format("of each study"),
        ],
        over="over tracks",
        tracks=tracks,
        claims=by_kind["paper"],
        checks=by_kind["check"],
        heading="Claims of the papers",
        totals=[of_track[track] for track in tracks],
        is_compact=len(tracks) > MOST_TRACKS,
    )


def _lines(
    rows: pl.DataFrame, used: Sequence[str], shown: Sequence[str]
) -> dict[str, list[ClaimLine]]:
    """Return the claims by kind, with the verdicts on the shown tracks and notes on those used."""
    lines: dict[str, list[ClaimLine]] = {"paper": [], "check": []}
    for of_claim in rows.partition_by("claim", maintain_order=True):
        over, *by_track = of_claim.iter_rows(named=True)
        on = {row["track"]: row for row in by_track}
        line = ClaimLine(
            text=over["text"],
            where=over["where"],
            printed=over["printed"] or "",
            over=_mark(over),
            tracks=[_mark(on[track]) if track in on else NOT_EXAMINED for track in shown],
            notes=_notes(over, [on[track] for track in used if track in on]),
        )
        lines[over["kind"]].append(line)
    return lines


def claims_for_print(rows: pl.DataFrame) -> Grid:
    """Return the claims over tracks as a table for a paper."""
    caption = "Claims of the paper and their verdicts."
    return grid(CLAIMS, rows.filter(pl.col("track").is_null()), columns=PRINTED, caption=caption)


def _sentence(rows: pl.DataFrame, tracks: int) -> str:
    """Return how many claims hold, e.g. "Of 9 claims, 5 hold and 4 do not hold on 3 tracks."""
    over = rows.filter(pl.col("track").is_null(), kind="paper")
    held, failed, undecided, open_ones = (over.filter(verdict=v).height for v in SIGNS)
    counts = [f"{held} {'holds' if held == 1 else 'hold'}"]
    counts += [f"{failed} {'does' if failed == 1 else 'do'} not hold"] if failed else []
    counts += [f"{undecided} {'is' if undecided == 1 else 'are'} undecided"] if undecided else []
    counts += [f"{open_ones} cannot be said"] if open_ones else []
    text = listed(counts)
    where = f" over {count(tracks, 'track')}" if tracks else ""
    return f"Of {count(over.height, 'claim')} of the paper, {text}{where}."


def _mark(row: Row) -> Mark:
    facts = [f"{row['statistic']}: {row['shown'] or row['verdict']}"]
    facts += [f"holds for {row['condition']}"]
    facts += [row["why"]] if row["why"] else []
    facts += [f"the paper: {row['printed']}"] if row["printed"] and row["track"] else []
    title = "; ".join(facts)
    return Mark(SIGNS[row["verdict"]], row["verdict"], row["shown"] or "", f"{title}.")


def _notes(over: Row, tracks: Sequence[Row]) -> list[str]:
    """Return why it cannot be said, by reason, with the tracks of each."""
    if not tracks and over["verdict"] == OPEN:
        return [f"It cannot be said: {over['why']}."]
    reasons: dict[str, list[str]] = {}
    for row in tracks:
        if row["verdict"] == OPEN:
            reasons.setdefault(row["why"], []).append(row["track"])
    notes = []
    for why, on in reasons.items():
        where = listed(on) if len(on) <= MOST_TRACKS else count(len(on), "track")
        where = "" if len(on) == len(tracks) else f" on {where}"
        notes.append(f"It cannot be said{where}: {why}.")
    return notes

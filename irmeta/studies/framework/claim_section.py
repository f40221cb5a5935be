"""The claims of a study as the first table of its page, and as a table for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from irmeta.phrases import count, listed
from irmeta.report.html_page import ClaimLine, ClaimTable, Mark
from irmeta.report.table_grid import Grid, grid
from irmeta.studies.framework.claims import CLAIMS, FAILS, HOLDS, OPEN

MOST_TRACKS = 6  # columns of verdicts; more tracks are in the folded table alone
SIGNS = {HOLDS: "yes", FAILS: "no", OPEN: "open"}
PRINTED = ("text", "where", "printed", "shown", "condition", "verdict")
"""Columns of the table for a paper."""
DETAILS = ("claim", "track", "statistic", "shown", "condition", "verdict", "why", "printed")
READING = (
    "A claim holds where its number meets the condition that the tooltip states; the numbers are "
    "from the tables below. It cannot be said where the track lacks what the claim is about."
)

Row = Mapping[str, Any]


def claim_table(rows: pl.DataFrame, used: Sequence[str]) -> ClaimTable:
    """Return the claims of a page.

    Parameters
    ----------
    rows
        The table `claims`.
    used
        The included tracks.
    """
    shown = list(used) if len(used) <= MOST_TRACKS else []
    by_claim = rows.partition_by("claim", maintain_order=True)
    made = {"paper": list[ClaimLine](), "check": list[ClaimLine]()}
    for frame in by_claim:
        over, *tracks = frame.iter_rows(named=True)
        on = {row["track"]: row for row in tracks}
        made[over["kind"]].append(_line(over, [on[track] for track in used if track in on], shown))
    details = grid(CLAIMS, rows, columns=DETAILS, caption="Verdicts on the claims.")
    return ClaimTable(
        text=[_sentence(rows, len(used)), READING],
        over="over tracks" if len(used) > 1 else "verdict",
        tracks=shown if len(used) > 1 else [],
        claims=made["paper"],
        checks=made["check"],
        details=details,
    )


def claims_for_print(rows: pl.DataFrame) -> Grid:
    """Return the claims over tracks as a table for a paper."""
    caption = "Claims of the paper and their verdicts."
    return grid(CLAIMS, rows.filter(pl.col("track").is_null()), columns=PRINTED, caption=caption)


def _sentence(rows: pl.DataFrame, tracks: int) -> str:
    """Return how many claims hold, e.g. "Of 9 claims, 5 hold and 4 do not hold on 3 tracks."""
    over = rows.filter(pl.col("track").is_null(), kind="paper")
    held, failed, open_ones = (over.filter(verdict=verdict).height for verdict in SIGNS)
    parts = [f"{held} {'holds' if held == 1 else 'hold'}"]
    parts += [f"{failed} {'does' if failed == 1 else 'do'} not hold"] if failed else []
    parts += [f"{open_ones} cannot be said"] if open_ones else []
    text = listed(parts)
    where = f" over {count(tracks, 'track')}" if tracks else ""
    return f"Of {count(over.height, 'claim')} of the paper, {text}{where}."


def _line(over: Row, tracks: Sequence[Row], shown: Sequence[str]) -> ClaimLine:
    marks = [_mark(row) for row in tracks if row["track"] in shown] if len(tracks) > 1 else []
    return ClaimLine(
        text=over["text"],
        where=over["where"],
        printed=over["printed"] or "",
        over=_mark(over),
        tracks=marks,
        notes=_notes(over, tracks),
    )


def _mark(row: Row) -> Mark:
    parts = [f"{row['statistic']}: {row['shown'] or row['verdict']}"]
    parts += [f"holds for {row['condition']}"]
    parts += [row["why"]] if row["why"] else []
    parts += [f"the paper: {row['printed']}"] if row["printed"] and row["track"] else []
    title = "; ".join(parts)
    return Mark(SIGNS[row["verdict"]], row["verdict"], row["shown"] or "", f"{title}.")


def _notes(over: Row, tracks: Sequence[Row]) -> list[str]:
    """Return why it cannot be said, by reason, with the tracks of each."""
    if not tracks and over["verdict"] == OPEN:
        return [f"It cannot be said: {over['why']}."]
    reasons: dict[str, list[str]] = {}
    for row in tracks:
        if row["verdict"] == OPEN:
            reasons.setdefault(row["why"], []).append(row["track"])
    return [
        f"It cannot be said{'' if len(on) == len(tracks) else f' on {_names(on)}'}: {why}."
        for why, on in reasons.items()
    ]


def _names(tracks: Sequence[str]) -> str:
    return listed(tracks) if len(tracks) <= MOST_TRACKS else count(len(tracks), "track")

"""Sections of pages that several studies share: data, printed numbers, notes and claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from irmeta.phrases import agreeing, count, listed
from irmeta.policies import TrackOptions
from irmeta.report.html_page import ClaimFold, ClaimLine, ClaimTable, Mark, Sweep
from irmeta.report.table_grid import ABSENT
from irmeta.schema.columns import Paper
from irmeta.studies.framework.claim_print import (
    IRMETA_BOUND,
    NEARNESS,
    SHADES,
    UNDECIDED_NOTE,
    in_notations,
    is_ours,
    with_levels,
)
from irmeta.studies.framework.claims import MANY_TRACKS, steps_after
from irmeta.studies.framework.part_tables import not_compared
from irmeta.studies.framework.registry import find
from irmeta.studies.framework.study import (
    FAILS,
    HOLDS,
    OPEN,
    PAPER_NUMBERS,
    UNDECIDED,
    Section,
    Show,
    Study,
    Tables,
)
from irmeta.studies.framework.track_groups import FACTS

if TYPE_CHECKING:
    from irmeta.studies.framework.claim_matrix import ClaimMatrix

MOST_NAMED = 5  # tracks in a caption or a note
MOST_FAILING = 20  # tracks by name below a claim; claim_facts.parquet has all
MOST_SENTENCES = 10  # tracks; the conclusions on more are only in the sections of the tracks
POINTER = "The figures of each track are in its section below."
MOST_TRACKS = 6  # with the number of each verdict; more tracks have signs alone
OFTEN = 8  # claims of a track with one reason, which is above the claims instead
NOT_EXAMINED = Mark("out", "not examined", title="The study did not examine this track.")
ABOUT_NONE = Mark("out", "about no track", title="The claim is about no single track.")
SIGNS = {HOLDS: "yes", FAILS: "no", UNDECIDED: "undecided", OPEN: "open"}
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
    elif used["not_compared"].null_count() == 0:
        why = listed(used["not_compared"].unique(maintain_order=True).to_list(), MOST_NAMED)
        notes.append(
            f"Claims on orders and pairs of systems cannot be said: {why}. Means and figures over "
            "tracks show such tracks nevertheless, since there is no other."
        )
    else:
        notes += [
            f"Claims, means and figures on orders and pairs of systems leave out {track}: {reason}."
            for track, reason in not_compared(tables).items()
        ]
    return Section(heading, [text], ["studied_tracks", "measures"], notes=notes)


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
    study: Study, tables: Tables, *names: str, reason: str = "see the notes on the track"
) -> list[str]:
    """Return a note per table on the included tracks without rows, by the declared caption.

    Tracks that are not compared have no rows here in tables of orders, and are grey on the page.
    """
    grey = not_compared(tables)
    without = {
        name: tracks_without(tables, tables[name], grey if name in study.of_orders else ())
        for name in names
    }
    return [
        f"{study.table(name).caption.removesuffix('.')}: absent on {tracks}: {reason}."
        for name, tracks in without.items()
        if tracks
    ]


def tracks_without(tables: Tables, rows: pl.DataFrame, grey: Collection[str] = ()) -> str:
    """Return the names of the included tracks, but for some, that have none of some rows."""
    used = tables["studied_tracks"].filter("used", ~pl.col("track").is_in(list(grey)))
    return name_tracks(used.join(rows, on="track", how="anti"))


def name_tracks(rows: pl.DataFrame) -> str:
    """Return the tracks of some rows as text, at most five by name; empty without rows."""
    return listed(rows["track"].to_list(), MOST_NAMED) if rows.height else ""


def claim_table(rows: pl.DataFrame, used: Sequence[str], legend: str = "") -> ClaimTable:
    """Return the claims of a page from the table `claims` and the included tracks.

    `legend`: see `irmeta.studies.framework.claim_print.in_notation`.
    """
    tracks = list(used) if len(used) > 1 else []
    often = _often(rows)
    lines = _lines(rows, used, tracks, {}, often)
    return ClaimTable(
        text=[
            _sentence(rows, len(used)),
            READING.format("below"),
            *([f"{legend}."] if legend else []),
            *often.values(),
        ],
        over="over tracks" if tracks else "verdict",
        tracks=tracks,
        claims=lines["paper"],
        checks=lines["check"],
        is_compact=len(tracks) > MOST_TRACKS,
    )


def matrix_table(matrix: ClaimMatrix, in_print: bool = True) -> ClaimTable:
    """Return the claims of several studies on all their tracks, in the order of the tracks.

    `in_print`: measures have the notation of each paper.
    """
    tracks = matrix.tracks["track"].to_list()
    rows, legend = in_notations(matrix.rows) if in_print else (matrix.rows, "")
    folds, often = dict(claim_folds(matrix)), _often(rows)
    by_kind: dict[str, list[ClaimLine]] = {"paper": [], "check": []}
    for of_study in rows.partition_by("study", maintain_order=True):
        study = find(of_study["study"][0])
        for kind, lines in _lines(of_study, tracks, tracks, folds, often).items():
            headings = [f"{study.title}. {study.paper}", *[""] * len(lines)]
            by_kind[kind] += [
                line._replace(group=group) for line, group in zip(lines, headings, strict=False)
            ]
    margins = matrix.margins()
    has_ours = bool((matrix.rows["bound_by"] == "irmeta").any())
    return ClaimTable(
        text=[
            _sentence(matrix.rows, len(tracks)).replace("of the paper", "of the papers"),
            READING.format("of each study"),
            *([f"{legend}."] if legend else []),
            *often.values(),
            f"{SHADES}. Tracks {matrix.in_order_of}."
            + f" {IRMETA_BOUND} The bound is irmeta's: the paper states none." * has_ours,
        ],
        over="over tracks",
        tracks=tracks,
        claims=by_kind["paper"],
        checks=by_kind["check"],
        heading="Claims of the papers",
        totals=[margins.get(track, "") for track in tracks],
        about={
            row["track"]: f"{row['track']}: {row['year'] or 'year unknown'}, "
            f"{count(row['systems'], 'system')}, {count(row['queries'], 'query')}"
            for row in matrix.tracks.iter_rows(named=True)
        },
        is_compact=len(tracks) > MOST_TRACKS,
    )


def claim_folds(matrix: ClaimMatrix) -> Iterator[tuple[str, ClaimFold]]:
    """Yield what may explain the verdicts on each claim that does not hold on some track."""
    facts, bounds = (
        {frame["id"][0]: frame for frame in table.partition_by("id", maintain_order=True)}
        for table in (matrix.facts(), matrix.bounds())
    )
    shown = {(row["id"], row["track"]): row["shown"] for row in matrix.rows.iter_rows(named=True)}
    by_track = matrix.rows.drop_nulls("track")
    conditions = dict(by_track.select("id", "condition").iter_rows())
    for claim, rows in facts.items():
        holding, failing = (rows.filter(verdict=verdict) for verdict in (HOLDS, FAILS))
        if not failing.height:
            continue
        tracks = [f"{track} ({shown[claim, track]})" for track in failing["track"]]
        decided = count(holding.height + failing.height, "track")
        heading = f"does not hold on {failing.height} of {decided}"
        medians = [
            (name.replace("_", " "), _median(holding[name], name), _median(failing[name], name))
            for name, column in FACTS.items()
            if not column.is_text and rows[name].count() and holding.height
        ]
        sweep = _sweep(bounds.get(claim), conditions[claim])
        yield claim, ClaimFold(heading, f"{listed(tracks, MOST_FAILING)}.", medians, sweep)


def _median(values: pl.Series, fact: str) -> str:
    median = values.drop_nulls().median()
    if not isinstance(median, int | float):
        return ABSENT
    if FACTS[fact].is_percentage:
        return f"{median:.0%}"
    return f"{median:.0f}" if fact == "year" else f"{median:,.4g}"


def _sweep(steps: pl.DataFrame | None, condition: str) -> Sweep | None:
    """Return the line of a claim's swept bound; None for fewer than two bounds."""
    if steps is None or steps.height < 2:
        return None
    low, high = steps["bound"][0], steps["bound"][-1]
    places = [round(200 * (bound - low) / (high - low), 1) for bound in steps["bound"]]
    heights = [round(40 * (1 - share), 1) for share in steps["share"]]
    path = f"M{places[0]} {heights[0]}"
    form = "H{x}V{y}" if steps_after(condition) else "V{y}H{x}"
    path += "".join(form.format(x=x, y=y) for x, y in zip(places[1:], heights[1:], strict=True))
    stated = places[steps["is_stated"].to_list().index(True)]
    return Sweep(path, stated, *(f"{bound:.4g}".replace("-", "\u2212") for bound in (low, high)))


def _lines(
    rows: pl.DataFrame,
    used: Sequence[str],
    shown: Sequence[str],
    folds: Mapping[str, ClaimFold],
    often: Collection[str],
) -> dict[str, list[ClaimLine]]:
    """Return the claims by kind, with the verdicts on the shown tracks and notes on those used.

    `often` has reasons that the page states above the claims.
    """
    lines: dict[str, list[ClaimLine]] = {"paper": [], "check": []}
    for of_claim in with_levels(rows).partition_by("claim", maintain_order=True):
        over, *by_track = of_claim.iter_rows(named=True)
        on = {row["track"]: row for row in by_track}
        no_mark = NOT_EXAMINED if by_track else ABOUT_NONE
        line = ClaimLine(
            text=over["text"] + f" {IRMETA_BOUND}" * is_ours(over),
            where=over["where"],
            printed=over["printed"] or "",
            over=_mark(over),
            tracks=[_mark(on[track]) if track in on else no_mark for track in shown],
            notes=_notes(over, [on[track] for track in used if track in on], often),
            fold=folds.get(over.get("id", "")),
        )
        lines[over["kind"]].append(line)
    return lines


def _often(rows: pl.DataFrame) -> dict[str, str]:
    """Return the sentence on each reason for which many claims cannot be said on a track."""
    by_track = rows.filter(pl.col("track").is_not_null(), verdict=OPEN)
    counted = by_track.group_by("why", "track", maintain_order=True).len()
    reasons = counted.filter(pl.col("len") >= OFTEN).group_by("why", maintain_order=True)
    return {
        why: f"On {listed(tracks, MOST_NAMED)}, {'up to ' if len(tracks) > 1 else ''}"
        f"{count(number, 'claim')} cannot be said: {why}."
        for why, tracks, number in reasons.agg("track", pl.col("len").max()).iter_rows()
    }


def _sentence(rows: pl.DataFrame, tracks: int) -> str:
    """Return how many claims hold, e.g. "Of 9 claims, 5 hold and 4 do not hold on 3 tracks."""
    stated = rows.filter(pl.col("track").is_null(), kind="paper")
    over = stated.filter(bound_by="paper")
    held, failed, undecided, unsaid = (over.filter(verdict=v).height for v in SIGNS)
    counts = {
        count(held, "holds", "hold"): True,
        count(failed, "does not hold", "do not hold"): failed,
        count(undecided, "is undecided", "are undecided"): undecided,
        f"{unsaid} cannot be said": unsaid,
    }
    text = listed([words for words, is_there in counts.items() if is_there])
    where = f" over {count(tracks, 'track')}" if tracks else ""
    if tracks and (about_none := over["tracks"].null_count()):
        where += f", or about no track ({about_none})"
    few = over.filter(pl.col("verdict") == HOLDS, pl.col("tracks") < MANY_TRACKS).height
    if tracks >= MANY_TRACKS and few:
        where += f"; {few} of those that hold can be decided on fewer than {MANY_TRACKS} tracks"
    ours = stated.height - over.height
    more = f"{count(ours, 'more claim')} with a bound of irmeta {agreeing(ours, 'is', 'are')}"
    parts = {
        f"Of {count(over.height, 'claim')} of the paper, {text}{where}.": True,
        f"{more} not counted.": ours,
        "The numbers have no interval.": rows["se"].null_count() == rows.height,
        UNDECIDED_NOTE: undecided,
    }
    return " ".join(sentence for sentence, is_said in parts.items() if is_said)


def _mark(row: Row) -> Mark:
    facts = [f"{row['statistic']}: {row['shown'] or row['verdict']}"]
    facts += [f"holds for {row['condition']}"]
    facts += [row["why"]] if row["why"] else []
    facts += [f"the paper: {row['printed']}"] if row["printed"] and row["track"] else []
    title = "; ".join(facts)
    shade = ""
    if row["track"] and row["verdict"] in (HOLDS, FAILS, UNDECIDED):
        words = row["level"].removeprefix(row["verdict"]).removeprefix(", ")
        shade = f"s{NEARNESS.index(words)}"
    return Mark(SIGNS[row["verdict"]], row["verdict"], row["shown"] or "", f"{title}.", shade)


def _notes(over: Row, tracks: Sequence[Row], often: Collection[str]) -> list[str]:
    """Return why it cannot be said, by reason, with the tracks of each, but for some reasons."""
    if not tracks and over["verdict"] == OPEN:
        return [f"It cannot be said: {over['why']}."]
    reasons: dict[str, list[str]] = {}
    for row in tracks:
        if row["verdict"] == OPEN and row["why"] not in often:
            reasons.setdefault(row["why"], []).append(row["track"])
    notes = []
    for why, on in reasons.items():
        where = listed(on) if len(on) <= MOST_TRACKS else count(len(on), "track")
        where = "" if len(on) == len(tracks) else f" on {where}"
        notes.append(f"It cannot be said{where}: {why}.")
    return notes

"""Claims in print and on pages: shades of verdicts, bounds in words, tables, and sentences."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import polars as pl

from irmeta.errors import UsageError
from irmeta.phrases import agreeing, count, listed
from irmeta.report.charts.verdicts import NO, OPEN_COLOUR, UNDECIDED_COLOUR, YES
from irmeta.report.html_page import ClaimFold, ClaimLine, ClaimTable, Mark
from irmeta.report.notation import CUT, Notations
from irmeta.report.table_grid import ABSENT, CHECKS, Cell, Grid, Head
from irmeta.studies.framework.claims import MANY_TRACKS, margin
from irmeta.studies.framework.registry import find
from irmeta.studies.framework.study import FAILS, HOLDS, OPEN, UNDECIDED

STEPS = (2.0, 4.0)
"""Distances from which a verdict is shaded darker, in standard errors."""
WITHOUT_ERROR = 6.0
"""Distance of the farthest number of a claim without standard errors, in the same unit."""
NEARNESS = ("near the bound", "", "far from the bound")
LEVELS = {
    **{f"{HOLDS}, {word}".removesuffix(", "): YES[i] for i, word in enumerate(NEARNESS)},
    **{f"{FAILS}, {word}".removesuffix(", "): NO[i] for i, word in enumerate(NEARNESS)},
    UNDECIDED: UNDECIDED_COLOUR,
    OPEN: OPEN_COLOUR,
}
"""Colours of verdicts, lighter near the bound."""
SHADES = (
    "Darker cells are farther from the bound: less than 2, less than 4, and more standard errors; "
    "for claims without a standard error, thirds of the largest distance of the claim"
)
IRMETA_BOUND = "\u2020"  # behind a claim whose bound irmeta states
UNDECIDED_NOTE = (
    "Undecided: the 95% interval of the number has numbers on both sides of the bound, or fewer "
    "than three tracks disagree."
)
MOST_NAMED = 40  # tracks in a caption
FEW_NAMED = 5  # tracks in a sentence of a page
SYMBOLS = {"above": ">", "at least": "\u2265", "below": "<", "at most": "\u2264"}
SIGNS = {HOLDS: CHECKS[True], FAILS: CHECKS[False], UNDECIDED: "?", OPEN: "\u2013"}
SHARE_OF_TRACKS = "share of the tracks"
_RANGE = re.compile(r"(?<=[\d%])-(?=[\d.])")
_NEGATIVE = re.compile(r"(?<![\w%])-(?=[\d.])")
NAMING = ("text", "statistic", "why", "printed")
"""Columns with names of measures."""
_NAME = re.compile(r"\w+\([^()\s]*\)(?:@\w+)?|\w+@\w+")
MOST_TRACKS = 6  # with the number of each verdict on a page; more tracks have signs alone
OFTEN = 8  # claims of a track with one reason, which is above the claims instead
NOT_EXAMINED = Mark("out", "not examined", title="The study did not examine this track.")
ABOUT_NONE = Mark("out", "about no track", title="The claim is about no single track.")
MARKS = {HOLDS: "yes", FAILS: "no", UNDECIDED: "undecided", OPEN: "open"}
READING = (
    "A claim holds where its number meets the condition that the tooltip states; the numbers are "
    "from the tables {}. It cannot be said where the track lacks what the claim is about."
)
Row = Mapping[str, Any]
COLUMNS = ("claim", "kind", "holds if", "here", "verdict", "the paper")


def with_levels(rows: pl.DataFrame) -> pl.DataFrame:
    """Add `level`, a key of `LEVELS`, to rows of tracks; that of other rows means nothing."""
    by = "id" if "id" in rows.columns else "claim"
    distance = pl.when(pl.col("track").is_not_null()).then(pl.col("distance").abs())
    relative = WITHOUT_ERROR * distance / distance.max().over(by)
    errors = pl.when(pl.col("se") > 0).then(distance).otherwise(relative)
    far = errors.fill_nan(None).fill_null(0.0)
    word = pl.when(far < STEPS[0]).then(0).when(far < STEPS[1]).then(1).otherwise(2)
    nearness = word.replace_strict(dict(enumerate(NEARNESS)), return_dtype=pl.String)
    level = pl.concat_str("verdict", pl.lit(", "), nearness).str.strip_suffix(", ")
    is_decided = pl.col("verdict").is_in([HOLDS, FAILS])
    return rows.with_columns(level=pl.when(is_decided).then(level).otherwise("verdict"))


def in_notation(rows: pl.DataFrame, declared: Mapping[str, str]) -> tuple[pl.DataFrame, str]:
    """Return claims whose names of measures are in notation, and the canonical names of these.

    Names without a cutoff and parameters are words of claims too, such as AP for any normalisation;
    of them, only those are in notation whose notation in `declared` has a place for the cutoff.
    """
    texts = [rows[name].drop_nulls().unique(maintain_order=True).to_list() for name in NAMING]
    every = " ".join(chain.from_iterable(texts))
    of_cutoffs = [name for name, form in declared.items() if CUT in form and name in every]
    notations = Notations.of([*of_cutoffs, *_NAME.findall(every)], declared)
    typeset = [
        pl.col(name).replace({text: notations(text) for text in of_column})
        for name, of_column in zip(NAMING, texts, strict=True)
    ]
    return rows.with_columns(typeset), notations.legend(notations(every))


def is_ours(row: Mapping[str, Any]) -> bool:
    """Check whether irmeta states the bound of a claim."""
    return row["bound_by"] != "paper"


def in_notations(rows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Return claims of several studies in the notation of each: see `in_notation`."""
    parts, legend = list[pl.DataFrame](), dict[str, None]()
    for of_study in rows.partition_by("study", maintain_order=True):
        try:
            declared = find(of_study["study"][0]).notation
        except UsageError:  # a study of a package that is not installed
            declared = {}
        typeset, of_paper = in_notation(of_study, declared)
        parts.append(typeset)
        legend |= dict.fromkeys(filter(None, of_paper.split("; ")))
    return pl.concat(parts) if parts else rows, "; ".join(legend)


def claims_for_print(rows: pl.DataFrame, of: str = "the paper", legend: str = "") -> Grid:
    """Return the claims over tracks, with what each is computed from and its bound in words.

    `rows` are of the table `claims`, of one study, or of several with the column study; `of` names
    the paper in the caption, and `legend` the measures whose notation is in the rows.
    """
    has_studies = "study" in rows.columns
    columns = ["study", *COLUMNS] if has_studies else [*COLUMNS]
    head = tuple(Head(name, name, is_text=True, is_key=name == "study") for name in columns)
    by = ["study", "claim"] if has_studies else ["claim"]
    lines = list[tuple[Cell, ...]]()
    for of_claim in rows.partition_by(by, maintain_order=True):
        over, *by_track = of_claim.iter_rows(named=True)
        texts = [
            f"{over['text'].removesuffix('.')} ({over['where']})",
            over["kind"],
            condition_in_words(over, by_track[0] if by_track else over),
            over["shown"] or ABSENT,
            over["verdict"],
            _NEGATIVE.sub("\u2212", _RANGE.sub("\u2013", over["printed"] or ABSENT)),
        ]
        lines.append((*([Cell(over["study"])] if has_studies else []), *map(Cell, texts)))
    caption = f"Claims of {of}, the number and the bound of each, and their verdicts"
    tracks = rows["track"].drop_nulls().unique(maintain_order=True).to_list()
    notes = list[str]()
    if tracks:
        notes.append(f"{count(len(tracks), 'track').capitalize()}: {listed(tracks, MOST_NAMED)}.")
    notes += [f"{legend}."] if legend else []
    if (rows["kind"] == "check").any():
        notes.append("A check repeats a claim in another way than the paper.")
    if (rows["verdict"] == UNDECIDED).any():
        notes.append(UNDECIDED_NOTE)
    if (rows["bound_by"] == "irmeta").any():
        notes.append(f"{IRMETA_BOUND} The paper states no bound; this one is irmeta's.")
    return Grid("claims", f"{caption}.", head, tuple(lines), tuple(notes), in_floats=True)


def condition_in_words(over: Mapping[str, Any], on_track: Mapping[str, Any]) -> str:
    """Return e.g. "best P@20 >= 0.500; above 50% of the tracks", given a row over tracks and one.

    A claim about no track has the same row twice.
    """
    bound = on_track["condition"]
    word = next((word for word in SYMBOLS if bound.startswith(word)), "")
    words = f"{on_track['statistic']} {SYMBOLS.get(word, 'in')} {bound.removeprefix(word).strip()}"
    words += f" {IRMETA_BOUND}" if is_ours(over) else ""
    if over["statistic"].startswith(SHARE_OF_TRACKS):
        return f"{words}; {over['condition'].partition(' track')[0]} of the tracks"
    is_mean = (over["why"] or "").startswith("mean")
    return f"mean over the tracks of {words}" if is_mean else words


def matrix_for_print(rows: pl.DataFrame, tracks: Sequence[str], order: str) -> Iterator[Grid]:
    """Yield the matrix of the claims of each paper and its tracks, checks left out.

    `rows` are of the claims of several studies; `order` is that of the tracks in words.
    """
    shaded = with_levels(rows.filter(kind="paper"))
    for of_study in shaded.partition_by("study", maintain_order=True):
        study, present = of_study["study"][0], set(of_study["track"].drop_nulls())
        shown = [track for track in tracks if track in present]
        if not shown:
            continue
        lines = list[tuple[Cell, ...]]()
        for of_claim in of_study.partition_by("id", maintain_order=True):
            over, *by_track = of_claim.iter_rows(named=True)
            if not by_track:
                continue
            on = {row["track"]: row for row in by_track}
            name = Cell(over["claim"] + IRMETA_BOUND * is_ours(over))
            cells = [
                Cell(SIGNS[on[track]["verdict"]], shade=LEVELS[on[track]["level"]])
                if track in on
                else Cell("")
                for track in shown
            ]
            lines.append((name, *cells, Cell(margin(over))))
        head = (
            Head("claim", "claim", is_text=True, is_key=True),
            *(Head(track, "track", is_text=True, is_vertical=True) for track in shown),
            Head("holds", "holds", is_text=True),
        )
        notes = (
            ", ".join(f"{sign} {verdict}" for verdict, sign in SIGNS.items())
            + "; at the right, of the tracks where it holds or does not.",
            f"{SHADES}.",
            f"Tracks {order}.",
            *[f"{IRMETA_BOUND} Bound of irmeta."] * bool((of_study["bound_by"] == "irmeta").any()),
        )
        caption = f"Claims of {cited(study)} on {count(len(shown), 'track')}."
        yield Grid(f"claim-matrix-{study}", caption, head, tuple(lines), notes, in_floats=True)


def cited(study: str) -> str:
    """Return the authors and the year of a study's paper, or the study's title."""
    try:
        declared = find(study)
    except UsageError:  # a study of a package that is not installed
        return study
    authors = re.match(r".*?\b\d{4}", declared.paper)
    return authors[0] if authors else declared.title


def papers_of(studies: Iterable[str]) -> str:
    """Return the papers of some studies in words."""
    return listed([cited(study) for study in studies])


def claim_table(rows: pl.DataFrame, used: Sequence[str], legend: str = "") -> ClaimTable:
    """Return the claims of a page from the table `claims` and the included tracks.

    `legend`: see `in_notation`.
    """
    tracks = list(used) if len(used) > 1 else []
    often = often_unsaid(rows)
    lines = claim_lines(rows, used, tracks, {}, often)
    return ClaimTable(
        text=[
            claims_sentence(rows, len(used)),
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


def claim_lines(
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


def often_unsaid(rows: pl.DataFrame) -> dict[str, str]:
    """Return the sentence on each reason for which many claims cannot be said on a track."""
    by_track = rows.filter(pl.col("track").is_not_null(), verdict=OPEN)
    counted = by_track.group_by("why", "track", maintain_order=True).len()
    reasons = counted.filter(pl.col("len") >= OFTEN).group_by("why", maintain_order=True)
    return {
        why: f"On {listed(tracks, FEW_NAMED)}, {'up to ' if len(tracks) > 1 else ''}"
        f"{count(number, 'claim')} cannot be said: {why}."
        for why, tracks, number in reasons.agg("track", pl.col("len").max()).iter_rows()
    }


def claims_sentence(rows: pl.DataFrame, tracks: int) -> str:
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
    return Mark(MARKS[row["verdict"]], row["verdict"], row["shown"] or "", f"{title}.", shade)


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

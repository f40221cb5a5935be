"""Sections of pages that several studies share: data, printed numbers, sentences and notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from irmeta.phrases import count, listed
from irmeta.policies import TrackOptions
from irmeta.schema.columns import Paper
from irmeta.studies.framework.part_tables import not_compared
from irmeta.studies.framework.study import (
    PAPER_NUMBERS,
    Section,
    Show,
    Study,
    Tables,
)

if TYPE_CHECKING:
    pass

MOST_NAMED = 5  # tracks in a caption or a note
MOST_SENTENCES = 10  # tracks; the conclusions on more are only in the sections of the tracks
POINTER = "The figures of each track are in its section below."


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

"""Parts of sections that several studies have: data, printed numbers, sentences and notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import polars as pl

from irmeta.phrases import count, listed
from irmeta.policies import TrackOptions
from irmeta.schema.columns import Paper, Table
from irmeta.studies.framework.printed_numbers import NAME
from irmeta.studies.framework.study import Section, Show, Tables

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
    return Section(heading, [text], ["studied_tracks"], notes=notes)


def show_printed(item: str, index: Sequence[str] = ("row",)) -> Show:
    """Return the paper's numbers of a table or figure, folded; `index` identifies its rows."""
    name = f"paper_{re.sub('[^a-z0-9]+', '_', item.lower()).strip('_')}"
    caption = f"The paper's {item}, as printed."
    return Show(NAME, (*index, "column", "value"), {"item": (item,)}, "column", name, caption)


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
    """Return a note per table on the included tracks without rows in it.

    Parameters
    ----------
    declared
        The tables of the study by name, for their captions.
    """
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

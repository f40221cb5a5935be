"""Parts of sections: sentences about tracks, and notes on tracks without rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from irmeta.phrases import listed
from irmeta.schema.columns import by_name
from irmeta.studies.framework.study import Tables
from irmeta.studies.papers.innovation.tables import TABLES

DECLARED = by_name(TABLES)
MOST_NAMED = 5  # tracks in a note
MOST_SENTENCES = 10  # tracks; the conclusions on more are only in the sections of the tracks
POINTER = "The figures of each track are in its section below."


def sentences(tables: Tables, about: Callable[[Tables, str], Iterator[str]]) -> list[str]:
    """Return the sentences about each included track; a pointer if there are many tracks."""
    tracks = tables["studied_tracks"].filter("used")["track"].to_list()
    if len(tracks) > MOST_SENTENCES:
        return ["The section of each track below states the conclusions."]
    return [sentence for track in tracks for sentence in about(tables, track)]


def absent(
    tables: Tables, name: str, reason: str = "too few systems, queries or docs"
) -> list[str]:
    """Return a note on the included tracks without rows in a table."""
    what = DECLARED[name].caption.removesuffix(".")
    return [f"{what}: absent on {tracks}: {reason}." for tracks in _without(tables, tables[name])]


def unknown(tables: Tables, level: str, text: str) -> list[str]:
    """Return a note on the included tracks whose groups or types of runs are unknown."""
    known = tables["contributions"].filter(level=level)
    return [f"On {tracks}, {text}." for tracks in _without(tables, known)]


def _without(tables: Tables, rows: pl.DataFrame) -> list[str]:
    """Return the names of the included tracks without rows in one text, if there are any."""
    used = tables["studied_tracks"].filter("used")
    tracks = used.join(rows, on="track", how="anti")["track"].to_list()
    return [listed(tracks, MOST_NAMED)] if tracks else []

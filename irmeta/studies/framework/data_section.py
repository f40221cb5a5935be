"""The section of a study's page on the tracks it covers."""

from __future__ import annotations

import polars as pl

from irmeta.phrases import count
from irmeta.policies import TrackOptions
from irmeta.schema.columns import Paper
from irmeta.studies.framework.study import Section, Tables


def data_section(
    tables: Tables, options: TrackOptions, heading: str = "Data", paper: Paper | None = None
) -> Section:
    """Return the section: numbers of tracks, systems and queries, and the excluded tracks."""
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

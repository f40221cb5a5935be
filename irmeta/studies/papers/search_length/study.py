"""The study of atomized search length: what it declares."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.search_length.options import SearchLengthOptions
from irmeta.studies.papers.search_length.paper import SOURCE
from irmeta.studies.papers.search_length.tables import TABLES

HOME = "irmeta.studies.papers.search_length"

STUDY = Study(
    name="search-length",
    title="Atomized search length",
    paper=SOURCE,
    gives="How far the best systems are from perfect, and how measures reorder them.",
    revision=2,
    options=SearchLengthOptions,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    over_tracks=f"{HOME}.over_tracks:over_tracks",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
)

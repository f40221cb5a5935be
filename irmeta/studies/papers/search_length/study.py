"""The declaration of the study of atomized search length."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.search_length.options import SearchLengthOptions
from irmeta.studies.papers.search_length.paper import SOURCE
from irmeta.studies.papers.search_length.tables import HOME, TABLES

STUDY = Study(
    name="search-length",
    title="Atomized search length",
    paper=SOURCE,
    gives="Headroom of the best systems, and reordering of systems by measures.",
    revision=5,
    options=SearchLengthOptions,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
    splits_tracks=True,
)

"""The declaration of the overview."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.reanalysis.options import OverviewOptions
from irmeta.studies.reanalysis.tables import TABLES

HOME = "irmeta.studies.reanalysis"

STUDY = Study(
    name="overview",
    title="Overview of retrieval tracks",
    paper="",
    gives="All systems of all tracks by all measures, and the agreement of the measures.",
    revision=6,
    options=OverviewOptions,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
    splits_tracks=True,
)

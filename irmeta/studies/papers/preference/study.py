"""The declaration of the study of recall-paired preference."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.preference.options import PreferenceOptions
from irmeta.studies.papers.preference.paper import NOTATION, NUMBERS, SOURCE
from irmeta.studies.papers.preference.tables import HOME, TABLES

STUDY = Study(
    name="preference",
    title="Recall-paired preference",
    paper=SOURCE,
    gives="Preferences between ranked lists beside measures: orders of systems, significantly "
    "different pairs, and missing queries and judgments.",
    revision=3,
    options=PreferenceOptions,
    tables=TABLES,
    printed=NUMBERS,
    notation=NOTATION,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
)

"""The declaration of the study of judges."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.judges.options import JudgesOptions
from irmeta.studies.papers.judges.tables import HOME, TABLES

STUDY = Study(
    name="judges",
    title="Judges: how far can these judgments be trusted?",
    paper="",
    gives="Which conclusions survive judgments by others than the reference, beside the noise "
    "that queries alone bring.",
    revision=6,
    options=JudgesOptions,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
)

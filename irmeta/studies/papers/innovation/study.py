"""The declaration of the study of innovation."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.innovation.options import InnovationOptions
from irmeta.studies.papers.innovation.paper import NOTATION, NUMBERS, SOURCE
from irmeta.studies.papers.innovation.tables import HOME, TABLES

STUDY = Study(
    name="innovation",
    title="Innovation",
    paper=SOURCE,
    gives="Measures that reward relevant docs which few systems retrieve: orders of systems, "
    "significantly different pairs, stability, and who retrieves what no other does.",
    revision=3,
    options=InnovationOptions,
    tables=TABLES,
    printed=NUMBERS,
    notation=NOTATION,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
)

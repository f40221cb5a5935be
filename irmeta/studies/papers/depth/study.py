"""The declaration of the study of pooling and evaluation depth."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.depth.options import DepthOptions
from irmeta.studies.papers.depth.paper import NOTATION, NUMBERS, SOURCE
from irmeta.studies.papers.depth.tables import HOME, TABLES

STUDY = Study(
    name="depth",
    title="Pooling and evaluation depth",
    paper=SOURCE,
    gives="Effects of the depth of the pool and of the cutoff on scores and orders of systems.",
    revision=4,
    options=DepthOptions,
    tables=TABLES,
    printed=NUMBERS,
    notation=NOTATION,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
)

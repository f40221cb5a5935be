"""The declaration of the study of desirable properties."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.properties.options import PropertiesOptions
from irmeta.studies.papers.properties.paper import NOTATION, SOURCE
from irmeta.studies.papers.properties.tables import TABLES

HOME = "irmeta.studies.papers.properties"

STUDY = Study(
    name="properties",
    title="Desirable properties",
    paper=SOURCE,
    gives="Properties that measures of truncated and diversified rankings keep or violate, on all "
    "short rankings.",
    revision=2,
    options=PropertiesOptions,
    notation=NOTATION,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    inputs="none",
)

"""The declaration of the study of desirable properties."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.properties.options import PropertiesOptions
from irmeta.studies.papers.properties.tables import TABLES

HOME = "irmeta.studies.papers.properties"

STUDY = Study(
    name="properties",
    title="Desirable properties",
    paper="Albahem, Spina, Scholer, Moffat and Cavedon 2018, Desirable Properties for Diversity "
    "and Truncated Effectiveness Metrics",
    gives="Properties that measures of truncated and diversified rankings keep or violate, on all "
    "short rankings.",
    revision=1,
    options=PropertiesOptions,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    sections=f"{HOME}.sections:sections",
    inputs="none",
)

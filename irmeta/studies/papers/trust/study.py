"""The declaration of the study of trust."""

from __future__ import annotations

from irmeta.studies.framework.study import Study
from irmeta.studies.papers.trust.options import TrustOptions
from irmeta.studies.papers.trust.tables import HOME, TABLES

STUDY = Study(
    name="trust",
    title="Trust: which measure, to what depth, and which conclusions",
    paper="",
    gives="How far each measure can be trusted on a track: by other queries, depths, judgments, "
    "and orders of tied docs. This is reliability. Whether a measure asks what your users want is "
    "validity, which no table can show.",
    revision=5,
    options=TrustOptions,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    figures=f"{HOME}.figures:FIGURES",
    sections=f"{HOME}.sections:sections",
    track_section=f"{HOME}.sections:track_section",
)

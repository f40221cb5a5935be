"""The sections of the study's page."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.studies.framework.data import data_section
from irmeta.studies.framework.study import Section, Tables
from irmeta.studies.papers.innovation.options import InnovationOptions as Options


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 4.1)")


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track."""
    return Section(track, show=["docs_by_holders"])

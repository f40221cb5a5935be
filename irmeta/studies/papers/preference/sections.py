"""The sections of the study's page, in the paper's order."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.studies.framework.data import data_section
from irmeta.studies.framework.study import Section, Tables
from irmeta.studies.papers.preference.options import PreferenceOptions as Options
from irmeta.studies.papers.preference.paper import DATA


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections over tracks."""
    yield data_section(tables, options, "Data (Section 5.1)", DATA)


def track_section(tables: Tables, options: Options, track: str) -> Section:
    """Return the section of one track."""
    return Section(track)

"""The sections of the study's page, in the paper's order."""

from __future__ import annotations

from collections.abc import Iterator

from irmeta.studies.framework.study import Section, Tables
from irmeta.studies.framework.words import count
from irmeta.studies.papers.properties.options import PropertiesOptions as Options

CERTAINTY = (
    "One violated pair proves that a measure lacks the property. No violated pair among these "
    "rankings does not prove that it has the property."
)


def sections(tables: Tables, options: Options) -> Iterator[Section]:
    """Yield the sections."""
    space = options.space
    yield Section("Properties (Section 3.1)", show=["properties"])
    yield Section(
        "Violations (Section 4.2)",
        f"All {count(space.count, 'ranking')} of up to {count(space.length, 'doc')}, over "
        f"{count(space.subtopics, 'subtopic')} with {count(space.relevant_docs, 'relevant doc')} "
        f"each. {CERTAINTY}",
        ["table_1", "further", "by_length"],
    )
    yield Section("Violated pairs (Section 4.3)", show=["violations"])
    yield Section("Truncated rankings (Section 5)", show=["truncation"])
    yield Section("Rankings of a single subtopic (Section 5)", show=["single_subtopic"])
    yield Section("Relations of short rankings (Figures 1 to 5)", show=["nodes", "edges"])

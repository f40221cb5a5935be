"""Numbers printed in the paper, and where the paper contradicts itself.

Figures 1 to 5 are graphs without numbers. Table 1 prints ticks, for the two measures that violate a
property; the counts are in the text.
"""

from __future__ import annotations

from collections.abc import Mapping

from irmeta.studies.framework.printed_numbers import read_notes, read_printed, values_of

SOURCE = (
    "Albahem, Spina, Scholer, Moffat and Cavedon 2018, Desirable Properties for Diversity and "
    "Truncated Effectiveness Metrics, doi:10.1145/3291992.3291996"
)
SPACE = (2, 10)
"""Subtopics, and the length of the longest rankings."""
RELEVANT = 5
"""Relevant docs per subtopic of the worked example of AP-IA."""

NOTATION = {"CT(per=all)": "CT", "nCT(per=all,iterations=10)": "nCT", "ACT(per=all)": "ACT"}
"""The paper's names of measures."""
NUMBERS = read_printed("irmeta.studies.papers.properties")
"""All numbers of the papers, with the digits that they print."""
_VALUES = values_of(NUMBERS)
WORKED: Mapping[tuple[str, str], str | None] = {
    (measure, ranking): _VALUES.get(("Section 4.3", measure, ranking))
    for measure, rankings in {
        "ACT(per=all)@10": ("ab", "abx"),
        "ACT(form=paper,per=all)@10": ("ab", "abx"),
        "AP_IA": ("axxa", "axxb"),
    }.items()
    for ranking in rankings
}
"""Scores of Section 4.3 by measure and ranking; None: not printed."""

SLIPS = read_notes("irmeta.studies.papers.properties")
"""Contradictions in the paper, by the section of the page that states them."""


def printed(measure: str, prop: str) -> str:
    """Return the violations that the paper prints for one of its measures and properties."""
    if _VALUES.get(("Table 1", measure, prop), "holds") == "holds":
        return "none"
    return _VALUES.get(("Section 4.2", measure, prop), "some")

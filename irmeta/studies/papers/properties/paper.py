"""Numbers printed in the paper, and where the paper contradicts itself.

Figures 1 to 5 are graphs without numbers. Table 1 prints ticks, for the two measures that violate a
property; the counts are in the text.
"""

from __future__ import annotations

from collections.abc import Mapping

from irmeta.studies.framework.printed_numbers import read_printed, values_of

SOURCE = (
    "Albahem, Spina, Scholer, Moffat and Cavedon 2018, Desirable Properties for Diversity and "
    "Truncated Effectiveness Metrics, doi:10.1145/3291992.3291996"
)
SPACE = (2, 10)
"""Subtopics, and the length of the longest rankings."""
RELEVANT = 5
"""Relevant docs per subtopic of the worked example of AP-IA."""

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

SLIPS: Mapping[str, tuple[str, ...]] = {
    "equations": (
        "Eqs. 3, 4 and 7 print rel(d_(i-1), a) as exponent; the text defines it as nrel(d_(i-1), "
        "a), the number of docs above rank i that are relevant to a.",
        "Section 2 says that alpha-nDCG is not normalised by an ideal ranking; its Eq. 3 is.",
    ),
    "rankings": (
        "Section 3.3 calls ((m + 1)^(h + 1) - 1) / m the number of rankings of length h. It is "
        "that of all rankings up to length h, the empty one included.",
    ),
    "table_1": (
        "Section 4.2 calls 29,496 of 29,523 cases almost 99%; they are 99.91%.",
        "All 2,026 cases of AP-IA are violations if a subtopic has a relevant doc for each rank. "
        "With the five of the paper's worked example (--relevant 5), 1,254 are.",
    ),
    "worked": (
        "By Eq. 7 the scores of ACT would be 0.75 and 0.8333. Those of the paper are of TREC's "
        "program, which has a further factor gamma and divides by the height of the cube.",
    ),
    "truncation": (
        "Section 5 writes k < l for rankings that are shorter than the cutoff, which is l < k.",
    ),
}
"""Contradictions in the paper, by the section of the page that states them."""


def printed(measure: str, prop: str) -> str:
    """Return the violations that the paper prints for one of its measures and properties."""
    if _VALUES.get(("Table 1", measure, prop), "holds") == "holds":
        return "none"
    return _VALUES.get(("Section 4.2", measure, prop), "some")

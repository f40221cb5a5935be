"""The declaration of the study of desirable properties: its paper, and its tables."""

from __future__ import annotations

from collections.abc import Mapping

from irmeta.schema.columns import MEASURE, Column, Table, stored
from irmeta.studies.framework.study import (
    Study,
    printed_numbers,
    read_notes,
    read_printed,
    values_of,
)
from irmeta.studies.papers.properties.options import PropertiesOptions

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


PROPERTY = Column("name", "name of the property")
RANKING = "labels of its docs: a, b, ... relevant to that subtopic, x to none"
LOWER = Column("name", f"ranking that should not score more; {RANKING}", label="lower ranking")
UPPER = Column("name", f"ranking that should score at least as much; {RANKING}",
               label="upper ranking")  # fmt: skip
APPLICABLE = Column("big", "pairs of rankings, without the empty ranking")
VIOLATED = Column("big", "pairs whose lower ranking scores higher by more than 1e-12; of a "
                  "strict property: does not score lower")  # fmt: skip
SHARE = Column("real", "violated / applicable; NaN: no pair is applicable", format=".2%")


def _counts(name: str, caption: str, **more: Column) -> Table:
    return Table(name, ("measure", "property"), {
        "measure": MEASURE,
        "property": PROPERTY,
        "applicable": APPLICABLE,
        "violated": VIOLATED,
        "share": SHARE,
        "holds": Column("yes", "whether no pair is violated; null: no pair is applicable", True,
                        format="check"),
        **more,
        "tied": stored("big", "pairs of equal scores"),
        "undefined": stored("big", "pairs of which a score is NaN; they violate nothing"),
        "indirect": stored("big", "of the applicable pairs, those that no single property relates; "
                           "null: not induction", True),
        "indirect_violated": stored("big", "violated pairs of these", True),
        "with_empty": stored("big", "further pairs of which one ranking is empty"),
        "with_empty_violated": stored("big", "violated pairs of these"),
    }, caption=caption, by="all")  # fmt: skip


TABLES = (
    Table("properties", ("property",), {
        "property": PROPERTY,
        "formula": Column("text", "the property in symbols: S, P, Q rankings, r a relevant doc, x "
                          "a non-relevant one, p and n docs of a seen and an unseen subtopic"),
        "meaning": Column("text", "the property in words"),
        "strict": Column("yes", "whether equal scores violate it", show="page"),
        "source": Column("text", "publication; empty: none", show="page"),
    }, caption="Properties.", by="all"),
    _counts("table_1", "Violations of the paper's properties (Table 1).",
            printed=Column("text", "violations that the paper prints, of its measures on its "
                           "rankings", True, format="paper", label="paper")),
    _counts("iterations", "Violations of the cube tests by the docs of an iteration.",
            per=Column("text", "docs of an iteration: 5 in TREC's Dynamic Domain track; all: one "
                       "iteration, as in the paper", label="docs per iteration")),
    _counts("further", "Violations of further properties."),
    _counts("single_subtopic", "Violations on rankings with a single subtopic (Section 5)."),
    Table("violations", ("measure", "property", "case"), {
        "measure": MEASURE,
        "property": PROPERTY,
        "case": Column("name", "first: of the shortest rankings; smallest, largest: by the "
                       "difference of the scores"),
        "lower": LOWER,
        "upper": UPPER,
        "lower_value": Column("real", "score of the lower ranking", format=".4f",
                              label="lower score"),
        "upper_value": Column("real", "score of the upper ranking", format=".4f",
                              label="upper score"),
        "lower_arithmetic": Column("text", "arithmetic of the score of the lower ranking",
                                   show="page"),
        "upper_arithmetic": Column("text", "arithmetic of the score of the upper ranking",
                                   show="page"),
    }, caption="Violated pairs (Section 4.3).", by="all"),
    Table("worked", ("measure", "ranking"), {
        "measure": MEASURE,
        "ranking": Column("name", f"ranking; {RANKING}"),
        "value": Column("real", "score of the ranking, with five relevant docs per subtopic",
                        format=".4f"),
        "printed": Column("text", "score as printed in the paper; null: not printed", True,
                          format="paper", label="paper"),
    }, caption="Worked examples (Section 4.3).", by="all"),
    Table("by_length", ("measure", "property", "length"), {
        "measure": MEASURE,
        "property": PROPERTY,
        "length": Column("count", "length of the longest rankings, h", unit="docs"),
        "applicable": APPLICABLE,
        "violated": VIOLATED,
        "share": SHARE,
    }, caption="Violations by the length of the longest rankings, of measures with any.",
       by="all", folded=True),
    Table("truncation", ("measure",), {
        "measure": MEASURE,
        "depth": Column("count", "depth k to which rankings are padded: the cutoff, at most the "
                        "length of the longest", unit="docs"),
        "rankings": Column("big", "rankings of 1 to k - 1 docs"),
        "equal": Column("big", "of these, with the same score as padded by non-relevant docs"),
        "better": Column("big", "with a better score when padded", label="padded better"),
        "worse": Column("big", "with a worse score when padded", label="padded worse"),
        "treatment": Column("text", "pads: equal scores; divides by length: score times length is "
                            "equal; other: neither; null: no ranking is shorter", True),
    }, caption="Treatment of rankings that are shorter than the cutoff (Section 5).", by="all"),
    Table("nodes", ("ranking",), {
        "number": stored("count", "number of the ranking"),
        "ranking": Column("name", f"ranking; {RANKING}"),
        "length": Column("count", "its length", unit="docs"),
    }, caption="Rankings of Figures 1 to 5.", by="all", latex=False, folded=True),
    Table("edges", ("property", "lower", "upper"), {
        "property": Column("name", "relevance, irrelevance or redundancy; induction: related by "
                           "several steps"),
        "lower": LOWER,
        "upper": UPPER,
        "with_empty": Column("yes", "whether one of them is the empty ranking, so that the pair is "
                             "not counted"),
    }, caption="Relations of Figures 2 to 5.", by="all", latex=False, folded=True),
    printed_numbers("table or section of the paper", "measure", "property, or ranking"),
)  # fmt: skip


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

"""The declaration of the study of desirable properties: its options, paper and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irmeta.errors import UsageError
from irmeta.options import Options, option
from irmeta.phrases import count
from irmeta.schema.columns import MEASURE, Column, Table, stored
from irmeta.studies.framework.study import (
    Study,
    printed_numbers,
    read_notes,
    read_printed,
    values_of,
)

if TYPE_CHECKING:
    from irmeta.measures.names import Spec
    from irmeta.numbered_rankings import NumberedRankings
    from irmeta.rankings.enumeration import RankingSpace
    from irmeta.stats.properties import Property

MEASURES = (
    *("RR", "P@5", "P@10", "nDCG@5", "nDCG@10", "AP"),
    *("StRecall@5", "StRecall@10", "P_IA@5", "P_IA@10", "ERR_IA@5", "ERR_IA@10"),
    *("alpha_nDCG@5", "alpha_nDCG@10", "AP_IA", "NRBP"),
    *("CT(per=all)@10", "nCT(per=all,iterations=10)@10", "ACT(per=all)@10"),
)
"""The measures of Section 4.1, in the paper's order; the cube tests have one iteration of ten."""
ITERATIONS = (1, 5, "all")
"""Docs of an iteration of the cube tests: each doc, TREC's Dynamic Domain track, the paper."""
MOST_DRAWN = 121
"""Largest number of rankings in Figures 1 to 5."""
RANKING_SECONDS, PAIR_SECONDS = 2e-7, 7e-9
"""Time of a measure for a ranking with its neighbours, and for a pair of induction; on one core."""
MOST_SECONDS = 60
SHARE_OF_MEMORY = 0.5
ARRAYS = 10  # arrays of one number per ranking that pairs of rankings take at most
SOURCE = (
    "Albahem, Spina, Scholer, Moffat and Cavedon 2018, Desirable Properties for Diversity and "
    "Truncated Effectiveness Metrics, doi:10.1145/3291992.3291996"
)
SPACE = (2, 10)
"""Subtopics, and the length of the longest rankings."""
RELEVANT = 5
"""Relevant docs per subtopic of the worked example of AP-IA."""
NOTATION = {f"nCT(per={docs},iterations=10)": f"nCT(per={docs})" for docs in (1, 5, "all")}
"""Short names of measures; CT, nCT and ACT keep their `per`, of which there are three."""
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
PROPERTY = Column("name", "name of the property")
RANKING = "labels of its docs: a, b, ... relevant to that subtopic, x to none"
LOWER = Column("name", f"ranking that should not score more; {RANKING}", label="lower ranking")
UPPER = Column("name", f"ranking that should score at least as much; {RANKING}",
               label="upper ranking")  # fmt: skip
APPLICABLE = Column("big", "pairs of rankings, without the empty ranking")
VIOLATED = Column("big", "pairs whose lower ranking scores higher by more than 1e-12; of a "
                  "strict property: does not score lower")  # fmt: skip
SHARE = Column("real", "violated / applicable; NaN: no pair is applicable", format=".2%")
HOME = "irmeta.studies.papers.properties"


@dataclass(frozen=True)
class PropertiesOptions(Options):
    """Options of the study of desirable properties."""

    measures: tuple[str, ...] = option(
        (),
        "Names or presets of measures (repeatable); default those of the paper.",
        parse="irmeta.studies.papers.properties.study:checked_measures",
        flag="-m --measures",
    )
    subtopic_count: int = option(2, "Number of subtopics, m.", least=1, most=23)
    length: int = option(10, "Length of the longest rankings, h.", least=1, most=23)
    relevant: int | None = option(
        None,
        "Relevant docs per subtopic; default as many as the longest rankings have.",
        least=1,
        most=1000,
    )
    weights: tuple[float, ...] = option(
        (),
        "Weights of the subtopics, one for each (repeatable); default equal. Measures of the paper "
        "then read them (weights=given).",
        least=0,
        exclusive=True,
        flag="--weight",
    )
    drawn_subtopic_count: int = option(
        2, "Number of subtopics in Figures 1 to 5.", least=1, most=23
    )
    drawn_length: int = option(
        2, "Length of the longest rankings in Figures 1 to 5.", least=1, most=23
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.space
        if (rankings := self.drawn.count) > MOST_DRAWN:
            raise UsageError(
                f"Figures 1 to 5 would have {rankings:,} rankings, more than {MOST_DRAWN}: choose "
                "a smaller drawn_length or drawn_subtopic_count."
            )

    @property
    def space(self) -> RankingSpace:
        """The rankings of the study."""
        return self.rankings(self.subtopic_count, self.length, self.weights)

    @property
    def drawn(self) -> RankingSpace:
        """The rankings of Figures 1 to 5."""
        return self.rankings(self.drawn_subtopic_count, self.drawn_length)

    @property
    def single(self) -> RankingSpace:
        """The rankings over one subtopic."""
        return self.rankings(1, self.length, self.weights[:1])

    def rankings(
        self, subtopics: int, length: int, weights: tuple[float, ...] = ()
    ) -> RankingSpace:
        """Return rankings with the judgments of the study."""
        from irmeta.rankings.enumeration import RankingSpace

        return RankingSpace(subtopics, length, self.relevant or 0, weights)

    @property
    def specs(self) -> list[Spec]:
        """The measures of the study; the paper's read given weights."""
        from irmeta.measures.names import parse_measures

        specs = parse_measures(self.measures or MEASURES)
        if self.measures or not self.weights:
            return specs
        return [_with(spec, "weights", "given") for spec in specs]

    @property
    def iterated(self) -> dict[str, Spec]:
        """The cube tests among the measures with each of `ITERATIONS`, by the measure's name."""
        tests = [spec for spec in self.specs if "per" in dict(spec.params)]
        specs = (_with(spec, "per", docs) for spec in tests for docs in ITERATIONS)
        return {spec.name: spec for spec in specs}

    @property
    def every_spec(self) -> list[Spec]:
        """The measures of the study, then the cube tests with other iterations."""
        specs = self.specs
        return [*specs, *(spec for spec in self.iterated.values() if spec not in specs)]

    def used(self) -> dict[str, Any]:
        """Return what empty options stand for."""
        return {
            "measures": [spec.name for spec in self.specs],
            "relevant": self.space.relevant_docs,
            "weights": "equal",
        }

    def scored(self) -> tuple[str, ...]:
        """Return the names of all computed measures."""
        return tuple(dict.fromkeys([*(spec.name for spec in self.specs), *self.iterated]))

    def check_run(self) -> None:
        """Check that the measures of all rankings take acceptable time and memory."""
        from irmeta.stats.properties import PAPER

        check_affordable(self.space, self.every_spec, PAPER)


def check_affordable(
    rankings: NumberedRankings, specs: Sequence[Spec], properties: Sequence[Property]
) -> None:
    """Check that measures of all rankings take no more than a minute and half of the memory."""
    from irmeta.parallel import usable_memory
    from irmeta.stats.properties import INDUCTION, count_induced

    pairs = count_induced(rankings) if INDUCTION in properties else 0
    seconds = len(specs) * (RANKING_SECONDS * rankings.count + PAIR_SECONDS * pairs)
    is_turned = any(spec.measure.direction < 0 for spec in specs)
    arrays = len(specs) * (2 if is_turned else 1) + ARRAYS
    size, most = 8 * rankings.count * arrays, SHARE_OF_MEMORY * usable_memory()
    if seconds > MOST_SECONDS or size > most:
        raise UsageError(
            f"{rankings.count:,} rankings of up to {rankings.length} docs over "
            f"{count(rankings.subtopics, 'subtopic')} by {count(len(specs), 'measure')} take about "
            f"{seconds:,.0f} seconds and {size / 1e9:.1f} GB, above the limits of {MOST_SECONDS} "
            f"seconds and {most / 1e9:.1f} GB: choose a smaller length, or fewer subtopics or "
            "measures."
        )


def _with(spec: Spec, parameter: str, value: object) -> Spec:
    """Return the measure with another value of a parameter, if the measure has it."""
    params = tuple((name, value if name == parameter else v) for name, v in spec.params)
    return replace(spec, params=params)


def checked_measures(names: Sequence[str]) -> tuple[str, ...]:
    """Return canonical names of measures that have a value for a ranking alone."""
    from irmeta.measures.evaluate import check_alone
    from irmeta.measures.names import parse_measures

    specs = parse_measures(names) if names else []
    check_alone(specs)
    return tuple(spec.name for spec in specs)


def printed(measure: str, prop: str) -> str:
    """Return the violations that the paper prints for one of its measures and properties."""
    if _VALUES.get(("Table 1", measure, prop), "holds") == "holds":
        return "none"
    return _VALUES.get(("Section 4.2", measure, prop), "some")


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
            measure=Column("name", "name of the measure with the docs of an iteration, `per`"),
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


STUDY = Study(
    name="properties",
    title="Desirable properties",
    paper=SOURCE,
    gives="Properties that measures of truncated and diversified rankings keep or violate, on all "
    "short rankings.",
    revision=3,
    options=PropertiesOptions,
    notation=NOTATION,
    tables=TABLES,
    compute=f"{HOME}.compute:compute",
    claims=f"{HOME}.claims:claims",
    figures=f"{HOME}.page:FIGURES",
    sections=f"{HOME}.page:sections",
    inputs="none",
)

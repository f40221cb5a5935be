"""Options of the study, and the names of its measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irmeta.errors import UsageError
from irmeta.options import Options, option
from irmeta.phrases import count

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


@dataclass(frozen=True)
class PropertiesOptions(Options):
    """Options of the study of desirable properties."""

    measures: tuple[str, ...] = option(
        (),
        "Names or presets of measures (repeatable); default those of the paper.",
        parse="irmeta.studies.papers.properties.options:checked_measures",
        flag="-m --measures",
    )
    subtopics: int = option(2, "Number of subtopics, m.", least=1, most=23)
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
    drawn_subtopics: int = option(2, "Number of subtopics in Figures 1 to 5.", least=1, most=23)
    drawn_length: int = option(
        2, "Length of the longest rankings in Figures 1 to 5.", least=1, most=23
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.space
        if (rankings := self.drawn.count) > MOST_DRAWN:
            raise UsageError(
                f"Figures 1 to 5 would have {rankings:,} rankings, more than {MOST_DRAWN}: choose "
                "a smaller drawn_length or drawn_subtopics."
            )

    @property
    def space(self) -> RankingSpace:
        """The rankings of the study."""
        return self.rankings(self.subtopics, self.length, self.weights)

    @property
    def drawn(self) -> RankingSpace:
        """The rankings of Figures 1 to 5."""
        return self.rankings(self.drawn_subtopics, self.drawn_length)

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

        check_affordable(self.space, every_spec(self), PAPER)


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


def every_spec(options: PropertiesOptions) -> list[Spec]:
    """Return the measures of the study, then the cube tests with other iterations."""
    specs = options.specs
    return [*specs, *(spec for spec in options.iterated.values() if spec not in specs)]


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

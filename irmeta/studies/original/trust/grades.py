"""Grades of the families of criteria, each the worst of its criteria; and tables over tracks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from irmeta.equality import TIE
from irmeta.errors import MeasureError
from irmeta.measures.evaluate import dependence, score_rankings
from irmeta.measures.names import Spec, parse_measure
from irmeta.rankings.enumeration import RankingSpace
from irmeta.stats.reproducibility import interval
from irmeta.studies.framework.study import Tables, with_limits
from irmeta.studies.original.trust.study import LEAST_QUERIES, LEAST_SYSTEMS, TrustOptions
from irmeta.studies.papers.properties.compute import measure_properties

Grade = Literal["safe", "with care", "unsafe", "cannot be said"]
SAFE, CARE, UNSAFE, UNKNOWN = "safe", "with care", "unsafe", "cannot be said"
GRADES: tuple[Grade, ...] = (SAFE, CARE, UNSAFE, UNKNOWN)
"""Grades, best first; the last is none."""
FAMILIES = ("queries", "depth", "judgments", "ties_and_ends")
"""Families of criteria that have grades."""


@dataclass(frozen=True)
class Criterion:
    """A value with the bounds of its grades."""

    column: str  # the column of the table `trust`
    family: str  # one of `FAMILIES`
    # safe, unsafe: the bounds: constants of the method
    safe: float
    unsafe: float
    text: str  # what the number is: a format of a sentence
    # whether a value is safe up to its bound, instead of from its bound on
    less_is_better: bool = False

    @property
    def short(self) -> str:
        """Format of the number alone."""
        return "{:.1%}" if ":.1%" in self.text else "{:.3f}"

    def grade(self, value: float | None) -> Grade:
        """Return the grade of a value; undefined values have none."""
        if value is None or np.isnan(value):
            return UNKNOWN
        safe, unsafe = self.safe, self.unsafe
        if self.less_is_better:
            value, safe, unsafe = -value, -safe, -unsafe
        # 12 digits: a tau of 0.9 may be 0.8999999999999999
        if round(value - safe, 12) >= 0:
            return SAFE
        return UNSAFE if round(value - unsafe, 12) < 0 else CARE


TAU = 0.9, 0.8
"""Least tau-b with the order by all judgments that is safe; least that is not unsafe."""
HALVES = 0.8, 0.6
"""The same of two halves of the queries."""
SWAPS = 0.01, 0.05
"""Greatest share of swaps that is safe; greatest that is not unsafe."""
FLIPS = 0.01, 0.1
"""The same of pairs that ends of lists reverse."""
CRITERIA = (
    Criterion("half_tau", "queries", *HALVES,
              "two halves of the queries order systems with mean tau-b {:.3f}"),
    Criterion("swaps", "queries", *SWAPS,
              "one half of the queries reverses {:.1%} of the other's conclusions", True),
    Criterion("depth_tau", "depth", *TAU,
              "the order at the depth of the pool has tau-b {:.3f} with that of full lists"),
    Criterion("left_out_tau", "judgments", *TAU,
              "without the judgments of one contributor, quantile .1 of tau-b is {:.3f}"),
    Criterion("dropped_tau", "judgments", *TAU,
              "with half of the relevant docs, mean tau-b is {:.3f}"),
    Criterion("altered_tau", "judgments", *TAU,
              "with 40 % of the labels moved by one grade, mean tau-b is {:.3f}"),
    Criterion("other_qrels_tau", "judgments", *TAU,
              "by the other qrels sets, mean tau-b is {:.3f}"),
    Criterion("tie_tau", "ties_and_ends", *TAU,
              "two random orders of tied docs have mean tau-b {:.3f}"),
    Criterion("end_flips", "ties_and_ends", *FLIPS,
              "cutting trailing non-relevant docs reverses {:.1%} of the pairs", True),
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Grade of a family, its reason, and the deciding number as text."""

    grade: Grade
    why: str
    number: str = "\u2014"


def verdicts(
    row: Mapping[str, Any],
    *,
    systems: int,
    queries: int,
    reasons: Mapping[str, str] | None = None,
    unchecked: Mapping[str, str] | None = None,
) -> dict[str, Verdict]:
    """Grade each family by the worst of its criteria.

    Where one of them could not be examined, the family has no grade unless another is unsafe.

    Parameters
    ----------
    row
        Values of the criteria by column.
    systems, queries
        Numbers of systems and queries; with fewer than 5, nothing is graded.
    reasons
        Why a family has no defined criterion, by family.
    unchecked
        Why a criterion of a family could not be examined, by family; empty: all were.
    """
    for number, least, what in (
        (systems, LEAST_SYSTEMS, "systems"),
        (queries, LEAST_QUERIES, "queries"),
    ):
        if number < least:
            return {family: Verdict(UNKNOWN, f"{number} {what} are too few") for family in FAMILIES}
    graded = dict[str, Verdict]()
    for family in FAMILIES:
        reason = (reasons or {}).get(family, "no criterion is defined on this track")
        worst = _worst(
            [criterion for criterion in CRITERIA if criterion.family == family], row, reason
        )
        lacks = (unchecked or {}).get(family, "")
        if lacks and worst.grade not in (UNSAFE, UNKNOWN):
            worst = Verdict(UNKNOWN, f"{lacks}; of what was examined the worst: {worst.why}")
        elif lacks:
            worst = replace(worst, why=f"{worst.why}; {lacks}")
        graded[family] = worst
    return graded


def _worst(criteria: Iterable[Criterion], row: Mapping[str, Any], reason: str) -> Verdict:
    verdict, decides, worst = Verdict(UNKNOWN, reason), None, 0.0
    for criterion in criteria:
        value = row.get(criterion.column)
        grade = criterion.grade(value)
        if grade == UNKNOWN or value is None:
            continue
        badness = value if criterion.less_is_better else -value
        is_worse = verdict.grade == UNKNOWN or GRADES.index(grade) > GRADES.index(verdict.grade)
        if grade == verdict.grade and decides is not None and decides.safe == criterion.safe:
            is_worse = badness > worst
        if is_worse:
            verdict = Verdict(grade, criterion.text.format(value), criterion.short.format(value))
            decides, worst = criterion, badness
    return verdict


AVERAGED = (
    "separated",
    "detectable",
    "e_rho2",
    *(criterion.column for criterion in CRITERIA),
    "undecided",
)
"""Criteria that have means over tracks: columns of the table `trust`."""
_ROUND = re.compile(r"(?:[-_. ]*(?:round|year|r|y)?[-_. ]*\d+)+$", re.IGNORECASE)
LENGTH = 10
"""Docs of the enumerated rankings."""
USERS = {
    "utility": "stops somewhere",
    "recall": "wants every relevant doc",
    "count": "is not modelled",
}


def collection_of(track: str) -> str:
    """Return the name of a track without the year or round at its end: its collection of docs."""
    return _ROUND.sub("", track) or track


def criterion_means(tables: Tables, options: TrustOptions) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `criterion_means`."""
    rows = tables["trust"]
    collections = {track: collection_of(track) for track in rows["track"].unique()}
    rows = rows.with_columns(collection=pl.col("track").replace(collections))
    for (measure,), of_measure in rows.group_by("measure", maintain_order=True):
        for criterion in AVERAGED:
            known = of_measure.drop_nulls(criterion).filter(pl.col(criterion).is_not_nan())
            if known.height:
                yield {
                    "measure": measure,
                    "criterion": criterion,
                    "tracks": known.height,
                    **_mean(known, criterion, options),
                }


def _mean(known: pl.DataFrame, criterion: str, options: TrustOptions) -> dict[str, Any]:
    """Return the mean over tracks, with an interval from draws of whole collections."""
    parts = known.group_by("collection", maintain_order=True).agg(pl.sum(criterion), n=pl.len())
    sums = parts.select(criterion, "n").to_numpy()
    limits = (np.nan, np.nan)
    if parts.height > 1:
        drawn = options.resamples
        limits = interval(_pooled_mean, sums, resamples=drawn, rng=options.seed, at_once=True)
    mean = with_limits("mean", (float(_pooled_mean(sums)), *limits))
    return {"collections": parts.height, **mean}


def _pooled_mean(parts: np.ndarray) -> np.ndarray:
    """Return means over all tracks from the sums by collection [..., collection, (sum, tracks)]."""
    total, tracks = np.moveaxis(parts.sum(axis=-2), -1, 0)
    return total / tracks


def safe_measures(tables: Tables, options: TrustOptions) -> pl.DataFrame:
    """Return the table `safe_measures`."""
    known = pl.col("grade") != UNKNOWN
    shares = {
        name: (pl.col("grade") == grade).filter(known).mean().fill_null(float("nan"))
        for name, grade in (("safe", SAFE), ("unsafe", UNSAFE))
    }
    return (
        tables["grades"]
        .group_by("measure", "family", maintain_order=True)
        .agg(tracks=known.sum(), **shares)
    )


def measure_facts(tables: Tables, options: TrustOptions) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `measure_facts`."""
    measures = tables["trust"]["measure"].unique(maintain_order=True).to_list()
    specs = dict[str, Spec]()
    for name in measures:
        try:
            specs[name] = parse_measure(name)
        except MeasureError:  # a preference
            continue
    alone = {  # for grades 0 and 1, whatever grade is relevant on a track
        name: replace(
            spec, params=tuple((n, 1 if n == "rel" else value) for n, value in spec.params)
        )
        for name, spec in specs.items()
        if dependence(spec) is None
    }
    violated, steps = _violated(alone), unequal_steps(alone)
    for name, spec in specs.items():
        is_rank = spec.measure.cutoff_is == "rank" and not spec.measure.cutoff_prefix
        yield {
            "measure": name,
            "user": USERS[spec.measure.family],
            "stops_at": int(spec.cutoff) if is_rank and spec.cutoff else None,
            "persistence": spec.settings.get("p"),
            "violated": violated.get(name),
            "unequal_steps": steps.get(name),
        }


def _violated(specs: Mapping[str, Spec]) -> dict[str, str]:
    """Return the properties that each measure violates, as one text."""
    if not specs:
        return {}
    measures = [spec.name for spec in specs.values()]
    kinds = ("truncated", "ordered")
    tested = measure_properties(measures, kinds, subtopic_count=1, length=LENGTH)
    lost = tested.filter(~pl.col("holds")).group_by("measure").agg("property")
    texts = {measure: ", ".join(properties) for measure, properties in lost.iter_rows()}
    return {name: texts.get(spec.name, "none") for name, spec in specs.items()}


def unequal_steps(specs: Mapping[str, Spec]) -> dict[str, float | None]:
    """Return by measure its greatest step over its least; 1: an interval scale; None: one value.

    Steps are between neighbouring values on all rankings of `LENGTH` docs with as many relevant.
    """
    space = RankingSpace(1, LENGTH)
    values = score_rankings(space, list(specs.values()))
    full = space.lengths(np.arange(space.count)) == LENGTH
    return {name: _ratio(row[full]) for name, row in zip(specs, values, strict=True)}


def _ratio(values: np.ndarray) -> float | None:
    distinct = np.unique(values)
    steps = np.diff(distinct)
    steps = steps[steps > TIE]
    if not len(steps):
        return None
    ratio = float(steps.max() / steps.min())
    return 1.0 if ratio < 1 + 1e-9 else ratio

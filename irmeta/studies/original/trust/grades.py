"""Grades of the families of criteria: the worst of their criteria, and the reason in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from irmeta.studies.original.trust.study import LEAST_QUERIES, LEAST_SYSTEMS

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

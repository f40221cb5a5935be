"""Grades of the families of criteria: the worst of their criteria, and the reason in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from irmeta.studies.papers.trust.options import TrustOptions as Options

Grade = Literal["safe", "with care", "unsafe", "cannot be said"]
SAFE, CARE, UNSAFE, UNKNOWN = "safe", "with care", "unsafe", "cannot be said"
GRADES: tuple[Grade, ...] = (SAFE, CARE, UNSAFE, UNKNOWN)
"""Grades, best first; the last is none."""
FAMILIES = ("queries", "depth", "judgments", "ties_and_ends")
"""Families of criteria that have grades."""


@dataclass(frozen=True)
class Criterion:
    """A value with the bounds of its grades.

    Attributes
    ----------
    column
        The column of the table `trust`.
    family
        One of `FAMILIES`.
    safe, unsafe
        Names of the options with the bounds.
    text
        What the number is: a format of a sentence.
    less_is_better
        Whether a value is safe up to its bound, instead of from its bound on.
    """

    column: str
    family: str
    safe: str
    unsafe: str
    text: str
    less_is_better: bool = False

    @property
    def short(self) -> str:
        """Format of the number alone."""
        return "{:.1%}" if "%" in self.text else "{:.3f}"

    def grade(self, value: float | None, options: Options) -> Grade:
        """Return the grade of a value; undefined values have none."""
        if value is None or np.isnan(value):
            return UNKNOWN
        safe, unsafe = (float(getattr(options, name)) for name in (self.safe, self.unsafe))
        if self.less_is_better:
            value, safe, unsafe = -value, -safe, -unsafe
        # 12 digits: a tau of 0.9 may be 0.8999999999999999
        if round(value - safe, 12) >= 0:
            return SAFE
        return UNSAFE if round(value - unsafe, 12) < 0 else CARE


_TAU, _CHANGED = ("least_tau", "unsafe_tau"), ("most_changed", "unsafe_changed")
CRITERIA = (
    Criterion("half_tau", "queries", "least_halves", "unsafe_halves",
              "two halves of the queries order systems with tau-b {:.3f}"),
    Criterion("swaps", "queries", "most_swaps", "unsafe_swaps",
              "one half of the queries reverses {:.1%} of the other's conclusions", True),
    Criterion("depth_tau", "depth", *_TAU,
              "the order at the depth of the pool has tau-b {:.3f} with that of full lists"),
    Criterion("left_out_tau", "judgments", *_TAU,
              "without the judgments of one contributor, tau-b is {:.3f}"),
    Criterion("dropped_tau", "judgments", *_TAU,
              "with half of the relevant docs, tau-b is {:.3f}"),
    Criterion("altered_tau", "judgments", *_TAU,
              "with labels altered as judges alter them, tau-b is {:.3f}"),
    Criterion("other_qrels_tau", "judgments", *_TAU, "by another qrels set, tau-b is {:.3f}"),
    Criterion("tied_pairs", "ties_and_ends", *_CHANGED,
              "{:.1%} of the pairs of systems tie on a query", True),
    Criterion("tie_change", "ties_and_ends", *_CHANGED,
              "the order of tied scores changes a mean by {:.1%}", True),
    Criterion("end_flips", "ties_and_ends", *_CHANGED,
              "cutting trailing non-relevant docs reverses {:.1%} of the pairs", True),
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """Grade of a family, its reason, and the deciding number as text."""

    grade: Grade
    why: str
    number: str = "\u2014"


def verdicts(
    row: Mapping[str, float | None],
    options: Options,
    *,
    systems: int,
    queries: int,
    reasons: Mapping[str, str] | None = None,
    unchecked: Mapping[str, str] | None = None,
) -> dict[str, Verdict]:
    """Grade each family by the worst of its defined criteria.

    Parameters
    ----------
    row
        Values of the criteria by column.
    systems, queries
        Numbers of systems and queries; with fewer than the options say, nothing is graded.
    reasons
        Why a family has no defined criterion, by family.
    unchecked
        What a family does not check, by family; empty: nothing.
    """
    few = _too_few(options, systems, queries)
    if few:
        return {family: Verdict(UNKNOWN, few) for family in FAMILIES}
    found = dict[str, Verdict]()
    for family in FAMILIES:
        reason = (reasons or {}).get(family, "no criterion is defined on this track")
        worst = _worst([one for one in CRITERIA if one.family == family], row, options, reason)
        why = "; ".join(filter(None, (worst.why, (unchecked or {}).get(family))))
        found[family] = replace(worst, why=why)
    return found


def _too_few(options: Options, systems: int, queries: int) -> str:
    if systems < options.least_systems:
        return f"{systems} systems are too few"
    return f"{queries} queries are too few" if queries < options.least_queries else ""


def _worst(
    criteria: Iterable[Criterion], row: Mapping[str, float | None], options: Options, reason: str
) -> Verdict:
    found, decides, worst = Verdict(UNKNOWN, reason), None, 0.0
    for one in criteria:
        value = row.get(one.column)
        grade = one.grade(value, options)
        if grade == UNKNOWN or value is None:
            continue
        badness = value if one.less_is_better else -value
        is_worse = found.grade == UNKNOWN or GRADES.index(grade) > GRADES.index(found.grade)
        if grade == found.grade and decides is not None and decides.safe == one.safe:
            is_worse = badness > worst
        if is_worse:
            found = Verdict(grade, one.text.format(value), one.short.format(value))
            decides, worst = one, badness
    return found

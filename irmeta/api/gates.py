"""Gates of regression tests: whether systems are worse than a baseline by more than allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit

from irmeta.equality import TIE
from irmeta.errors import UsageError
from irmeta.phrases import count
from irmeta.results.matrix import Matrix
from irmeta.schema.result_tables import GATE
from irmeta.stats.pairs import COMPLETE_TESTS, Pairs
from irmeta.summaries import Summarized, Summary

MOST_NAMED = 10
"""Number of lost queries that a reason names."""


@dataclass(frozen=True, repr=False)
class Gate(Summarized):
    """Outcome of `Comparisons.gate`.

    Attributes
    ----------
    rows : DataFrame
        One row per track, measure and system: track, qrels (only where several sets are compared),
        measure, baseline, system; baseline_mean, mean and drop (by how much the system is worse;
        below 0: it is better), all over the queries that both have; max_drop, p; lower (the
        one-sided lower limit of the gain over the baseline, null unless `non_inferior`); queries
        (that both have), lost (queries of the baseline without a value or list of the system),
        lost_queries (their names), rule (what was checked), passed, reason (one line).
    """

    rows: pl.DataFrame

    @property
    def passed(self) -> bool:
        """Whether every system passes by every measure on every track."""
        return bool(self.rows["passed"].all())

    def _summary(self) -> Summary:
        failed = self.rows.height - int(self.rows["passed"].sum())
        return Summary(
            "", [f"{failed} of {count(self.rows.height, 'row')} failed"], lambda: self.rows
        )


class Tested(NamedTuple):
    """Tests of one measure on one track: parts of a `Comparison`."""

    pairs: Pairs
    matrix: Matrix
    alpha: float


class Rule(NamedTuple):
    """What a gate allows: see `Comparisons.gate`."""

    max_drop: float
    significant: bool
    lost: int | str
    non_inferior: bool

    def text(self, alpha: float) -> str:
        """Return the rule in words."""
        if self.non_inferior:
            level = f"{100 * (1 - alpha):g}%"
            return f"non-inferior: one-sided {level} lower limit (t) above -{self.max_drop:g}"
        also = f", or significantly worse at {alpha:g}" if self.significant else ""
        return f"mean worse by more than {self.max_drop:g}{also}"


def gate(
    tested: Iterable[Tested],
    max_drop: float,
    *,
    significant: bool = False,
    lost: int | str = 0,
    non_inferior: bool = False,
) -> Gate:
    """Check systems against the baseline of their tests: see `Comparisons.gate`."""
    if not 0 <= max_drop < float("inf"):
        raise UsageError(f"max_drop = {max_drop!r} is not a number of at least 0.")
    if non_inferior and significant:
        raise UsageError("`non_inferior` is a test by itself: omit `significant`.")
    allowed_losses(lost, 0)
    rule = Rule(max_drop, significant, lost, non_inferior)
    rows = [row for one in tested for row in _rows(one, rule)]
    if not rows:
        raise UsageError("no system is compared with the baseline: a gate needs two systems.")
    found = GATE.frame(rows)
    return Gate(found if (found["qrels"] != "").any() else found.drop("qrels"))


def checked_losses(lost: str) -> str:
    """Check a number or share of lost queries, and return it."""
    allowed_losses(lost, 0)
    return lost


def allowed_losses(lost: int | str, queries: int) -> float:
    """Return the number of lost queries that passes, from a number or a share such as ``5%``.

    Raises
    ------
    UsageError
        If `lost` is neither a whole number from 0 nor a percentage from 0 to 100.
    """
    match = re.fullmatch(r"(\d+)|(\d+(?:\.\d*)?|\.\d+)%", str(lost))
    if match is not None and match[1] is not None:
        return int(match[1])
    if match is not None and float(match[2]) <= 100:
        return float(match[2]) / 100 * queries
    raise UsageError(f"lost = {lost!r} is neither a number of queries nor a share such as '5%'.")


def _rows(one: Tested, rule: Rule) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one measure on one track."""
    pairs = one.pairs
    if pairs.baseline is None:
        raise UsageError(f"{pairs.subject} is compared without a baseline: use `baseline=`.")
    if rule.significant and pairs.shown == "better":
        raise UsageError(
            f"a one-sided test shows no worse {pairs.measure}: use the other alternative, or omit "
            "the level of the gate."
        )
    base = pairs.systems.index(pairs.baseline)
    for place, system in enumerate(pairs.systems):
        if place != base and system not in pairs.beside:  # a baseline cannot fail the gate
            yield _row(one, rule, place, base)


def _row(one: Tested, rule: Rule, place: int, base: int) -> tuple[object, ...]:
    """Return the row of one system."""
    pairs, system = one.pairs, one.pairs.systems[place]
    matrix = one.matrix.complete() if pairs.test in COMPLETE_TESTS else one.matrix
    both = matrix.values[:, [place, base]]
    both = both[~np.isnan(both).any(axis=1)]
    mean, baseline_mean = both.mean(axis=0).tolist() if len(both) else (np.nan, np.nan)
    drop = -pairs.direction * float(pairs.difference[place, base])
    p_values = [float(p[place, base]) for p in (pairs.p_uncorrected, pairs.p_adjusted)]
    queries = int(pairs.queries[place, base])
    lower = _lower_limit(pairs.direction * (both[:, 0] - both[:, 1]), one.alpha)
    names, known = _lost(one.matrix, place, base)
    change, faults = f"worse by {drop:.4f}" if drop > TIE else "not worse", list[str]()
    scores = f"{system} {mean:.4f}, {pairs.baseline} {baseline_mean:.4f}"
    if not queries:
        scores, change, faults = f"{system}, {pairs.baseline}", "undefined", ["no query in common"]
    elif rule.non_inferior:
        faults = _inferior(lower, rule, queries)
    elif drop > rule.max_drop + TIE:
        faults = [f"more than {rule.max_drop:g}"]
    if rule.significant and pairs.better(one.alpha)[base, place]:
        faults.append(f"significant at {one.alpha:g} (p = {p_values[1]:.2g}, {pairs.test_text})")
    if rule.significant and (why := pairs.untested[place, base]) and queries:
        change += f", significance cannot be tested: {why}"
    if names:
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        listed = f"{', '.join(names[:MOST_NAMED])}{more}"
        named = f"{len(names):,} of {count(known, 'query')} lost ({listed})"
        is_fault = len(names) > allowed_losses(rule.lost, known)
        faults += [f"{named}, more than {rule.lost}"] if is_fault else []
        change += "" if is_fault else f", {named}"
    over = f"over {count(queries, 'query')}"
    reason = f"{pairs.subject}: {scores} {over}: {', '.join([change, *faults])}"
    if rule.non_inferior and not faults:
        reason += f", {rule.text(one.alpha)}: {lower:.4f}"
    keys = (pairs.track, pairs.qrels, pairs.measure, pairs.baseline, system)
    limit = lower if rule.non_inferior else None
    numbers = (
        baseline_mean,
        mean,
        drop,
        rule.max_drop,
        *p_values,
        limit,
        queries,
        len(names),
        names,
    )
    return (*keys, *numbers, rule.text(one.alpha), not faults, reason)


def _inferior(lower: float, rule: Rule, queries: int) -> list[str]:
    """Return why a system is not shown to be non-inferior; nothing where it is."""
    if np.isnan(lower):
        return [f"non-inferiority cannot be tested: {count(queries, 'query')}"]
    if lower > -rule.max_drop:
        return []
    return [f"not shown non-inferior: lower limit {lower:.4f}, not above -{rule.max_drop:g}"]


def _lower_limit(gains: np.ndarray, alpha: float) -> float:
    """Return the one-sided lower limit of a mean gain by Student's t; NaN for fewer than 2."""
    if len(gains) < 2:
        return float("nan")
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    return float(gains.mean() - stdtrit(len(gains) - 1, 1 - alpha) * error)


def _lost(matrix: Matrix, place: int, base: int) -> tuple[list[str], int]:
    """Return the queries of the baseline that a system lacks, and the number of the baseline's."""
    is_there = ~np.isnan(matrix.values)
    if matrix.no_list is not None:
        is_there &= ~matrix.no_list
    lost = np.flatnonzero(is_there[:, base] & ~is_there[:, place])
    return [matrix.queries[i] for i in lost], int(is_there[:, base].sum())

"""Gates of regression tests: whether systems are worse than a baseline by more than allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import stdtrit

from irmeta.equality import TIE
from irmeta.errors import MeasureError, UsageError, did_you_mean
from irmeta.measures.names import parse_measure
from irmeta.naming import split_names
from irmeta.phrases import count
from irmeta.report.html_page import Block, Page, render
from irmeta.report.table_grid import grid
from irmeta.results.matrix import Matrix, query_differences
from irmeta.schema.columns import PLAIN
from irmeta.schema.result_tables import GATE, GATE_QUERIES
from irmeta.stats.paired import weighted_moments
from irmeta.stats.pairs import COMPLETE_TESTS, Pairs
from irmeta.summaries import Result, Summary

MOST_NAMED = 10
"""Number of lost queries that a reason names, and of queries that lost most."""
UNJUDGED_AT = 10
"""Rank down to which unjudged docs are counted."""
Drops = float | Mapping[str, float]
"""Largest drop of all measures, or of each by its name."""
Unjudged = Mapping[tuple[str, str, str], float]
"""Mean share of unjudged docs among the first 10 by track, qrels set and system."""


@dataclass(frozen=True, repr=False)
class Gate(Result):
    """Outcome of `Comparisons.gate`.

    Attributes
    ----------
    rows : DataFrame
        One row per track, measure and system: track, qrels (only where several sets are compared),
        segment (only with segments; null: all queries), measure, baseline, system; baseline_mean,
        mean and drop (by how much the system is worse; below 0: it is better), all over the queries
        that both have; max_drop, p; lower (the one-sided lower limit of the gain over the baseline,
        null unless `non_inferior`); queries
        (that both have), lost (queries of the baseline without a value or list of the system),
        lost_queries (their names), unjudged and baseline_unjudged (share of unjudged docs among the
        first 10, mean over queries; null for values without lists), rule (what was checked),
        passed, reason (one line).
    queries : DataFrame
        Up to 10 queries of each row on which the system lost most: the keys of `rows`, query,
        baseline_value, value, drop.
    """

    rows: pl.DataFrame
    queries: pl.DataFrame

    @property
    def passed(self) -> bool:
        """Whether every system passes by every measure on every track."""
        return bool(self.rows["passed"].all())

    def _summary(self) -> Summary:
        failed = self.rows.height - int(self.rows["passed"].sum())
        return Summary("", [f"{failed} of {count(self.rows.height, 'row')} failed"])

    def frame(self) -> pl.DataFrame:
        """Return `rows`."""
        return self.rows

    def to_html(self, made: Mapping[str, str] | None = None) -> str:
        """Return one page for people: the verdict, the rows, and the queries that lost most.

        Parameters
        ----------
        made
            Lines of the provenance: label and value.
        """
        failed = self.rows.filter(~pl.col("passed"))
        verdict = "passed" if self.passed else "failed"
        lines = failed if failed.height else self.rows
        rows = replace(GATE, columns={n: GATE.columns[n] for n in self.rows.columns})
        of_queries = {n: GATE_QUERIES.columns[n] for n in self.queries.columns}
        queries = replace(GATE_QUERIES, columns=of_queries)
        blank = () if self.rows["lower"].count() else ("lower",)
        hidden = ("lost_queries", "rule", "reason", "passed", *blank)
        shown = [name for name in self.rows.columns if name not in hidden]
        shown.insert(shown.index("system") + 1, "passed")  # in sight where the table is wide
        text = [f"{line}." for line in lines["reason"]]
        text += [f"Checked: {rule}." for rule in self._rules()]
        items = [grid(rows, self.rows, columns=shown, display=lambda _: PLAIN)]
        worst = [grid(queries, self.queries, display=lambda _: PLAIN)]
        page = Page(
            title=f"Gate {verdict}",
            lead=f"{failed.height} of {count(self.rows.height, 'check')} failed.",
            summary={"passed": self.rows.height - failed.height, "failed": failed.height},
            sections=[
                Block("Verdict", text, items, is_first=True),
                Block(
                    "Queries that lost most",
                    [f"Up to {MOST_NAMED} queries of each system and measure."],
                    worst if self.queries.height else [],
                    below=[] if self.queries.height else ["No query lost."],
                ),
            ],
            provenance=made or {},
        )
        return render(page)

    def _rules(self) -> list[str]:
        """Return the rules, each with its measures where there are several."""
        rules = self.rows.group_by("rule", maintain_order=True).agg(pl.col("measure").unique())
        if rules.height == 1:
            return rules["rule"].to_list()
        return [f"{rule} ({', '.join(sorted(names))})" for rule, names in rules.iter_rows()]


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
    max_drop: Drops,
    unjudged: Unjudged,
    *,
    significant: bool = False,
    lost: int | str = 0,
    non_inferior: bool = False,
) -> Gate:
    """Check systems against the baseline of their tests: see `Comparisons.gate`."""
    tested = list(tested)
    drops = _drops(max_drop, list(dict.fromkeys(each.pairs.measure for each in tested)))
    if non_inferior and significant:
        raise UsageError("`non_inferior` is a test by itself: omit `significant`.")
    allowed_losses(lost, 0)
    rows, losses = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for each in tested:
        rule = Rule(drops[each.pairs.measure], significant, lost, non_inferior)
        for row in _rows(each, rule, unjudged):
            rows.append(row)
            losses += _losses(each, row[:6])
    if not rows:
        raise UsageError("no system is compared with the baseline: a gate needs two systems.")
    checks, queries = GATE.frame(rows), GATE_QUERIES.frame(losses)
    if (checks["qrels"] == "").all():
        checks, queries = checks.drop("qrels"), queries.drop("qrels")
    if not any(each.pairs.by_segment for each in tested):
        checks, queries = checks.drop("segment"), queries.drop("segment")
    return Gate(checks, queries)


def checked_drops(text: str | float) -> str:
    """Check a drop, or drops by measure such as ``nDCG@10=.01,RR=.02``, and return the text."""
    parsed_drops(str(text))
    return str(text)


def parsed_drops(text: str) -> Drops:
    """Parse a drop, or drops by measure.

    Raises
    ------
    UsageError
        If a drop is no number of at least 0, or a measure has two.
    """
    if _number(text) is not None:
        return _checked_drop(text)
    drops = dict[str, float]()
    for part in split_names(text):
        measure, equals, drop = part.rpartition("=")
        if not (measure and equals):
            raise UsageError(f"max_drop = {text!r} is neither a number nor MEASURE=NUMBER,...")
        if (name := _canonical(measure)) in drops:
            raise UsageError(f"max_drop = {text!r} has two drops of {name}: give one.")
        drops[name] = _checked_drop(drop)
    return drops


def _number(text: object) -> float | None:
    try:
        return float(str(text))
    except ValueError:
        return None


def _checked_drop(drop: object) -> float:
    number = _number(drop)
    if number is None or not 0 <= number < float("inf"):
        raise UsageError(f"max_drop = {drop!r} is not a number of at least 0.")
    return number


def _canonical(measure: str) -> str:
    """Return the canonical name of a measure; a measure of other programs keeps its name."""
    try:
        return parse_measure(measure).name
    except MeasureError:
        return measure


def _drops(max_drop: Drops, measures: list[str]) -> dict[str, float]:
    """Return the largest drop of each compared measure."""
    if not isinstance(max_drop, Mapping):
        return dict.fromkeys(measures, _checked_drop(max_drop))
    drops = {_canonical(name): _checked_drop(drop) for name, drop in max_drop.items()}
    if len(drops) < len(max_drop):
        raise UsageError(f"max_drop has two drops of one measure: {', '.join(max_drop)}.")
    for name in drops:
        if name not in measures:
            hint = did_you_mean(name, measures)
            raise UsageError(f"`max_drop=` names {name}, which is not compared. {hint}")
    for name in measures:
        if name not in drops:
            raise UsageError(f"`max_drop=` has no drop of {name}: name one, or do not compare it.")
    return drops


def _losses(tested: Tested, keys: tuple[object, ...]) -> list[tuple[object, ...]]:
    """Return the queries on which a system lost most, the greatest loss first."""
    baseline, system = str(keys[-2]), str(keys[-1])
    by_query = query_differences(tested.matrix, system, baseline)
    drop = -tested.matrix.direction * pl.col("difference")
    lost = by_query.filter(pl.col("better") == baseline).sort(-drop, maintain_order=True)
    columns = lost.head(MOST_NAMED).select("query", "baseline_value", "value", drop)
    return [(*keys, *row) for row in columns.iter_rows()]


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


def _rows(one: Tested, rule: Rule, unjudged: Unjudged) -> Iterator[tuple[object, ...]]:
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
            names = (system, pairs.systems[base])
            of_all = unjudged if pairs.segment is None else {}  # shares are of all queries
            shares = [of_all.get((pairs.track, pairs.qrels, name)) for name in names]
            yield _row(one, rule, place, base, shares)


def _row(
    one: Tested, rule: Rule, place: int, base: int, unjudged: list[float | None]
) -> tuple[object, ...]:
    """Return the row of one system."""
    pairs, system = one.pairs, one.pairs.systems[place]
    matrix = one.matrix.complete() if pairs.test in COMPLETE_TESTS else one.matrix
    both = matrix.only_systems(np.array([place, base])).complete()
    mean, baseline_mean = both.means.tolist()
    drop = -pairs.direction * float(pairs.difference[place, base])
    p_values = [float(p[place, base]) for p in (pairs.p_uncorrected, pairs.p_adjusted)]
    queries = int(pairs.queries[place, base])
    lower = _lower_limit(both, one.alpha)
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
    over = f"over {count(queries, 'weighted query' if pairs.weighted else 'query')}"
    reason = f"{pairs.subject}: {scores} {over}: {', '.join([change, *faults])}"
    if rule.non_inferior and not faults:
        reason += f", {rule.text(one.alpha)}: {lower:.4f}"
    if None not in unjudged and any(unjudged):  # a new run finds docs that nobody judged
        shares = [f"{share:.0%}" for share in unjudged]
        reason += f"; unjudged@{UNJUDGED_AT} {shares[0]}, of the baseline {shares[1]}"
    keys = (pairs.track, pairs.qrels, pairs.segment, pairs.measure, pairs.baseline, system)
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
    return (*keys, *numbers, *unjudged, rule.text(one.alpha), not faults, reason)


def _inferior(lower: float, rule: Rule, queries: int) -> list[str]:
    """Return why a system is not shown to be non-inferior; nothing where it is."""
    if np.isnan(lower):
        return [f"non-inferiority cannot be tested: {count(queries, 'query')}"]
    if lower > -rule.max_drop:
        return []
    return [f"not shown non-inferior: lower limit {lower:.4f}, not above -{rule.max_drop:g}"]


def _lower_limit(both: Matrix, alpha: float) -> float:
    """Return the one-sided lower limit of a system's mean gain over the baseline by Student's t.

    `both` has the values of the two; NaN for fewer than two queries.
    """
    gains = both.oriented[:, 0] - both.oriented[:, 1]
    if len(gains) < 2:
        return float("nan")
    if both.weights is not None:
        (mean,), _, (error,), (freedom,), _ = weighted_moments(gains[:, None], both.weights)
    else:
        error, freedom = gains.std(ddof=1) / np.sqrt(len(gains)), len(gains) - 1
        mean = gains.mean()
    return float(mean - stdtrit(freedom, 1 - alpha) * error)


def _lost(matrix: Matrix, place: int, base: int) -> tuple[list[str], int]:
    """Return the queries of the baseline that a system lacks, and the number of the baseline's."""
    is_there = ~np.isnan(matrix.values)
    if matrix.no_list is not None:
        is_there &= ~matrix.no_list
    lost = np.flatnonzero(is_there[:, base] & ~is_there[:, place])
    return [matrix.queries[i] for i in lost], int(is_there[:, base].sum())

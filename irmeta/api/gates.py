"""Gates of regression tests: whether systems are worse than a baseline by more than allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from irmeta.equality import TIE
from irmeta.errors import UsageError
from irmeta.phrases import count
from irmeta.stats.pairs import Pairs
from irmeta.summaries import Summarized, Summary

_SCHEMA = {
    "track": pl.String,
    "qrels": pl.String,
    "measure": pl.String,
    "baseline": pl.String,
    "system": pl.String,
    "baseline_mean": pl.Float64,
    "mean": pl.Float64,
    "drop": pl.Float64,
    "max_drop": pl.Float64,
    "p": pl.Float64,
    "queries": pl.Int64,
    "passed": pl.Boolean,
    "reason": pl.String,
}


@dataclass(frozen=True, repr=False)
class Gate(Summarized):
    """Outcome of `Comparisons.gate`.

    Attributes
    ----------
    rows : DataFrame
        One row per track, measure and system: track, qrels (only where several sets are compared),
        measure, baseline, system, baseline_mean,
        mean, drop (by how much the system is worse over the queries that both have; below 0: it is
        better), max_drop, p, queries (that both have), passed, reason (one line).
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
    systems: pl.DataFrame
    alpha: float


def gate(tested: Iterable[Tested], max_drop: float, *, significant: bool) -> Gate:
    """Check systems against the baseline of their tests: see `Comparisons.gate`."""
    if not 0 <= max_drop < float("inf"):
        raise UsageError(f"max_drop = {max_drop!r} is not a number of at least 0.")
    rows = [row for one in tested for row in _rows(one, max_drop, significant)]
    if not rows:
        raise UsageError("no system is compared with the baseline: a gate needs two systems.")
    found = pl.DataFrame(rows, _SCHEMA, orient="row")
    return Gate(found if (found["qrels"] != "").any() else found.drop("qrels"))


def _rows(one: Tested, max_drop: float, significant: bool) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one measure on one track."""
    pairs = one.pairs
    if pairs.baseline is None:
        raise UsageError(f"{pairs.subject} is compared without a baseline: use `baseline=`.")
    base = pairs.systems.index(pairs.baseline)
    means = dict(one.systems.select("system", "mean").iter_rows())
    is_worse = pairs.better(one.alpha)[base]
    for place, system in enumerate(pairs.systems):
        if place == base:
            continue
        drop = -pairs.direction * float(pairs.difference[place, base])
        p, queries = float(pairs.p[place, base]), int(pairs.queries[place, base])
        change = f"worse by {drop:.4f}" if drop > TIE else "not worse"
        faults = []
        if not queries:
            change, faults = "undefined", ["no query in common"]
        elif drop > max_drop + TIE:
            faults = [f"more than {max_drop:g}"]
        if significant and is_worse[place]:
            faults.append(f"significant at {one.alpha:g} (p = {p:.2g}, {pairs.test_text})")
        if significant and (why := pairs.untested[place, base]) and queries:
            change += f", significance cannot be tested: {why}"
        scores = f"{system} {means[system]:.4f}, {pairs.baseline} {means[pairs.baseline]:.4f}"
        reason = f"{pairs.subject}: {scores}: {', '.join([change, *faults])}"
        names = (pairs.track, pairs.qrels, pairs.measure, pairs.baseline, system)
        numbers = (means[pairs.baseline], means[system], drop, max_drop, p, queries)
        yield (*names, *numbers, not faults, reason)

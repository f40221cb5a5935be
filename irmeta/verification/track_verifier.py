"""Verdicts on published values of one track: reproduced, differ, or not ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby

import numpy as np
import polars as pl

from irmeta.errors import IrmetaError, MeasureError, UsageError
from irmeta.measures.evaluate import evaluate
from irmeta.measures.names import parse_measures
from irmeta.policies import EvalPolicy
from irmeta.rankings.track_facts import track_facts
from irmeta.results.scores import Scores
from irmeta.store.scan import StoreReader
from irmeta.verification.other_readings import (
    Reading,
    equal_as_printed,
    other_means,
    other_readings,
)

DIGITS_OF_ONE = 3
"""Fewest digits for which a single equal value identifies a reading; fewer may match by chance."""
REPRODUCED, DIFFER, NOT_OURS = "reproduced", "differ", "not ours"
_COLUMN = ("evaluator", "measure", pl.col("query").is_null().alias("is_mean"))
COLUMNS = (
    *("track", "system", "query", "evaluator", "measure", "printed", "canonical", "qrels"),
    *("published", "digits", "value", "difference", "verdict", "reason"),
)


class TrackVerifier:
    """Compare published values of one track with those of its store.

    Parameters
    ----------
    store, track
        The lists and judgments.
    policy
        Policy under which values are computed first.
    workers
        Number of threads.
    """

    def __init__(
        self, store: StoreReader, track: str, policy: EvalPolicy, workers: int | None = 1
    ) -> None:
        self.store: StoreReader = store
        self.track: str = track
        self.policy: EvalPolicy = policy
        self._values = _Values(store, track, workers)

    def verify(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add value, difference, verdict and reason to published values with their measures.

        Parameters
        ----------
        rows
            track, system, query, evaluator, measure, printed, canonical (null: not ours), qrels,
            published, digits (of the column), own_digits (of the value), reason.
        """
        rows = rows.with_row_index("row")
        is_ours = pl.col("canonical").is_not_null()
        found = [_not_ours(rows.filter(~is_ours), pl.col("reason"))]
        for of_set in rows.filter(is_ours).partition_by("qrels", maintain_order=True):
            found += self._of_set(of_set)
        sorted_rows = pl.concat([one.select("row", *COLUMNS) for one in found]).sort("row")
        return sorted_rows.select(COLUMNS)

    def _of_set(self, rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Yield the rows of one qrels set with value, difference, verdict and reason."""
        qrels = rows["qrels"][0]
        policy = self.policy if qrels is None else replace(self.policy, qrels=qrels)
        problems = self._problems(rows["canonical"].unique().sort().to_list(), policy)
        of_problem = pl.col("canonical").replace_strict(
            problems, default=None, return_dtype=pl.String
        )
        yield _not_ours(rows.filter(of_problem.is_not_null()), of_problem)
        rows = rows.filter(of_problem.is_null())
        if rows.is_empty():
            return
        names = {name: name for name in rows["canonical"].unique()}
        rows = self._values.of_rows(rows, names, policy)
        is_there = pl.col("value").is_not_null()
        yield _not_ours(rows.filter(~is_there), pl.format("no value for query {}", "query"))
        rows = rows.filter(is_there).with_columns(difference=pl.col("value") - pl.col("published"))
        rows, is_equal = rows.with_columns(size=pl.len().over(_COLUMN)), _equals(rows)
        yield rows.filter(is_equal).with_columns(verdict=pl.lit(REPRODUCED))
        differ = rows.filter(~is_equal).with_columns(verdict=pl.lit(DIFFER))
        reasons = self._reasons(differ, rows, policy)
        yield differ.drop("reason").join(reasons, on="row", how="left", maintain_order="left")

    def _problems(self, names: list[str], policy: EvalPolicy) -> dict[str, str]:
        """Map measures that cannot be computed on the track to the reason, e.g. no subtopics.

        Raises
        ------
        UsageError
            If no measure at all can be computed under this policy.
        """
        try:
            self._values.scores(names, policy)
        except (MeasureError, UsageError) as error:
            if len(names) == 1:
                self._values.scores(["AP"], policy)
                return {names[0]: str(error)}
            middle = len(names) // 2
            halves = (names[:middle], names[middle:])
            found = [self._problems(half, policy) for half in halves]
            return {name: problem for one in found for name, problem in one.items()}
        return {}

    def _reasons(self, rows: pl.DataFrame, every: pl.DataFrame, policy: EvalPolicy) -> pl.DataFrame:
        """Find the first alternative reading that reproduces each differing value: row and reason.

        `every` has all values of the columns of `rows`.
        """
        rows = rows.with_columns(differing=pl.len().over(_COLUMN))
        reason = pl.format("equal to its {} digits, of {} in the column", "own_digits", "digits")
        is_own = _equals(rows.with_columns(digits="own_digits"))
        own = rows.filter(is_own).with_columns(reason=reason)
        rows, found = rows.drop("value"), list[pl.DataFrame]()
        readings = list(self._readings(policy)) if rows.height else []
        of_measures = [one for one in readings if not one.choices]
        for _, family in groupby(readings, key=lambda one: one.family or one.reason):
            alternatives = list(family)
            if alternatives[0] in of_measures[:1]:
                self._compute_ahead(rows, of_measures, policy)
            tried = [(one.reason, self._accepted(rows, every, one, policy)) for one in alternatives]
            tried.sort(key=lambda one: one[1].height, reverse=True)
            for reason, explained in tried:
                left = explained.join(rows, on="row", how="semi", maintain_order="left")
                found.append(left.with_columns(reason=pl.lit(reason)))
                rows = rows.join(left, on="row", how="anti", maintain_order="left")
        means = rows.filter(pl.col("query").is_null())
        for of_column in means.partition_by("evaluator", "measure", maintain_order=True):
            found += self._by_arithmetic(of_column, policy)
        parts = [one.select("row", "reason") for one in [*found, own]]
        return pl.concat(parts).unique("row", keep="first", maintain_order=True)

    def _compute_ahead(
        self, rows: pl.DataFrame, readings: Sequence[Reading], policy: EvalPolicy
    ) -> None:
        """Compute the measures of several readings in one pass, since reading lists is slow."""
        measures = rows["canonical"].unique().sort().to_list()
        names = [name for one in readings for name in one.names(measures).values()]
        with suppress(IrmetaError):  # then each reading computes its own
            self._values.scores(names, policy)

    def _accepted(
        self, rows: pl.DataFrame, every: pl.DataFrame, reading: Reading, policy: EvalPolicy
    ) -> pl.DataFrame:
        """Return the rows that a reading reproduces; none if they may match by chance."""
        explained, alike = self._explained(rows, reading, policy), pl.len().over(_COLUMN)
        if reading.of_column:
            return explained.filter(_is_told(alike), alike >= pl.col("differing") / 2)
        if reading.needs_another and explained.height:
            columns = explained.select(_COLUMN).unique()
            column = every.drop("value").with_columns(*_COLUMN)
            column = column.join(columns, on=columns.columns, how="semi")
            reproduced = self._explained(column, reading, policy).filter(_is_told(alike))
            return explained.join(reproduced, on="row", how="semi", maintain_order="left")
        return explained

    def _readings(self, policy: EvalPolicy) -> Iterator[Reading]:
        facts = track_facts(self.store, self.track, policy.qrels)
        names = [one["name"] for one in self.store.read_record(self.track)["qrels"]]
        others = [name for name in names if name != facts.qrels]
        order = policy.tie_order or facts.policy["tie_order"]
        return other_readings(policy, order, others, facts.highest_grade)

    def _explained(self, rows: pl.DataFrame, reading: Reading, policy: EvalPolicy) -> pl.DataFrame:
        """Return the rows that a reading reproduces."""
        names = reading.names(rows["canonical"].unique().sort().to_list())
        concerned = rows.filter(pl.col("canonical").is_in(list(names)))
        if concerned.is_empty():
            return concerned
        try:
            values = self._values.of_rows(concerned, names, replace(policy, **reading.choices))
        except IrmetaError:  # e.g. tie order rank of lists without ranks
            return concerned.clear()
        return concerned.filter(_equals(values))

    def _by_arithmetic(self, rows: pl.DataFrame, policy: EvalPolicy) -> Iterator[pl.DataFrame]:
        """Yield rows of one column whose mean another average reproduces, each with a reason."""
        measure = rows["canonical"][0]
        (scores,) = self._values.scores([measure], policy)
        if measure in scores.averages:  # not arithmetic
            return
        matrix = scores.matrix(measure)
        columns = [matrix.systems.index(system) for system in rows["system"]]
        values, digits = matrix.values[:, columns], rows["digits"].to_numpy()
        printed = rows["published"].to_numpy()
        for reason, is_equal in other_means(values, matrix.queries, printed, digits):
            if is_equal.sum() >= rows["differing"][0] / 2:
                yield rows.filter(pl.Series(is_equal)).with_columns(reason=pl.lit(reason))


class _Values:
    """Values of the measures of one track, computed once under each policy."""

    def __init__(self, store: StoreReader, track: str, workers: int | None) -> None:
        self._store = store
        self._track = track
        self._workers = workers
        self._kept: dict[EvalPolicy, dict[str, Scores]] = {}

    def scores(self, names: Iterable[str], policy: EvalPolicy) -> list[Scores]:
        """Return scores with the given measures; compute those that are missing in one pass."""
        kept = self._kept.setdefault(policy, {})
        names = dict.fromkeys(names)
        if new := [name for name in names if name not in kept]:
            specs = parse_measures(new)
            found = evaluate(self._store, self._track, specs, policy, self._workers)
            kept |= dict.fromkeys(new, found)
        return list({id(kept[name]): kept[name] for name in names}.values())

    def of_rows(
        self, rows: pl.DataFrame, names: Mapping[str, str], policy: EvalPolicy
    ) -> pl.DataFrame:
        """Add the column `value`, the value of measure `names[canonical]`; null if not computed."""
        measures = rows["canonical"].replace_strict(names, return_dtype=pl.String)
        is_mean = rows["query"].is_null().to_numpy()
        values, is_there = np.full(rows.height, np.nan), np.zeros(rows.height, bool)
        for scores in self.scores(names.values(), policy):
            measure, query, system = (
                _positions(texts, known)
                for texts, known in (
                    (measures, scores.measures),
                    (rows["query"], scores.queries),
                    (rows["system"], scores.systems),
                )
            )
            of_mean, of_query = (measure >= 0) & is_mean, (measure >= 0) & (query >= 0)
            cells = measure[of_query], query[of_query], system[of_query]
            values[of_mean] = scores.mean_values()[measure[of_mean], system[of_mean]]
            values[of_query] = scores.values[cells]
            is_there[of_mean], is_there[of_query] = True, scores.included[cells]
        value = pl.when(pl.Series(is_there)).then(pl.Series(values))
        return rows.with_columns(value=value)


def _positions(texts: pl.Series, known: Sequence[str]) -> np.ndarray:
    """Return the index of each text in the known texts; -1 if absent."""
    numbers = pl.Series(np.arange(len(known)))
    found = texts.replace_strict(list(known), numbers, default=-1, return_dtype=pl.Int64)
    return found.fill_null(-1).to_numpy()


def _is_told(alike: pl.Expr) -> pl.Expr:
    """Check whether the values that a reading reproduces suffice to identify it."""
    is_alone = (pl.col("size") == 1) & (pl.col("own_digits") >= DIGITS_OF_ONE)
    return (alike > 1) | is_alone


def _not_ours(rows: pl.DataFrame, reason: pl.Expr) -> pl.DataFrame:
    nothing = pl.lit(None, pl.Float64)
    return rows.with_columns(
        value=nothing, difference=nothing, verdict=pl.lit(NOT_OURS), reason=reason
    )


def _equals(rows: pl.DataFrame) -> pl.Series:
    """Check whether each value, rounded to its digits, equals the published one; null: False."""
    values = rows["value"].to_numpy()
    is_equal = equal_as_printed(values, rows["published"].to_numpy(), rows["digits"].to_numpy())
    return pl.Series(is_equal & rows["value"].is_not_null().to_numpy())

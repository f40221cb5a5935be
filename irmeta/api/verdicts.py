"""Verdicts on published values of one track: reproduced, differ, or not ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import polars as pl

from irmeta.api.mean_arithmetic import equal_as_printed, other_means
from irmeta.api.other_readings import Reading, other_readings
from irmeta.api.store import EvalChoices, Store
from irmeta.errors import IrmetaError, MeasureError, UsageError
from irmeta.policies import EvalPolicy
from irmeta.rankings.track_facts import track_facts
from irmeta.results.scores import Scores

DIGITS_OF_ONE = 3
"""Digits by which one value alone tells a reading of its column; with fewer, chance does."""
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
    choices
        Fields of `EvalPolicy` under which values are computed first.
    workers
        Number of threads.
    """

    def __init__(
        self, store: Store, track: str, choices: EvalChoices, workers: int | None = 1
    ) -> None:
        self.store: Store = store
        self.track: str = track
        self.workers: int | None = workers
        self.choices: dict[str, Any] = {**choices}

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
        choices = self.choices if qrels is None else {**self.choices, "qrels": qrels}
        problems = self._problems(rows["canonical"].unique().sort().to_list(), choices)
        of_problem = pl.col("canonical").replace_strict(
            problems, default=None, return_dtype=pl.String
        )
        yield _not_ours(rows.filter(of_problem.is_not_null()), of_problem)
        rows = rows.filter(of_problem.is_null())
        if rows.is_empty():
            return
        rows = self._joined(rows, {name: name for name in rows["canonical"].unique()}, choices)
        is_there = pl.col("value").is_not_null()
        yield _not_ours(rows.filter(~is_there), pl.format("no value for query {}", "query"))
        rows = rows.filter(is_there).with_columns(difference=pl.col("value") - pl.col("published"))
        rows, is_equal = rows.with_columns(size=pl.len().over(_COLUMN)), _equals(rows)
        yield rows.filter(is_equal).with_columns(verdict=pl.lit(REPRODUCED))
        differ = rows.filter(~is_equal).with_columns(verdict=pl.lit(DIFFER))
        reasons = self._reasons(differ, rows, choices)
        yield differ.drop("reason").join(reasons, on="row", how="left", maintain_order="left")

    def _problems(self, names: list[str], choices: dict[str, Any]) -> dict[str, str]:
        """Return why measures cannot be computed, such as those by subtopic of an ad hoc track.

        Raises
        ------
        UsageError
            If no measure at all can be computed under these choices.
        """
        try:
            self._scores(names, choices)
        except (MeasureError, UsageError) as error:
            if len(names) == 1:
                self._scores(["AP"], choices)
                return {names[0]: str(error)}
            found = [self._problems([name], choices) for name in names]
            return {name: problem for one in found for name, problem in one.items()}
        return {}

    def _reasons(
        self, rows: pl.DataFrame, every: pl.DataFrame, choices: dict[str, Any]
    ) -> pl.DataFrame:
        """Return row and reason: the first other reading that reproduces each value.

        `every` has all values of the columns of `rows`.
        """
        rows = rows.with_columns(differing=pl.len().over(_COLUMN))
        reason = pl.format("equal to its {} digits, of {} in the column", "own_digits", "digits")
        is_own = _equals(rows.with_columns(digits="own_digits"))
        own = rows.filter(is_own).with_columns(reason=reason)
        rows, found = rows.drop("value"), list[pl.DataFrame]()
        readings = self._readings(choices) if rows.height else ()
        for _, family in groupby(readings, key=lambda one: one.family or one.reason):
            tried = [(one.reason, self._accepted(rows, every, one, choices)) for one in family]
            tried.sort(key=lambda one: one[1].height, reverse=True)
            for reason, explained in tried:
                left = explained.join(rows, on="row", how="semi", maintain_order="left")
                found.append(left.with_columns(reason=pl.lit(reason)))
                rows = rows.join(left, on="row", how="anti", maintain_order="left")
        means = rows.filter(pl.col("query").is_null())
        for of_column in means.partition_by("evaluator", "measure", maintain_order=True):
            found += self._by_arithmetic(of_column, choices)
        parts = [one.select("row", "reason") for one in [*found, own]]
        return pl.concat(parts).unique("row", keep="first", maintain_order=True)

    def _accepted(
        self, rows: pl.DataFrame, every: pl.DataFrame, reading: Reading, choices: dict[str, Any]
    ) -> pl.DataFrame:
        """Return the rows that a reading reproduces, unless it may do so by chance."""
        explained, alike = self._explained(rows, reading, choices), pl.len().over(_COLUMN)
        if reading.of_column:
            return explained.filter(_is_told(alike), alike >= pl.col("differing") / 2)
        if reading.needs_another and explained.height:
            columns = explained.select(_COLUMN).unique()
            column = every.drop("value").with_columns(*_COLUMN)
            column = column.join(columns, on=columns.columns, how="semi")
            reproduced = self._explained(column, reading, choices).filter(_is_told(alike))
            return explained.join(reproduced, on="row", how="semi", maintain_order="left")
        return explained

    def _readings(self, choices: dict[str, Any]) -> Iterator[Reading]:
        facts = track_facts(self.store.reader, self.track, choices.get("qrels"))
        names = [one["name"] for one in self.store.reader.read_record(self.track)["qrels"]]
        others = [name for name in names if name != facts.qrels]
        order = choices.get("tie_order") or facts.policy["tie_order"]
        return other_readings(EvalPolicy(**choices), order, others, facts.highest_grade)

    def _explained(
        self, rows: pl.DataFrame, reading: Reading, choices: dict[str, Any]
    ) -> pl.DataFrame:
        """Return the rows that a reading reproduces."""
        names = reading.names(rows["canonical"].unique().sort().to_list())
        concerned = rows.filter(pl.col("canonical").is_in(list(names)))
        if concerned.is_empty():
            return concerned
        try:
            values = self._joined(concerned, names, {**choices, **reading.choices})
        except IrmetaError:  # e.g. tie order rank of lists without ranks
            return concerned.clear()
        return concerned.filter(_equals(values))

    def _by_arithmetic(self, rows: pl.DataFrame, choices: dict[str, Any]) -> Iterator[pl.DataFrame]:
        """Yield the means of one column that other arithmetic reproduces, each with a reason."""
        measure = rows["canonical"][0]
        scores = self._scores([measure], choices)
        if measure in scores.averages:  # not arithmetic
            return
        matrix = scores.matrix(measure)
        columns = [matrix.systems.index(system) for system in rows["system"]]
        values, digits = matrix.values[:, columns], rows["digits"].to_numpy()
        printed = rows["published"].to_numpy()
        for reason, is_equal in other_means(values, matrix.queries, printed, digits):
            if is_equal.sum() >= rows["differing"][0] / 2:
                yield rows.filter(pl.Series(is_equal)).with_columns(reason=pl.lit(reason))

    def _joined(
        self, rows: pl.DataFrame, names: Mapping[str, str], choices: dict[str, Any]
    ) -> pl.DataFrame:
        """Add the column value, of measure `names[canonical]`; null where there is none."""
        scores = self._scores(list(dict.fromkeys(names.values())), choices)
        parts = [_means(scores)]
        if rows["query"].null_count() < rows.height:
            parts.append(scores.per_query().select("system", "query", "measure", "value"))
        values = pl.concat(parts).rename({"measure": "computed"})
        computed = pl.col("canonical").replace_strict(names, return_dtype=pl.String)
        return (
            rows.with_columns(computed=computed)
            .join(
                values,
                on=["system", "query", "computed"],
                how="left",
                nulls_equal=True,
                maintain_order="left",
            )
            .drop("computed")
        )

    def _scores(self, names: list[str], choices: dict[str, Any]) -> Scores:
        return self.store.scores(names, track=self.track, workers=self.workers, **choices)


def _is_told(alike: pl.Expr) -> pl.Expr:
    """Return whether a reading is told by the values of a column that it reproduces."""
    is_alone = (pl.col("size") == 1) & (pl.col("own_digits") >= DIGITS_OF_ONE)
    return (alike > 1) | is_alone


def _means(scores: Scores) -> pl.DataFrame:
    """Return system, query (null), measure, value."""
    means = scores.means().select("system", "measure", "value")
    return means.select("system", pl.lit(None, pl.String).alias("query"), "measure", "value")


def _not_ours(rows: pl.DataFrame, reason: pl.Expr) -> pl.DataFrame:
    nothing = pl.lit(None, pl.Float64)
    return rows.with_columns(
        value=nothing, difference=nothing, verdict=pl.lit(NOT_OURS), reason=reason
    )


def _equals(rows: pl.DataFrame) -> pl.Series:
    """Return whether value, rounded to digits, is the published value; False where it is null."""
    values = rows["value"].to_numpy()
    is_equal = equal_as_printed(values, rows["published"].to_numpy(), rows["digits"].to_numpy())
    return pl.Series(is_equal & rows["value"].is_not_null().to_numpy())

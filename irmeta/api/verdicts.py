"""Verdicts on published values of one track: reproduced, differ, or not ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from irmeta.api.other_readings import Reading, other_readings
from irmeta.api.store import EvalChoices, Store
from irmeta.errors import IrmetaError
from irmeta.measures.names import parse_measure
from irmeta.rankings.track_facts import track_facts
from irmeta.results.scores import Scores

REPRODUCED, DIFFER, NOT_OURS = "reproduced", "differ", "not ours"
ROUNDING = 1e-9
"""Allowed beyond half a unit of the last printed digit, for sums in another order."""
KEYS = ("system", "query", "canonical")
COLUMNS = (
    *("track", "system", "query", "evaluator", "measure", "printed", "canonical", "published"),
    *("digits", "value", "difference", "verdict", "reason"),
)


class TrackVerifier:
    """Compare published values of one track with those of its store.

    Parameters
    ----------
    store, track
        The lists and judgments.
    choices
        Fields of `EvalPolicy` under which values are computed first.
    """

    def __init__(self, store: Store, track: str, choices: EvalChoices) -> None:
        self.store, self.track = store, track
        self.choices: dict[str, Any] = {**choices}

    def verify(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Add value, difference, verdict and reason to published values with their measures."""
        rows = rows.with_row_index("row")
        ours = rows.filter(pl.col("canonical").is_not_null())
        others = rows.filter(pl.col("canonical").is_null()).with_columns(
            value=pl.lit(None, pl.Float64), verdict=pl.lit(NOT_OURS)
        )
        by_set = ours.partition_by("qrels", maintain_order=True)
        found = pl.concat([others, *map(self._of_set, by_set)]).sort("row")
        return found.with_columns(
            difference=pl.col("value") - pl.col("published"),
        ).select(COLUMNS)

    def _of_set(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of one qrels set with value, verdict and reason."""
        qrels = rows["qrels"][0]
        choices = self.choices if qrels is None else {**self.choices, "qrels": qrels}
        values = self._joined(rows, {name: name for name in rows["canonical"].unique()}, choices)
        equal = _equals(values)
        values = values.with_columns(
            verdict=pl.when(equal).then(pl.lit(REPRODUCED)).otherwise(pl.lit(DIFFER))
        )
        differ = values.filter(verdict=DIFFER)
        if differ.is_empty():
            return values
        reasons = self._reasons(differ.drop("value", "verdict", "reason"), choices)
        return (
            values.join(reasons, on="row", how="left", maintain_order="left")
            .with_columns(reason=pl.coalesce("why", "reason"))
            .drop("why")
        )

    def _reasons(self, rows: pl.DataFrame, choices: dict[str, Any]) -> pl.DataFrame:
        """Return row and why: the first other reading that reproduces each value."""
        record = self.store.reader.read_record(self.track)
        facts = track_facts(self.store.reader, self.track, choices.get("qrels"))
        names = [one["name"] for one in record["qrels"]]
        sets = [facts.qrels, *(name for name in names if name != facts.qrels)]
        order = choices.get("tie_order") or facts.policy["tie_order"]
        found = [pl.DataFrame(schema={"row": rows.schema["row"], "why": pl.String})]
        for reading in other_readings(order, sets, facts.highest_grade):
            if rows.is_empty():
                break
            explained = self._explained(rows, reading, choices)
            found.append(explained.with_columns(why=pl.lit(reading.reason)))
            rows = rows.join(explained, on="row", how="anti")
        return pl.concat([*found, self._from_values(rows, choices)])

    def _explained(
        self, rows: pl.DataFrame, reading: Reading, choices: dict[str, Any]
    ) -> pl.DataFrame:
        """Return the column row of the values that a reading reproduces."""
        specs = {name: reading.other(parse_measure(name)) for name in rows["canonical"].unique()}
        names = {name: spec.name for name, spec in specs.items() if spec is not None}
        concerned = rows.filter(pl.col("canonical").is_in(list(names)))
        if concerned.is_empty():
            return concerned.select("row")
        try:
            values = self._joined(concerned, names, {**choices, **reading.choices})
        except IrmetaError:  # e.g. another tie order of lists that were cut when read
            return concerned.select("row").clear()
        return values.filter(_equals(values)).select("row")

    def _from_values(self, rows: pl.DataFrame, choices: dict[str, Any]) -> pl.DataFrame:
        """Return row and why for means that other arithmetic on the values per query reproduces."""
        means = rows.filter(pl.col("query").is_null())
        if means.is_empty():
            return means.select("row", why=pl.lit(None, pl.String))
        scores = self._scores(means["canonical"].unique().sort().to_list(), choices)
        values = scores.values.transpose(2, 0, 1)  # [system, measure, query]
        found = []
        for digits in means["digits"].unique().sort():
            rounded = _frame(scores, np.nanmean(values.round(digits), axis=2))
            equal = _matching(means.filter(digits=digits), rounded)
            why = pl.lit(f"mean of values per query with {digits} digits")
            found.append(equal.with_columns(why=why))
        explained = pl.concat(found)
        means = means.join(explained, on="row", how="anti")
        return pl.concat([explained, self._one_query_less(means, scores)])

    def _one_query_less(self, means: pl.DataFrame, scores: Scores) -> pl.DataFrame:
        """Return row and why for means of a measure that all lack the same query.

        The query must explain at least two values and half of them: among many queries, one
        reproduces a single value by chance.
        """
        values = scores.values.transpose(2, 0, 1)
        found = [means.select("row", why=pl.lit(None, pl.String)).clear()]
        for _, of_measure in means.group_by("measure", maintain_order=True):
            best = found[0]
            for index, query in enumerate(scores.queries):
                without = np.nanmean(np.delete(values, index, axis=2), axis=2)
                equal = _matching(of_measure, _frame(scores, without))
                if equal.height > best.height:
                    best = equal.with_columns(why=pl.lit(f"mean without query {query}"))
            if best.height >= max(2, of_measure.height / 2):
                found.append(best)
        return pl.concat(found)

    def _joined(
        self, rows: pl.DataFrame, names: Mapping[str, str], choices: dict[str, Any]
    ) -> pl.DataFrame:
        """Add the column value: of measure `names[canonical]`, NaN where undefined."""
        scores = self._scores(list(dict.fromkeys(names.values())), choices)
        asked = pl.DataFrame(
            {"canonical": list(names), "computed": list(names.values())},
            {"canonical": pl.String, "computed": pl.String},
        )
        found = [_frame(scores, scores.mean_values().T).with_columns(query=pl.lit(None, pl.String))]
        if rows["query"].null_count() < rows.height:
            found.append(scores.per_query().rename({"measure": "canonical"}))
        values = pl.concat([one.select(*KEYS, "value") for one in found])
        values = values.rename({"canonical": "computed"})
        return (
            rows.join(asked, on="canonical", maintain_order="left")
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
        return self.store.scores(names, track=self.track, workers=1, **choices)


def _frame(scores: Scores, values: np.ndarray) -> pl.DataFrame:
    """Return system, canonical, value of an array [system, measure]."""
    return pl.DataFrame(
        {
            "system": np.repeat(np.array(list(scores.systems), object), len(scores.measures)),
            "canonical": list(scores.measures) * len(scores.systems),
            "value": np.ascontiguousarray(values).ravel(),
        },
        {"system": pl.String, "canonical": pl.String, "value": pl.Float64},
    )


def _matching(rows: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Return the column row of the means that equal `values`."""
    joined = rows.join(values, on=["system", "canonical"], maintain_order="left")
    return joined.filter(_equals(joined)).select("row")


def _equals(rows: pl.DataFrame) -> pl.Series:
    """Return whether value, rounded to digits, is the published value; False where undefined."""
    gap = (rows["value"] - rows["published"]).abs()
    bound = 0.5 * pl.Series(10.0 ** -rows["digits"].cast(pl.Float64).to_numpy()) + ROUNDING
    return ((gap <= bound) & gap.is_not_nan()).fill_null(False)

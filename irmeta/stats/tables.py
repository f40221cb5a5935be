"""Tables of values by system, query and measure as matrices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from irmeta.errors import MeasureError, UsageError
from irmeta.measures.names import parse_measure, parse_measures
from irmeta.results.matrix import Matrix, matrix_of, tidy_matrices
from irmeta.results.value_tables import tidy_values
from irmeta.schema.result_tables import MEASURES, QUERIES
from irmeta.trec.readers.frames import as_frame

_TREC_EVAL_ONLY = ("num_q", "gm_map", "gm_bpref", "num_nonrel_judged_ret", "utility", "binG", "G")
NO_RESULTS = (
    "no results: pass a store, a folder, files, matrices or a table of values; or qrels, runs and "
    "measures."
)
"""Message for results of another kind."""


def matrices_of_frame(table: object) -> list[Matrix]:
    """Return the matrix of each track and measure of a frame of any library.

    Columns are system, query, measure, value; or system, query, and a column per measure; or one
    column per system, see `matrix_of`. Other objects raise `UsageError`, malformed values
    `DataError`.
    """
    narwhals_frame = as_frame(table, "the table")
    if narwhals_frame is None:
        raise UsageError(NO_RESULTS)
    frame = narwhals_frame.lazy().collect("polars").to_native()
    tidy = tidy_values(frame, "system", is_measure)
    if tidy is None:
        return [matrix_of(frame)]
    return [directed(matrix) for matrix in tidy_matrices(tidy, "the table")]


def has_measures(table: object) -> bool:
    """Check whether an object is a frame with a column of measures, and so no qrels."""
    if isinstance(table, str | list | tuple | dict) or (frame := as_frame(table, "")) is None:
        return False
    columns: list[object] = frame.collect_schema().names()
    return any(isinstance(name, str) and name.lower() in ("measure", "metric") for name in columns)


def as_matrix(source: object) -> Matrix:
    """Return a matrix as it is, and a table of values of one measure of one track as a matrix."""
    if isinstance(source, Matrix):
        return source
    matrices = matrices_of_frame(source)
    if len(matrices) != 1:
        labels = (f"{matrix.measure} {matrix.track}".strip() for matrix in matrices)
        listed = ", ".join(labels) or "none"
        raise UsageError(f"one measure of one track expected, found {listed}: select one.")
    return matrices[0]


def directed(matrix: Matrix) -> Matrix:
    """Return the matrix with the direction of its measure, which tables do not hold."""
    try:
        direction = parse_measure(matrix.measure).measure.direction
    except MeasureError:
        return matrix
    return replace(matrix, direction=direction)


def spellings(name: str) -> list[str]:
    """Return the canonical names that a name stands for; none if it names no measure."""
    try:
        return [spec.name for spec in parse_measures(name)]
    except MeasureError:
        return []


def is_measure(name: str) -> bool:
    """Check whether a name is that of a measure, of irmeta or of trec_eval alone."""
    return bool(spellings(name)) or name in _TREC_EVAL_ONLY


def facts_of_values(matrices: Iterable[Matrix]) -> dict[str, pl.DataFrame]:
    """Return the tables `queries` and `measures` of values, which folders of results have."""
    values = list(matrices)
    queries = pl.concat([QUERIES.empty(), *map(facts_of_queries, values)], how="vertical_relaxed")
    directions = {matrix.measure: matrix.direction for matrix in values}
    return {
        "queries": queries.unique(QUERIES.key, keep="first", maintain_order=True),
        "measures": MEASURES.frame(facts_of_measures(directions)),
    }


def facts_of_queries(matrix: Matrix) -> pl.DataFrame:
    """Return the table `queries` of one measure: judgments, lists and mean values."""
    is_defined = ~np.isnan(matrix.values)
    sums, numbers = np.where(is_defined, matrix.values, 0.0).sum(axis=1), is_defined.sum(axis=1)
    judged, relevant = (None, None) if matrix.judgments is None else matrix.judgments.T
    facts = pl.DataFrame({"query": pl.Series(matrix.queries, dtype=pl.String)}).with_columns(
        track=pl.lit(matrix.track),
        qrels=pl.lit(matrix.qrels or None, pl.String),
        judged=pl.lit(None) if judged is None else pl.Series(judged),
        relevant=pl.lit(None) if relevant is None else pl.Series(relevant),
        lists=pl.lit(None) if matrix.no_list is None else pl.Series((~matrix.no_list).sum(axis=1)),
        measure=pl.lit(matrix.measure),
        value=pl.Series(np.where(numbers > 0, sums / np.maximum(numbers, 1), np.nan)),
    )
    return QUERIES.frame(facts)


def facts_of_measures(directions: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table `measures`: irmeta's own measures with range and source.

    `directions` are those of measures that irmeta does not know.
    """
    for name, direction in directions.items():
        facts: dict[str, Any] = dict.fromkeys(("low", "high", "revision", "source"))
        try:
            measure = parse_measure(name).measure
        except MeasureError:
            yield {"measure": name, "direction": direction, **facts}
            continue
        low, high = measure.bounds
        facts = {"low": low, "high": high, "revision": measure.revision, "source": measure.source}
        yield {"measure": name, "direction": measure.direction, **facts}

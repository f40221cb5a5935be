"""Weights of queries, such as how often users ask them: a file or frame of queries and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError, did_you_mean, first_few, shown
from irmeta.results.factors import Factor, Segments
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores

Weighted = TypeVar("Weighted", Scores, Matrix)


@dataclass(frozen=True)
class QueryWeights(Factor):
    """Weights of queries in means over queries, above 0: see `Factor`."""

    value: ClassVar[str] = "weight"
    keyword: ClassVar[str] = "query_weights"

    @classmethod
    def problems(cls) -> dict[str, pl.Expr]:
        """Return what is wrong with a row: as of `Factor`, or a weight is no number above 0."""
        weight = pl.col("weight").cast(pl.Float64, strict=False)
        is_weight = (weight.is_finite() & (weight > 0)).fill_null(value=False)
        missing, repeated = super().problems().items()
        return dict([missing, ("the weight is not a number above 0", ~is_weight), repeated])

    @classmethod
    def typed(cls, rows: pl.DataFrame) -> pl.DataFrame:
        """Return rows with weights as numbers."""
        return rows.with_columns(pl.col("weight").cast(pl.Float64))

    def weigh(self, results: Sequence[Weighted], *, selected: bool = False) -> list[Weighted]:
        """Return results whose means over queries are weighted.

        Parameters
        ----------
        results
            Results by query.
        selected
            Whether they are of selected queries, so that others may have a weight.

        Raises
        ------
        DataError
            If a query of the results has no weight or, unless `selected`, none of the results has
            a query with a weight.
        UsageError
            If the mean of a measure is not arithmetic.
        """
        queries = dict[str, dict[str, None]]()
        for result in results:
            queries.setdefault(result.track, {}).update(dict.fromkeys(result.queries))
            if isinstance(result, Scores) and result.averages:
                name, how = next(iter(result.averages.items()))
                raise UsageError(
                    f"the average of {name} is no weighted mean (average: {how}): omit the measure "
                    "or the weights of queries."
                )
        if not selected:
            self._refuse_unknown(queries)
        by_track = {track: self.by_name(track) for track in queries}
        for track, of_track in queries.items():
            missing = [query for query in of_track if query not in by_track[track]]
            if missing:
                listed = first_few([shown(query) for query in missing], "give each query a weight")
                place = f" of track {track}" if track else ""
                raise DataError(
                    f"no weight for {len(missing):,} of {len(of_track):,} queries{place}: {listed}",
                    file=self.source,
                )
        return [
            replace(result, weights=np.array([by_track[result.track][q] for q in result.queries]))
            for result in results
        ]

    def _refuse_unknown(self, queries: Mapping[str, Mapping[str, None]]) -> None:
        """Raise `DataError` for the first query with a weight that no result has."""
        every = set[str]().union(*queries.values())
        for track, query in self.rows.select("track", "query").iter_rows():
            known = every if track is None else queries.get(track, ())
            if query not in known:
                hint = did_you_mean(query, [*known])
                problem = f"no value of the query {shown(query)}, which has a weight"
                raise DataError(problem, file=self.source, fix=hint)


def parts_by_query(
    scores: list[Scores],
    segments: Segments | pl.DataFrame | str | Path | None,
    query_weights: QueryWeights | pl.DataFrame | str | Path | None,
    *,
    per_query: bool,
    selected: bool,
) -> tuple[list[Scores], list[str | None]]:
    """Return scores with weighted means, followed by their segments, and the segment of each.

    Without segments the second list is empty. For `selected` and errors see `QueryWeights.weigh`
    and `Segments.parts_of`; raises UsageError for values `per_query` too.
    """
    for name, of_means in {"segments": segments, "query_weights": query_weights}.items():
        if of_means is not None and per_query:
            raise UsageError(f"`{name}` is for means: omit `per_query`.")
    if query_weights is not None:
        scores = QueryWeights.of(query_weights).weigh(scores, selected=selected)
    if segments is None:
        return scores, []
    parts = [part for of in Segments.of(segments).parts_of(scores) for part in of]
    return [part for part, _ in parts], [segment for _, segment in parts]

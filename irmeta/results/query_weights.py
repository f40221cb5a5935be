"""Weights of queries, such as how often users ask them: a file or frame of queries and weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from irmeta.errors import DataError, UsageError, did_you_mean, first_few, shown
from irmeta.results.matrix import Matrix
from irmeta.results.scores import Scores
from irmeta.results.segments import Segments, read_by_query
from irmeta.trec.text import refuse_rows

COLUMNS = ("track", "query", "weight")
Weighted = TypeVar("Weighted", Scores, Matrix)


@dataclass(frozen=True)
class QueryWeights:
    """Weights of queries in means over queries.

    Attributes
    ----------
    source
        The file, or "query_weights" for a frame.
    rows
        track (null: any track), query, weight: no query of a track twice, all weights above 0.
    sha256
        Hexadecimal SHA-256 of the file as stored, or of the frame as CSV.
    """

    source: str
    rows: pl.DataFrame
    sha256: str

    @classmethod
    def of(cls, source: QueryWeights | pl.DataFrame | str | Path) -> QueryWeights:
        """Read weights.

        Parameters
        ----------
        source : QueryWeights, DataFrame, str or Path
            A frame with the columns query, weight and, where tracks share names of queries, track;
            or a CSV or TSV file with such a header, compressed or not.

        Raises
        ------
        DataError
            If the file cannot be read, a column is unknown or missing, a weight is no number above
            0, or a query has two weights.
        UsageError
            If `source` is neither a file nor a frame.
        """
        if isinstance(source, QueryWeights):
            return source
        name, rows, digest = read_by_query(source, COLUMNS, "query_weights")
        weight = pl.col("weight").cast(pl.Float64, strict=False)
        wrong = {
            "a query or weight is missing": pl.any_horizontal(pl.col("query", "weight").is_null()),
            "the weight is not a number above 0": ~(weight.is_finite() & (weight > 0)).fill_null(
                value=False
            ),
            "the query has a weight already": ~pl.struct("track", "query").is_first_distinct(),
        }
        refuse_rows(rows, wrong, name)
        return cls(name, rows.drop("line").with_columns(weight), digest)

    def of_track(self, track: str) -> dict[str, float]:
        """Return the weight of each query of a track; a row that names the track goes first."""
        rows = self.rows.filter(pl.col("track").is_null() | (pl.col("track") == track))
        by_query = rows.sort("track", nulls_last=False).select("query", "weight")
        return dict(by_query.iter_rows())

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
        by_track = {track: self.of_track(track) for track in queries}
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

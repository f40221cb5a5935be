"""Judgments by subtopic: grades of docs for the subtopics of their query."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.rankings.track_facts import TrackFacts
from irmeta.store.scan import StoreReader, read_table


@dataclass(frozen=True)
class Subtopics:
    """Grades of (judged doc, subtopic) pairs for the rows of a view.

    Attributes
    ----------
    names
        Names of the subtopics, query by query, in byte order within a query; includes subtopics
        without relevant docs.
    offsets
        int64 [queries + 1]; the subtopics of query q are ``names[offsets[q]:offsets[q + 1]]``.
    starts
        int64 [rows + 1]; the pairs of row r are ``starts[r]:starts[r + 1]``.
    subtopic
        int32 [pairs]; index of the subtopic among those of its query, ascending within a row.
    grade
        int8 or float64 [pairs]; the grade of the doc for that subtopic, as judged.
    weights
        float64 [names]; from the collection's `subtopics_file`, NaN if missing.
    types
        [names]; e.g. "inf", "nav" or "vital"; None if missing.
    """

    names: tuple[str, ...]
    offsets: np.ndarray
    starts: np.ndarray
    subtopic: np.ndarray
    grade: np.ndarray
    weights: np.ndarray
    types: tuple[str | None, ...]

    @property
    def counts(self) -> np.ndarray:
        """The number of subtopics of each query: int64 [queries]."""
        return np.diff(self.offsets)

    @property
    def queries(self) -> np.ndarray:
        """The index of the query of each name: int64 [names]."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.counts)

    @cached_property
    def is_listed(self) -> np.ndarray:
        """Whether the `subtopics_file` has each name: bool [names].

        All names of a query that the file does not describe count as listed.
        """
        has_type = np.array([kind is not None for kind in self.types], bool)
        listed = ~np.isnan(self.weights) | has_type
        described = np.bincount(self.queries[listed], minlength=len(self.counts)) > 0
        return listed | ~described[self.queries]

    @property
    def rows(self) -> np.ndarray:
        """The row of the view of each pair: int64 [pairs]."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def name_indices(self, row_offsets: np.ndarray) -> np.ndarray:
        """Return the index in `names` of each pair's subtopic: int64 [pairs].

        `row_offsets` are the `offsets` of the view.
        """
        first = np.repeat(self.offsets[:-1], np.diff(row_offsets))
        return first[self.rows] + self.subtopic

    def of_query(self, query: int) -> tuple[str, ...]:
        """Return the names of the subtopics of a query, by its index."""
        return self.names[self.offsets[query] : self.offsets[query + 1]]

    def matrix(self, first_row: int, last_row: int, count: int, fill: int = 0) -> np.ndarray:
        """Return the grades of consecutive rows of one query as an array.

        Parameters
        ----------
        first_row, last_row
            Range of rows of the view, `last_row` excluded.
        count
            The number of subtopics of the query.
        fill
            Grade of a doc that is not judged for a subtopic.

        Returns
        -------
        int8 or float64 [rows, subtopics].
        """
        pairs = slice(int(self.starts[first_row]), int(self.starts[last_row]))
        out = np.full((last_row - first_row, count), fill, self.grade.dtype)
        out[self.rows[pairs] - first_row, self.subtopic[pairs]] = self.grade[pairs]
        return out

    def take_rows(self, rows: np.ndarray) -> Subtopics:
        """Return the pairs of some rows, in the order of the given indices; all names remain."""
        sizes = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        pairs = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], sizes)
        return replace(self, starts=starts, subtopic=self.subtopic[pairs], grade=self.grade[pairs])

    def take_queries(self, queries: np.ndarray, rows: np.ndarray) -> Subtopics:
        """Return the subtopics of some queries, by ascending indices, and of their rows."""
        slices = [slice(*self.offsets[q : q + 2].tolist()) for q in queries.tolist()]
        return replace(
            self.take_rows(rows),
            names=tuple(name for part in slices for name in self.names[part]),
            offsets=np.concatenate([[0], np.cumsum(self.counts[queries])]),
            weights=np.concatenate([self.weights[:0], *(self.weights[part] for part in slices)]),
            types=tuple(kind for part in slices for kind in self.types[part]),
        )


def has_subtopics(store: StoreReader, track: str) -> bool:
    """Check whether a qrels set of a track has subtopics."""
    return any(one["subtopics"] for one in store.read_record(track)["qrels"])


def subtopic_set(store: StoreReader, facts: TrackFacts) -> str:
    """Return the name of the chosen qrels set, or of the first with subtopics."""
    sets = store.read_record(facts.track)["qrels"]
    names = [one["name"] for one in sets if one["subtopics"]]
    if not names:
        raise UsageError(
            f"track {facts.track!r} has no qrels by subtopic. If the second column of its qrels "
            "names subtopics, write subtopics = true for the file in collection.toml."
        )
    return facts.qrels if facts.qrels in names else names[0]


def described_subtopics(store: StoreReader, facts: TrackFacts, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return query, subtopic, weight, type of all judged or described subtopics, sorted."""
    described = read_table(store, "subtopics", facts.track, pl.col("set") == facts.qrels)
    described = described.select("query", "subtopic", "weight", "type")
    return (
        pairs.select("query", "subtopic")
        .unique()
        .join(described, on=["query", "subtopic"], how="full", coalesce=True)
        .sort("query", "subtopic")
    )


def lay_out(
    pairs: pl.DataFrame,
    described: pl.DataFrame,
    queries: list[str],
    offsets: np.ndarray,
    doc_ids: np.ndarray,
) -> Subtopics:
    """Arrange pairs (query, subtopic, doc_id, grade) of a block by the rows of its view."""
    order = pl.DataFrame({"query": queries, "q": np.arange(len(queries), dtype=np.int64)})
    names = order.join(described, on="query", maintain_order="left_right")
    counts = np.bincount(names["q"].to_numpy(), minlength=len(queries))
    first = np.concatenate([[0], np.cumsum(counts)])
    number = np.arange(names.height, dtype=np.int32) - first[names["q"].to_numpy()]
    numbers = names.with_columns(number=pl.Series(number.astype(np.int32)))
    rows = pl.DataFrame(
        {
            "q": np.repeat(np.arange(len(queries)), np.diff(offsets)),
            "doc_id": doc_ids,
            "row": np.arange(len(doc_ids)),
        }
    )
    laid = (
        pairs.join(numbers.select("query", "subtopic", "q", "number"), on=["query", "subtopic"])
        .join(rows, on=["q", "doc_id"])
        .sort("row", "number")
    )
    sizes = np.bincount(laid["row"].to_numpy(), minlength=len(doc_ids))
    return Subtopics(
        names=tuple(names["subtopic"]),
        offsets=first,
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        subtopic=laid["number"].to_numpy().copy(),
        grade=laid["grade"].to_numpy().copy(),
        weights=names["weight"].cast(pl.Float64).fill_null(np.nan).to_numpy().copy(),
        types=tuple(names["type"]),
    )

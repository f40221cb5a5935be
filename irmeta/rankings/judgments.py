"""The judgments of a qrels set as arrays: grades of docs, by subtopic, and samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from irmeta.errors import UsageError
from irmeta.rankings.track_facts import TrackFacts
from irmeta.store.scan import StoredTrack, read_table


@dataclass(frozen=True)
class Sample:
    """How each row of a view was sampled.

    Attributes
    ----------
    stratum
        int32 [rows], an index in `names`; -1 without strata.
    names
        Names of the strata.
    method
        int8 [rows], of prels; -1 without methods.
    probability
        float64 [rows], the inclusion probability given in prels; NaN if there is none.
    """

    stratum: np.ndarray
    names: tuple[str, ...]
    method: np.ndarray
    probability: np.ndarray

    def take_rows(self, rows: np.ndarray) -> Sample:
        """Return the sample of some rows, or of a range of rows."""
        return replace(
            self,
            stratum=self.stratum[rows],
            method=self.method[rows],
            probability=self.probability[rows],
        )


@dataclass(frozen=True)
class Subtopics:
    """Grades of (judged doc, subtopic) pairs for the rows of a view.

    `names` of subtopics are in byte order within a query, from ``offsets[q]`` on, those without
    relevant docs included, with `weights` (NaN if missing) and `types` ("inf", "nav", "vital";
    None). The pairs of row r begin at ``starts[r]``: `subtopic` (int32, index within the query,
    ascending) and `grade` (int8 or float64).
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
        """Return the grades of consecutive rows of one query: int8 or float64 [rows, subtopics].

        `count` is its number of subtopics, `fill` the grade of a doc not judged for one.
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


@dataclass(frozen=True)
class JudgedDocs:
    """The judged docs of some queries, as arrays of `JudgedRanks`."""

    offsets: np.ndarray
    grades: np.ndarray
    names: pl.Series
    doc_ids: np.ndarray
    subtopics: Subtopics | None
    in_qrels: np.ndarray | None
    sample: Sample | None


@dataclass(frozen=True)
class Judged:
    """The judgments of one qrels set of a track; None for what was not requested.

    `docs`: query, doc_id, doc, grade (the greatest over subtopics), by query, then grade
    descending, then doc_id, so that relevant docs lead at any `rel`. `pairs`: query, subtopic,
    doc_id, grade. `described`: query, subtopic, weight, type. `sample`: how each of the docs was
    sampled.
    """

    facts: TrackFacts
    docs: pl.DataFrame
    pairs: pl.DataFrame | None = None
    described: pl.DataFrame | None = None
    sample: Sample | None = None

    @cached_property
    def queries(self) -> list[str]:
        """The queries judged by the set, sorted."""
        return self.docs["query"].unique(maintain_order=True).to_list()

    @cached_property
    def _bounds(self) -> dict[str, list[int]]:
        """The first row of each query, and the row after its last row."""
        sizes = self.docs.group_by("query", maintain_order=True).len()["len"].to_numpy()
        ends = np.cumsum(sizes, dtype=np.int64)
        first = (ends - sizes).tolist()
        return {q: rows for q, *rows in zip(self.queries, first, ends.tolist(), strict=True)}

    def of_queries(self, queries: list[str]) -> JudgedDocs:
        """Return the judged docs of consecutive queries, including unjudged queries."""
        bounds = [self._bounds.get(query) for query in queries]
        judged = [rows for rows in bounds if rows is not None]
        first, last = (judged[0][0], judged[-1][1]) if judged else (0, 0)
        docs = self.docs[first:last]
        sizes = [0 if rows is None else rows[1] - rows[0] for rows in bounds]
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        doc_ids = docs["doc_id"].to_numpy().copy()
        subtopics = None
        if self.pairs is not None and self.described is not None:
            subtopics = lay_out(self.pairs, self.described, queries, offsets, doc_ids)
        in_qrels = None
        if len(judged) < len(queries):
            in_qrels = np.array([rows is not None for rows in bounds])
        sample = None
        if self.sample is not None:
            sample = self.sample.take_rows(np.arange(first, last))
        grades = docs["grade"].to_numpy().copy()
        return JudgedDocs(offsets, grades, docs["doc"], doc_ids, subtopics, in_qrels, sample)


def read_judged(
    track: StoredTrack, facts: TrackFacts, *, subtopics: bool = False, sample: bool = False
) -> Judged:
    """Read the judgments of the chosen qrels set of a track.

    They are also read by subtopic with `subtopics`, and with the docs' `sample`.
    """
    rows = read_table(track, "qrels", pl.col("set") == facts.qrels)
    if facts.levels is None:  # grades are float64 if those of another set of the track are
        rows = rows.with_columns(pl.col("grade").cast(pl.Int8))
    docs = rows.select("query", "doc_id", "doc", "grade")
    if rows["subtopic"].null_count() < rows.height:  # otherwise each doc of a query is there once
        docs = docs.group_by("query", "doc_id").agg(pl.col("doc").first(), pl.col("grade").max())
    docs = docs.sort("query", "grade", "doc_id", descending=[False, True, False])
    if not subtopics:
        return Judged(facts, docs, sample=read_sample(track, facts, docs) if sample else None)
    pairs = rows.select("query", "subtopic", "doc_id", "grade")
    return Judged(facts, docs, pairs, described_subtopics(track, facts, pairs))


def read_sample(track: StoredTrack, facts: TrackFacts, docs: pl.DataFrame) -> Sample | None:
    """Read how the docs of a qrels set (query, doc_id) were sampled; None if it is no sample."""
    if facts.sampled is None:
        return None
    columns = ("query", "doc_id", "stratum", "method", "probability")
    rows = read_table(track, "samples", pl.col("set") == facts.qrels).select(columns)
    if rows.is_empty():
        raise UsageError(
            f"the store of track {facts.track!r} does not have the sample of its qrels: ingest the "
            "collection again."
        )
    rows = docs.select("query", "doc_id").join(
        rows, on=["query", "doc_id"], how="left", maintain_order="left"
    )
    strata = rows["stratum"].drop_nulls().unique().sort().to_list()
    index = pl.Series(range(len(strata)), dtype=pl.Int32)
    stratum = rows["stratum"].replace_strict(strata, index, default=-1, return_dtype=pl.Int32)
    return Sample(
        stratum=stratum.to_numpy().copy(),
        names=tuple(strata),
        method=rows["method"].fill_null(-1).to_numpy().copy(),
        probability=rows["probability"].fill_null(np.nan).to_numpy().copy(),
    )


def described_subtopics(track: StoredTrack, facts: TrackFacts, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return query, subtopic, weight, type of all judged or described subtopics, sorted."""
    described = read_table(track, "subtopics", pl.col("set") == facts.qrels)
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
    named = order.join(described, on="query", maintain_order="left_right")
    counts = np.bincount(named["q"].to_numpy(), minlength=len(queries))
    first = np.concatenate([[0], np.cumsum(counts)])
    number = np.arange(named.height, dtype=np.int32) - first[named["q"].to_numpy()]
    numbers = named.with_columns(number=pl.Series(number.astype(np.int32)))
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
        names=tuple(named["subtopic"]),
        offsets=first,
        starts=np.concatenate([[0], np.cumsum(sizes)]),
        subtopic=laid["number"].to_numpy().copy(),
        grade=laid["grade"].to_numpy().copy(),
        weights=named["weight"].cast(pl.Float64).fill_null(np.nan).to_numpy().copy(),
        types=tuple(named["type"]),
    )

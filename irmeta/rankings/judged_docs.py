"""The judged docs of a qrels set, one block of queries at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from irmeta.rankings.sample import Sample, read_sample
from irmeta.rankings.subtopics import Subtopics, described_subtopics, lay_out
from irmeta.rankings.track_facts import TrackFacts
from irmeta.store.scan import StoreReader, read_table


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
    """The judgments of one qrels set of a track.

    Attributes
    ----------
    docs
        query, doc_id, doc, grade (the greatest over subtopics), sorted by query, then grade
        descending, then doc_id: the relevant docs of a query lead, at any `rel`.
    pairs
        query, subtopic, doc_id, grade; None if not requested.
    described
        query, subtopic, weight, type of all subtopics, sorted; None if not requested.
    sample
        How each of the `docs` was sampled; None if not requested, or if the set is no sample.
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
        judged = [one for one in bounds if one is not None]
        first, last = (judged[0][0], judged[-1][1]) if judged else (0, 0)
        docs = self.docs[first:last]
        sizes = [0 if one is None else one[1] - one[0] for one in bounds]
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        doc_ids = docs["doc_id"].to_numpy().copy()
        subtopics = None
        if self.pairs is not None and self.described is not None:
            subtopics = lay_out(self.pairs, self.described, queries, offsets, doc_ids)
        in_qrels = None
        if len(judged) < len(queries):
            in_qrels = np.array([one is not None for one in bounds])
        sample = None
        if self.sample is not None:
            sample = self.sample.take_rows(np.arange(first, last))
        grades = docs["grade"].to_numpy().copy()
        return JudgedDocs(offsets, grades, docs["doc"], doc_ids, subtopics, in_qrels, sample)


def read_judged(
    store: StoreReader, facts: TrackFacts, *, subtopics: bool = False, sample: bool = False
) -> Judged:
    """Read the judgments of the chosen qrels set of a track.

    They are also read by subtopic with `subtopics`, and with the docs' `sample`.
    """
    rows = read_table(store, "qrels", facts.track, pl.col("set") == facts.qrels)
    if facts.levels is None:  # grades are float64 if those of another set of the track are
        rows = rows.with_columns(pl.col("grade").cast(pl.Int8))
    docs = (
        rows.group_by("query", "doc_id")
        .agg(pl.col("doc").first(), pl.col("grade").max())
        .sort("query", "grade", "doc_id", descending=[False, True, False])
    )
    if not subtopics:
        return Judged(facts, docs, sample=read_sample(store, facts, docs) if sample else None)
    pairs = rows.select("query", "subtopic", "doc_id", "grade")
    return Judged(facts, docs, pairs, described_subtopics(store, facts, pairs))
